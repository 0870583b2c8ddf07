/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_find: data files by their short names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bytes/input.h"

static const char *const endings[] = {"",        ".svm", ".svm.xz", ".svm.zst", ".svm.gz", ".svm.bz2", ".hc",
                                      ".libsvm", ".csv", ".csv.xz", ".csv.gz",  ".tsv",    ".vw",      ".jsonl"};

/* folder/name with one of the endings, when such a file is there. */
static char *look_in(const char *folder, const char *name)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path;
        struct stat status;
        if (asprintf(&path, "%s%s%s%s", folder, *folder ? "/" : "", name, endings[i]) < 0)
            return NULL;
        if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
            return path;
        free(path);
    }
    return NULL;
}

static char *look_below(const char *folder, const char *name)
{
    struct dirent **entries;
    char *found = NULL;
    int n = scandir(folder, &entries, NULL, alphasort); /* sorted: the same file everywhere */
    for (int i = 0; i < n; i++) {
        char *below;
        if (!found && entries[i]->d_name[0] != '.' && asprintf(&below, "%s/%s", folder, entries[i]->d_name) >= 0) {
            found = look_in(below, name);
            free(below);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}

char *stream_find(const char *name)
{
    char *found = look_in("", name);
    const char *folders = getenv("HUNCH_DATA");
    if (found || !folders || name[0] == '/')
        return found;
    char *copy = strdup(folders), *rest = copy, *folder;
    while (!found && (folder = strsep(&rest, ":"))) {
        if (!*folder)
            continue;
        found = look_in(folder, name);
        if (!found)
            found = look_below(folder, name);
    }
    free(copy);
    return found;
}

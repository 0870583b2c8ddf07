/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/replace.h"
#include "base/error.h"
#include "fingerprint.h"

const char *store_fingerprint(void)
{
    return FINGERPRINT;
}

hunch_status store_folder(const char *path, hunch_error *reterr)
{
    char *copy = strdup(path);
    if (!copy)
        return error_memory(reterr);
    int failed = 0;
    for (char *at = copy + 1; !failed && *at; at++)
        if (*at == '/') {
            *at = '\0';
            failed = mkdir(copy, 0777) && errno != EEXIST;
            *at = '/';
        }
    failed = failed || (mkdir(copy, 0777) && errno != EEXIST);
    free(copy);
    struct stat status;
    if (!failed && (stat(path, &status) || !S_ISDIR(status.st_mode))) {
        errno = ENOTDIR;
        failed = 1;
    }
    return failed ? error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno)) : HUNCH_OK;
}

hunch_status store_open(struct store *ret, const char *folder, hunch_error *reterr)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length;
    if (folder)
        length = asprintf(&path, "%s", folder);
    else if (cache && *cache == '/')
        length = asprintf(&path, "%s/hunch", cache);
    else
        length = asprintf(&path, "%s/.cache/hunch", home && *home ? home : "/tmp");
    if (length < 0)
        return error_memory(reterr);
    hunch_status status = store_folder(path, reterr);
    if (status)
        free(path);
    else
        ret->folder = path;
    return status;
}

void store_close(struct store *s)
{
    free(s->folder);
    *s = (struct store){0};
}

json_t *store_get(const struct store *s, const char key[CORPUS_SUM])
{
    char *path;
    if (!s || !s->folder || asprintf(&path, "%s/%.2s/%s.json", s->folder, key, key + 2) < 0)
        return NULL;
    json_t *result = json_load_file(path, 0, NULL);
    free(path);
    return result;
}

bool store_put(const struct store *s, const char key[CORPUS_SUM], const json_t *result)
{
    char *folder, name[CORPUS_SUM + 8], *text;
    if (!s || !s->folder)
        return true;
    if (!(text = json_dumps(result, JSON_COMPACT)))
        return false;
    if (asprintf(&folder, "%s/%.2s", s->folder, key) < 0) {
        free(text);
        return false;
    }
    snprintf(name, sizeof name, "%s.json", key + 2);
    bool good = !store_folder(folder, NULL) && !store_file(folder, name, text, strlen(text), NULL);
    free(folder);
    free(text);
    return good;
}

hunch_status store_file(const char *folder, const char *name, const char *text, size_t length, hunch_error *reterr)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return error_memory(reterr);
    hunch_status status = replace_file(path, 0644, text, length, reterr);
    free(path);
    return status;
}

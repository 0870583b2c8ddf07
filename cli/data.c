/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of enum stream_format. */
static const char *const formats[] = {"auto", "svmlight", "csv", "tsv", "vw", "jsonl", "cache", NULL};
static const char *const bases[] = {"auto", "0", "1", NULL}, *const answers[] = {"fail", "skip", NULL};

const struct cli_option data_options[] = {
    {"format", 'f', "F", "auto", "svmlight, csv, tsv, vw, jsonl or cache; auto: told by the file",
     TO_WORD(struct stream_options, format, 0, formats)},
    {"label-column", 0, "C", NULL,
     "of csv and tsv: name or position, from 1; otherwise the column 'label', 'class' or 'y', or the last one",
     TO_TEXT(struct stream_options, label_column)},
    {"index-base", 0, "N", "auto",
     "of svmlight: the first feature is number 0 or 1; auto: 1, unless a feature 0 is seen at the beginning",
     TO_WORD(struct stream_options, index_base, -1, bases)},
    {"on-error", 0, "A", "fail", "fail at a malformed row, or skip and count such rows",
     TO_WORD(struct stream_options, skip_bad_rows, 0, answers)},
    {0}};

/* A name that looks like that of a data set rather than of a file. */
static void missing_hint(const char *name)
{
    const char *folders = getenv("HUNCH_DATA");
    if (!strchr(name, '/') && access(name, F_OK))
        fprintf(stderr, "hunch: %s is neither here nor in the folders of HUNCH_DATA (%s); see 'hunch data'\n", name,
                folders && *folders ? folders : "not set");
}

char **data_paths(char *const *names, size_t n)
{
    char **paths = cli_alloc(n, sizeof *paths);
    for (size_t i = 0; i < n; i++) {
        paths[i] = strcmp(names[i], "-") ? stream_find(names[i]) : NULL;
        /* what cannot be found is named in the message of whoever opens it */
        if (!paths[i]) {
            if (strcmp(names[i], "-") != 0)
                missing_hint(names[i]);
            paths[i] = strdup(names[i]);
        }
        if (!paths[i])
            exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    }
    return paths;
}

void data_free(char **paths, size_t n)
{
    for (size_t i = 0; paths && i < n; i++)
        free(paths[i]);
    free(paths);
}

void data_skipped(uint64_t rows)
{
    if (rows)
        fprintf(stderr, "hunch: %llu malformed row%s skipped\n", (unsigned long long)rows, rows == 1 ? "" : "s");
}

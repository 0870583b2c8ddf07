/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool format_take(const char *argument, struct stream_options *options)
{
    static const char *const words[] = {"auto", "svmlight", "csv", "tsv", "vw", "jsonl", "cache", NULL};
    static const enum stream_format formats[] = {STREAM_AUTO, STREAM_SVMLIGHT, STREAM_CSV,  STREAM_TSV,
                                                 STREAM_VW,   STREAM_JSONL,    STREAM_CACHE};
    int word = cli_word("format", argument, words);
    if (word >= 0)
        options->format = formats[word];
    return word >= 0;
}

bool data_option(int option, const char *argument, struct stream_options *options)
{
    static const char *const bases[] = {"0", "1", NULL}, *const answers[] = {"fail", "skip", NULL};
    int word;
    switch (option) {
    case DATA_FORMAT:
        return format_take(argument, options);
    case DATA_LABEL_COLUMN:
        options->label_column = argument;
        return true;
    case DATA_INDEX_BASE:
        word = cli_word("index-base", argument, bases);
        options->index_base = word;
        return word >= 0;
    default:
        word = cli_word("on-error", argument, answers);
        options->skip_bad_rows = word == 1;
        return word >= 0;
    }
}

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

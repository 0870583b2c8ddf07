/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of commands that read data, and their files. */
#ifndef DATA_H
#define DATA_H

#include "cli.h"
#include "stream.h"

/* Values of the options below; a command's own options start at DATA_END. */
enum { DATA_FORMAT = CLI_OWN, DATA_LABEL_COLUMN, DATA_INDEX_BASE, DATA_ON_ERROR, DATA_MAX_FEATURES, DATA_END };

/* clang-format off */
#define DATA_OPTIONS                                                \
    {"format", required_argument, NULL, DATA_FORMAT},               \
    {"label-column", required_argument, NULL, DATA_LABEL_COLUMN},   \
    {"index-base", required_argument, NULL, DATA_INDEX_BASE},       \
    {"on-error", required_argument, NULL, DATA_ON_ERROR}
/* clang-format on */

#define DATA_HELP                                                                                                      \
    "Data (FILE may be compressed; '-' is standard input; names are also looked for in HUNCH_DATA's folders):\n"       \
    "      --format F        svmlight, csv, tsv, vw, jsonl or cache; told by the file otherwise\n"                     \
    "      --label-column C  of csv and tsv: name or position, from 1\n"                                               \
    "      --index-base N    of svmlight: the first feature is number 0 or 1\n"                                        \
    "      --on-error A      fail at a malformed row, or skip and count such rows\n"

/* One of DATA_OPTIONS; false: its argument is bad, and the user has been told. */
bool data_option(int option, const char *argument, struct stream_options *options);

/* The files' paths, found where they are; free with data_free. */
char **data_paths(char *const *names, size_t n);
void data_free(char **paths, size_t n);
/* Tell of skipped rows. */
void data_skipped(uint64_t rows);

#endif

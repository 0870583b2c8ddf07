/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of commands that read data, and their files. */
#ifndef DATA_H
#define DATA_H

#include "cli.h"
#include "options.h"
#include "stream.h"

extern const struct cli_option data_options[]; /* for a struct stream_options */
#define DATA_TITLE "Data (files may be compressed; '-' is standard input; HUNCH_DATA is searched)"

/* The files' paths, found where they are; free with data_free. */
char **data_paths(char *const *names, size_t n);
void data_free(char **paths, size_t n);
/* Tell of skipped rows. */
void data_skipped(uint64_t rows);

#endif

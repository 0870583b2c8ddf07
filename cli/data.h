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
/* Tell of skipped rows and of whatever else was found out about the data. */
void data_remarks(const struct stream *stream);
/* --schema: read it where the file is there, write it where it is not. Both tell the user and return the exit code. */
int data_schema_load(struct stream_options *options);
int data_schema_save(const struct stream_options *options, const struct stream *stream);
/* On standard error: a line for each column. NULL is fine. */
void data_schema_print(const struct schema *schema);
/* The same as a section of a page. */
void data_schema_html(const struct schema *schema, FILE *out);

#endif

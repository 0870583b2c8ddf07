/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows out: as the path's ending says a cache (.hc), a table (.csv), JSON lines (.jsonl), VW text (.vw) or svmlight
 * text, written beside the path and renamed when all is there.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hunch.h"
#include "common/names.h"
#include "common/rows.h"

struct output;

/* What the numbers in rows mean; features NULL: they are called by their numbers, from base on. */
struct row_names {
    const struct names *labels, *features;
    uint32_t base;
};

/* path NULL or "-": text to standard output. compress: the cache's blocks with zstd. */
hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr);
/* names: those known by now; the labels' order goes into svmlight text before the first row. A table is kept in memory
 * until its columns are known. */
hunch_status output_add(struct output *o, const struct rows *rows, const struct row_names *names, hunch_error *reterr);
hunch_status output_finish(struct output *o, const struct row_names *names, hunch_error *reterr);
void output_free(struct output *o); /* NULL is fine; what was not finished is removed */
bool output_is_cache(const char *path);
/* A string of JSON, with its quotes; bytes that are no UTF-8 become U+FFFD. */
void text_write_string(FILE *file, const char *text);
/* A cell of CSV, quoted where it must be. */
void text_write_cell(FILE *file, const char *text);
/* The features of a row: {"name": value, ...}; index NULL: 0 .. n-1. */
void text_write_features(FILE *file, const uint32_t *index, const float *value, size_t n,
                         const struct row_names *names);

#endif

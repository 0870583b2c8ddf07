/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as JSON lines, VW text or a table. */
#ifndef TEXT_WRITE_H
#define TEXT_WRITE_H

#include <stdio.h>

#include "rows.h"
#include "names.h"

/* What the numbers in rows mean; features NULL: they are called by their numbers, from base on. */
struct row_names {
    const struct names *labels, *features;
    uint32_t base;
};

/* A string of JSON, with its quotes; bytes that are no UTF-8 become question marks. */
void text_write_string(FILE *file, const char *text);
/* The features of a row: {"name": value, ...}; index NULL: 0 .. n-1. */
void text_write_features(FILE *file, const uint32_t *index, const float *value, size_t n,
                         const struct row_names *names);
void jsonl_write(FILE *file, const struct rows *rows, const struct row_names *names);
/* Blanks, colons and bars in names become '_'. */
void vw_write(FILE *file, const struct rows *rows, const struct row_names *names);
/* All rows, under a header of width features and the label. */
void csv_write(FILE *file, const struct rows *rows, uint32_t width, const struct row_names *names);

#endif

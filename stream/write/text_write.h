/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as svmlight text, JSON lines, VW text or a table: for output.c. */
#ifndef TEXT_WRITE_H
#define TEXT_WRITE_H

#include "write/output.h"

/* "# labels: a b c": their order, for readers that number labels in the order of their appearance. */
hunch_status svmlight_write_labels(FILE *file, const struct names *labels, hunch_error *reterr);
hunch_status svmlight_write(FILE *file, const struct rows *batch, const struct names *labels, uint32_t index_base,
                            hunch_error *reterr);
void jsonl_write(FILE *file, const struct rows *rows, const struct row_names *names);
/* Blanks, colons and bars in names become '_'. */
void vw_write(FILE *file, const struct rows *rows, const struct row_names *names);
/* All rows, under a header of width features and the label. */
void csv_write(FILE *file, const struct rows *rows, uint32_t width, const struct row_names *names);

#endif

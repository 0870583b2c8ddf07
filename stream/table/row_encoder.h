/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that do not come from files: named cells, turned into features by a schema. */
#ifndef ROW_ENCODER_H
#define ROW_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

#include "hunch.h"
#include "common/names.h"
#include "common/rows.h"
#include "common/schema.h"

struct row_encoder;

struct row_cell {
    const char *name; /* of the column */
    const char *text;
    size_t length; /* of text; 0: missing */
};

/* Both are borrowed. features: names that are not there are added if grow is set, else left out; NULL if the schema
 * hashes. */
hunch_status row_encoder_new(struct row_encoder **ret, const struct schema *schema, struct names *features, bool grow,
                             hunch_error *reterr);
/* The features of one row into rows, which then holds nothing else; columns without a cell are missing, cells of labels
 * and of unknown columns are passed over. *ret_known (may be NULL): how many cells had a column. */
hunch_status row_encode(struct row_encoder *e, const struct row_cell *cells, size_t n, struct rows *rows,
                        size_t *ret_known, hunch_error *reterr);
void row_encoder_free(struct row_encoder *e); /* NULL is fine */

#endif

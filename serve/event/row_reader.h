/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows as a table has them, {"subject":"...","channel":"web"}, turned into examples by the schema that the model was
 * trained with: the tool's own reader (stream/) makes the features. The log keeps the example, so that no schema is
 * needed to read it back.
 */
#ifndef SERVE_ROW_READER_H
#define SERVE_ROW_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "util/http_error.h"
#include "util/text.h"

struct row_reader;

/* schema: as models keep it. */
bool row_reader_new(struct row_reader **ret, const char *schema, struct http_error *err);
void row_reader_free(struct row_reader *r); /* NULL is fine */

bool row_reader_hashes(const struct row_reader *r); /* features have numbers, not names */

/* The example as JSON, and the members that are no columns as an array of JSON, empty when there are none. Any thread.
 */
bool row_read(struct row_reader *r, const json_t *row, struct text *ret_x, struct text *ret_unknown,
              struct http_error *err);
/* The name of the first column of texts; NULL: there is none. */
const char *row_text_column(const struct row_reader *r);
/* The row's cell in the column of the label; NULL: there is none. */
const json_t *row_label(const struct row_reader *r, const json_t *row);

#endif

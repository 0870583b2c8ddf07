/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells to features, by a schema. */
#ifndef ENCODE_H
#define ENCODE_H

#include "table/csv_cell.h"
#include "table/parser.h"
#include "common/words.h"

#define ENCODER_NGRAMS 8 /* words in a run, at most */

struct encoder {
    struct parser *parser; /* whose names, options and schema are used */
    uint32_t *feature;     /* of each column: of its number; NAMES_NONE: not yet known */
    uint32_t *missing;     /* "name=missing" likewise */
    size_t n;
    struct csv_scratch key;
    struct words words;
    struct csv_scratch history; /* for n-grams: the text's words so far, a blank after each, and where they begin */
    size_t history_used, begins[ENCODER_NGRAMS];
};

hunch_status encoder_init(struct encoder *e, struct parser *p, hunch_error *reterr);
void encoder_free(struct encoder *e);
/* The number that column has without a name of its own making. */
hunch_status encoder_number(struct encoder *e, size_t column, uint32_t *ret, hunch_error *reterr);
/* The cell of the schema's column, between encoded_begin and parser_finish; length 0: it is missing. */
hunch_status encoder_cell(struct encoder *e, struct encoded *row, size_t column, const char *text, size_t length,
                          hunch_error *reterr);

#endif

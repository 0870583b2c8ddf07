/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rows of a table, looked at column by column, and the schema that they suggest. hunch-data(7) has the rules.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "schema.h"

/* What is known of a column's cells. */
struct sample_column {
    struct names *values; /* the different ones that are not missing */
    uint32_t *count;      /* of each */
    size_t count_capacity;
    size_t present, missing;
    size_t numbers, commas, integers; /* numbers as they are, with a decimal comma, whole ones */
    size_t codes;                     /* whole numbers with a leading zero */
    size_t dates, words;              /* words: in all cells together */
    struct names *odd;                /* values that are no numbers */
    double first, last;               /* number */
    bool steps;                       /* each number is the one before plus 1 */
    int32_t earliest;                 /* date */
};

struct sample {
    struct schema *schema; /* borrowed; its columns are those of the table */
    struct sample_column *columns;
    size_t n;
    size_t rows;
};

/* Room for the schema's columns as they are now. */
bool sample_grow(struct sample *s); /* false: out of memory */
bool sample_cell(struct sample *s, size_t column, const char *text, size_t length);
void sample_free(struct sample *s);

struct schema_known {
    const struct schema_options *options; /* NULL: none */
    const char *label;                    /* the label's column, by name or position; NULL: not told */
    const struct names *features;         /* of a model that has no schema; NULL or empty: none */
    bool log;                             /* the table is a log of rounds */
};

/* Gives every column its role. A message does not name the file. */
hunch_status sample_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr);

/* Whether a whole cell is a number; point: '.' or ','. */
bool cell_number(const char *text, size_t length, char point, double *ret);
/* Whether it is a date of ISO 8601, perhaps with a time of day; hour: -1 without. */
bool cell_date(const char *text, size_t length, int32_t *ret_day, double *ret_part, int *ret_hour);

#endif

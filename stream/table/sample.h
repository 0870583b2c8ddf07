/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rows of a table, looked at column by column, and the schema that they suggest. hunch-data(7) has the rules.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "common/schema.h"

/* What is known of a column's cells. */
struct sample_column {
    struct names *values; /* the different ones that are not missing */
    uint32_t *count;      /* of each */
    size_t counted, count_capacity;
    uint32_t *row; /* the number of each row's value; NAMES_NONE: missing */
    size_t rows, row_capacity;
    size_t present, missing;
    size_t numbers, commas; /* numbers if '.' is the decimal point, if ',' is */
    size_t marked, dotted;  /* cells with a comma, with a point */
    size_t integers, codes; /* whole numbers, those with a leading zero */
    size_t exponents;       /* written with one: 5.7E+17 */
    size_t infinite;        /* neither missing nor numbers: "inf", 1e400 */
    size_t dates[2];        /* dates if the day comes first, if the month does */
    size_t words;           /* in all cells together */
    size_t spelled;         /* cells with a letter */
    size_t nested;          /* of JSON: cells that are objects or arrays */
    struct names *odd;      /* values that are no numbers */
    double first, last;     /* number */
    double largest;         /* whatever its sign */
    bool steps;             /* each number of the first rows is the one before plus 1, */
    bool rises;             /* or larger than it, in all rows */
    int32_t earliest[2];    /* date, as dates */
};

struct sample {
    struct schema *schema; /* borrowed; its columns are those of the table */
    struct sample_column *columns;
    size_t n;
    size_t rows;
    bool gaps; /* the rows that come now do not follow one another in the file */
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

/* Parts of it, in roles.c: what the user says, what a log has, which column is the label. */
hunch_status roles_give(struct schema *s, const struct schema_known *known, hunch_error *reterr);
hunch_status log_decide(struct sample *s, hunch_error *reterr);
hunch_status label_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr);
/* The names of the columns that a list means. */
hunch_status columns_find(const struct schema *s, const char *list, const char *option, struct names **ret,
                          hunch_error *reterr);
void role_set(struct schema_column *c, enum role role, const char *why, ...) __attribute__((format(printf, 3, 4)));
/* The columns that go with the label one to one, value by value. */
hunch_status leaks_find(const struct sample *s, struct names *ret, hunch_error *reterr);
bool sample_is_text(const struct sample_column *c);
bool sample_is_date(const struct sample_column *c);

/* Whether a whole cell is a number, perhaps with groups of thousands, a percent or a currency sign; point: '.' or ','.
 */
bool cell_number(const char *text, size_t length, char point, double *ret);
/* "inf", "-Infinity", or a number that is too large to be held, such as 1e400. */
bool cell_is_infinite(const char *text, size_t length);

struct date {
    int32_t day;   /* since 1970-01-01 */
    double part;   /* of the day */
    int hour;      /* -1: no time is given */
    bool is_clock; /* a time alone: day is 0 */
};

/* Whether it is a date, perhaps with a time of day, or a time alone; order: 'd' or 'm', what stands first in 1/2/2024. */
bool cell_date(const char *text, size_t length, char order, struct date *ret);

#endif

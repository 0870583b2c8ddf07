/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows in CSR form: what readers fill, writers write and learners play. Start as {0}. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"

#define STREAM_NO_LABEL UINT32_MAX
#define STREAM_BAD_ROW (UINT32_MAX - 1) /* a row that could not be read */

/* What a log tells of a round, besides x and the label that was shown. */
struct row_log {
    double prob;         /* of the label shown, in (0, 1]; 0: not known */
    uint32_t truth;      /* the true label; or STREAM_NO_LABEL: unknown */
    uint32_t classes;    /* labels known at this row */
    int8_t right;        /* 1, 0; -1: unknown */
    bool unjudged;       /* learned from, but no policy is judged by it */
    size_t eligible;     /* the labels that could be shown: where they begin among the rows' own, */
    uint32_t eligible_n; /* and how many; 0: all */
};

/* Cells that go along with the rows as texts: n of each row. */
struct row_cells {
    char *bytes;
    size_t used, capacity;
    size_t *start; /* in bytes; those of row i begin at number i * n */
    size_t n, start_capacity;
};

/* What a feature is, from the row on in which it is there for the first time. */
struct row_role {
    uint32_t feature;
    hunch_role role;
};

struct rows {
    size_t n;
    int64_t *start;  /* n + 1 */
    uint32_t *index; /* strictly increasing within a row, 0-based */
    float *value;
    uint32_t *label;     /* or STREAM_NO_LABEL */
    uint64_t *line;      /* of each row in its file; NULL: not known */
    struct row_log *log; /* of logs; else NULL */
    struct row_cells cells;
    struct row_role *roles; /* of features that these rows brought, where that is known */
    size_t roles_n, roles_capacity;
    uint32_t *eligible; /* labels that the log's rounds refer to */
    size_t eligible_n, eligible_capacity;
    uint32_t file;  /* which of the stream's paths */
    size_t columns; /* not 0: dense, every row holds exactly the features 0 .. columns-1 */
    /* what the stream knew when it had read them */
    uint32_t classes, width; /* labels; largest feature index + 1 */
    uint64_t bytes;          /* of input */
    /* private */
    size_t rows_capacity, values_capacity, label_capacity, line_capacity, log_capacity;
    bool borrowed; /* start, index and value lie in a mapped cache */
};

/* Empty, and its own. */
void rows_clear(struct rows *rows);
void rows_free(struct rows *rows);
/* Room for that many rows and values in all; what is there stays. */
hunch_status rows_reserve(struct rows *rows, size_t n, size_t values, hunch_error *reterr);
/* Find out whether the rows are dense, once all are there. */
void rows_measure(struct rows *rows);
/* Room for that many labels alone: the rest is borrowed. */
hunch_status rows_reserve_labels(struct rows *rows, size_t n, hunch_error *reterr);
/* Sort the values from number begin to end, one row's; false: a feature occurs twice. */
bool rows_sort_row(struct rows *rows, size_t begin, size_t end);
/* Sort them, with those that are there twice added up, and leave out zeros and features UINT32_MAX; false: a sum is too
 * large. */
bool rows_merge_row(struct rows *rows, size_t begin, size_t *end);
hunch_status rows_add_role(struct rows *rows, uint32_t feature, hunch_role role, hunch_error *reterr);
/* One more label that could be shown in the round that comes next. */
hunch_status rows_add_eligible(struct rows *rows, struct row_log *log, uint32_t label, hunch_error *reterr);
hunch_status rows_reserve_log(struct rows *rows, size_t n, hunch_error *reterr);
/* from's rows behind those that are there; without line numbers. */
hunch_status rows_append(struct rows *rows, const struct rows *from, hunch_error *reterr);
/* from's rows number which[0], which[1] ... and nothing else; without line numbers. false: out of memory. */
bool rows_gather(struct rows *rows, const struct rows *from, const uint32_t *which, size_t n);
/* The next row has n cells, all empty so far; then, each at most once: */
hunch_status rows_cells_begin(struct rows *rows, size_t n, hunch_error *reterr);
hunch_status rows_cell_set(struct rows *rows, size_t cell, const char *text, size_t length, hunch_error *reterr);
const char *rows_cell(const struct rows *rows, size_t row, size_t cell);
/* Rows from .. to-1 as the library takes them. */
hunch_batch rows_batch(const struct rows *rows, size_t from, size_t to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A table that is being read: private to csv.c, which reads it, and csv_shape.c, which finds out about its form. */
#ifndef CSV_TABLE_H
#define CSV_TABLE_H

#include "table/encode.h"
#include "table/sample.h"

struct column {
    size_t at;        /* in the schema; UNKNOWN: not there */
    bool plain;       /* a number with a decimal point */
    uint32_t feature; /* of such */
    uint32_t with;    /* which of the cells that go along; NAMES_NONE: none */
};

struct csv {
    char delimiter;
    bool reported;         /* the roles of columns of numbers */
    bool header;           /* the first record is one */
    unsigned header_lines; /* with those below it that only name the columns again */
    unsigned lines_passed; /* of them */
    size_t cells;          /* of most of the first records */
    char *title;           /* the header's line, which may come again where files were put together; NULL: none */
    size_t title_length;
    size_t skip;       /* bytes before the first record: a mark, "sep=;", titles */
    bool extra;        /* records have an unnamed cell before those that the header names */
    bool broken_lines; /* records with line breaks inside cells were seen */
    int trailing;      /* 1: a delimiter ends records, but not the header; -1: the header alone; 0: both or neither */
    struct column *columns;
    size_t n, capacity;
    size_t *absent; /* columns of the schema that the file lacks */
    size_t absent_n;
    struct csv_scratch cell;
    struct encoder encoder;
};

uint64_t csv_lines(const char *text, const char *newline);
bool csv_is_empty(const char *text, const char *newline);
/* A line that begins with # and has not as many cells as its table has columns, or the header once more. */
bool csv_is_comment(struct csv *csv, const char *text, const char *newline);
bool csv_title_keep(struct csv *csv, const char *text, const char *newline);
bool csv_is_title(const struct csv *csv, const char *text, const char *newline);
/* Blanks around a cell mean nothing unless they are quoted. */
void csv_trim(struct csv_cell *cell);
/* The separator: as the user says, as the format has it, or as the text tells. */
hunch_status csv_delimiter(struct parser *p, struct csv *csv, char fallback, const char *text, const char *end,
                           hunch_error *reterr);
/* Where the text begins after a mark and a line "sep=;", and where the table does after titles. */
const char *csv_begin_skip(struct csv *csv, const char *text, const char *end);
const char *csv_preamble_skip(struct csv *csv, const char *text, const char *end);
/* Whether the record from text to newline is a header, and how its cells lie above those of the records below. */
hunch_status csv_find_header(struct csv *csv, const struct schema *s, const char *text, const char *newline,
                             const char *end, hunch_error *reterr);
hunch_status csv_find_second_header(struct csv *csv, const struct schema *s, const char *text, const char *end,
                                    hunch_error *reterr);
const char *csv_rows_begin(struct csv *csv, const char *text, const char *newline, const char *end);
void csv_find_extra(struct csv *csv, const char *text, const char *newline, const char *end);
/* The cells of the records from *text on, until the sample has max rows; *text moves behind them. */
hunch_status csv_look(struct csv *csv, struct sample *sample, size_t max, const char **text, const char *end,
                      hunch_error *reterr);
/* Those of up to max lines at even distances, where a line is a record. */
hunch_status csv_look_further(struct csv *csv, struct sample *sample, size_t max, const char *text, const char *end,
                              hunch_error *reterr);

#endif

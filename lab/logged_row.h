/* SPDX-License-Identifier: BSD-3-Clause */
/* What the readers of logs share. Private to lab/. */
#ifndef LOGGED_ROW_H
#define LOGGED_ROW_H

#include <sqlite3.h>

#include "csv.h"
#include "input.h"
#include "jsonl.h"
#include "lines.h"
#include "logged.h"

enum column { COLUMN_IGNORED, COLUMN_FEATURE, COLUMN_LABEL, COLUMN_PROB, COLUMN_RIGHT, COLUMN_TRUTH, COLUMN_X };

struct table {
    struct csv_scratch scratch, text;
    enum column *kind;
    char **name;
    size_t columns;
    char delimiter;
};

/* One format of text: the line at text, which ends with a newline, as a row. *ret_answered false: no one said whether
 * the label was right. */
struct logged;
typedef hunch_status line_read(struct logged *l, const char *text, size_t size, struct logged_row *ret,
                               bool *ret_answered, hunch_error *reterr);

struct logged {
    struct logged_options options;
    char **paths;
    size_t n, file; /* the one that is open, or the next */
    struct names *labels, *features;
    struct parser json, vw; /* both with the names above */
    struct stream_options stream;
    struct rows batch; /* of one row */
    uint32_t *number;  /* numbered: of each name, NAMES_NONE: not yet known */
    uint32_t numbers, width;
    uint64_t unanswered, skipped, done_bytes;
    unsigned hash_bits; /* of the server's log: names are hashed into 2^hash_bits; 0: they are not */
    /* text */
    struct input *input;
    struct lines lines;
    line_read *read;
    struct table table;
    uint64_t line;
    /* the server's log */
    sqlite3 *db;
    sqlite3_stmt *statement;
    uint32_t *label_map; /* from numbers in the file */
    uint32_t label_maps;
};

/* Where a message's line is. */
void logged_at(struct logged *l, uint64_t line);

line_read logged_vw, logged_json, logged_table;
/* The first line of a table. */
hunch_status logged_header(struct logged *l, const char *text, const char *newline, hunch_error *reterr);
/* x as JSON text, "x" of an object or what the server keeps. Appends to the batch. */
hunch_status logged_json_x(struct logged *l, const char *text, size_t size, hunch_error *reterr);
/* Checks and keeps what was said: right by itself (-1: not told) or by the true label. */
hunch_status logged_answer(struct logged *l, struct logged_row *row, int right, bool *ret_answered,
                           hunch_error *reterr);
hunch_status logged_prob(struct logged *l, double prob, struct logged_row *row, hunch_error *reterr);

bool logged_is_server(const char *path);
hunch_status logged_server_open(struct logged *l, const char *path, hunch_error *reterr);
hunch_status logged_server_next(struct logged *l, struct logged_row *ret, bool *ret_more, bool *ret_answered,
                                hunch_error *reterr);
void logged_server_close(struct logged *l);

#endif

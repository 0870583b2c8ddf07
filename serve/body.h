/* SPDX-License-Identifier: BSD-3-Clause */
/* Request bodies: one JSON object, a JSON array of objects, or one object per line. */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "problem.h"
#include "serve.h"

enum body_form { BODY_ONE, BODY_ARRAY, BODY_LINES };

struct body {
    enum body_form form;
    const char *text;
    size_t length;
    const struct limits *limits;
    json_t *json; /* of BODY_ONE and BODY_ARRAY, of the current line of BODY_LINES */
    size_t at;    /* bytes read so far */
    size_t item, line;
};

/* One item: its JSON (borrowed until the next) and its text in the body. */
struct body_item {
    json_t *json;
    const char *text;
    size_t length;
};

enum body_next { BODY_END, BODY_ITEM, BODY_BAD };

/* Strict JSON: UTF-8, no duplicate members, no NaN, limited depth. */
json_t *json_read(const char *text, size_t length, unsigned depth, struct problem *p);

bool body_open(struct body *b, const char *text, size_t length, bool lines, const struct limits *limits,
               struct problem *p);
/* BODY_BAD tells of one bad line (BODY_LINES only); the lines after it can still be read. */
enum body_next body_next(struct body *b, struct body_item *ret, struct problem *p);
/* BODY_LINES in two steps: the next line that is not blank, and its JSON when it takes a parser. */
enum body_next body_line(struct body *b, struct body_item *ret, struct problem *p);
bool body_line_read(struct body *b, struct body_item *line, struct problem *p);
void body_close(struct body *b);

/* The text of a member of an object that json_read has accepted, as the client wrote it; false: not found under its
 * plain spelling. */
bool body_member(const char *text, size_t length, const char *name, const char **ret, size_t *ret_length);

#endif

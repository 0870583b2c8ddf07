/* SPDX-License-Identifier: BSD-3-Clause */
/* Request bodies: one JSON object, a JSON array of objects, or one object per line; cut into the texts of their items.
 * items.h reads those. */
#ifndef SERVE_BODY_H
#define SERVE_BODY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/http_error.h"
#include "util/serve_options.h"

enum body_form { BODY_ONE, BODY_ARRAY, BODY_LINES };

struct body {
    enum body_form form;
    const char *text;
    size_t length;
    const struct limits *limits;
    json_t *json; /* of BODY_ARRAY */
    size_t at;    /* bytes read so far */
    size_t item, line;
};

/* One item: its text in the body and, once it took a parser, its JSON. */
struct body_item {
    json_t *json; /* owned; NULL: not parsed yet */
    const char *text;
    size_t length;
    const struct body *body;
};

enum body_next { BODY_END, BODY_ITEM, BODY_BAD };

/* Once, before any JSON is read: memory that runs out while reading is reported as that. */
void json_watch_memory(void);

/* Strict JSON: UTF-8, no duplicate members, no NaN, limited depth. */
json_t *json_read(const char *text, size_t length, unsigned depth, struct http_error *err);

bool body_open(struct body *b, const char *text, size_t length, bool lines, const struct limits *limits,
               struct http_error *err);
/* BODY_BAD: one item too many (BODY_LINES); that was the last. */
enum body_next body_next(struct body *b, struct body_item *ret, struct http_error *err);
size_t body_items_max(const struct body *b);
void body_close(struct body *b);

/* Parses the item unless that is done; errors are placed in the body. */
bool body_item_parse(struct body_item *item, struct http_error *err);
void body_item_free(struct body_item *item);

/* The text of a member of an object that json_read has accepted, as the client wrote it; false: not found under its
 * plain spelling. */
bool body_member(const char *text, size_t length, const char *name, const char **ret, size_t *ret_length);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON objects as rows, for readers that find them elsewhere than in lines of their own. */
#ifndef JSONL_H
#define JSONL_H

#include <jansson.h>

#include "parser.h"

/* The object that text is; NULL: it is none, and *reterr tells where and why. A new reference. */
json_t *jsonl_read(const struct parser *p, const char *text, size_t size, hunch_error *reterr);
/* Append the row of an object with "x" (or "index" and "value") and perhaps "label". format_jsonl.begin must have been
 * called on the parser. */
hunch_status jsonl_append(struct parser *p, json_t *object, struct rows *out, hunch_error *reterr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON of the plain kind in one pass over the text, without a tree: objects whose keys and strings have no escapes. What
 * is valid and not of that kind, and what is not valid, is "unsupported": Jansson reads it, and says what is wrong. What
 * the scanner accepts, Jansson reads in the same way.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind {
    JSON_VALUE_STRING,
    JSON_VALUE_NUMBER,
    JSON_VALUE_WORD, /* true or false */
    JSON_VALUE_NULL,
    JSON_VALUE_OBJECT, /* text: its brace; the caller scans it, or skips it, and sets at behind it */
    JSON_VALUE_ARRAY
};

struct json_value {
    enum json_kind kind;
    const char *text; /* of a string without its quotes */
    size_t length;
    bool whole; /* of a number: digits only */
};

struct json_scan {
    const char *at, *end;
    const char *key;
    size_t key_length;
    bool first, unsupported;
};

/* The object in the text up to end. false: the text does not begin with one. */
bool json_scan_begin(struct json_scan *s, const char *text, const char *end);
/* The next member; false: the object has ended (at is behind it), or is unsupported. */
bool json_scan_next(struct json_scan *s, struct json_value *ret);
/* Nothing but blanks up to the end. */
bool json_scan_ended(const struct json_scan *s);

const char *json_blanks_skip(const char *text, const char *end);
/* Where the value at text ends: at the comma, the colon, the bracket or the end behind it; or at the opening bracket that
 * nests deeper than max_depth. For text that is valid JSON, or that a parser has yet to judge. */
const char *json_value_end(const char *text, const char *end, unsigned max_depth);

/* A string with its quotes, piece by piece. Bytes that are no UTF-8 become U+FFFD. */
typedef void json_sink(void *to, const char *bytes, size_t n);
void json_quote(json_sink *put, void *to, const char *text, size_t n);

#endif

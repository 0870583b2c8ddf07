/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON objects read where they stand: keys and strings without escapes, numbers, true, false and null. Whatever else
 * comes (escapes, control characters, bytes that are no UTF-8, mistakes) is odd, and for a full reader to judge.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind {
    JSON_VALUE_STRING,
    JSON_VALUE_NUMBER,
    JSON_VALUE_WORD, /* true or false */
    JSON_VALUE_NULL,
    JSON_VALUE_OBJECT, /* text: its brace; the caller scans it and sets at behind it */
    JSON_VALUE_ARRAY
};

struct json_value {
    enum json_kind kind;
    const char *text; /* of a string without its quotes */
    size_t length;
    bool whole; /* of a number: digits only, of a reasonable length */
};

struct json_scan {
    const char *at;
    const char *key;
    size_t key_length;
    bool first, odd;
};

/* text ends with a newline somewhere. false: it does not begin with an object. */
bool json_scan_begin(struct json_scan *s, const char *text);
/* The next member; false: the object has ended (at is behind it), or something is odd. */
bool json_scan_next(struct json_scan *s, struct json_value *ret);
/* Nothing but blanks up to the newline. */
bool json_scan_ended(const struct json_scan *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in other encodings to UTF-8. */
#ifndef UNICODE_H
#define UNICODE_H

#include <stdbool.h>
#include <stddef.h>

enum encoding {
    ENCODING_OPEN, /* all so far was ASCII */
    ENCODING_UTF8,
    ENCODING_WINDOWS, /* code page 1252, of which Latin-1's characters are a part */
    ENCODING_UTF16LE,
    ENCODING_UTF16BE
};

#define UNICODE_GROWTH 3 /* bytes that one may become */

/* Where the first byte beyond ASCII is; n: nowhere. */
size_t unicode_beyond_ascii(const char *text, size_t n);
bool unicode_is_utf8(const char *text, size_t n);
/* n bytes of text to out, which has room for UNICODE_GROWTH times as many. Returns how many were written; *ret_used:
 * how many were read, fewer than n if a character goes on beyond them. What is no character becomes U+FFFD. */
size_t unicode_convert(enum encoding from, const char *text, size_t n, char *out, size_t *ret_used);

#endif

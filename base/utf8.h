/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at text, of which n bytes (at least one) are there; 0: it is none. */
static inline size_t utf8_length(const unsigned char *text, size_t n)
{
    unsigned char c = text[0];
    size_t length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* longer than need be, a surrogate, or beyond U+10FFFF */
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) || (c == 0xf0 && text[1] < 0x90) ||
        (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

#endif

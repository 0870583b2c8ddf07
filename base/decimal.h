/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decimal text to float, correctly rounded (to nearest, ties to even), eight digits at a time.
 *
 * Grammar: [+-] digits [. digits] [e [+-] digits], at least one digit before the exponent. No nan, inf or hexadecimal.
 * What follows the number is the caller's business, but DECIMAL_PADDING bytes after the number's first non-number
 * character must be readable.
 *
 * Why it is exact: a mantissa below 2^53 and a power of ten up to 10^22 are exact doubles, so their quotient is the
 * correctly rounded double. Rounding that once more to float goes wrong only when the double is exactly half way
 * between two floats, which is one comparison to see; such numbers take the slow road.
 */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DECIMAL_PADDING 32

/* 10^0 .. 10^22: those that a double holds exactly. */
extern const double decimal_powers[23];

/* Any number of the grammar: returns where it ends, or NULL when there is none (*ret is 0 then). A number that is too
 * large for a float is infinite. */
const char *decimal_read_any(const char *text, float *ret);

#define DECIMAL_ZEROS UINT64_C(0x3030303030303030)

/* Eight characters, the first one in the lowest byte, so that '0'..'9' become 0..9. */
static inline uint64_t decimal_load(const char *text)
{
    uint64_t word;
    memcpy(&word, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word ^ DECIMAL_ZEROS;
}

/* How many of the eight are digits before the first that is not. Carries of the addition only reach beyond it. */
static inline unsigned decimal_count(uint64_t word)
{
    uint64_t other = ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
    return other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
}

static inline bool decimal_is_digits(uint64_t word)
{
    return (((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080)) == 0;
}

/* The number that eight digits make. */
static inline uint32_t decimal_eight(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return (uint32_t)(((word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
                       ((word >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)) >>
                      32);
}

/* The number that the first count digits (1 .. 8) make. */
static inline uint32_t decimal_value(uint64_t word, unsigned count)
{
    return decimal_eight(word << (64 - 8 * count));
}

/* False when value is half way between two floats, or near it in the range where floats have fewer bits. */
static inline bool decimal_narrow(double value, float *ret)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    *ret = (float)value;
    return (bits & 0x1fffffff) != 0x10000000;
}

/* As decimal_read_any, with a short way for the usual forms: up to 7 digits on each side of the point. */
static inline const char *decimal_read(const char *text, float *ret)
{
    const char *p = text + (*text == '-');
    uint64_t word = decimal_load(p);
    unsigned count = decimal_count(word);
    double value;
    if (count - 1 > 6)
        return decimal_read_any(text, ret);
    p += count;
    if (*p == '.') {
        uint64_t next = decimal_load(p + 1);
        unsigned more = decimal_count(next);
        if (more - 1 > 6)
            return decimal_read_any(text, ret);
        /* decimal_powers and not an integer table: one table stays in the cache, and the product is exact */
        if (count + more <= 8)
            value = (double)decimal_value((word & ((UINT64_C(1) << 8 * count) - 1)) | next << 8 * count, count + more);
        else
            value = (double)decimal_value(word, count) * decimal_powers[more] + (double)decimal_value(next, more);
        value /= decimal_powers[more];
        p += more + 1;
    } else {
        value = (double)decimal_value(word, count);
    }
    if ((*p | 0x20) == 'e' || !decimal_narrow(*text == '-' ? -value : value, ret))
        return decimal_read_any(text, ret);
    return p;
}

#endif

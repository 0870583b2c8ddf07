/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair and the blank after it, when they fit into 16 bytes. One load and three comparisons find the colon, the
 * point and the end, so the next pair's place is known after a short chain of instructions and the conversions of
 * several pairs overlap. The digits of the index and of the fraction are put side by side, eight each, and become
 * numbers together.
 */
#include "common/pairs.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "base/decimal.h"

#define NONE 0x80 /* to _mm_shuffle_epi8: a zero */

/* From byte c on: 8 - c zeros, then bytes 0 .. c-1 of the text. */
static const unsigned char index_places[16] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7};
/* From byte f on: bytes f .. f+7 of the text, as far as there are any. */
static const unsigned char fraction_places[25] = {0,  1,  2,  3,    4,    5,    6,    7,    8,    9,    10,   11,  12,
                                                  13, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};
/* From byte 16 - e on: e times all bits, then none. */
static const unsigned char before_end[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                             255, 255, 255, 255, 255, 255, 255, 255};

/* The first eight of the 16 digits as the low half, the others as the high half. */
__attribute__((target("avx2,bmi,bmi2"))) static inline uint64_t digits_convert(__m128i digits)
{
    const __m128i tens = _mm_set1_epi16(0x010a), hundreds = _mm_set1_epi32(0x00010064);
    const __m128i thousands = _mm_set1_epi32(0x00012710);
    __m128i twos = _mm_maddubs_epi16(digits, tens), fours = _mm_madd_epi16(twos, hundreds);
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), thousands);
    return (uint64_t)_mm_cvtsi128_si64(eights);
}

/* mantissa / 10^8, negated without a branch; false: half way between two floats. */
__attribute__((target("avx2,bmi,bmi2"))) static inline bool number_make(uint64_t mantissa, uint64_t minus, float *ret)
{
    double number = (double)(int64_t)mantissa / 1e8;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bool exact = (bits & 0x1fffffff) != 0x10000000;
    bits ^= minus << 63;
    memcpy(&number, &bits, sizeof number);
    *ret = (float)number;
    return exact;
}

__attribute__((target("avx2,bmi,bmi2"))) const char *pairs_read_avx2(const char *p, struct pairs *pairs)
{
    uint32_t *index = pairs->index;
    float *value = pairs->value;
    size_t n = pairs->n;
    int64_t previous = pairs->previous;
    const uint32_t base = pairs->base;
    for (const char *token = p + (*p == ' ');; token = p + 1) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)token);
        unsigned blanks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(' ')), text));
        unsigned colons = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(':')));
        unsigned points = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
        size_t end = _tzcnt_u32(blanks), colon = _tzcnt_u32(colons);
        size_t point = _tzcnt_u32(points | blanks); /* the end when there is none */
        uint64_t minus = token[colon + 1] == '-';
        size_t first = colon + 1 + minus, whole = point - first, fraction = end - point - (point < end);
        if (__builtin_expect((end > 15) | (colon - 1 > 7) | (whole - 1 > 6) | (fraction > 8), 0))
            break;
        const char after = token[end];
        if (__builtin_expect((after != ' ') & (after != '\n'), 0))
            break;
        __m128i places =
            _mm_unpacklo_epi64(_mm_loadu_si64(index_places + colon), _mm_loadu_si64(fraction_places + point + 1));
        __m128i keep = _mm_loadu_si128((const __m128i *)(const void *)(before_end + 16 - end));
        __m128i digits = _mm_and_si128(_mm_sub_epi8(text, _mm_set1_epi8('0')), keep);
        digits = _mm_shuffle_epi8(digits, places);
        __m128i over = _mm_subs_epu8(digits, _mm_set1_epi8(9));
        uint64_t left = (unsigned char)(token[first] - '0');
        if (whole > 1) {
            uint64_t word = decimal_load(token + first) << (64 - 8 * whole);
            left = decimal_is_digits(word) ? decimal_eight(word) : UINT64_MAX;
        } else if (left > 9) {
            break;
        }
        uint64_t both = digits_convert(digits);
        uint32_t at = (uint32_t)both;
        if (__builtin_expect(!_mm_testz_si128(over, over) || left == UINT64_MAX || at <= previous, 0))
            break;
        uint64_t mantissa = left * 100000000 + (both >> 32); /* below 10^15 */
        if (__builtin_expect(!number_make(mantissa, minus, &value[n]), 0))
            break;
        index[n] = at - base;
        n += mantissa != 0;
        previous = at;
        p = token + end;
        if (after == '\n')
            break;
    }
    pairs->n = n;
    pairs->previous = previous;
    return p;
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/unicode.h"

#include <stdint.h>
#include <string.h>
#include <unistr.h>

#define REPLACEMENT 0xfffd

size_t unicode_beyond_ascii(const char *text, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t word[8], all = 0;
        memcpy(word, text + i, 64);
        for (int j = 0; j < 8; j++)
            all |= word[j];
        if (all & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < n && (unsigned char)text[i] < 0x80)
        i++;
    return i;
}

bool unicode_is_utf8(const char *text, size_t n)
{
    return !u8_check((const uint8_t *)text, n);
}

/* The characters that Windows has where Latin-1 has control codes; five places are free. */
static const uint16_t windows[32] = {0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                     0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
                                     0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                     0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

/* One character; how many bytes it has, 0: more than the n that are there. */
static size_t character_read(enum encoding from, const unsigned char *text, size_t n, ucs4_t *ret)
{
    unsigned high = from == ENCODING_UTF16BE ? 0 : 1, low = 1 - high;
    if (from == ENCODING_WINDOWS) {
        *ret = *text >= 0x80 && *text < 0xa0 ? windows[*text - 0x80] : *text;
        return 1;
    }
    if (n < 2)
        return 0;
    ucs4_t first = (ucs4_t)text[high] << 8 | text[low];
    *ret = first;
    if (first < 0xd800 || first > 0xdfff)
        return 2;
    if (first < 0xdc00 && n < 4)
        return 0;
    ucs4_t second = first < 0xdc00 ? (ucs4_t)text[2 + high] << 8 | text[2 + low] : 0;
    if (second < 0xdc00 || second > 0xdfff) {
        *ret = REPLACEMENT;
        return 2;
    }
    *ret = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    return 4;
}

size_t unicode_convert(enum encoding from, const char *text, size_t n, char *out, size_t *ret_used)
{
    size_t used = 0, written = 0;
    while (used < n) {
        ucs4_t character;
        size_t size = character_read(from, (const unsigned char *)text + used, n - used, &character);
        if (size == 0)
            break;
        used += size;
        if (character != 0xfeff || written || used != size) /* the mark at the beginning */
            written += (size_t)u8_uctomb((uint8_t *)out + written, character, 6);
    }
    *ret_used = used;
    return written;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libunistring knows the segments and the lower case of every script; ASCII, most of what there is, has a short way
 * that gives the same words. Bytes that are no UTF-8 are taken as Latin-1.
 */
#include "common/words.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

enum { LETTER = 1, DIGIT = 2, JOINER = 4, WORD = 7, MID_LETTER = 8, MID_DIGIT = 16 };

/* What the bytes of ASCII are; the rest are nothing. */
static const unsigned char kinds[256] = {
    ['0' ... '9'] = DIGIT,
    ['A' ... 'Z'] = LETTER,
    ['a' ... 'z'] = LETTER,
    ['_'] = JOINER,
    ['.'] = MID_LETTER | MID_DIGIT,
    ['\''] = MID_LETTER | MID_DIGIT,
    [':'] = MID_LETTER,
    [','] = MID_DIGIT,
    [';'] = MID_DIGIT,
};

static bool is_ascii(const char *text, size_t size)
{
    uint64_t all = 0, word;
    for (; size >= 8; text += 8, size -= 8) {
        memcpy(&word, text, 8);
        all |= word;
    }
    for (; size; text++, size--)
        all |= (unsigned char)*text;
    return !(all & UINT64_C(0x8080808080808080));
}

void words_free(struct words *w)
{
    free(w->lower);
    free(w->breaks);
    *w = (struct words){0};
}

/* Bytes that are no UTF-8 become the characters that they are in Latin-1. NULL: out of memory. */
static uint8_t *text_repair(const char *text, size_t size, size_t *ret_size)
{
    uint8_t *good = malloc(2 * size + 1);
    size_t n = 0;
    for (size_t i = 0; good && i < size;) {
        ucs4_t c;
        int length = u8_mbtoucr(&c, (const uint8_t *)text + i, size - i);
        if (length > 0) {
            memcpy(good + n, text + i, (size_t)length);
            n += (size_t)length;
            i += (size_t)length;
        } else {
            unsigned char byte = (unsigned char)text[i++];
            good[n++] = (uint8_t)(0xc0 | byte >> 6);
            good[n++] = (uint8_t)(0x80 | (byte & 0x3f));
        }
    }
    *ret_size = n;
    return good;
}

bool words_begin_any(struct words *w, const char *text, size_t size)
{
    uint8_t *repaired = NULL;
    words_free(w);
    if (u8_check((const uint8_t *)text, size)) {
        repaired = text_repair(text, size, &size);
        if (!repaired)
            return false;
        text = (const char *)repaired;
    }
    size_t length = 0;
    w->lower = u8_tolower((const uint8_t *)text, size, NULL, UNINORM_NFC, NULL, &length);
    free(repaired);
    w->breaks = w->lower ? malloc(length + 1) : NULL;
    if (!w->breaks) {
        words_free(w);
        return size == 0;
    }
    u8_wordbreaks(w->lower, length, w->breaks);
    w->text = (const char *)w->lower;
    w->end = w->text + length;
    return true;
}

bool words_begin(struct words *w, const char *text, size_t size)
{
    if (!is_ascii(text, size))
        return words_begin_any(w, text, size);
    if (w->lower)
        words_free(w);
    w->text = text;
    w->end = text + size;
    return true;
}

size_t words_room(const struct words *w)
{
    return (size_t)(w->end - w->text) + 8; /* which are written at a time */
}

static bool has_letter(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        ucs4_t c;
        int length = u8_mbtouc(&c, text + i, size - i);
        if (uc_is_general_category_withtable(c, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N))
            return true;
        i += length > 0 ? (size_t)length : 1;
    }
    return false;
}

__attribute__((noinline)) static size_t next_any(struct words *w, char *word) /* apart: it would slow the other */
{
    while (w->text < w->end) {
        const char *begin = w->text, *stop = begin + 1;
        const char *mark = w->breaks + (begin - (const char *)w->lower);
        while (stop < w->end && !mark[stop - begin])
            stop++;
        w->text = stop;
        size_t length = (size_t)(stop - begin);
        if (has_letter((const uint8_t *)begin, length)) {
            memcpy(word, begin, length);
            return length;
        }
    }
    return 0;
}

/* Whether the mark at p stands between two letters or two digits where it belongs to a word. */
static bool is_inside(const char *p, const char *end)
{
    unsigned kind = kinds[(unsigned char)*p], last = kinds[(unsigned char)p[-1]];
    return kind && p + 1 < end && last == kinds[(unsigned char)p[1]] &&
           ((kind & MID_LETTER && last == LETTER) || (kind & MID_DIGIT && last == DIGIT));
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The letters and digits at p, in lower case, eight at a time while there are as many bytes left; how many they are. */
static size_t run_copy(const char *p, const char *end, char *out)
{
    size_t n = 0;
    while (end - p >= 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        uint64_t text;
        memcpy(&text, p, 8);
        uint64_t low = text | EACH(0x20); /* all bytes are below 0x80, so sums stay within theirs */
        uint64_t letters = (low + EACH(0x80 - 'a')) & ~(low + EACH(0x7f - 'z')) & EACH(0x80);
        uint64_t digits = (text + EACH(0x80 - '0')) & ~(text + EACH(0x7f - '9')) & EACH(0x80);
        uint64_t other = ~(letters | digits) & EACH(0x80);
        text |= letters >> 2;
        memcpy(out + n, &text, 8);
        size_t run = other ? (size_t)__builtin_ctzll(other) >> 3 : 8;
        n += run;
        p += run;
        if (other)
            break;
    }
    return n;
}

/* Runs of letters, digits and '_' (but not of '_' alone), and the marks that may stand within. */
static size_t next_ascii(struct words *w, char *word)
{
    const char *p = w->text, *end = w->end;
    size_t n = 0, lines = 0;
    while (n == lines && p < end) {
        while (p < end && !(kinds[(unsigned char)*p] & WORD))
            p++;
        n = run_copy(p, end, word);
        for (p += n; p < end; p++) {
            unsigned char c = (unsigned char)*p;
            unsigned kind = kinds[c];
            if (!(kind & WORD) && !is_inside(p, end))
                break;
            word[n++] = (char)(c | (kind & LETTER) << 5);
        }
        for (lines = 0; lines < n && word[lines] == '_';)
            lines++;
    }
    w->text = p;
    return n == lines ? 0 : n;
}

size_t words_next(struct words *w, char *word)
{
    return w->lower ? next_any(w, word) : next_ascii(w, word);
}

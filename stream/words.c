/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libunistring knows the segments and the lower case of every script; ASCII, most of what there is, has a short way
 * that gives the same words. Bytes that are no UTF-8 are taken as Latin-1.
 */
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>
#include <uniwbrk.h>

enum { OTHER, LETTER = 1, DIGIT = 2, JOINER = 4, MID_LETTER = 8, MID_DIGIT = 16 };

static unsigned kind_of(unsigned char c)
{
    if ((unsigned)(c | 0x20) - 'a' < 26)
        return LETTER;
    if ((unsigned)c - '0' < 10)
        return DIGIT;
    switch (c) {
    case '_':
        return JOINER;
    case '.':
    case '\'':
        return MID_LETTER | MID_DIGIT;
    case ':':
        return MID_LETTER;
    case ',':
    case ';':
        return MID_DIGIT;
    default:
        return OTHER;
    }
}

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
    return (size_t)(w->end - w->text) + 1;
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

static size_t next_any(struct words *w, char *word)
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

/* Runs of letters, digits and '_'; between two letters or two digits certain marks belong to the word too. */
static size_t next_ascii(struct words *w, char *word)
{
    const char *p = w->text, *end = w->end;
    for (;;) {
        size_t n = 0;
        unsigned seen = 0, last = 0;
        while (p < end && !(kind_of((unsigned char)*p) & (LETTER | DIGIT | JOINER)))
            p++;
        for (; p < end; p++) {
            unsigned char c = (unsigned char)*p;
            unsigned kind = kind_of(c);
            if (!(kind & (LETTER | DIGIT | JOINER))) {
                unsigned next = p + 1 < end ? kind_of((unsigned char)p[1]) : OTHER;
                bool inside = (kind & MID_LETTER && last == LETTER && next == LETTER) ||
                              (kind & MID_DIGIT && last == DIGIT && next == DIGIT);
                if (!inside)
                    break;
            }
            word[n++] = (char)((unsigned)c - 'A' < 26 ? c | 0x20 : c);
            seen |= kind;
            last = kind;
        }
        if (n == 0 || seen & (LETTER | DIGIT)) {
            w->text = p;
            return n;
        }
    }
}

size_t words_next(struct words *w, char *word)
{
    return w->lower ? next_any(w, word) : next_ascii(w, word);
}

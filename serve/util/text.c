/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "util/text.h"

bool text_room(struct text *t, size_t more)
{
    if (t->failed)
        return false;
    if (t->capacity - t->length > more) /* one byte stays for the NUL */
        return true;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity - t->length <= more) {
        if (capacity > SIZE_MAX / 2) {
            t->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *data = realloc(t->data, capacity);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_add(struct text *t, const void *bytes, size_t n)
{
    if (!text_room(t, n))
        return;
    if (n)
        memcpy(t->data + t->length, bytes, n);
    t->length += n;
    assert(t->length < t->capacity);
    t->data[t->length] = 0;
}

void text_puts(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_printf(struct text *t, const char *format, ...)
{
    char small[512];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof small) {
        text_add(t, small, (size_t)n);
    } else if (text_room(t, (size_t)n)) {
        va_start(list, format);
        vsnprintf(t->data + t->length, (size_t)n + 1, format, list);
        va_end(list);
        t->length += (size_t)n;
    }
}

/* Bytes of the UTF-8 character at s; 0: it is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t length = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

void text_quote(struct text *t, const char *s, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t from = 0;
    text_add(t, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\')
            continue;
        size_t length = c < 0x80 ? 0 : utf8_length((const unsigned char *)s + i, n - i);
        if (length) {
            i += length - 1;
            continue;
        }
        text_add(t, s + from, i - from);
        from = i + 1;
        if (c >= 0x80)
            text_add(t, "\\ufffd", 6);
        else if (c == '"' || c == '\\') {
            char two[2] = {'\\', (char)c};
            text_add(t, two, 2);
        } else {
            char six[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            text_add(t, six, 6);
        }
    }
    text_add(t, s + from, n - from);
    text_add(t, "\"", 1);
}

void text_number(struct text *t, double v)
{
    if (v == 1.0) {
        text_add(t, "1.0", 3);
        return;
    }
    if (!isfinite(v)) { /* JSON has no word for it */
        text_add(t, "null", 4);
        return;
    }
    char digits[NUMBER_TEXT];
    text_add(t, digits, number_print(v, digits));
    if (!strpbrk(digits, ".e"))
        text_add(t, ".0", 2);
}

void text_free(struct text *t)
{
    free(t->data);
    *t = (struct text){0};
}

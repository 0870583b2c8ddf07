/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
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

static void quoted_add(void *text, const char *bytes, size_t n)
{
    text_add(text, bytes, n);
}

void text_quote(struct text *t, const char *s, size_t n)
{
    json_quote(quoted_add, t, s, n);
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

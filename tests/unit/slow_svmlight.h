/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of svmlight text read the plain way: tokens cut one by one, numbers through strtof. Slow, and easy to believe;
 * the fast reader is checked against it.
 */
#ifndef SLOW_SVMLIGHT_H
#define SLOW_SVMLIGHT_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOW_VALUES 4096

struct slow_row {
    bool empty;       /* a blank line or a comment: no row */
    const char *what; /* what is wrong, or NULL */
    bool labelled;
    const char *label;
    size_t label_length;
    size_t n;
    uint32_t index[SLOW_VALUES];
    float value[SLOW_VALUES];
};

static inline bool slow_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next token of [*text, end): its length, 0 when there is none; *text moves to it. */
static inline size_t slow_token(const char **text, const char *end)
{
    const char *p = *text;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    *text = p;
    while (p < end && *p != ' ' && *p != '\t')
        p++;
    return (size_t)(p - *text);
}

static inline bool slow_grammar(const char *p)
{
    int digits = 0;
    if (*p == '+' || *p == '-')
        p++;
    for (; slow_is_digit(*p); p++)
        digits++;
    if (*p == '.')
        for (p++; slow_is_digit(*p); p++)
            digits++;
    if (digits == 0)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        if (!slow_is_digit(*p))
            return false;
        while (slow_is_digit(*p))
            p++;
    }
    return *p == 0;
}

/* NULL, or what is wrong with the text of a number. */
static inline const char *slow_number(const char *text, size_t length, float *ret)
{
    char *copy = calloc(length + 1, 1);
    const char *what = NULL;
    memcpy(copy, text, length);
    if (strlen(copy) != length || !slow_grammar(copy))
        what = "invalid value";
    else
        *ret = strtof(copy, NULL);
    if (!what && isinf(*ret))
        what = "value out of range";
    free(copy);
    return what;
}

static inline const char *slow_pair(struct slow_row *row, const char *text, size_t length, int base, int64_t *previous)
{
    size_t i = length > 0 && text[0] == '+';
    double index = 0;
    float value;
    if (i + 1 < length && text[i] == '-' && slow_is_digit(text[i + 1]))
        return "negative index";
    size_t first = i;
    for (; i < length && slow_is_digit(text[i]); i++)
        index = index * 10 + (text[i] - '0');
    if (i == first || i == length || text[i] != ':')
        return "expected index:value";
    if (index > UINT32_MAX - 1)
        return "index too large";
    const char *what = slow_number(text + i + 1, length - i - 1, &value);
    if (what)
        return what;
    if ((int64_t)index <= *previous)
        return *previous < base ? "indices begin with 1 here" : "indices must increase";
    *previous = (int64_t)index;
    if (value != 0) {
        row->index[row->n] = (uint32_t)((int64_t)index - base);
        row->value[row->n++] = value;
    }
    return NULL;
}

static inline bool slow_is_pair(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && slow_is_digit(text[i]))
        i++;
    return i > 0 && i < length && text[i] == ':';
}

/* The line without its newline. */
static inline void slow_line(const char *line, size_t length, int base, struct slow_row *row)
{
    const char *end = line + length, *text = line;
    int64_t previous = base - 1;
    if (length > 0 && end[-1] == '\r')
        end--;
    size_t n = slow_token(&text, end);
    row->n = 0;
    row->what = NULL;
    row->empty = n == 0 || *text == '#';
    if (row->empty)
        return;
    row->labelled = !slow_is_pair(text, n);
    if (row->labelled) {
        row->label = text;
        row->label_length = n;
        text += n;
    }
    while (!row->what && (n = slow_token(&text, end)) > 0 && *text != '#') {
        if (n < 4 || memcmp(text, "qid:", 4) != 0)
            row->what = slow_pair(row, text, n, base, &previous);
        text += n;
    }
    for (size_t i = 0; row->labelled && !row->what && i < row->label_length; i++)
        if ((unsigned char)row->label[i] < ' ' || row->label[i] == 0x7f)
            row->what = "label";
}

#endif

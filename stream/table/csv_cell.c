/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/csv_cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

bool csv_scratch_reserve(struct csv_scratch *scratch, size_t size)
{
    return array_reserve(&scratch->bytes, &scratch->capacity, size, 1);
}

static const char *blanks_skip(const char *p, const char *end, char delimiter)
{
    while (p < end && *p == ' ' && *p != delimiter)
        p++;
    return p;
}

/* The quote that closes the cell whose text begins at p, or NULL. */
static const char *quote_find(const char *p, const char *end)
{
    while ((p = memchr(p, '"', (size_t)(end - p)))) {
        if (p + 1 >= end || p[1] != '"')
            return p;
        p += 2;
        if (p >= end)
            return NULL;
    }
    return NULL;
}

/* Text between tabs is often written without any rule for quotes. There a quote closes a cell only where the cell ends,
 * and opens none if a line break and another tab come before that: *ret_plain. */
static const char *tab_quote_find(const char *p, const char *end, bool *ret_plain)
{
    bool broken = false;
    for (; p < end; p++) {
        broken = broken || *p == '\n';
        if (*p == '\t' && broken) {
            *ret_plain = true;
            return NULL;
        }
        if (*p == '"' && (p + 1 == end || p[1] == '\t' || p[1] == '\r' || p[1] == '\n'))
            return p;
        p += *p == '"' && p[1] == '"';
    }
    return NULL;
}

const char *csv_record_end(const char *text, const char *end, char delimiter)
{
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    if (!newline || !memchr(text, '"', (size_t)(newline - text)))
        return newline;
    for (const char *p = text; p < end;) {
        p = blanks_skip(p, end, delimiter);
        if (p < end && *p == '"') {
            bool plain = false;
            const char *close = delimiter == '\t' ? tab_quote_find(p + 1, end, &plain) : quote_find(p + 1, end);
            if (!close && !plain)
                return NULL;
            p = close ? close : p;
        }
        while (p < end && *p != delimiter && *p != '\n')
            p++;
        if (p < end && *p == '\n')
            return p;
        p++;
    }
    return NULL;
}

/* A quoted cell without its doubled quotes. What stands between the closing quote and the delimiter belongs to it. */
static bool cell_unquote(const char *text, const char *close, const char *stop, struct csv_scratch *scratch,
                         struct csv_cell *ret)
{
    size_t length = (size_t)(close - text), tail = (size_t)(stop - close - 1);
    ret->text = text;
    ret->length = length;
    if (tail == 0 && !memchr(text, '"', length))
        return true;
    if (!csv_scratch_reserve(scratch, length + tail + 1))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        scratch->bytes[n++] = text[i];
        i += text[i] == '"'; /* the second of two */
    }
    memcpy(scratch->bytes + n, close + 1, tail);
    scratch->bytes[n + tail] = 0; /* readers of numbers stop here */
    ret->text = scratch->bytes;
    ret->length = n + tail;
    return true;
}

/* Cells with blanks and tabs between them, however many. */
static const char *blank_cell_read(const char *text, const char *newline, struct csv_cell *ret)
{
    while (text < newline && csv_is_blank(*text))
        text++;
    const char *stop = text;
    while (stop < newline && !csv_is_blank(*stop))
        stop++;
    *ret = (struct csv_cell){.text = text, .length = (size_t)(stop - text)};
    while (stop < newline && csv_is_blank(*stop))
        stop++;
    return stop < newline ? stop - 1 : newline;
}

const char *csv_cell_read(const char *text, const char *newline, char delimiter, struct csv_scratch *scratch,
                          struct csv_cell *ret)
{
    const char *p = blanks_skip(text, newline, delimiter), *close = NULL, *stop, *last;
    bool plain = false;
    if (delimiter == ' ' && (p == newline || *p != '"'))
        return blank_cell_read(text, newline, ret);
    ret->quoted = p < newline && *p == '"';
    if (ret->quoted)
        close = delimiter == '\t' ? tab_quote_find(p + 1, newline, &plain) : quote_find(p + 1, newline);
    ret->quoted = ret->quoted && (close || delimiter != '\t');
    stop = close ? close : p;
    stop = memchr(stop, delimiter, (size_t)(newline - stop));
    stop = stop ? stop : newline;
    last = stop;
    if (stop == newline && last > p && last[-1] == '\r')
        last--;
    while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    if (close)
        return cell_unquote(p + 1, close, last, scratch, ret) ? stop : NULL;
    ret->text = p;
    ret->length = (size_t)(last - p);
    return stop;
}

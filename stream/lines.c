/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "parser.h"

#define RETURN_BYTES 65536

static hunch_status buffer_grow(struct lines *l, hunch_error *reterr)
{
    if (l->capacity >= LINES_LIMIT)
        return error_set(reterr, HUNCH_EINVAL, "%s: a line is longer than %zu MiB", l->name, LINES_LIMIT >> 20);
    size_t capacity = l->capacity ? 2 * l->capacity : LINES_BLOCK;
    char *buffer = realloc(l->buffer, capacity + PARSER_PADDING);
    if (!buffer)
        return error_memory(reterr);
    l->buffer = buffer;
    l->capacity = capacity;
    return HUNCH_OK;
}

/* One read. At the end of the input the last line gets the newline that it may lack. */
static hunch_status bytes_more(struct lines *l, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    size_t got = 0;
    if (l->begin > 0 && l->begin + l->capacity / 2 > l->end) {
        memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    if (l->end == l->capacity)
        status = buffer_grow(l, reterr);
    if (!status)
        status = input_read(l->in, l->buffer + l->end, l->capacity - l->end, &got, reterr);
    if (status)
        return status;
    if (l->returns)
        for (char *at = l->buffer + l->end, *end = at + got; (at = memchr(at, '\r', (size_t)(end - at)));)
            *at = '\n';
    l->end += got;
    if (got == 0) {
        l->ended = true;
        if (l->end > l->begin && l->buffer[l->end - 1] != '\n')
            l->buffer[l->end++] = '\n'; /* the padding has room for it */
    }
    memset(l->buffer + l->end, 0, PARSER_PADDING - 1);
    return HUNCH_OK;
}

static bool has_a_row(const char *text, size_t size)
{
    const char *end = text + size, *newline;
    for (; (newline = memchr(text, '\n', (size_t)(end - text))); text = newline + 1) {
        while (*text == ' ' || *text == '\t' || *text == '\r')
            text++;
        if (text < newline && *text != '#')
            return true;
    }
    return false;
}

hunch_status lines_begin(struct lines *l, struct input *in, const char *name, hunch_error *reterr)
{
    *l = (struct lines){.in = in, .name = name};
    hunch_status status = buffer_grow(l, reterr);
    while (!status && !l->ended && !has_a_row(l->buffer, l->end)) {
        status = bytes_more(l, reterr);
        /* old Macintosh text; a file without any newline in so many bytes has no lines otherwise */
        if (!l->returns && l->end && (l->ended || l->end >= RETURN_BYTES) &&
            !memchr(l->buffer, '\n', l->end - l->ended)) {
            l->returns = memchr(l->buffer, '\r', l->end);
            for (size_t i = 0; l->returns && i < l->end; i++)
                l->buffer[i] = l->buffer[i] == '\r' ? '\n' : l->buffer[i];
        }
    }
    return status;
}

hunch_status lines_fill(struct lines *l, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    while (!status && !l->ended && l->end < LINES_BLOCK)
        status = bytes_more(l, reterr);
    return status;
}

hunch_status lines_window(struct lines *l, size_t target, const char **ret, size_t *ret_size, bool *ret_last,
                          hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    bool enough = l->end - l->begin >= target || l->ended;
    if (!enough && input_may_wait(l->in)) /* what is there goes out before anyone is waited for */
        enough = memrchr(l->buffer + l->begin, '\n', l->end - l->begin);
    if (!enough)
        status = bytes_more(l, reterr);
    size_t seen = 0; /* of the window, known to hold no newline */
    while (!status) {
        const char *text = l->buffer + l->begin;
        size_t have = l->end - l->begin;
        const char *newline = have > target ? memrchr(text + seen, '\n', target > seen ? target - seen : 0) : NULL;
        if (!newline && have > target)
            newline = memchr(text + (target > seen ? target : seen), '\n', have - (target > seen ? target : seen));
        else if (!newline)
            newline = memrchr(text + seen, '\n', have - seen);
        if (newline || l->ended) {
            *ret = text;
            *ret_size = newline ? (size_t)(newline - text) + 1 : 0;
            *ret_last = l->ended && *ret_size == have;
            return HUNCH_OK;
        }
        seen = have;
        status = bytes_more(l, reterr);
    }
    return status;
}

void lines_use(struct lines *l, size_t size)
{
    l->begin += size;
}

void lines_free(struct lines *l)
{
    free(l->buffer);
    *l = (struct lines){0};
}

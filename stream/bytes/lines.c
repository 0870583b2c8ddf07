/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define RETURN_BYTES 65536
#define RAW_BYTES ((size_t)1 << 17) /* converted at a time */

static hunch_status buffer_grow(struct lines *l, hunch_error *reterr)
{
    if (l->capacity >= LINES_LIMIT)
        return error_set(reterr, HUNCH_EINVAL, "%s: a line is longer than %zu MiB", l->name, LINES_LIMIT >> 20);
    size_t capacity = l->capacity ? 2 * l->capacity : LINES_BLOCK;
    char *buffer = realloc(l->buffer, capacity + LINES_PADDING);
    if (!buffer)
        return error_memory(reterr);
    l->buffer = buffer;
    l->capacity = capacity;
    return HUNCH_OK;
}

/* Bytes of another encoding become UTF-8 behind those that are there. */
static hunch_status raw_convert(struct lines *l, const char *text, size_t n, size_t *ret_used, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    while (!status && l->capacity - l->end < UNICODE_GROWTH * n)
        status = buffer_grow(l, reterr);
    if (!status)
        l->end += unicode_convert(l->encoding, text, n, l->buffer + l->end, ret_used);
    return status;
}

/* A read of at most RAW_BYTES of them. */
static hunch_status raw_more(struct lines *l, size_t *ret_got, hunch_error *reterr)
{
    size_t used = 0, before = l->end;
    if (!l->raw && !(l->raw = malloc(RAW_BYTES)))
        return error_memory(reterr);
    hunch_status status = input_read(l->in, l->raw + l->raw_used, RAW_BYTES - l->raw_used, ret_got, reterr);
    if (status)
        return status;
    l->raw_used += *ret_got;
    status = raw_convert(l, l->raw, l->raw_used, &used, reterr);
    memmove(l->raw, l->raw + used, l->raw_used - used);
    l->raw_used -= used;
    if (*ret_got && l->end == before) /* half a character */
        return status ? status : raw_more(l, ret_got, reterr);
    return status;
}

/* The bytes from begin on were read before their encoding was known. */
static hunch_status tail_convert(struct lines *l, size_t begin, enum encoding encoding, hunch_error *reterr)
{
    size_t n = l->end - begin, used = 0;
    char *copy = malloc(n > RAW_BYTES ? n : RAW_BYTES);
    if (!copy)
        return error_memory(reterr);
    memcpy(copy, l->buffer + begin, n);
    l->end = begin;
    l->encoding = encoding;
    hunch_status status = raw_convert(l, copy, n, &used, reterr);
    memmove(copy, copy + used, n - used);
    l->raw = copy;
    l->raw_used = n - used;
    return status;
}

/* Two characters of ASCII with a zero before or after each: the offset of the zeros in UTF-16 without a mark; 2: none. */
static size_t zeros_find(const char *text, size_t n)
{
    for (size_t zero = 0; zero < 2 && n >= 4; zero++)
        if (!text[zero] && !text[zero + 2] && text[1 - zero] >= ' ' && text[3 - zero] >= ' ')
            return zero;
    return 2;
}

/* A mark at the beginning, or zeros between its characters, tell UTF-16. A line that is no UTF-8, where all before it was ASCII, tells Windows' code. */
static hunch_status encoding_find(struct lines *l, hunch_error *reterr)
{
    if (!l->used && l->end >= 2 && (!memcmp(l->buffer, "\xff\xfe", 2) || !memcmp(l->buffer, "\xfe\xff", 2)))
        return tail_convert(l, 0, l->buffer[0] == '\xff' ? ENCODING_UTF16LE : ENCODING_UTF16BE, reterr);
    size_t zero = l->used ? 2 : zeros_find(l->buffer, l->end);
    if (zero < 2)
        return tail_convert(l, 0, zero ? ENCODING_UTF16LE : ENCODING_UTF16BE, reterr);
    l->ascii += unicode_beyond_ascii(l->buffer + l->ascii, l->end - l->ascii);
    if (l->ascii == l->end)
        return HUNCH_OK;
    const char *beyond = l->buffer + l->ascii, *newline = memchr(beyond, '\n', l->end - l->ascii);
    if (!newline && !l->ended)
        return HUNCH_OK;
    if (!unicode_is_utf8(beyond, newline ? (size_t)(newline - beyond) : l->end - l->ascii))
        return tail_convert(l, l->ascii, ENCODING_WINDOWS, reterr);
    l->encoding = ENCODING_UTF8;
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
        l->ascii = l->ascii > l->begin ? l->ascii - l->begin : 0;
        l->begin = 0;
    }
    size_t before = l->end;
    if (l->end == l->capacity)
        status = buffer_grow(l, reterr);
    if (!status && l->raw)
        status = raw_more(l, &got, reterr);
    else if (!status) {
        status = input_read(l->in, l->buffer + l->end, l->capacity - l->end, &got, reterr);
        l->end += status ? 0 : got;
    }
    l->ended = !status && got == 0;
    if (!status && l->encoding == ENCODING_OPEN)
        status = encoding_find(l, reterr);
    if (status)
        return status;
    if (l->returns)
        for (char *at = l->buffer + before, *end = l->buffer + l->end; (at = memchr(at, '\r', (size_t)(end - at)));)
            *at = '\n';
    if (l->ended && l->end > l->begin && l->buffer[l->end - 1] != '\n')
        l->buffer[l->end++] = '\n'; /* the padding has room for it */
    memset(l->buffer + l->end, 0, LINES_PADDING - 1);
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
        /* old Macintosh text; a file without any newline in n bytes has no lines otherwise */
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
    l->used = true;
}

void lines_free(struct lines *l)
{
    free(l->buffer);
    free(l->raw);
    *l = (struct lines){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "event/body.h"

static void place(struct http_error *err, const char *text, size_t at)
{
    long line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    err->placed = true;
    err->line = line;
    err->column = column;
    err->position = (long)at;
}

/* The parser's own limit is far too generous for a server; count brackets before it builds anything. */
static bool depth_ok(const char *text, size_t length, unsigned limit, struct http_error *err)
{
    const char *end = json_value_end(text, text + length, limit);
    if (end == text + length || (*end != '{' && *end != '['))
        return true;
    http_error_set(err, 400, "too_deep", "JSON nested deeper than %u", limit);
    place(err, text, (size_t)(end - text));
    return false;
}

/* jansson reports many an allocation that failed as a syntax error, so its allocations are watched. */
static _Thread_local bool no_memory;

static void *watched_malloc(size_t size)
{
    void *p = malloc(size);
    no_memory = no_memory || !p;
    return p;
}

void json_watch_memory(void)
{
    json_set_alloc_funcs(watched_malloc, free);
}

json_t *json_read(const char *text, size_t length, unsigned depth, struct http_error *err)
{
    json_error_t e;
    if (!depth_ok(text, length, depth, err))
        return NULL;
    no_memory = false;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (json)
        return json;
    if (no_memory || json_error_code(&e) == json_error_out_of_memory) {
        http_error_no_memory(err);
        return NULL;
    }
    http_error_set(err, 400, "bad_json", "%s", e.text);
    /* The parser tells how far it has read; what it stumbled over ends there. */
    enum json_error_code why = json_error_code(&e);
    bool past = why != json_error_premature_end_of_input && why != json_error_invalid_utf8;
    size_t at = e.position > 0 ? (size_t)e.position - past : 0;
    place(err, text, at < length ? at : length);
    return NULL;
}

static size_t skip_space(const char *s, size_t at, size_t end)
{
    return (size_t)(json_blanks_skip(s + at, s + end) - s);
}

/* Past the value that begins at at. The text is known to be valid JSON. */
static size_t skip_value(const char *s, size_t at, size_t end)
{
    return (size_t)(json_value_end(s + at, s + end, UINT_MAX) - s);
}

static size_t trim(const char *s, size_t from, size_t end)
{
    while (end > from && (s[end - 1] == ' ' || s[end - 1] == '\t' || s[end - 1] == '\n' || s[end - 1] == '\r'))
        end--;
    return end;
}

bool body_member(const char *text, size_t length, const char *name, const char **ret, size_t *ret_length)
{
    size_t n = strlen(name), at = skip_space(text, 0, length);
    if (at >= length || text[at] != '{')
        return false;
    for (;;) {
        size_t key = skip_space(text, at + 1, length), colon = skip_value(text, key, length);
        if (colon >= length || text[colon] != ':')
            return false;
        size_t from = skip_space(text, colon + 1, length);
        at = skip_value(text, from, length);
        if (trim(text, key, colon) == key + n + 2 && memcmp(text + key + 1, name, n) == 0) {
            *ret = text + from;
            *ret_length = trim(text, from, at) - from;
            return true;
        }
        if (at >= length || text[at] != ',')
            return false;
    }
}

bool body_open(struct body *b, const char *text, size_t length, bool lines, const struct limits *limits,
               struct http_error *err)
{
    size_t from = skip_space(text, 0, length);
    *b = (struct body){.form = lines ? BODY_LINES : BODY_ONE, .text = text, .length = length, .limits = limits};
    if (lines || (from < length && text[from] == '{'))
        return true;
    b->json = json_read(text, length, limits->depth, err);
    if (!b->json)
        return false;
    b->form = BODY_ARRAY;
    b->at = from + 1;
    bool ok = true;
    if (!json_is_array(b->json))
        ok = http_error_set(err, 400, "bad_request", "the body must be a JSON object or an array of objects");
    else if (json_array_size(b->json) > limits->batch)
        ok = http_error_set(err, 413, "too_many_items", "more than %zu items in one request", limits->batch);
    if (!ok)
        body_close(b);
    return ok;
}

size_t body_items_max(const struct body *b)
{
    size_t n = 1;
    if (b->form == BODY_ARRAY)
        return json_array_size(b->json);
    const char *at = b->form == BODY_LINES ? b->text : NULL, *end = b->text + b->length;
    while (at && n < b->limits->batch && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        n++;
    }
    return n;
}

/* The next line that is not blank. */
static enum body_next next_line(struct body *b, struct body_item *ret, struct http_error *err)
{
    while (b->at < b->length) {
        const char *line = b->text + b->at, *newline = memchr(line, '\n', b->length - b->at);
        size_t length = newline ? (size_t)(newline - line) : b->length - b->at;
        b->at += length + (newline != NULL);
        b->line++;
        if (skip_space(line, 0, length) == length)
            continue;
        if (b->item++ == b->limits->batch) {
            b->at = b->length;
            http_error_set(err, 413, "too_many_items", "more than %zu items in one request", b->limits->batch);
            return BODY_BAD;
        }
        *ret = (struct body_item){NULL, line, length, b};
        return BODY_ITEM;
    }
    return BODY_END;
}

enum body_next body_next(struct body *b, struct body_item *ret, struct http_error *err)
{
    if (b->form == BODY_LINES)
        return next_line(b, ret, err);
    if (b->form == BODY_ONE) {
        *ret = (struct body_item){NULL, b->text, b->length, b};
        return b->item++ ? BODY_END : BODY_ITEM;
    }
    if (b->item == json_array_size(b->json))
        return BODY_END;
    size_t from = skip_space(b->text, b->at, b->length), to = skip_value(b->text, from, b->length);
    json_t *json = json_incref(json_array_get(b->json, b->item++));
    *ret = (struct body_item){json, b->text + from, trim(b->text, from, to) - from, b};
    b->at = to + 1;
    return BODY_ITEM;
}

void body_close(struct body *b)
{
    json_decref(b->json);
    b->json = NULL;
}

bool body_item_parse(struct body_item *item, struct http_error *err)
{
    if (item->json)
        return true;
    item->json = json_read(item->text, item->length, item->body->limits->depth, err);
    if (item->json)
        return true;
    if (item->body->form == BODY_LINES) {
        err->line = (long)item->body->line;
        err->position += item->text - item->body->text;
    }
    return false;
}

void body_item_free(struct body_item *item)
{
    json_decref(item->json);
    item->json = NULL;
}

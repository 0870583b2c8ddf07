/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "body.h"

static void place(struct problem *p, const char *text, size_t at)
{
    long line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    p->placed = true;
    p->line = line;
    p->column = column;
    p->position = (long)at;
}

/* The parser's own limit is far too generous for a server; count brackets before it builds anything. */
static bool depth_ok(const char *text, size_t length, unsigned limit, struct problem *p)
{
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > limit) {
                problem_set(p, 400, "too_deep", "JSON nested deeper than %u", limit);
                place(p, text, i);
                return false;
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return true;
}

json_t *json_read(const char *text, size_t length, unsigned depth, struct problem *p)
{
    json_error_t e;
    if (!depth_ok(text, length, depth, p))
        return NULL;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (json)
        return json;
    if (json_error_code(&e) == json_error_out_of_memory) {
        problem_set(p, 503, "out_of_memory", "out of memory");
        return NULL;
    }
    problem_set(p, 400, "bad_json", "%s", e.text);
    /* The parser tells how far it has read; what it stumbled over ends there. */
    enum json_error_code why = json_error_code(&e);
    bool past = why != json_error_premature_end_of_input && why != json_error_invalid_utf8;
    size_t at = e.position > 0 ? (size_t)e.position - past : 0;
    place(p, text, at < length ? at : length);
    return NULL;
}

static size_t skip_space(const char *s, size_t at, size_t end)
{
    while (at < end && (s[at] == ' ' || s[at] == '\t' || s[at] == '\n' || s[at] == '\r'))
        at++;
    return at;
}

/* Past the value that begins at at. The text is known to be valid JSON. */
static size_t skip_value(const char *s, size_t at, size_t end)
{
    unsigned depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        char c = s[at];
        if (quoted) {
            if (c == '\\')
                at++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return at;
            depth--;
        } else if (depth == 0 && (c == ',' || c == ':')) {
            return at;
        }
    }
    return at;
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
               struct problem *p)
{
    *b = (struct body){.form = BODY_LINES, .text = text, .length = length, .limits = limits};
    if (lines)
        return true;
    b->json = json_read(text, length, limits->depth, p);
    if (!b->json)
        return false;
    if (json_is_object(b->json)) {
        b->form = BODY_ONE;
    } else if (json_is_array(b->json)) {
        b->form = BODY_ARRAY;
        b->at = skip_space(text, 0, length) + 1;
        if (json_array_size(b->json) > limits->batch) {
            problem_set(p, 413, "too_many_items", "more than %zu items in one request", limits->batch);
            body_close(b);
            return false;
        }
    } else {
        body_close(b);
        return problem_set(p, 400, "bad_request", "the body must be a JSON object or an array of objects");
    }
    return true;
}

enum body_next body_line(struct body *b, struct body_item *ret, struct problem *p)
{
    json_decref(b->json);
    b->json = NULL;
    while (b->at < b->length) {
        const char *line = b->text + b->at, *newline = memchr(line, '\n', b->length - b->at);
        size_t length = newline ? (size_t)(newline - line) : b->length - b->at;
        b->at += length + (newline != NULL);
        b->line++;
        if (skip_space(line, 0, length) == length)
            continue;
        if (b->item++ == b->limits->batch) {
            b->at = b->length;
            problem_set(p, 413, "too_many_items", "more than %zu items in one request", b->limits->batch);
            return BODY_BAD;
        }
        *ret = (struct body_item){NULL, line, length};
        return BODY_ITEM;
    }
    return BODY_END;
}

bool body_line_read(struct body *b, struct body_item *line, struct problem *p)
{
    b->json = line->json = json_read(line->text, line->length, b->limits->depth, p);
    if (b->json)
        return true;
    p->line = (long)b->line;
    p->position += line->text - b->text;
    return false;
}

enum body_next body_next(struct body *b, struct body_item *ret, struct problem *p)
{
    if (b->form == BODY_LINES) {
        enum body_next next = body_line(b, ret, p);
        return next == BODY_ITEM && !body_line_read(b, ret, p) ? BODY_BAD : next;
    }
    if (b->form == BODY_ONE) {
        if (b->item++)
            return BODY_END;
        *ret = (struct body_item){b->json, b->text, b->length};
        return BODY_ITEM;
    }
    if (b->item == json_array_size(b->json))
        return BODY_END;
    size_t from = skip_space(b->text, b->at, b->length), to = skip_value(b->text, from, b->length);
    *ret = (struct body_item){json_array_get(b->json, b->item++), b->text + from, trim(b->text, from, to) - from};
    b->at = to + 1;
    return BODY_ITEM;
}

void body_close(struct body *b)
{
    json_decref(b->json);
    b->json = NULL;
}

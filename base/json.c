/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <string.h>

#include "base/utf8.h"

#define MAX_DIGITS 18 /* of a number before the point: as many as fit 64 bits */

const char *json_blanks_skip(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* --- scanning; NULL: unsupported --- */

/* The quote that ends the string at p. */
static const char *string_end(const char *p, const char *end)
{
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        size_t length = 1;
        if (c == '"')
            return p;
        if (c < 0x20 || c == '\\')
            return NULL;
        if (c >= 0x80 && !(length = utf8_length((const unsigned char *)p, (size_t)(end - p))))
            return NULL;
        p += length;
    }
    return NULL;
}

static const char *digits_skip(const char *p, const char *end)
{
    while (p < end && (unsigned)*p - '0' < 10)
        p++;
    return p;
}

static const char *number_end(const char *p, const char *end, bool *ret_whole)
{
    const char *begin = p += *p == '-';
    p = digits_skip(p, end);
    if (p == begin || (*begin == '0' && p > begin + 1) || p - begin > MAX_DIGITS)
        return NULL;
    *ret_whole = true;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        *ret_whole = false;
        p = digits_skip(fraction, end);
        if (p == fraction)
            return NULL;
    }
    if (p < end && (*p | 0x20) == 'e') {
        const char *exponent = p + 1;
        *ret_whole = false;
        exponent += exponent < end && (*exponent == '-' || *exponent == '+');
        p = digits_skip(exponent, end);
        if (p == exponent)
            return NULL;
    }
    return p < end ? p : NULL; /* readers of numbers look at what follows */
}

static const char *word_end(const char *p, const char *end, struct json_value *ret)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - p) >= length && memcmp(p, words[i], length) == 0) {
            ret->kind = i == 2 ? JSON_VALUE_NULL : JSON_VALUE_WORD;
            return p + length;
        }
    }
    return NULL;
}

/* Behind the value. */
static const char *value_scan(const char *p, const char *end, struct json_value *ret)
{
    const char *behind;
    *ret = (struct json_value){.text = p};
    if (p == end)
        return NULL;
    if (*p == '"') {
        ret->kind = JSON_VALUE_STRING;
        ret->text = p + 1;
        behind = string_end(p + 1, end);
        ret->length = behind ? (size_t)(behind - p) - 1 : 0;
        return behind ? behind + 1 : NULL;
    }
    if (*p == '{' || *p == '[') {
        ret->kind = *p == '{' ? JSON_VALUE_OBJECT : JSON_VALUE_ARRAY;
        return p;
    }
    ret->kind = JSON_VALUE_NUMBER;
    behind = *p == '-' || (unsigned)*p - '0' < 10 ? number_end(p, end, &ret->whole) : word_end(p, end, ret);
    ret->length = behind ? (size_t)(behind - p) : 0;
    return behind;
}

bool json_scan_begin(struct json_scan *s, const char *text, const char *end)
{
    text = json_blanks_skip(text, end);
    *s = (struct json_scan){.at = text + 1, .end = end, .first = true};
    return text < end && *text == '{';
}

bool json_scan_next(struct json_scan *s, struct json_value *ret)
{
    const char *p = json_blanks_skip(s->at, s->end), *end = s->end;
    s->unsupported = true; /* until the member has been read */
    if (p < end && *p == '}') {
        s->at = p + 1;
        s->unsupported = false;
        return false;
    }
    if (!s->first && (p == end || *p != ','))
        return false;
    if (!s->first)
        p = json_blanks_skip(p + 1, end);
    s->first = false;
    if (p == end || *p != '"')
        return false;
    const char *quote = string_end(p + 1, end);
    if (!quote)
        return false;
    s->key = p + 1;
    s->key_length = (size_t)(quote - s->key);
    p = json_blanks_skip(quote + 1, end);
    if (p == end || *p != ':')
        return false;
    p = value_scan(json_blanks_skip(p + 1, end), end, ret);
    if (!p)
        return false;
    s->at = p;
    s->unsupported = false;
    return true;
}

bool json_scan_ended(const struct json_scan *s)
{
    return json_blanks_skip(s->at, s->end) == s->end;
}

const char *json_value_end(const char *p, const char *end, unsigned max_depth)
{
    unsigned depth = 0;
    bool quoted = false;
    for (; p < end; p++) {
        char c = *p;
        if (quoted) {
            p += c == '\\' && p + 1 < end;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (depth++ == max_depth)
                return p;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (depth == 0 && (c == '}' || c == ']' || c == ',' || c == ':')) {
            return p;
        }
    }
    return end;
}

/* --- writing --- */

void json_quote(json_sink *put, void *to, const char *text, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t from = 0, length;
    put(to, "\"", 1);
    for (size_t i = 0; i < n; i += length) {
        unsigned char c = (unsigned char)text[i];
        length = c < 0x80 ? 1 : utf8_length((const unsigned char *)text + i, n - i);
        if (length && c >= 0x20 && c != 0x7f && c != '"' && c != '\\')
            continue;
        put(to, text + from, i - from);
        if (!length)
            put(to, "\\ufffd", 6);
        else if (c == '"' || c == '\\')
            put(to, (const char[]){'\\', (char)c}, 2);
        else
            put(to, (const char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
        length = 1;
        from = i + 1;
    }
    put(to, text + from, n - from);
    put(to, "\"", 1);
}

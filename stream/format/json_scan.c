/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/json_scan.h"

#include <stdint.h>
#include <string.h>
#include <unistr.h>

static const char *blanks_skip(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* The quote that ends the string at p, or NULL: it is odd. Eight bytes at a time: none of them a quote, a backslash, a
 * control character or beyond ASCII. The padding behind the text may be read. */
static const char *string_end(const char *p)
{
    const char *begin = p;
    bool ascii = true;
    for (;; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '"')
            break;
        if (c < 0x20 || c == '\\')
            return NULL;
        ascii = ascii && c < 0x80;
    }
    if (!ascii && u8_check((const uint8_t *)begin, (size_t)(p - begin)))
        return NULL;
    return p;
}

static const char *digits_skip(const char *p)
{
    while ((unsigned)*p - '0' < 10)
        p++;
    return p;
}

/* By JSON's grammar; NULL: it is none. */
static const char *number_end(const char *p, bool *ret_whole)
{
    const char *begin = p += *p == '-';
    p = digits_skip(p);
    if (p == begin || (*begin == '0' && p > begin + 1) || p - begin > 18)
        return NULL;
    *ret_whole = *p != '.' && (*p | 0x20) != 'e';
    if (*p == '.') {
        const char *fraction = p + 1;
        p = digits_skip(fraction);
        if (p == fraction)
            return NULL;
    }
    if ((*p | 0x20) == 'e') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        const char *exponent = p;
        p = digits_skip(p);
        if (p == exponent)
            return NULL;
    }
    return p;
}

static const char *word_end(const char *p, struct json_value *ret)
{
    size_t length = !strncmp(p, "true", 4) || !strncmp(p, "null", 4) ? 4 : !strncmp(p, "false", 5) ? 5 : 0;
    ret->kind = *p == 'n' ? JSON_VALUE_NULL : JSON_VALUE_WORD;
    return length ? p + length : NULL;
}

/* Behind the value; NULL: it is odd. */
static const char *value_scan(const char *p, struct json_value *ret)
{
    const char *end;
    *ret = (struct json_value){.text = p};
    if (*p == '"') {
        ret->kind = JSON_VALUE_STRING;
        ret->text = p + 1;
        end = string_end(p + 1);
        ret->length = end ? (size_t)(end - p) - 1 : 0;
        return end ? end + 1 : NULL;
    }
    if (*p == '{' || *p == '[') {
        ret->kind = *p == '{' ? JSON_VALUE_OBJECT : JSON_VALUE_ARRAY;
        return p;
    }
    ret->kind = JSON_VALUE_NUMBER;
    end = *p == '-' || (unsigned)*p - '0' < 10 ? number_end(p, &ret->whole) : word_end(p, ret);
    ret->length = end ? (size_t)(end - p) : 0;
    return end;
}

bool json_scan_begin(struct json_scan *s, const char *text)
{
    text = blanks_skip(text);
    *s = (struct json_scan){.at = text + 1, .first = true};
    return *text == '{';
}

bool json_scan_next(struct json_scan *s, struct json_value *ret)
{
    const char *p = blanks_skip(s->at);
    if (*p == '}') {
        s->at = p + 1;
        return false;
    }
    s->odd = true; /* until the member has been read */
    if (!s->first && *p != ',')
        return false;
    if (!s->first)
        p = blanks_skip(p + 1);
    s->first = false;
    if (*p != '"')
        return false;
    const char *end = string_end(p + 1);
    if (!end)
        return false;
    s->key = p + 1;
    s->key_length = (size_t)(end - s->key);
    p = blanks_skip(end + 1);
    if (*p != ':')
        return false;
    s->at = value_scan(blanks_skip(p + 1), ret);
    s->odd = !s->at;
    return s->at;
}

bool json_scan_ended(const struct json_scan *s)
{
    return *blanks_skip(s->at) == '\n';
}

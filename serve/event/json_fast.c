/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "event/event.h"
#include "event/json_fast.h"

#define MOST_FEATURES 64 /* each is compared with all others */
#define MOST_DIGITS 15   /* fewer than 2^53: the quotient by a power of ten is the double that strtod gives */

struct scan {
    const char *at, *end;
};

static void skip_space(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(struct scan *s, char c)
{
    skip_space(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_word(struct scan *s, const char *word, size_t n)
{
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n))
        return false;
    s->at += n;
    return true;
}

static bool at_end(struct scan *s)
{
    skip_space(s);
    return s->at == s->end;
}

/* ASCII without escapes. */
static bool take_string(struct scan *s, const char **ret, size_t *ret_length)
{
    if (!take(s, '"'))
        return false;
    const char *from = s->at;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at++;
        if (c < 0x20 || c >= 0x80 || c == '\\')
            return false;
    }
    if (s->at == s->end)
        return false;
    *ret = from;
    *ret_length = (size_t)(s->at++ - from);
    return true;
}

static bool take_bool(struct scan *s, bool *ret)
{
    skip_space(s);
    *ret = take_word(s, "true", 4);
    return *ret || take_word(s, "false", 5);
}

static size_t take_digits(struct scan *s, uint64_t *value)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9' && s->at - from <= MOST_DIGITS)
        *value = *value * 10 + (uint64_t)(*s->at++ - '0');
    return (size_t)(s->at - from);
}

/* Digits, perhaps with a point; no exponent. */
static bool take_number(struct scan *s, float *ret)
{
    uint64_t digits = 0;
    size_t after = 0;
    skip_space(s);
    bool minus = take_word(s, "-", 1), zero = s->at < s->end && *s->at == '0';
    size_t before = take_digits(s, &digits);
    if (before == 0 || (zero && before > 1))
        return false;
    if (take_word(s, ".", 1) && (after = take_digits(s, &digits)) == 0)
        return false;
    if (before + after > MOST_DIGITS || (s->at < s->end && (*s->at | 0x20) == 'e'))
        return false;
    double value = (double)digits / decimal_powers[after];
    if (minus && (after || digits)) /* -0 is a whole number, and those have no sign when they are 0 */
        value = -value;
    *ret = (float)value;
    return true;
}

bool json_fast_feedback(struct said *ret, const char *text, size_t length)
{
    struct scan s = {text, text + length};
    struct said said = {0};
    bool id = false, answer = false, comma = false;
    if (!take(&s, '{'))
        return false;
    do {
        const char *key, *value;
        size_t n, m;
        if (!take_string(&s, &key, &n) || !take(&s, ':'))
            return false;
        if (n == 2 && memcmp(key, "id", 2) == 0) {
            if (id || !take_string(&s, &value, &m) || !id_read(value, m, &said.seq, &said.key))
                return false;
            id = true;
        } else if (n == 5 && memcmp(key, "right", 5) == 0) {
            if (answer || !take_bool(&s, &said.right))
                return false;
            answer = true;
        } else if (n == 5 && memcmp(key, "label", 5) == 0) {
            if (answer || !take_string(&s, &said.label, &said.label_length) || said.label_length == 0 ||
                said.label_length > LABEL_MAX_BYTES)
                return false;
            answer = said.labelled = true;
        } else {
            return false;
        }
        comma = take(&s, ',');
    } while (comma);
    if (!take(&s, '}') || !at_end(&s) || !id || !answer)
        return false;
    *ret = said;
    return true;
}

static bool take_feature(struct scan *s, struct feature *ret)
{
    struct feature f = {0};
    bool yes;
    if (!take_string(s, &f.name, &f.length) || f.length == 0 || f.length > FEATURE_MAX_BYTES || !take(s, ':'))
        return false;
    if (take_bool(s, &yes))
        f.value = yes ? 1 : 0;
    else if (!take_number(s, &f.value))
        return false;
    *ret = f;
    return true;
}

static bool is_new(const struct feature *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].length == all[n].length && memcmp(all[i].name, all[n].name, all[n].length) == 0)
            return false;
    return true;
}

/* 0: not plain. */
static size_t take_features(struct scan *s, struct feature *ret)
{
    size_t n = 0;
    if (!take(s, '{'))
        return 0;
    do {
        if (n == MOST_FEATURES || !take_feature(s, &ret[n]) || !is_new(ret, n))
            return 0;
        n++;
    } while (take(s, ','));
    return take(s, '}') ? n : 0;
}

/* from, to: the text of the n features. */
static bool place_features(struct example *ret, struct feature *features, size_t n, const char *from, const char *to,
                           const struct settings *settings)
{
    struct http_error ignored;
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(features[i].value) <= settings->bounds.value) || !feature_place(&features[i], settings, &ignored))
            return false;
    struct feature *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (!copy)
        return false;
    memcpy(copy, features, n * sizeof *copy);
    *ret = (struct example){.features = copy, .n = n, .text = from, .length = (size_t)(to - from)};
    return true;
}

bool json_fast_example(struct example *ret, const char *text, size_t length, const struct settings *settings)
{
    struct scan s = {text, text + length};
    struct feature features[MOST_FEATURES];
    size_t n = take_features(&s, features);
    return at_end(&s) && place_features(ret, features, n, text, text + length, settings);
}

bool json_fast_predict(struct example *ret, const char *text, size_t length, const struct settings *settings)
{
    struct scan s = {text, text + length};
    struct feature features[MOST_FEATURES];
    const char *key;
    size_t key_length;
    if (!take(&s, '{') || !take_string(&s, &key, &key_length) || key_length != 1 || *key != 'x' || !take(&s, ':'))
        return false;
    skip_space(&s);
    const char *from = s.at;
    size_t n = take_features(&s, features);
    const char *to = s.at;
    return n && take(&s, '}') && at_end(&s) && place_features(ret, features, n, from, to, settings);
}

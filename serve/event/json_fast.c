/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "event/event.h"
#include "event/json_fast.h"

#define FEATURES_MAX 64 /* each is compared with all others */

static bool key_is(const struct json_scan *s, const char *name)
{
    return s->key_length == strlen(name) && memcmp(s->key, name, s->key_length) == 0;
}

bool json_fast_feedback(struct feedback_input *ret, const char *text, size_t length)
{
    struct json_scan s;
    struct json_value v;
    struct feedback_input input = {0};
    bool id = false, answer = false, plain = json_scan_begin(&s, text, text + length);
    while (plain && json_scan_next(&s, &v)) {
        if (key_is(&s, "id")) {
            plain = !id && v.kind == JSON_VALUE_STRING && id_read(v.text, v.length, &input.seq, &input.key);
            id = true;
        } else if (key_is(&s, "right")) {
            plain = !answer && v.kind == JSON_VALUE_WORD;
            input.right = *v.text == 't';
            answer = true;
        } else {
            plain = key_is(&s, "label") && !answer && v.kind == JSON_VALUE_STRING && v.length > 0 &&
                    v.length <= LABEL_MAX_BYTES;
            input.label = v.text;
            input.label_length = v.length;
            answer = input.labelled = true;
        }
    }
    if (!plain || s.unsupported || !json_scan_ended(&s) || !id || !answer)
        return false;
    *ret = input;
    return true;
}

static bool feature_take(const struct json_scan *s, const struct json_value *v, struct feature *ret)
{
    double number;
    struct feature f = {.name = s->key, .length = s->key_length};
    if (f.length == 0 || f.length > FEATURE_MAX_BYTES)
        return false;
    if (v->kind == JSON_VALUE_WORD)
        f.value = *v->text == 't';
    else if (v->kind == JSON_VALUE_NUMBER && number_read(v->text, &number))
        f.value = v->whole && number == 0 ? 0 : (float)number; /* whole numbers have no sign when they are 0 */
    else
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

/* The features of the object at text, and where it ends; 0: not plain. */
static size_t features_take(const char *text, const char *end, struct feature *ret, const char **ret_end)
{
    struct json_scan s;
    struct json_value v;
    size_t n = 0;
    if (!json_scan_begin(&s, text, end))
        return 0;
    for (; json_scan_next(&s, &v); n++)
        if (n == FEATURES_MAX || !feature_take(&s, &v, &ret[n]) || !is_new(ret, n))
            return 0;
    *ret_end = s.at;
    return s.unsupported ? 0 : n;
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
    struct feature features[FEATURES_MAX];
    const char *end = text + length, *behind;
    size_t n = features_take(text, end, features, &behind);
    return n && json_blanks_skip(behind, end) == end && place_features(ret, features, n, text, end, settings);
}

bool json_fast_predict(struct example *ret, const char *text, size_t length, const struct settings *settings)
{
    struct json_scan s;
    struct json_value x;
    struct feature features[FEATURES_MAX];
    if (!json_scan_begin(&s, text, text + length) || !json_scan_next(&s, &x) || !key_is(&s, "x") ||
        x.kind != JSON_VALUE_OBJECT)
        return false;
    const char *from = x.text;
    size_t n = features_take(from, s.end, features, &s.at);
    const char *to = s.at;
    return n && !json_scan_next(&s, &x) && !s.unsupported && json_scan_ended(&s) &&
           place_features(ret, features, n, from, to, settings);
}

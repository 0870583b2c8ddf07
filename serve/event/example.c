/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "event/body.h"
#include "event/example.h"
#include "event/json_fast.h"

static bool value_ok(double v, const char *name, float max, float *ret, struct http_error *err)
{
    float f = (float)v;
    if (!(fabsf(f) <= max))
        return http_error_set(err, 400, "bad_value",
                              "the value of feature \"%.100s\" is beyond this model's bound of %g", name, (double)max);
    *ret = f;
    return true;
}

/* "colour":"red" -> "colour=red" */
static bool make_name(struct example *e, const char *key, const json_t *value, struct feature *f,
                      struct http_error *err)
{
    size_t n = f->length, m = json_string_length(value);
    if (n + 1 + m > FEATURE_MAX_BYTES)
        return http_error_set(err, 400, "bad_feature", "feature \"%.100s\" and its value are longer than %d bytes", key,
                              FEATURE_MAX_BYTES);
    char *made = malloc(n + m + 2);
    char **list = made ? realloc(e->made, (e->made_n + 1) * sizeof *list) : NULL;
    if (!list) {
        free(made);
        return http_error_no_memory(err);
    }
    memcpy(made, key, n);
    made[n] = '=';
    memcpy(made + n + 1, json_string_value(value), m + 1);
    e->made = list;
    e->made[e->made_n++] = made;
    f->name = made;
    f->length = n + 1 + m;
    f->value = 1;
    return true;
}

static bool index_of_name(struct feature *f, uint32_t max, struct http_error *err)
{
    uint64_t v = 0;
    bool ok = f->length > 0 && f->length <= 10 && (f->length == 1 || f->name[0] != '0');
    for (size_t i = 0; ok && i < f->length; i++) {
        ok = f->name[i] >= '0' && f->name[i] <= '9';
        v = v * 10 + (uint64_t)(f->name[i] - '0');
    }
    if (!ok || v >= max)
        return http_error_set(err, 400, "bad_feature", "\"%.*s\" is not a feature's number from 0 to %u",
                              f->length < 100 ? (int)f->length : 100, f->name, max - 1);
    f->index = (uint32_t)v;
    f->name = NULL;
    return true;
}

bool feature_place(struct feature *f, const struct settings *settings, struct http_error *err)
{
    if (settings->features == FEATURES_INDEXED)
        return index_of_name(f, settings->max_features, err);
    if (settings->features == FEATURES_HASHED) {
        f->index = (uint32_t)(XXH3_64bits(f->name, f->length) & (settings->max_features - 1));
        f->name = NULL;
    }
    return true;
}

/* null, "" and blanks, as in tables and JSON lines. */
static bool is_missing(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) || (text && strspn(text, " ") == json_string_length(value));
}

static bool read_named(struct example *e, const char *key, const json_t *value, const struct settings *settings,
                       struct http_error *err)
{
    struct feature f = {.name = key, .length = strlen(key)};
    if (f.length == 0 || f.length > FEATURE_MAX_BYTES)
        return http_error_set(err, 400, "bad_feature", "a feature's name must have 1 to %d bytes", FEATURE_MAX_BYTES);
    if (is_missing(value))
        return true;
    if (json_is_number(value)) {
        if (!value_ok(json_number_value(value), key, settings->bounds.value, &f.value, err))
            return false;
    } else if (json_is_boolean(value)) {
        f.value = json_is_true(value) ? 1 : 0;
    } else if (json_is_string(value)) {
        if (!make_name(e, key, value, &f, err))
            return false;
    } else {
        return http_error_set(err, 400, "bad_value",
                              "the value of feature \"%.100s\" must be a number, a string, a bool or null", key);
    }
    if (!feature_place(&f, settings, err))
        return false;
    e->features[e->n++] = f;
    return true;
}

static bool read_position(struct example *e, size_t i, const json_t *item, const struct settings *settings,
                          struct http_error *err)
{
    uint32_t max = settings->max_features;
    char name[24];
    struct feature f = {.index = (uint32_t)i};
    const json_t *value = item;
    if (json_is_array(item)) {
        const json_t *index = json_array_get(item, 0);
        value = json_array_get(item, 1);
        if (json_array_size(item) != 2 || !json_is_integer(index) || json_integer_value(index) < 0 ||
            json_integer_value(index) >= max)
            return http_error_set(err, 400, "bad_feature",
                                  "item %zu of x is not [number of a feature from 0 to %u, value]", i, max - 1);
        f.index = (uint32_t)json_integer_value(index);
    } else if (i >= max) {
        return http_error_set(err, 400, "bad_feature", "x has more than %u values", max);
    }
    if (!json_is_number(value))
        return http_error_set(err, 400, "bad_value", "item %zu of x has a value that is not a number", i);
    snprintf(name, sizeof name, "%u", f.index);
    if (!value_ok(json_number_value(value), name, settings->bounds.value, &f.value, err))
        return false;
    if (f.value != 0 || json_is_array(item))
        e->features[e->n++] = f;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct feature *x = a, *y = b;
    size_t n = x->length < y->length ? x->length : y->length;
    int c = memcmp(x->name, y->name, n);
    return c ? c : (x->length > y->length) - (x->length < y->length);
}

/* Members are distinct by themselves; names made of a name and a value may meet another. */
static bool distinct(const struct example *e, struct http_error *err)
{
    struct feature *sorted = malloc(e->n * sizeof *sorted);
    bool ok = true;
    if (!sorted)
        return http_error_no_memory(err);
    memcpy(sorted, e->features, e->n * sizeof *sorted);
    qsort(sorted, e->n, sizeof *sorted, by_name);
    for (size_t i = 1; ok && i < e->n; i++)
        if (by_name(&sorted[i - 1], &sorted[i]) == 0)
            ok = http_error_set(err, 400, "bad_feature", "feature \"%.100s\" is given twice", sorted[i].name);
    free(sorted);
    return ok;
}

bool example_read(struct example *ret, const json_t *json, const struct settings *settings, size_t max,
                  struct http_error *err)
{
    struct example e = {0};
    bool object = json_is_object(json), ok = true;
    if (!object && !json_is_array(json))
        return http_error_set(err, 400, "bad_x", "x must be an object of features and values, or an array");
    if (!object && settings->features != FEATURES_INDEXED)
        return http_error_set(err, 400, "bad_x", "x must be an object: this model's features have names");
    size_t n = object ? json_object_size(json) : json_array_size(json);
    if (n > max)
        return http_error_set(err, 413, "too_many_features", "x has more than %zu features", max);
    e.features = malloc((n + !n) * sizeof *e.features);
    if (!e.features)
        return http_error_no_memory(err);
    if (object) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)json, key, value) if (ok) ok = read_named(&e, key, value, settings, err);
    }
    for (size_t i = 0; ok && !object && i < n; i++)
        ok = read_position(&e, i, json_array_get(json, i), settings, err);
    if (ok && e.made_n && settings->features == FEATURES_NAMED)
        ok = distinct(&e, err);
    if (ok)
        *ret = e;
    else
        example_free(&e);
    return ok;
}

bool example_parse(struct example *ret, const char *text, size_t length, const struct settings *settings,
                   struct http_error *err)
{
    if (json_fast_example(ret, text, length, settings))
        return true;
    json_t *json = json_read(text, length, UINT32_MAX, err);
    if (!json || !example_read(ret, json, settings, SIZE_MAX, err)) {
        json_decref(json);
        return false;
    }
    ret->json = json;
    ret->text = text;
    ret->length = length;
    return true;
}

bool example_reduce(struct example *e, const struct settings *settings, struct http_error *err)
{
    struct text t = {0};
    struct example less;
    size_t n = 0;
    text_puts(&t, "{");
    for (size_t i = 0; i < e->n; i++) {
        const struct feature *f = &e->features[i];
        if (!f->name)
            continue;
        text_add(&t, ",", n++ > 0);
        text_quote(&t, f->name, f->length);
        text_puts(&t, ":");
        text_number(&t, f->value);
    }
    text_puts(&t, "}");
    if (t.failed)
        http_error_no_memory(err);
    if (t.failed || !example_parse(&less, t.data, t.length, settings, err)) {
        text_free(&t);
        return false;
    }
    less.printed = t.data;
    less.unknown = e->unknown;
    less.refused = e->n - n;
    e->unknown = NULL;
    example_free(e);
    *e = less;
    return true;
}

void example_free(struct example *e)
{
    for (size_t i = 0; i < e->made_n; i++)
        free(e->made[i]);
    free(e->made);
    free(e->features);
    free(e->printed);
    free(e->unknown);
    json_decref(e->json);
    *e = (struct example){0};
}

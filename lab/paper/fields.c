/* SPDX-License-Identifier: BSD-3-Clause */
#include "paper/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- memory --- */

struct arena_block {
    struct arena_block *before;
    max_align_t bytes[];
};

void *arena_zeros(struct arena *a, size_t n, size_t size)
{
    struct arena_block *b = n < SIZE_MAX / 2 / (size + 1) ? calloc(1, sizeof *b + (n + 1) * size) : NULL;
    if (!b) {
        a->failed = true;
        return NULL;
    }
    b->before = a->last;
    a->last = b;
    return b->bytes;
}

char *arena_copy(struct arena *a, const char *text)
{
    char *copy = text ? arena_zeros(a, strlen(text), 1) : NULL;
    return copy ? strcpy(copy, text) : NULL;
}

const char *arena_text(struct arena *a, const char *text)
{
    return arena_copy(a, text);
}

const char *arena_print(struct arena *a, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : arena_zeros(a, (size_t)length, 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void arena_free(struct arena *a)
{
    while (a->last) {
        struct arena_block *before = a->last->before;
        free(a->last);
        a->last = before;
    }
}

bool texts_have(const struct texts *t, const char *text)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->item[i], text))
            return true;
    return false;
}

/* --- reading --- */

struct list {
    void *item;
    size_t n;
};

static hunch_status value_fail(const struct field *f, const char *expected, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "\"%s\" must be %s", f->key, expected);
}

static hunch_status word_read(const struct field *f, const json_t *json, unsigned *ret, hunch_error *reterr)
{
    for (unsigned i = 0; json_is_string(json) && f->words[i]; i++)
        if (!strcmp(f->words[i], json_string_value(json))) {
            *ret = i;
            return HUNCH_OK;
        }
    return value_fail(f, "one of the known words", reterr);
}

static void tally_read(const struct field *f, const json_t *json, size_t *ret)
{
    for (size_t i = 0; f->words[i]; i++)
        ret[i] = (size_t)json_integer_value(json_object_get(json, f->words[i]));
}

static hunch_status list_read(const struct field *f, const json_t *json, struct arena *a, struct list *ret,
                              hunch_error *reterr)
{
    size_t size = f->type ? f->type->size : sizeof(const char *), n = json_array_size(json);
    hunch_status status = HUNCH_OK;
    if (!json_is_array(json))
        return value_fail(f, "an array", reterr);
    char *item = arena_zeros(a, n, size);
    if (!item)
        return error_memory(reterr);
    for (size_t i = 0; i < n && !status; i++) {
        const json_t *one = json_array_get(json, i);
        if (f->type)
            status = fields_read(f->type, one, a, item + i * size, reterr);
        else if (!json_is_string(one))
            status = value_fail(f, "an array of texts", reterr);
        else
            ((const char **)(void *)item)[i] = arena_text(a, json_string_value(one));
    }
    *ret = (struct list){item, n};
    return status;
}

static hunch_status object_read(const struct field *f, const json_t *json, struct arena *a, void **ret,
                                hunch_error *reterr)
{
    *ret = arena_zeros(a, 1, f->type->size);
    return *ret ? fields_read(f->type, json, a, *ret, reterr) : error_memory(reterr);
}

static hunch_status value_read(const struct field *f, const json_t *json, struct arena *a, void *ret,
                               hunch_error *reterr)
{
    switch (f->kind) {
    case FIELD_TEXT:
        if (!json_is_string(json))
            return value_fail(f, "a text", reterr);
        *(const char **)ret = arena_text(a, json_string_value(json));
        return HUNCH_OK;
    case FIELD_REAL:
        if (!json_is_number(json))
            return value_fail(f, "a number", reterr);
        *(double *)ret = json_number_value(json);
        return HUNCH_OK;
    case FIELD_COUNT:
        if (!json_is_integer(json) || json_integer_value(json) < 0)
            return value_fail(f, "a whole number, 0 or more", reterr);
        *(uint64_t *)ret = (uint64_t)json_integer_value(json);
        return HUNCH_OK;
    case FIELD_FLAG:
    case FIELD_MARK:
    case FIELD_SWITCH:
        if (!json_is_boolean(json))
            return value_fail(f, "true or false", reterr);
        if (f->kind == FIELD_SWITCH)
            *(int *)ret = json_is_true(json);
        else
            *(bool *)ret = json_is_true(json);
        return HUNCH_OK;
    case FIELD_WORD:
        return word_read(f, json, ret, reterr);
    case FIELD_TALLY:
        tally_read(f, json, ret);
        return HUNCH_OK;
    case FIELD_TEXTS:
    case FIELD_LIST:
        return list_read(f, json, a, ret, reterr);
    case FIELD_OBJECT:
        return object_read(f, json, a, ret, reterr);
    case FIELD_JSON:
        *(const json_t **)ret = json;
    }
    return HUNCH_OK;
}

hunch_status fields_read(const struct type *type, const json_t *json, struct arena *a, void *ret, hunch_error *reterr)
{
    const char *key;
    json_t *value;
    if (!json_is_object(json))
        return error_set(reterr, HUNCH_EINVAL, "%s must be an object", type->name);
    memset(ret, 0, type->size);
    if (type->defaults)
        memcpy(ret, type->defaults, type->size);
    json_object_foreach((json_t *)json, key, value)
    {
        const struct field *f = type->fields;
        while (f->key && strcmp(f->key, key) != 0)
            f++;
        if (!f->key)
            return error_set(reterr, HUNCH_EINVAL, "%s has no \"%s\"", type->name, key);
        hunch_status status = value_read(f, value, a, (char *)ret + f->at, reterr);
        if (status)
            return status;
    }
    return a->failed ? error_memory(reterr) : HUNCH_OK;
}

/* --- writing --- */

static json_t *list_write(const struct field *f, const struct list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(array, f->type ? fields_write(f->type, (const char *)list->item + i * f->type->size)
                                             : json_string(((const char **)list->item)[i]));
    return array;
}

static json_t *tally_write(const struct field *f, const size_t *count)
{
    json_t *object = json_object();
    for (size_t i = 0; f->words[i]; i++)
        if (count[i])
            json_object_set_new(object, f->words[i], json_integer((json_int_t)count[i]));
    return object;
}

/* NULL: it is not written. */
static json_t *value_write(const struct field *f, const void *from)
{
    const char *text;
    const void *object;
    unsigned word;
    switch (f->kind) {
    case FIELD_TEXT:
        text = *(const char *const *)from;
        return text ? json_string(text) : NULL;
    case FIELD_REAL:
        return isnan(*(const double *)from) ? NULL : json_real(*(const double *)from);
    case FIELD_COUNT:
        return *(const uint64_t *)from ? json_integer((json_int_t) * (const uint64_t *)from) : NULL;
    case FIELD_FLAG:
        return json_boolean(*(const bool *)from);
    case FIELD_MARK:
        return *(const bool *)from ? json_true() : NULL;
    case FIELD_WORD:
        word = *(const unsigned *)from;
        return word ? json_string(f->words[word]) : NULL;
    case FIELD_TALLY:
        return tally_write(f, from);
    case FIELD_TEXTS:
        return ((const struct texts *)from)->n ? list_write(f, from) : NULL;
    case FIELD_LIST:
        return list_write(f, from);
    case FIELD_OBJECT:
        object = *(const void *const *)from;
        return object ? fields_write(f->type, object) : NULL;
    case FIELD_SWITCH:
    case FIELD_JSON:
        break;
    }
    return NULL;
}

json_t *fields_write(const struct type *type, const void *from)
{
    json_t *object = json_object();
    for (const struct field *f = type->fields; f->key; f++) {
        json_t *value = value_write(f, (const char *)from + f->at);
        if (value)
            json_object_set_new(object, f->key, value);
    }
    return object;
}

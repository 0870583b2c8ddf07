/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

#define VERSION 1

static const char *const roles[ROLES] = {"number", "category", "text", "date",  "ignore",
                                         "label",  "shown",    "prob", "right", "features"};

/* As pandas has it, and what data sets of the UCI repository and spreadsheets use. */
static const char usual_missing[] = "NA,na,Na,N/A,n/a,N/a,N.A.,n.a.,NaN,nan,NAN,Nan,-nan,-NaN,NULL,null,Null,None,none,"
                                    "NONE,nil,<NA>,#N/A,#NA,#NULL!,#DIV/0!,#VALUE!,#REF!,#NAME?,#NUM!,?,-,--,.";

const char *role_name(enum role role)
{
    return roles[role];
}

/* --- missing values --- */

static void missing_prepare(struct schema *s)
{
    memset(s->missing_first, 0, sizeof s->missing_first);
    s->missing_longest = 0;
    for (uint32_t i = 0; i < names_count(s->missing); i++) {
        size_t length;
        const char *text = names_text(s->missing, i, &length);
        s->missing_first[(unsigned char)*text / 32] |= UINT32_C(1) << (unsigned char)*text % 32;
        s->missing_longest = length > s->missing_longest ? length : s->missing_longest;
    }
}

bool schema_set_missing(struct schema *s, const char *list)
{
    struct names *names = names_new();
    for (const char *at = list; names && *at;) {
        size_t length = strcspn(at, ",");
        if (length && names_add(names, at, length) == NAMES_NONE) {
            names_free(names);
            names = NULL;
            break;
        }
        at += length + (at[length] == ',');
    }
    if (!names)
        return false;
    names_free(s->missing);
    s->missing = names;
    missing_prepare(s);
    return true;
}

bool schema_is_missing(const struct schema *s, const struct schema_column *column, const char *text, size_t length)
{
    if (length == 0)
        return true;
    unsigned char first = (unsigned char)*text;
    if (length <= s->missing_longest && s->missing_first[first / 32] >> first % 32 & 1 &&
        names_find(s->missing, text, length) != NAMES_NONE)
        return true;
    return column && column->missing && names_find(column->missing, text, length) != NAMES_NONE;
}

/* --- columns --- */

struct schema *schema_new(void)
{
    struct schema *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->delimiter = ',';
    s->header = true;
    s->ngrams = 1;
    s->index = names_new();
    if (s->index && schema_set_missing(s, usual_missing))
        return s;
    schema_free(s);
    return NULL;
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->columns[i].name);
        free(s->columns[i].example);
        names_free(s->columns[i].missing);
    }
    free(s->columns);
    names_free(s->index);
    names_free(s->missing);
    free(s);
}

struct schema_column *schema_add(struct schema *s, const char *name, size_t length)
{
    if (!array_reserve(&s->columns, &s->capacity, s->n + 1, sizeof *s->columns))
        return NULL;
    struct schema_column *column = &s->columns[s->n];
    *column = (struct schema_column){.name = strndup(name, length), .length = length, .point = '.', .order = 'm'};
    if (!column->name)
        return NULL;
    if (names_add(s->index, name, length) != s->n) {
        free(column->name);
        return NULL;
    }
    s->n++;
    return column;
}

struct schema_column *schema_find(const struct schema *s, const char *name, size_t length)
{
    uint32_t at = names_find(s->index, name, length);
    return at == NAMES_NONE ? NULL : &s->columns[at];
}

const struct schema_column *schema_role(const struct schema *s, enum role role)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->columns[i].role == role)
            return &s->columns[i];
    return NULL;
}

struct schema *schema_copy(const struct schema *s)
{
    struct schema *copy = NULL;
    json_t *json = schema_json(s);
    if (json && schema_from_json(&copy, json, NULL))
        copy = NULL;
    json_decref(json);
    for (size_t i = 0; copy && i < s->n; i++) {
        copy->columns[i].given = s->columns[i].given;
        memcpy(copy->columns[i].why, s->columns[i].why, sizeof s->columns[i].why);
    }
    return copy;
}

/* --- JSON --- */

static json_t *names_json(const struct names *names)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < names_count(names); i++)
        json_array_append_new(array, json_string(names_text(names, i, NULL)));
    return array;
}

static json_t *column_json(const struct schema_column *c)
{
    json_t *json = json_pack("{s:s, s:s}", "name", c->name, "role", roles[c->role]);
    if (c->role == ROLE_DATE) {
        json_object_set_new(json, "origin", json_integer(c->origin));
        json_object_set_new(json, "order", json_string(c->order == 'd' ? "day" : "month"));
    }
    if (c->point == ',')
        json_object_set_new(json, "point", json_string(","));
    if (c->missing)
        json_object_set_new(json, "missing", names_json(c->missing));
    if (c->example)
        json_object_set_new(json, "example", json_string(c->example));
    return json;
}

json_t *schema_json(const struct schema *s)
{
    char delimiter[2] = {s->delimiter, 0};
    json_t *columns = json_array();
    for (size_t i = 0; i < s->n; i++)
        if (json_array_append_new(columns, column_json(&s->columns[i]))) {
            json_decref(columns);
            return NULL;
        }
    return json_pack("{s:i, s:s, s:b, s:o, s:i, s:i, s:o}", "version", VERSION, "delimiter", delimiter, "header",
                     s->header, "missing", names_json(s->missing), "ngrams", (int)s->ngrams, "hash_bits",
                     (int)s->hash_bits, "columns", columns);
}

static bool names_take(const json_t *array, struct names **ret)
{
    struct names *names = names_new();
    const json_t *item;
    size_t i;
    json_array_foreach(array, i,
                       item) if (!names || !json_is_string(item) ||
                                 names_add(names, json_string_value(item), json_string_length(item)) == NAMES_NONE)
    {
        names_free(names);
        return false;
    }
    *ret = names;
    return names;
}

static char character(const json_t *json, const char *key, char fallback)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? *text : fallback;
}

/* point: of the columns that do not tell theirs. */
static hunch_status column_take(struct schema *s, const json_t *json, char point, hunch_error *reterr)
{
    const json_t *name = json_object_get(json, "name"), *missing = json_object_get(json, "missing");
    const char *role = json_string_value(json_object_get(json, "role"));
    const char *example = json_string_value(json_object_get(json, "example"));
    size_t at = 0;
    if (!json_is_string(name) || !role)
        return error_set(reterr, HUNCH_EINVAL, "schema: a column needs a name and a role");
    while (at < ROLES && strcmp(roles[at], role) != 0)
        at++;
    if (at == ROLES)
        return error_set(reterr, HUNCH_EINVAL, "schema: there is no role '%s'", quote(role, strlen(role)).text);
    if (schema_find(s, json_string_value(name), json_string_length(name)))
        return error_set(reterr, HUNCH_EINVAL, "schema: two columns are called '%s'", json_string_value(name));
    struct schema_column *c = schema_add(s, json_string_value(name), json_string_length(name));
    if (!c)
        return error_memory(reterr);
    c->role = (enum role)at;
    c->given = true;
    c->origin = (int32_t)json_integer_value(json_object_get(json, "origin"));
    c->point = character(json, "point", point) == ',' ? ',' : '.';
    c->order = character(json, "order", 'm') == 'd' ? 'd' : 'm';
    c->example = example ? strdup(example) : NULL;
    if (json_is_array(missing) && json_array_size(missing) && !names_take(missing, &c->missing))
        return error_set(reterr, HUNCH_EINVAL, "schema: 'missing' is a list of texts");
    return HUNCH_OK;
}

static hunch_status schema_take(struct schema *s, const json_t *json, hunch_error *reterr)
{
    const json_t *columns = json_object_get(json, "columns"), *missing = json_object_get(json, "missing"), *column;
    size_t i;
    if (!json_is_array(columns))
        return error_set(reterr, HUNCH_EINVAL, "schema: there is no list of columns");
    if (json_integer_value(json_object_get(json, "version")) > VERSION)
        return error_set(reterr, HUNCH_EINVAL, "schema: was written by a newer version");
    s->delimiter = character(json, "delimiter", ',');
    s->header = !json_is_false(json_object_get(json, "header"));
    json_int_t ngrams = json_integer_value(json_object_get(json, "ngrams"));
    json_int_t bits = json_integer_value(json_object_get(json, "hash_bits"));
    if (ngrams < 0 || ngrams > 8 || bits < 0 || bits > 26)
        return error_set(reterr, HUNCH_EINVAL, "schema: ngrams must be at most 8, hash_bits at most 26");
    s->ngrams = ngrams ? (uint32_t)ngrams : 1;
    s->hash_bits = (uint32_t)bits;
    if (json_is_array(missing)) {
        names_free(s->missing);
        s->missing = NULL;
        if (!names_take(missing, &s->missing))
            return error_set(reterr, HUNCH_EINVAL, "schema: 'missing' is a list of texts");
        missing_prepare(s);
    }
    json_array_foreach(columns, i, column)
    {
        hunch_status status = column_take(s, column, character(json, "point", '.'), reterr);
        if (status)
            return status;
    }
    return HUNCH_OK;
}

hunch_status schema_from_json(struct schema **ret, const json_t *json, hunch_error *reterr)
{
    struct schema *s = schema_new();
    hunch_status status = s ? schema_take(s, json, reterr) : error_memory(reterr);
    if (status)
        schema_free(s);
    else
        *ret = s;
    return status;
}

hunch_status schema_read(struct schema **ret, const char *text, size_t size, hunch_error *reterr)
{
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        return error_set(reterr, HUNCH_EINVAL, "schema: not JSON: %s (line %d)", error.text, error.line);
    hunch_status status = schema_from_json(ret, json, reterr);
    json_decref(json);
    return status;
}

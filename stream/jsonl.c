/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON lines: one object a line,
 *     {"label": "a", "x": {"age": 41, "colour": "red", "member": true}}
 *     {"label": 3, "x": [0.5, 0, 1.25]}
 *     {"label": 3, "index": [0, 17], "value": [0.5, 1]}
 * A string makes the feature "name=string" with value 1, true is 1, false is 0, null is missing. Features that have
 * numbers only are called by them. Without "label" (or with null) the row has none.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "csv.h"
#include "fail.h"
#include "jsonl.h"

struct row {
    struct parser *parser;
    struct rows *out;
    size_t begin, n;
    hunch_error *reterr;
};

static hunch_status jsonl_begin(struct parser *p, const char *text, size_t size, bool last, hunch_error *reterr)
{
    (void)text;
    (void)size;
    (void)last;
    p->state = calloc(1, sizeof(struct csv_scratch));
    return p->state ? HUNCH_OK : fail_memory(reterr);
}

static void jsonl_end(struct parser *p)
{
    struct csv_scratch *scratch = p->state;
    if (scratch)
        free(scratch->bytes);
    free(scratch);
    p->state = NULL;
}

static hunch_status value_add(struct row *row, const char *name, size_t length, double value)
{
    struct parser *p = row->parser;
    float narrow = (float)value;
    uint32_t feature;
    if (!isfinite(narrow))
        return parser_fail(p, p->line, row->reterr, "value out of range: '%s'", quote(name, length).text);
    hunch_status status = parser_feature(p, name, length, p->line, &feature, row->reterr);
    if (status || narrow == 0)
        return status;
    status = rows_reserve(row->out, row->out->n + 1, row->n + 1, row->reterr);
    if (status)
        return status;
    row->out->index[row->n] = feature;
    row->out->value[row->n++] = narrow;
    return HUNCH_OK;
}

static hunch_status member_add(struct row *row, const char *name, const json_t *member)
{
    struct parser *p = row->parser;
    struct csv_scratch *scratch = p->state;
    size_t length = strlen(name);
    if (json_is_null(member))
        return HUNCH_OK;
    if (json_is_number(member))
        return value_add(row, name, length, json_number_value(member));
    if (json_is_boolean(member))
        return value_add(row, name, length, json_is_true(member));
    if (!json_is_string(member))
        return parser_fail(p, p->line, row->reterr, "'%s' is neither number, string nor boolean",
                           quote(name, length).text);
    size_t text = json_string_length(member);
    if (!csv_scratch_reserve(scratch, length + 1 + text + 1))
        return fail_memory(row->reterr);
    memcpy(scratch->bytes, name, length);
    scratch->bytes[length] = '=';
    memcpy(scratch->bytes + length + 1, json_string_value(member), text);
    return value_add(row, scratch->bytes, length + 1 + text, 1);
}

static hunch_status numbered_add(struct row *row, uint64_t number, const json_t *value)
{
    char name[24];
    int length = snprintf(name, sizeof name, "%" PRIu64, number);
    if (!json_is_number(value))
        return parser_fail(row->parser, row->parser->line, row->reterr, "value %s is not a number", name);
    return value_add(row, name, (size_t)length, json_number_value(value));
}

static hunch_status pairs_add(struct row *row, const json_t *index, const json_t *value)
{
    struct parser *p = row->parser;
    hunch_status status = HUNCH_OK;
    if (!json_is_array(index) || !json_is_array(value) || json_array_size(index) != json_array_size(value))
        return parser_fail(p, p->line, row->reterr, "\"index\" and \"value\" must be arrays of the same length");
    for (size_t i = 0; i < json_array_size(index) && !status; i++) {
        const json_t *at = json_array_get(index, i);
        if (!json_is_integer(at) || json_integer_value(at) < 0)
            return parser_fail(p, p->line, row->reterr, "an index is not a whole number from 0");
        status = numbered_add(row, (uint64_t)json_integer_value(at), json_array_get(value, i));
    }
    return status;
}

static hunch_status features_add(struct row *row, json_t *object)
{
    struct parser *p = row->parser;
    hunch_status status = HUNCH_OK;
    json_t *x = json_object_get(object, "x"), *member;
    const char *name;
    if (json_is_object(x)) {
        json_object_foreach(x, name, member)
        {
            status = member_add(row, name, member);
            if (status)
                break;
        }
    } else if (json_is_array(x)) {
        for (size_t i = 0; i < json_array_size(x) && !status; i++)
            status = numbered_add(row, i, json_array_get(x, i));
    } else if (!x && json_object_get(object, "index")) {
        status = pairs_add(row, json_object_get(object, "index"), json_object_get(object, "value"));
    } else {
        status = parser_fail(p, p->line, row->reterr, "there is no \"x\" that is an object or an array");
    }
    return status;
}

static hunch_status label_add(struct parser *p, const json_t *label, uint32_t *ret, hunch_error *reterr)
{
    char text[32];
    int length = 0;
    if (!label || json_is_null(label))
        return HUNCH_OK;
    if (json_is_string(label))
        return parser_label(p, json_string_value(label), json_string_length(label), p->line, ret, reterr);
    if (json_is_integer(label))
        length = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(label));
    else if (json_is_real(label))
        length = snprintf(text, sizeof text, "%.15g", json_real_value(label));
    else if (json_is_boolean(label))
        length = snprintf(text, sizeof text, "%s", json_is_true(label) ? "true" : "false");
    else
        return parser_fail(p, p->line, reterr, "\"label\" is neither string, number nor boolean");
    return parser_label(p, text, (size_t)length, p->line, ret, reterr);
}

hunch_status jsonl_append(struct parser *p, json_t *object, struct rows *out, hunch_error *reterr)
{
    size_t begin = out->n ? (size_t)out->start[out->n] : 0;
    struct row row = {p, out, begin, begin, reterr};
    uint32_t label = STREAM_NO_LABEL;
    hunch_status status = rows_reserve(out, out->n + 1, begin + 1, reterr);
    if (!status)
        status = features_add(&row, object);
    if (!status && !rows_sort_row(out, begin, row.n))
        status = parser_fail(p, p->line, reterr, "a feature is there twice");
    if (!status)
        status = label_add(p, json_object_get(object, "label"), &label, reterr);
    if (!status)
        parser_row(out, row.n, label, p->line);
    return status;
}

json_t *jsonl_read(const struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    json_error_t error;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        parser_fail(p, p->line, reterr, "not JSON: %s (column %d)", quote(error.text, strlen(error.text)).text,
                    error.column);
    else if (!json_is_object(object)) {
        parser_fail(p, p->line, reterr, "not a JSON object");
        json_decref(object);
        object = NULL;
    }
    return object;
}

static hunch_status row_read(struct parser *p, const char *text, size_t size, struct rows *out, hunch_error *reterr)
{
    json_t *object = jsonl_read(p, text, size, reterr);
    if (!object)
        return HUNCH_EINVAL;
    hunch_status status = jsonl_append(p, object, out, reterr);
    json_decref(object);
    return status;
}

static hunch_status jsonl_parse(struct parser *p, const char *text, size_t size, bool last, struct rows *out,
                                size_t *ret_used, hunch_error *reterr)
{
    (void)last;
    const char *end = text + size;
    for (; text < end; p->line++) {
        const char *newline = rawmemchr(text, '\n');
        const char *first = text + strspn(text, " \t\r");
        hunch_status status = HUNCH_OK;
        if (first < newline)
            status = row_read(p, text, (size_t)(newline - text), out, reterr);
        if (status && !parser_skips(p, status))
            return status;
        text = newline + 1;
    }
    *ret_used = size;
    return HUNCH_OK;
}

const struct format format_jsonl = {"jsonl", true, jsonl_begin, jsonl_parse, jsonl_end};

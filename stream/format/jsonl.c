/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON lines: one object a line, of features
 *     {"label": "a", "x": {"age": 41, "colour": "red", "member": true}}
 *     {"label": 3, "x": [0.5, 0, 1.25]}
 *     {"label": 3, "index": [0, 17], "value": [0.5, 1]}
 * or flat, a row of a table whose columns are the keys and whose schema says what they mean
 *     {"subject": "cannot log in", "channel": "web", "age": 41, "queue": "accounts"}
 *
 * In "x" a string makes the feature "name=string" with value 1, true is 1, false is 0; null, "" and blanks are missing. Features that
 * have numbers only are called by them. Without "label" (or with null) the row has none.
 *
 * Lines of the usual kind are read where they stand (base/json.h); whatever is unusual goes to Jansson, which also
 * finds the words for what is wrong.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json_cell.h"
#include "table/encode.h"
#include "table/row_encoder.h"
#include "base/error.h"
#include "base/json.h"
#include "format/detect.h"
#include "table/sample.h"

#define SAMPLE_ROWS 1000
#define FLAT_HINT "; jq -c '" JQ_FLAT "' makes columns of what it holds"

struct jsonl {
    bool flat;
    struct encoder encoder; /* flat */
    unsigned char *seen;    /* columns of the row so far */
    struct csv_scratch key;
};

static void jsonl_end(struct parser *p)
{
    struct jsonl *j = p->state;
    if (!j)
        return;
    encoder_free(&j->encoder);
    free(j->seen);
    free(j->key.bytes);
    free(j);
    p->state = NULL;
}

/* --- features --- */

static hunch_status value_add(struct parser *p, struct encoded *row, const char *name, size_t length, double value,
                              hunch_error *reterr)
{
    float narrow = (float)value;
    if (!isfinite(narrow))
        return parser_fail(p, p->line, reterr, "value out of range: '%s'", quote(name, length).text);
    return lookup_add_copy(p, row, name, length, narrow, HUNCH_ROLE_UNKNOWN, reterr);
}

/* "name=text" */
static hunch_status string_add(struct parser *p, struct encoded *row, const char *name, size_t length,
                               const struct json_value *text, hunch_error *reterr)
{
    struct jsonl *j = p->state;
    size_t blanks = 0;
    while (blanks < text->length && text->text[blanks] == ' ')
        blanks++;
    if (blanks == text->length)
        return HUNCH_OK; /* missing */
    if (!csv_scratch_reserve(&j->key, length + 1 + text->length + 1))
        return error_memory(reterr);
    memcpy(j->key.bytes, name, length);
    j->key.bytes[length] = '=';
    memcpy(j->key.bytes + length + 1, text->text, text->length);
    return value_add(p, row, j->key.bytes, length + 1 + text->length, 1, reterr);
}

static hunch_status member_add(struct parser *p, struct encoded *row, const char *name, const json_t *member,
                               hunch_error *reterr)
{
    size_t length = strlen(name);
    if (json_is_null(member))
        return HUNCH_OK;
    if (json_is_number(member))
        return value_add(p, row, name, length, json_number_value(member), reterr);
    if (json_is_boolean(member))
        return value_add(p, row, name, length, json_is_true(member), reterr);
    if (!json_is_string(member))
        return parser_fail(p, p->line, reterr, "'%s' is neither number, string nor boolean", quote(name, length).text);
    struct json_value text = {JSON_VALUE_STRING, json_string_value(member), json_string_length(member), 0};
    return string_add(p, row, name, length, &text, reterr);
}

static hunch_status numbered_add(struct parser *p, struct encoded *row, uint64_t number, const json_t *value,
                                 hunch_error *reterr)
{
    char name[24];
    int length = snprintf(name, sizeof name, "%" PRIu64, number);
    if (!json_is_number(value))
        return parser_fail(p, p->line, reterr, "value %s is not a number", name);
    return value_add(p, row, name, (size_t)length, json_number_value(value), reterr);
}

static hunch_status pairs_add(struct parser *p, struct encoded *row, const json_t *index, const json_t *value,
                              hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (!json_is_array(index) || !json_is_array(value) || json_array_size(index) != json_array_size(value))
        return parser_fail(p, p->line, reterr, "\"index\" and \"value\" must be arrays of the same length");
    for (size_t i = 0; i < json_array_size(index) && !status; i++) {
        const json_t *at = json_array_get(index, i);
        if (!json_is_integer(at) || json_integer_value(at) < 0)
            return parser_fail(p, p->line, reterr, "an index is not a whole number from 0");
        status = numbered_add(p, row, (uint64_t)json_integer_value(at), json_array_get(value, i), reterr);
    }
    return status;
}

/* The server keeps [[3, 0.5], [17, 1]] as well. */
static hunch_status index_value_pairs_add(struct parser *p, struct encoded *row, const json_t *x, hunch_error *reterr)
{
    const json_t *item;
    size_t i;
    hunch_status status = HUNCH_OK;
    json_array_foreach(x, i, item)
    {
        const json_t *at = json_array_get(item, 0);
        if (json_array_size(item) != 2 || !json_is_integer(at) || json_integer_value(at) < 0)
            return parser_fail(p, p->line, reterr, "x is neither an object nor an array of numbers or pairs");
        status = numbered_add(p, row, (uint64_t)json_integer_value(at), json_array_get(item, 1), reterr);
        if (status)
            break;
    }
    return status;
}

static hunch_status x_add(struct parser *p, struct encoded *row, json_t *x, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    json_t *member;
    const char *name;
    if (json_is_array(x) && json_is_array(json_array_get(x, 0)))
        return index_value_pairs_add(p, row, x, reterr);
    if (json_is_object(x)) {
        json_object_foreach(x, name, member)
        {
            status = member_add(p, row, name, member, reterr);
            if (status)
                break;
        }
    } else if (json_is_array(x)) {
        for (size_t i = 0; i < json_array_size(x) && !status; i++)
            status = numbered_add(p, row, i, json_array_get(x, i), reterr);
    } else {
        status = parser_fail(p, p->line, reterr, "\"x\" must be an object or an array");
    }
    return status;
}

hunch_status jsonl_features(struct parser *p, struct encoded *row, const char *text, size_t size, hunch_error *reterr)
{
    json_error_t error;
    json_t *x = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!x)
        return parser_fail(p, p->line, reterr, "x is not JSON: %s", quote(text, size).text);
    struct jsonl own = {0};
    void *state = p->state; /* a table's, perhaps */
    p->state = &own;
    hunch_status status = x_add(p, row, x, reterr);
    p->state = state;
    free(own.key.bytes);
    json_decref(x);
    return status;
}

/* --- labels and what logs tell --- */

static hunch_status label_add(struct parser *p, const json_t *label, const char *key, uint32_t *ret,
                              hunch_error *reterr)
{
    char text[NUMBER_TEXT];
    int length = 0;
    if (!label || json_is_null(label))
        return HUNCH_OK;
    if (json_is_string(label))
        return parser_label(p, json_string_value(label), json_string_length(label), p->line, ret, reterr);
    if (json_is_integer(label))
        length = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(label));
    else if (json_is_real(label))
        length = (int)number_print_digits(json_real_value(label), 15, text);
    else if (json_is_boolean(label))
        length = snprintf(text, sizeof text, "%s", json_is_true(label) ? "true" : "false");
    else
        return parser_fail(p, p->line, reterr, "\"%s\" is neither string, number nor boolean", key);
    return parser_label(p, text, (size_t)length, p->line, ret, reterr);
}

static json_t *either(const json_t *object, const char *name, const char *other)
{
    json_t *found = json_object_get(object, name);
    return found ? found : json_object_get(object, other);
}

/* true and 1 are right, false and 0 wrong, null is not told: -1. -2: something else. */
static int right_of(const json_t *right)
{
    if (!right || json_is_null(right))
        return -1;
    if (json_is_boolean(right))
        return json_is_true(right);
    double value = json_number_value(right);
    return json_is_number(right) && (value == 0 || value == 1) ? (int)value : -2;
}

static int label_compare(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return (one > two) - (one < two);
}

/* Each label counts once. */
static void eligible_unite(struct rows *rows, struct row_log *log)
{
    uint32_t *label = rows->eligible + log->eligible;
    uint32_t n = 0;
    qsort(label, log->eligible_n, sizeof *label, label_compare);
    for (size_t i = 0; i < log->eligible_n; i++)
        if (i == 0 || label[i] != label[n - 1])
            label[n++] = label[i];
    rows->eligible_n -= log->eligible_n - n;
    log->eligible_n = n;
}

/* The labels among which the one shown was chosen; absent: all. */
static hunch_status eligible_add(struct parser *p, const json_t *labels, struct encoded *row, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (!labels || json_is_null(labels))
        return HUNCH_OK;
    for (size_t i = 0; i < json_array_size(labels) && !status; i++) {
        uint32_t label = STREAM_NO_LABEL;
        status = label_add(p, json_array_get(labels, i), "eligible", &label, reterr);
        if (!status && label != STREAM_NO_LABEL)
            status = rows_add_eligible(row->out, &row->log, label, reterr);
    }
    if (!status && !row->log.eligible_n) /* no array, or nothing in it */
        return parser_fail(p, p->line, reterr, "\"eligible\" must be an array of labels");
    if (!status)
        eligible_unite(row->out, &row->log);
    return status;
}

static hunch_status log_add(struct parser *p, const json_t *object, struct encoded *row, hunch_error *reterr)
{
    const json_t *prob = either(object, "prob", "probability");
    int right = right_of(either(object, "right", "was_right"));
    hunch_status status = label_add(p, json_object_get(object, "label"), "label", &row->label, reterr);
    if (!status)
        status = label_add(p, json_object_get(object, "true_label"), "true_label", &row->log.truth, reterr);
    if (status)
        return status;
    if (row->label == STREAM_NO_LABEL && row->log.truth == STREAM_NO_LABEL)
        return parser_fail(p, p->line, reterr, "\"label\" is missing");
    if (prob && !json_is_number(prob) && !json_is_null(prob))
        return parser_fail(p, p->line, reterr, "\"prob\" is not a number");
    if (right == -2)
        return parser_fail(p, p->line, reterr, "\"right\" is neither true, false, 1 nor 0");
    row->log.right = (int8_t)right;
    row->log.unjudged = json_is_true(json_object_get(object, "unjudged"));
    status = eligible_add(p, json_object_get(object, "eligible"), row, reterr);
    if (status)
        return status;
    return row->label == STREAM_NO_LABEL || !json_is_number(prob)
               ? HUNCH_OK
               : parser_prob(p, json_number_value(prob), &row->log.prob, reterr);
}

/* --- objects by Jansson --- */

static json_t *object_read(const struct parser *p, const char *text, size_t size, hunch_error *reterr)
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

static hunch_status features_take(struct parser *p, json_t *object, struct encoded *row, hunch_error *reterr)
{
    json_t *x = json_object_get(object, "x"), *index = json_object_get(object, "index");
    hunch_status status = p->options->log ? log_add(p, object, row, reterr) : HUNCH_OK;
    if (!status)
        status =
            !x && index ? pairs_add(p, row, index, json_object_get(object, "value"), reterr) : x_add(p, row, x, reterr);
    if (!status)
        status = lookup_finish(p, row, reterr);
    if (!status && !rows_sort_row(row->out, row->begin, row->values) && !p->options->hash_bits)
        status = parser_fail(p, p->line, reterr, "a feature occurs twice");
    if (!status && !p->options->log)
        status = label_add(p, json_object_get(object, "label"), "label", &row->label, reterr);
    return status;
}

/* A member as a cell; text NULL: it cannot be one. */
static hunch_status cell_take(struct parser *p, struct encoded *row, const struct row_cell *cell, size_t key_length,
                              hunch_error *reterr)
{
    struct jsonl *j = p->state;
    uint32_t column = names_find(p->schema->index, cell->name, key_length);
    uint32_t with = p->with ? names_find(p->with, cell->name, key_length) : NAMES_NONE;
    hunch_status status = HUNCH_OK;
    if (with != NAMES_NONE && cell->text)
        status = rows_cell_set(row->out, with, cell->text, cell->length, reterr);
    if (status || (column == NAMES_NONE && with != NAMES_NONE))
        return status;
    if (column == NAMES_NONE)
        return parser_remark(p, reterr, "%s: '%s' is not known and not used", p->path,
                             quote(cell->name, key_length).text);
    j->seen[column] = 1;
    if (!cell->text && p->schema->columns[column].role == ROLE_IGNORE && p->schema->columns[column].given)
        return HUNCH_OK;
    return cell->text ? encoder_cell(&j->encoder, row, column, cell->text, cell->length, reterr)
                      : parser_fail(p, p->line, reterr, "'%s' is an object or an array" FLAT_HINT,
                                    quote(cell->name, key_length).text);
}

static hunch_status cells_take(struct parser *p, json_t *object, struct encoded *row, hunch_error *reterr)
{
    json_t *member;
    struct row_cell cell;
    hunch_status status = HUNCH_OK;
    json_object_foreach(object, cell.name, member)
    {
        char number[NUMBER_TEXT];
        cell.length = 0;
        cell.text = json_cell(member, number, &cell.length);
        status = cell_take(p, row, &cell, strlen(cell.name), reterr);
        if (status)
            break;
    }
    return status;
}

/* --- objects as they stand --- */

/* The usual line. False: the row must be read again by the general parser. */
static bool features_scan(struct parser *p, const char *text, size_t size, struct encoded *row, hunch_status *status,
                          hunch_error *reterr)
{
    struct json_scan scan, inner;
    struct json_value value;
    bool x = false;
    if (p->options->log || !json_scan_begin(&scan, text, text + size))
        return false;
    while (!*status && json_scan_next(&scan, &value)) {
        if (scan.key_length == 5 && !memcmp(scan.key, "label", 5)) {
            if (value.kind == JSON_VALUE_STRING || (value.kind == JSON_VALUE_NUMBER && value.whole))
                *status = parser_label(p, value.text, value.length, p->line, &row->label, reterr);
            else if (value.kind != JSON_VALUE_NULL)
                return false;
            continue;
        }
        if (scan.key_length != 1 || *scan.key != 'x' || x || value.kind != JSON_VALUE_OBJECT)
            return false;
        x = json_scan_begin(&inner, value.text, scan.end);
        while (x && !*status && json_scan_next(&inner, &value)) {
            float number;
            if (value.kind == JSON_VALUE_NUMBER && decimal_read(value.text, &number) == value.text + value.length)
                *status = isfinite(number)
                              ? lookup_add(p, row, inner.key, inner.key_length, number, HUNCH_ROLE_UNKNOWN, reterr)
                              : value_add(p, row, inner.key, inner.key_length, (double)number, reterr);
            else if (value.kind == JSON_VALUE_STRING)
                *status = string_add(p, row, inner.key, inner.key_length, &value, reterr);
            else
                return false;
        }
        if (!x || *status || inner.unsupported)
            return false;
        scan.at = inner.at;
    }
    if (*status || scan.unsupported || !x || !json_scan_ended(&scan))
        return false;
    *status = lookup_finish(p, row, reterr);
    return !*status && (rows_sort_row(row->out, row->begin, row->values) || p->options->hash_bits);
}

static bool cells_scan(struct parser *p, const char *text, size_t size, struct encoded *row, hunch_status *status,
                       hunch_error *reterr)
{
    struct jsonl *j = p->state;
    struct json_scan scan;
    struct json_value value;
    if (!json_scan_begin(&scan, text, text + size))
        return false;
    while (!*status && json_scan_next(&scan, &value)) {
        uint32_t column = names_find(p->schema->index, scan.key, scan.key_length);
        if (value.kind == JSON_VALUE_OBJECT || value.kind == JSON_VALUE_ARRAY ||
            (column != NAMES_NONE && j->seen[column]))
            return false;
        struct row_cell cell = {scan.key, value.text, value.kind == JSON_VALUE_NULL ? 0 : value.length};
        *status = cell_take(p, row, &cell, scan.key_length, reterr);
    }
    return *status || (!scan.unsupported && json_scan_ended(&scan));
}

/* --- rows --- */

static hunch_status absent_take(struct parser *p, struct encoded *row, hunch_error *reterr)
{
    struct jsonl *j = p->state;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < p->schema->n && !status; i++)
        if (!j->seen[i])
            status = encoder_cell(&j->encoder, row, i, "", 0, reterr);
    return status;
}

static hunch_status row_read(struct parser *p, const char *text, size_t size, struct rows *out, hunch_error *reterr)
{
    struct jsonl *j = p->state;
    struct encoded row;
    size_t max = j->flat ? 3 * p->schema->n : 1;
    hunch_status status = encoded_begin(p, &row, out, max, reterr);
    if (!status && p->with)
        status = rows_cells_begin(out, names_count(p->with), reterr);
    if (status)
        return status;
    if (j->flat)
        memset(j->seen, 0, p->schema->n);
    bool done = j->flat ? cells_scan(p, text, size, &row, &status, reterr)
                        : features_scan(p, text, size, &row, &status, reterr);
    if (!done) {
        json_t *object = object_read(p, text, size, reterr);
        if (!object)
            return HUNCH_EINVAL;
        status = encoded_begin(p, &row, out, max, reterr);
        if (j->flat)
            memset(j->seen, 0, p->schema->n);
        if (!status)
            status = j->flat ? cells_take(p, object, &row, reterr) : features_take(p, object, &row, reterr);
        json_decref(object);
    }
    if (!status && j->flat)
        status = absent_take(p, &row, reterr);
    return status ? status : parser_finish(p, &row, reterr);
}

static hunch_status jsonl_parse(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                                hunch_error *reterr)
{
    const char *end = text + size;
    for (; text < end; p->line++) {
        const char *newline = rawmemchr(text, '\n');
        const char *first = text + strspn(text, " \t\r");
        hunch_status status = HUNCH_OK;
        if (first < newline)
            status = row_read(p, text, (size_t)(newline - text), out, reterr);
        if (status && !parser_skips(p, status, out))
            return status;
        text = newline + 1;
    }
    *ret_used = size;
    return HUNCH_OK;
}

/* --- the first rows --- */

static hunch_status object_look(struct sample *sample, json_t *object, hunch_error *reterr)
{
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        char number[NUMBER_TEXT];
        size_t length = 0;
        const char *text = json_cell(member, number, &length);
        if (!schema_find(sample->schema, key, strlen(key)) &&
            (!schema_add(sample->schema, key, strlen(key)) || !sample_grow(sample)))
            return error_memory(reterr);
        uint32_t column = names_find(sample->schema->index, key, strlen(key));
        sample->columns[column].nested += !text;
        if (text && !sample_cell(sample, column, text, length))
            return error_memory(reterr);
    }
    sample->rows++;
    return HUNCH_OK;
}

static hunch_status objects_look(struct sample *sample, const char *text, const char *end, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (const char *newline; !status && text < end && sample->rows < SAMPLE_ROWS; text = newline + 1) {
        newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            break;
        json_t *object = json_loadb(text, (size_t)(newline - text), 0, NULL);
        if (json_is_object(object))
            status = object_look(sample, object, reterr);
        json_decref(object);
    }
    return status;
}

/* Objects within objects are columns only if they are taken apart. */
static hunch_status nested_refuse(const struct parser *p, const struct sample *sample, hunch_error *reterr)
{
    for (size_t i = 0; i < sample->n; i++)
        if (sample->columns[i].nested && !sample->schema->columns[i].given)
            return parser_fail(p, 1, reterr, "'%s' is an object or an array" FLAT_HINT,
                               quote(sample->schema->columns[i].name, sample->schema->columns[i].length).text);
    return HUNCH_OK;
}

static hunch_status schema_make(struct parser *p, const char *text, const char *end, hunch_error *reterr)
{
    struct schema *s = parser_schema(p, 0);
    struct sample sample = {.schema = s};
    if (!s)
        return error_memory(reterr);
    hunch_status status = objects_look(&sample, text, end, reterr);
    if (!status && s->n == 0)
        status = parser_fail(p, 1, reterr, "there is no object with columns");
    if (!status)
        status = parser_decide(p, &sample, reterr);
    if (status != HUNCH_ENOMEM && nested_refuse(p, &sample, reterr))
        status = HUNCH_EINVAL;
    sample_free(&sample);
    if (status) {
        schema_free(s);
        return status;
    }
    schema_free(p->schema); /* it told how to hash, nothing of columns */
    p->schema = s;
    return HUNCH_OK;
}

bool jsonl_is_flat(const char *text, size_t size)
{
    const char *end = text + size;
    for (const char *newline; text < end; text = newline + 1) {
        newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return false;
        json_t *object = json_loadb(text, (size_t)(newline - text), 0, NULL);
        bool known = json_is_object(object) && json_object_size(object);
        bool flat = known && !json_object_get(object, "x") && !json_object_get(object, "index");
        json_decref(object);
        if (known)
            return flat;
    }
    return false;
}

/* The keys whose values go along with the rows. */
static hunch_status with_find(struct parser *p, const char *text, const char *end, hunch_error *reterr)
{
    struct schema *own = schema_new();
    struct sample sample = {.schema = own};
    hunch_status status = own ? objects_look(&sample, text, end, reterr) : error_memory(reterr);
    if (!status)
        status = columns_find(own, p->options->columns.with, "with", &p->with, reterr);
    sample_free(&sample);
    schema_free(own);
    return status;
}

static hunch_status jsonl_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    struct jsonl *j = calloc(1, sizeof *j);
    hunch_status status = HUNCH_OK;
    if (!j)
        return error_memory(reterr);
    p->state = j;
    j->flat = jsonl_is_flat(text, size);
    if (!j->flat)
        return p->options->columns.with ? parser_fail(p, 1, reterr, "--with needs flat objects") : HUNCH_OK;
    if (p->options->columns.with && !p->with)
        status = with_find(p, text, text + size, reterr);
    if (!status && (!p->schema || !p->schema->n))
        status = schema_make(p, text, text + size, reterr);
    if (!status)
        status = encoder_init(&j->encoder, p, reterr);
    for (size_t i = 0; !status && i < p->schema->n; i++) {
        uint32_t feature;
        if (p->schema->columns[i].role == ROLE_NUMBER || p->schema->columns[i].role == ROLE_DATE)
            status = encoder_number(&j->encoder, i, &feature, reterr);
    }
    j->seen = status ? NULL : calloc(p->schema->n + 1, 1);
    return status || j->seen ? status : error_memory(reterr);
}

const struct format format_jsonl = {"jsonl", true, jsonl_begin, jsonl_parse, jsonl_end};

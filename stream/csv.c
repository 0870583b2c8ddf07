/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CSV and TSV with a header. A column whose cells in the file's first block are all numbers (or empty) is one feature
 * of that name; any other column is text, and each of its values a feature "column=value" that is 1. An empty cell is
 * missing. The kind of a column whose features are known already (from a file before, from a model) is theirs.
 */
#include "csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "fail.h"
#include "parser.h"

enum kind { KIND_NUMBER, KIND_TEXT, KIND_LABEL };

struct column {
    char *name;
    size_t length;
    enum kind kind;
    bool settled; /* the kind is not for this file's cells to decide */
    uint32_t feature;
};

struct csv {
    char delimiter;
    struct column *columns;
    size_t n, capacity;
    bool header_passed;
    struct csv_scratch cell, key;
};

static void csv_end(struct parser *p)
{
    struct csv *csv = p->state;
    if (!csv)
        return;
    for (size_t i = 0; i < csv->n; i++)
        free(csv->columns[i].name);
    free(csv->columns);
    free(csv->cell.bytes);
    free(csv->key.bytes);
    free(csv);
    p->state = NULL;
}

static const char *mark_skip(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

static uint64_t lines_count(const char *text, const char *newline)
{
    uint64_t lines = 1;
    while ((text = memchr(text, '\n', (size_t)(newline - text)))) {
        lines++;
        text++;
    }
    return lines;
}

/* Whether the whole cell is a number; cells are followed by readable text. Empty ones count as 0. */
static bool cell_is_number(const struct csv_cell *cell, float *ret)
{
    char copy[64 + DECIMAL_PADDING] = {0};
    *ret = 0;
    if (cell->length == 0)
        return true;
    if (cell->length > 64) { /* a number this long is read where it stands */
        const char *end = decimal_read_any(cell->text, ret);
        return end == cell->text + cell->length && isfinite(*ret);
    }
    memcpy(copy, cell->text, cell->length);
    return decimal_read_any(copy, ret) == copy + cell->length && isfinite(*ret);
}

/* --- the header --- */

static hunch_status column_add(struct parser *p, struct csv *csv, const struct csv_cell *cell, hunch_error *reterr)
{
    if (cell->length == 0 || memchr(cell->text, 0, cell->length))
        return parser_fail(p, p->line, reterr, "column %zu of the header has no name", csv->n + 1);
    for (size_t i = 0; i < csv->n && csv->n < 1000; i++) /* wide tables: features find the duplicate below */
        if (csv->columns[i].length == cell->length && !memcmp(csv->columns[i].name, cell->text, cell->length))
            return parser_fail(p, p->line, reterr, "two columns are called '%s'; is there a header?",
                               quote(cell->text, cell->length).text);
    if (csv->n == csv->capacity) {
        size_t capacity = csv->capacity ? 2 * csv->capacity : 16;
        struct column *columns = realloc(csv->columns, capacity * sizeof *columns);
        if (!columns)
            return fail_memory(reterr);
        csv->columns = columns;
        csv->capacity = capacity;
    }
    struct column *column = &csv->columns[csv->n];
    *column = (struct column){.name = strndup(cell->text, cell->length), .length = cell->length};
    if (!column->name)
        return fail_memory(reterr);
    csv->n++;
    return HUNCH_OK;
}

static size_t column_find(const struct csv *csv, const char *name)
{
    size_t i = 0;
    while (i < csv->n && strcmp(csv->columns[i].name, name) != 0)
        i++;
    return i;
}

static hunch_status label_find(struct parser *p, struct csv *csv, hunch_error *reterr)
{
    static const char *const usual[] = {"label", "class", "y"};
    const char *wanted = p->options->label_column;
    size_t at = csv->n;
    if (wanted) {
        char *end;
        at = column_find(csv, wanted);
        unsigned long long number = strtoull(wanted, &end, 10);
        if (at == csv->n && *wanted && !*end && number >= 1 && number <= csv->n)
            at = (size_t)number - 1;
        if (at == csv->n)
            return parser_fail(p, p->line, reterr, "there is no column '%s' for the labels",
                               quote(wanted, strlen(wanted)).text);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual && at == csv->n; i++)
        at = column_find(csv, usual[i]);
    if (at == csv->n &&
        names_find(p->features, csv->columns[csv->n - 1].name, csv->columns[csv->n - 1].length) != NAMES_NONE)
        return HUNCH_OK; /* a feature that the model knows: these rows have no labels */
    csv->columns[at == csv->n ? at - 1 : at].kind = KIND_LABEL;
    return HUNCH_OK;
}

static hunch_status header_read(struct parser *p, struct csv *csv, const char *text, const char *newline,
                                hunch_error *reterr)
{
    const char *stop = text - 1;
    do {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop)
            return fail_memory(reterr);
        hunch_status status = column_add(p, csv, &cell, reterr);
        if (status)
            return status;
    } while (stop < newline);
    return label_find(p, csv, reterr);
}

/* --- kinds of columns --- */

/* "column=value" */
static bool key_make(struct csv *csv, const struct column *column, const struct csv_cell *cell, size_t *ret_length)
{
    size_t length = column->length + 1 + cell->length;
    if (!csv_scratch_reserve(&csv->key, length))
        return false;
    memcpy(csv->key.bytes, column->name, column->length);
    csv->key.bytes[column->length] = '=';
    memcpy(csv->key.bytes + column->length + 1, cell->text, cell->length);
    *ret_length = length;
    return true;
}

static hunch_status kinds_look(struct parser *p, struct csv *csv, const char *text, const char *newline,
                               hunch_error *reterr)
{
    const char *stop = text - 1;
    for (size_t i = 0; i < csv->n && stop < newline; i++) {
        struct column *column = &csv->columns[i];
        struct csv_cell cell;
        size_t length;
        float value;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop)
            return fail_memory(reterr);
        if (column->settled || column->kind == KIND_LABEL || cell.length == 0)
            continue;
        if (!key_make(csv, column, &cell, &length))
            return fail_memory(reterr);
        bool known = names_count(p->features) > 0 && names_find(p->features, csv->key.bytes, length) != NAMES_NONE;
        if (known || !cell_is_number(&cell, &value)) {
            column->kind = KIND_TEXT;
            column->settled = true;
        }
    }
    return HUNCH_OK;
}

static bool line_is_empty(const char *text, const char *newline)
{
    return text == newline || (text + 1 == newline && *text == '\r');
}

static hunch_status kinds_decide(struct parser *p, struct csv *csv, const char *text, const char *end,
                                 hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < csv->n; i++)
        csv->columns[i].settled = names_find(p->features, csv->columns[i].name, csv->columns[i].length) != NAMES_NONE;
    for (const char *newline; !status && text < end; text = newline + 1) {
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline)
            break;
        if (!line_is_empty(text, newline))
            status = kinds_look(p, csv, text, newline, reterr);
    }
    for (size_t i = 0; i < csv->n && !status; i++) {
        struct column *column = &csv->columns[i];
        if (column->kind == KIND_NUMBER)
            status = parser_feature(p, column->name, column->length, p->line, &column->feature, reterr);
    }
    return status;
}

static hunch_status begin(struct parser *p, char delimiter, const char *text, size_t size, bool last,
                          hunch_error *reterr)
{
    struct csv *csv = calloc(1, sizeof *csv);
    const char *end = text + size;
    (void)last;
    if (!csv)
        return fail_memory(reterr);
    p->state = csv;
    csv->delimiter = delimiter;
    text = mark_skip(text, size);
    const char *newline = text < end ? csv_record_end(text, end, delimiter) : NULL;
    if (!newline)
        return parser_fail(p, 1, reterr, "the header does not end");
    hunch_status status = header_read(p, csv, text, newline, reterr);
    return status ? status : kinds_decide(p, csv, newline + 1, end, reterr);
}

static hunch_status csv_begin(struct parser *p, const char *text, size_t size, bool last, hunch_error *reterr)
{
    return begin(p, ',', text, size, last, reterr);
}

static hunch_status tsv_begin(struct parser *p, const char *text, size_t size, bool last, hunch_error *reterr)
{
    return begin(p, '\t', text, size, last, reterr);
}

/* --- rows --- */

struct row {
    size_t values; /* so far, in the batch */
    uint32_t label;
};

static hunch_status cell_add(struct parser *p, const struct column *column, const struct csv_cell *cell,
                             struct rows *out, struct row *row, hunch_error *reterr)
{
    struct csv *csv = p->state;
    float value = 1;
    uint32_t feature = column->feature;
    size_t length;
    if (cell->length == 0)
        return HUNCH_OK;
    if (column->kind == KIND_LABEL)
        return parser_label(p, cell->text, cell->length, p->line, &row->label, reterr);
    if (column->kind == KIND_NUMBER) {
        if (!cell_is_number(cell, &value))
            return parser_fail(p, p->line, reterr, "column '%s' holds numbers, and '%s' is none",
                               quote(column->name, column->length).text, quote(cell->text, cell->length).text);
    } else {
        if (!key_make(csv, column, cell, &length))
            return fail_memory(reterr);
        hunch_status status = parser_feature(p, csv->key.bytes, length, p->line, &feature, reterr);
        if (status)
            return status;
    }
    out->index[row->values] = feature;
    out->value[row->values] = value;
    row->values += value != 0;
    return HUNCH_OK;
}

/* A number that ends where its cell does, the usual case, without looking for the cell's end first. */
static inline const char *number_add(const struct csv *csv, const struct column *column, const char *text,
                                     struct rows *out, struct row *row)
{
    float value;
    if (column->kind != KIND_NUMBER)
        return NULL;
    const char *end = decimal_read(text, &value);
    if (!end || (*end != csv->delimiter && *end != '\n') || isinf(value))
        return NULL;
    out->index[row->values] = column->feature;
    out->value[row->values] = value;
    row->values += value != 0;
    return end;
}

static hunch_status record_read(struct parser *p, const char *text, const char *newline, struct rows *out,
                                hunch_error *reterr)
{
    struct csv *csv = p->state;
    size_t begin_values = out->n ? (size_t)out->start[out->n] : 0, i = 0;
    struct row row = {begin_values, STREAM_NO_LABEL};
    hunch_status status = rows_reserve(out, out->n + 1, begin_values + csv->n, reterr);
    const char *stop = text - 1;
    for (; i < csv->n && !status && stop < newline; i++) {
        struct csv_cell cell;
        const char *after = number_add(csv, &csv->columns[i], stop + 1, out, &row);
        if (!after) {
            after = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
            status = after ? cell_add(p, &csv->columns[i], &cell, out, &row, reterr) : fail_memory(reterr);
        }
        stop = after;
    }
    if (status)
        return status;
    if (i < csv->n || stop < newline)
        return parser_fail(p, p->line, reterr, "%s cells than the %zu columns of the header",
                           i < csv->n ? "fewer" : "more", csv->n);
    if (!rows_sort_row(out, begin_values, row.values))
        return parser_fail(p, p->line, reterr, "two columns make the same feature");
    parser_row(out, row.values, row.label, p->line);
    return HUNCH_OK;
}

static hunch_status csv_parse(struct parser *p, const char *text, size_t size, bool last, struct rows *out,
                              size_t *ret_used, hunch_error *reterr)
{
    struct csv *csv = p->state;
    const char *start = text, *end = text + size;
    if (!csv->header_passed)
        text = mark_skip(text, size);
    while (text < end) {
        const char *newline = csv_record_end(text, end, csv->delimiter);
        if (!newline && last)
            return parser_fail(p, p->line, reterr, "a quoted cell does not end");
        if (!newline)
            break;
        hunch_status status = HUNCH_OK;
        if (csv->header_passed && !line_is_empty(text, newline))
            status = record_read(p, text, newline, out, reterr);
        if (status && !parser_skips(p, status))
            return status;
        csv->header_passed = true;
        p->line += lines_count(text, newline);
        text = newline + 1;
    }
    *ret_used = (size_t)(text - start);
    return HUNCH_OK;
}

const struct format format_csv = {"csv", true, csv_begin, csv_parse, csv_end};
const struct format format_tsv = {"tsv", true, tsv_begin, csv_parse, csv_end};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables: records of cells with a delimiter between them (RFC 4180 and what is found in the wild). What the columns
 * mean is the schema's business; hunch-data(7) tells how separator and header are found.
 */
#include "table/csv_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SAMPLE_ROWS 1000
#define UNKNOWN SIZE_MAX

static void csv_end(struct parser *p)
{
    struct csv *csv = p->state;
    if (!csv)
        return;
    free(csv->columns);
    free(csv->absent);
    free(csv->title);
    free(csv->cell.bytes);
    encoder_free(&csv->encoder);
    free(csv);
    p->state = NULL;
}

/* --- names --- */

/* A column of the schema that is being made: names that are empty or there twice become others. */
static hunch_status name_add(struct parser *p, struct schema *s, const struct csv_cell *cell, hunch_error *reterr)
{
    char *name = NULL;
    int length = -1;
    if (memchr(cell->text, 0, cell->length) || cell->length > PARSER_LABEL_LIMIT)
        return parser_fail(p, p->line, reterr, "the name of column %zu is too long or not valid text", s->n + 1);
    if (cell->length == 0)
        length = asprintf(&name, "column%zu", s->n + 1);
    else
        length = asprintf(&name, "%.*s", (int)cell->length, cell->text);
    for (int i = 1; length >= 0 && schema_find(s, name, (size_t)length); i++) {
        free(name);
        length = cell->length ? asprintf(&name, "%.*s.%d", (int)cell->length, cell->text, i)
                              : asprintf(&name, "column%zu.%d", s->n + 1, i);
    }
    if (length < 0)
        return error_memory(reterr);
    bool added = schema_add(s, name, (size_t)length);
    free(name);
    return added ? HUNCH_OK : error_memory(reterr);
}

static hunch_status names_add_all(struct parser *p, struct csv *csv, struct schema *s, const char *text,
                                  const char *newline, hunch_error *reterr)
{
    struct csv_cell cell = {.text = "", .length = 0};
    hunch_status status = csv->extra && csv->header ? name_add(p, s, &cell, reterr) : HUNCH_OK;
    for (const char *stop = text - 1; !status && stop < newline;) {
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop)
            return error_memory(reterr);
        csv_trim(&cell);
        if (!csv->header)
            cell.length = 0;
        if (stop < newline || csv->trailing >= 0)
            status = name_add(p, s, &cell, reterr);
    }
    cell.length = 0;
    return csv->trailing > 0 && !status ? name_add(p, s, &cell, reterr) : status;
}

/* --- columns of the file and of the schema --- */

static hunch_status columns_reserve(struct csv *csv, size_t n, hunch_error *reterr)
{
    csv->columns = calloc(n + 1, sizeof *csv->columns);
    if (!csv->columns)
        return error_memory(reterr);
    csv->n = n;
    return HUNCH_OK;
}

/* The columns whose cells go along with the rows; of several files, those that the first one has. */
static hunch_status with_find(struct parser *p, struct csv *csv, const struct schema *own, hunch_error *reterr)
{
    const char *list = p->options->columns.with;
    hunch_status status = list && !p->with ? columns_find(own, list, "with", &p->with, reterr) : HUNCH_OK;
    for (size_t i = 0; i < csv->n && !status; i++)
        csv->columns[i].with = p->with ? names_find(p->with, own->columns[i].name, own->columns[i].length) : NAMES_NONE;
    return status;
}

static hunch_status features_prepare(struct parser *p, struct csv *csv, hunch_error *reterr)
{
    hunch_status status = encoder_init(&csv->encoder, p, reterr);
    for (size_t i = 0; i < csv->n && !status; i++) {
        struct column *c = &csv->columns[i];
        if (c->at == UNKNOWN)
            continue;
        enum role role = p->schema->columns[c->at].role;
        c->plain = role == ROLE_NUMBER && c->with == NAMES_NONE && p->schema->columns[c->at].point == '.' &&
                   csv->delimiter != ' ';
        if (role == ROLE_NUMBER || role == ROLE_DATE)
            status = encoder_number(&csv->encoder, c->at, &c->feature, reterr);
    }
    return status;
}

static hunch_status schema_make(struct parser *p, struct csv *csv, const char *text, const char *newline,
                                const char *end, hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    struct schema *s = parser_schema(p, csv->delimiter);
    struct sample sample = {.schema = s};
    hunch_status status = HUNCH_OK;
    if (!s)
        return error_memory(reterr);
    if (!o->columns.no_header)
        status = csv_find_header(csv, s, text, newline, end, reterr);
    if (!status && csv->header)
        csv_find_extra(csv, text, newline, end);
    s->header = csv->header;
    if (!status)
        status = names_add_all(p, csv, s, text, newline, reterr);
    if (!status && !sample_grow(&sample))
        status = error_memory(reterr);
    const char *rows = csv_rows_begin(csv, text, newline, end);
    if (!status)
        status = csv_look(csv, &sample, SAMPLE_ROWS, &rows, end, reterr);
    if (!status && !csv->broken_lines)
        status = csv_look_further(csv, &sample, SAMPLE_ROWS, rows, end, reterr);
    if (!status && !csv->broken_lines && p->further)
        status = csv_look_further(csv, &sample, SAMPLE_ROWS, p->further, p->further + p->further_size, reterr);
    if (!status && csv->header_lines > 1)
        status = parser_remark(p, reterr, "%s: %u lines below the header name the columns again; they are left out",
                               p->path, csv->header_lines - 1);
    if (!status && sample.rows == 0)
        status = newline + 1 < end && *(newline + 1) == '"'
                     ? parser_fail(p, 2, reterr, "a quoted cell has no closing quote")
                     : parser_fail(p, 1, reterr, "there are no rows after the header");
    if (!status && s->n == 1 && !o->features && !o->columns.with)
        status = parser_fail(p, 1, reterr,
                             "there is one column only: no comma, semicolon, tab or bar separates cells; --delimiter "
                             "names another separator");
    if (!status)
        status = parser_decide(p, &sample, reterr);
    sample_free(&sample);
    if (!status)
        status = columns_reserve(csv, s->n, reterr);
    if (status) {
        schema_free(s);
        return status;
    }
    for (size_t i = 0; i < csv->n; i++)
        csv->columns[i].at = i;
    schema_free(p->schema); /* it told how to hash, nothing of columns */
    p->schema = s;
    return with_find(p, csv, s, reterr);
}

static hunch_status absent_find(struct parser *p, struct csv *csv, hunch_error *reterr)
{
    bool *there = calloc(p->schema->n + 1, sizeof *there);
    hunch_status status = HUNCH_OK;
    csv->absent = calloc(p->schema->n + 1, sizeof *csv->absent);
    if (!there || !csv->absent) {
        free(there);
        return error_memory(reterr);
    }
    for (size_t i = 0; i < csv->n; i++)
        if (csv->columns[i].at != UNKNOWN)
            there[csv->columns[i].at] = true;
    for (size_t i = 0; i < p->schema->n && !status; i++) {
        const struct schema_column *c = &p->schema->columns[i];
        if (there[i] || c->role > ROLE_DATE || c->role == ROLE_IGNORE)
            continue;
        csv->absent[csv->absent_n++] = i;
        status = parser_remark(p, reterr, "%s: there is no column '%s'; it is taken as missing", p->path, c->name);
    }
    free(there);
    return status;
}

static bool is_feature(const struct schema_column *c)
{
    return c->role < ROLE_IGNORE || c->role == ROLE_FEATURES;
}

/* In a file that is read with a model's schema, the column that the user names has the labels, whatever its name was
 * when the model was made. */
static hunch_status label_match(struct parser *p, struct csv *csv, const struct schema *own, hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    const char *name = o->columns.label ? o->columns.label : o->label_column;
    const struct schema_column *label = schema_role(p->schema, ROLE_LABEL);
    struct names *found = NULL;
    if (!name || !label || !o->schema)
        return HUNCH_OK;
    hunch_status status = columns_find(own, name, o->columns.label ? "label" : "label-column", &found, reterr);
    for (size_t i = 0; i < csv->n && !status; i++) {
        size_t at = (size_t)(label - p->schema->columns);
        bool is_label = names_find(found, own->columns[i].name, own->columns[i].length) != NAMES_NONE;
        if (is_label || csv->columns[i].at == at)
            csv->columns[i].at = is_label ? at : UNKNOWN;
    }
    names_free(found);
    return status;
}

/* A table that comes after another, or after a model's: its columns are known by name, without a header by position. */
static hunch_status schema_match(struct parser *p, struct csv *csv, const char *text, const char *newline,
                                 const char *end, hunch_error *reterr)
{
    const struct schema *s = p->schema;
    struct schema *own = schema_new();
    hunch_status status = own ? HUNCH_OK : error_memory(reterr);
    size_t known = 0, features = 0;
    csv->header = s->header && !p->options->columns.no_header;
    csv->header_lines = csv->header;
    if (!status && csv->header && !csv_title_keep(csv, text, newline))
        status = error_memory(reterr);
    if (!status && csv->header)
        status = csv_find_second_header(csv, s, newline + 1, end, reterr);
    if (!status && csv->header)
        csv_find_extra(csv, text, newline, end);
    if (!status)
        status = names_add_all(p, csv, own, text, newline, reterr);
    if (!status)
        status = columns_reserve(csv, own->n, reterr);
    if (!status)
        status = with_find(p, csv, own, reterr);
    bool positions = !csv->header;
    size_t label = 0;
    while (label < s->n && s->columns[label].role != ROLE_LABEL)
        label++;
    if (!status && positions && own->n != s->n && own->n + 1 != s->n)
        status = parser_fail(p, 1, reterr, "there are %zu columns, but the model has %zu", own->n, s->n);
    for (size_t i = 0; i < csv->n && !status; i++) {
        size_t at = own->n < s->n && i >= label ? i + 1 : i; /* without labels */
        uint32_t found = positions ? (uint32_t)at : names_find(s->index, own->columns[i].name, own->columns[i].length);
        csv->columns[i].at = found == NAMES_NONE ? UNKNOWN : found;
        known += found != NAMES_NONE;
        features += found != NAMES_NONE && is_feature(&s->columns[found]);
        if (found == NAMES_NONE && csv->columns[i].with == NAMES_NONE)
            status = parser_remark(p, reterr, "%s: the column '%s' is not known and not used", p->path,
                                   own->columns[i].name);
    }
    if (!status && !features)
        status = parser_fail(p, 1, reterr, "none of its columns is known, for example '%s'",
                             own->n ? own->columns[0].name : "");
    if (!status)
        status = label_match(p, csv, own, reterr);
    schema_free(own);
    return status ? status : absent_find(p, csv, reterr);
}

static hunch_status begin(struct parser *p, char delimiter, const char *text, size_t size, hunch_error *reterr)
{
    struct csv *csv = calloc(1, sizeof *csv);
    const char *end = text + size;
    if (!csv)
        return error_memory(reterr);
    p->state = csv;
    text = csv_begin_skip(csv, text, end);
    while (text < end && (*text == '\n' || (*text == '\r' && text[1] == '\n'))) { /* empty lines before all else */
        csv->skip++;
        text++;
    }
    hunch_status status = csv_delimiter(p, csv, delimiter, text, end, reterr);
    if (!status)
        text = csv_preamble_skip(csv, text, end);
    const char *newline = !status && text < end ? csv_record_end(text, end, csv->delimiter) : NULL;
    if (!status && !newline)
        status = parser_fail(p, 1, reterr, text < end ? "the header does not end" : "there are no rows");
    if (!status)
        status = p->schema && p->schema->n ? schema_match(p, csv, text, newline, end, reterr)
                                           : schema_make(p, csv, text, newline, end, reterr);
    return status ? status : features_prepare(p, csv, reterr);
}

static hunch_status csv_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    return begin(p, ',', text, size, reterr);
}

static hunch_status tsv_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    return begin(p, '\t', text, size, reterr);
}

/* --- rows --- */

/* Numbers that end where their cells do, the usual case, without looking for the cells' ends first: those of the
 * columns from *at on, as far as it goes. Returns the delimiter or newline after the last one. */
static const char *numbers_add(const struct csv *csv, size_t *at, const char *stop, const char *newline,
                               struct encoded *row)
{
    const struct column *column = csv->columns + *at, *end = csv->columns + csv->n;
    uint32_t *index = row->out->index + row->values;
    float *value = row->out->value + row->values;
    size_t n = 0;
    for (; column < end && column->plain && stop < newline; column++) {
        const char *after = decimal_read(stop + 1, &value[n]);
        if (!after || isinf(value[n]))
            break;
        after += *after == '\r' && after[1] == '\n';
        if (*after != csv->delimiter && *after != '\n')
            break;
        index[n] = column->feature;
        n += value[n] != 0;
        stop = after;
    }
    row->values += n;
    *at = (size_t)(column - csv->columns);
    return stop;
}

static hunch_status cell_add(struct csv *csv, const struct column *column, struct csv_cell *cell, struct encoded *row,
                             hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    csv_trim(cell);
    if (column->with != NAMES_NONE)
        status = rows_cell_set(row->out, column->with, cell->text, cell->length, reterr);
    return status || column->at == UNKNOWN
               ? status
               : encoder_cell(&csv->encoder, row, column->at, cell->text, cell->length, reterr);
}

static hunch_status cells_fail(struct parser *p, const char *text, const char *newline, bool fewer, hunch_error *reterr)
{
    const struct csv *csv = p->state;
    bool escaped = memmem(text, (size_t)(newline - text), "\\\"", 2);
    return parser_fail(p, p->line, reterr, "%s cells than the %zu columns of the header%s", fewer ? "fewer" : "more",
                       csv->n,
                       escaped ? "; a quote within quotes is written twice in CSV, not as \\\""
                               : " (--on-error skip leaves such rows out)");
}

static hunch_status record_read(struct parser *p, const char *text, const char *newline, struct rows *out,
                                hunch_error *reterr)
{
    struct csv *csv = p->state;
    size_t i = 0;
    struct encoded row;
    hunch_status status = encoded_begin(p, &row, out, csv->n + csv->absent_n, reterr);
    const char *stop = text - 1;
    if (!status && p->with)
        status = rows_cells_begin(out, names_count(p->with), reterr);
    while (!status && stop < newline) {
        struct csv_cell cell;
        stop = numbers_add(csv, &i, stop, newline, &row);
        if (i == csv->n || stop == newline)
            break;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        status = stop ? cell_add(csv, &csv->columns[i++], &cell, &row, reterr) : error_memory(reterr);
        /* a text may have used the room of the numbers behind it */
        if (!status && row.values + csv->n >= out->values_capacity)
            status = rows_reserve(out, out->n + 1, row.values + csv->n + 1, reterr);
    }
    for (size_t j = 0; j < csv->absent_n && !status; j++)
        status = encoder_cell(&csv->encoder, &row, csv->absent[j], "", 0, reterr);
    if (status)
        return status;
    if (i < csv->n || stop < newline)
        return cells_fail(p, text, newline, i < csv->n, reterr);
    return parser_finish(p, &row, reterr);
}

/* Columns of numbers, which need no encoder's help. */
static hunch_status roles_report(struct parser *p, struct csv *csv, struct rows *out, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < csv->n && !status; i++)
        if (csv->columns[i].plain)
            status = parser_role(p, out, csv->columns[i].feature, HUNCH_COLUMN, reterr);
    csv->reported = true;
    return status;
}

static hunch_status csv_parse(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                              hunch_error *reterr)
{
    struct csv *csv = p->state;
    const char *start = text, *end = text + size;
    hunch_status reported = csv->reported ? HUNCH_OK : roles_report(p, csv, out, reterr);
    if (reported)
        return reported;
    for (; csv->skip && text < end; csv->skip--)
        p->line += *text++ == '\n';
    while (text < end) {
        const char *newline = csv_record_end(text, end, csv->delimiter);
        if (!newline && p->last && csv->delimiter == '\t')
            newline = rawmemchr(text, '\n'); /* the quote is but a character */
        if (!newline && p->last)
            return parser_fail(p, p->line, reterr, "a quoted cell has no closing quote");
        if (!newline)
            break;
        hunch_status status = HUNCH_OK;
        if (csv->lines_passed < csv->header_lines)
            csv->lines_passed++;
        else if (csv_is_title(csv, text, newline))
            status = parser_remark(p, reterr, "%s: lines that repeat the header are left out", p->path);
        else if (!csv_is_empty(text, newline) && !csv_is_comment(csv, text, newline))
            status = record_read(p, text, newline, out, reterr);
        if (status && !parser_skips(p, status, out))
            return status;
        p->line += csv_lines(text, newline);
        text = newline + 1;
    }
    *ret_used = (size_t)(text - start);
    return HUNCH_OK;
}

const struct format format_csv = {"csv", true, csv_begin, csv_parse, csv_end};
const struct format format_tsv = {"tsv", true, tsv_begin, csv_parse, csv_end};

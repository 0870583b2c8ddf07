/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs as tables: a header, then a row for each round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "rows.h"
#include "base/error.h"
#include "logged_row.h"

static enum column column_kind(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum column kind;
    } known[] = {{"label", COLUMN_LABEL}, {"prob", COLUMN_PROB},       {"probability", COLUMN_PROB},
                 {"right", COLUMN_RIGHT}, {"was_right", COLUMN_RIGHT}, {"true_label", COLUMN_TRUTH},
                 {"x", COLUMN_X},         {"round", COLUMN_IGNORED},   {"greedy", COLUMN_IGNORED},
                 {"note", COLUMN_IGNORED}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !memcmp(known[i].name, name, length))
            return known[i].kind;
    return COLUMN_FEATURE;
}

/* The next cell of a record; false: there is none. */
static bool cell_next(struct table *t, const char **text, const char *newline, struct csv_cell *ret, bool *ret_memory)
{
    if (*text > newline)
        return false;
    const char *stop = csv_cell_read(*text, newline, t->delimiter, &t->scratch, ret);
    *ret_memory = !stop;
    *text = stop ? stop + 1 : newline + 1;
    return stop;
}

static bool column_add(struct table *t, const struct csv_cell *cell)
{
    enum column *kind = realloc(t->kind, (t->columns + 1) * sizeof *kind);
    if (kind)
        t->kind = kind;
    char **name = kind ? realloc(t->name, (t->columns + 1) * sizeof *name) : NULL;
    if (name)
        t->name = name;
    char *copy = name ? strndup(cell->text, cell->length) : NULL;
    if (!copy)
        return false;
    t->kind[t->columns] = column_kind(cell->text, cell->length);
    t->name[t->columns++] = copy;
    return true;
}

static size_t columns_of(const struct table *t, enum column kind)
{
    size_t n = 0;
    for (size_t i = 0; i < t->columns; i++)
        n += t->kind[i] == kind;
    return n;
}

hunch_status logged_header(struct logged *l, const char *text, const char *newline, hunch_error *reterr)
{
    struct table *t = &l->table;
    struct csv_cell cell;
    bool memory = false;
    while (cell_next(t, &text, newline, &cell, &memory))
        if (!column_add(t, &cell))
            return error_memory(reterr);
    if (memory)
        return error_memory(reterr);
    for (enum column kind = COLUMN_LABEL; kind <= COLUMN_X; kind++)
        if (columns_of(t, kind) > 1)
            return parser_fail(&l->json, l->line, reterr, "two columns tell the same");
    if (!columns_of(t, COLUMN_LABEL) || !columns_of(t, COLUMN_PROB) ||
        (!columns_of(t, COLUMN_RIGHT) && !columns_of(t, COLUMN_TRUTH)))
        return parser_fail(&l->json, l->line, reterr,
                           "the first line must name the columns label, prob, and right or true_label");
    bool x = columns_of(t, COLUMN_X);
    if (!x && !columns_of(t, COLUMN_FEATURE))
        return parser_fail(&l->json, l->line, reterr, "there are no columns of features, and no column x");
    for (size_t i = 0; x && i < t->columns; i++)
        if (t->kind[i] == COLUMN_FEATURE)
            t->kind[i] = COLUMN_IGNORED;
    return HUNCH_OK;
}

/* --- cells --- */

static bool cell_number(const struct csv_cell *cell, double *ret)
{
    char text[64];
    if (cell->length >= sizeof text)
        return false;
    memcpy(text, cell->text, cell->length);
    text[cell->length] = '\0';
    return number_is(text, ret);
}

static int right_read(const struct csv_cell *cell)
{
    static const char *const words[] = {"0", "1", "false", "true", "wrong", "right", "no", "yes"};
    if (cell->length == 0)
        return -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == cell->length && !strncasecmp(words[i], cell->text, cell->length))
            return (int)(i % 2);
    return -2;
}

static hunch_status value_add(struct logged *l, const char *name, size_t length, double value, hunch_error *reterr)
{
    struct rows *b = &l->batch;
    size_t n = (size_t)b->start[1]; /* values so far, while the row is being made */
    uint32_t feature;
    float narrow = (float)value;
    if (!isfinite(narrow))
        return parser_fail(&l->json, l->json.line, reterr, "value out of range: '%s'", quote(name, length).text);
    hunch_status status = parser_feature(&l->json, name, length, l->json.line, &feature, reterr);
    if (status || narrow == 0)
        return status;
    status = rows_reserve(b, 1, n + 1, reterr);
    if (status)
        return status;
    b->index[n] = feature;
    b->value[n] = narrow;
    b->start[1]++;
    return HUNCH_OK;
}

/* "age" 41 is age:41; "colour" red is colour=red:1; an empty cell is nothing. */
static hunch_status feature_add(struct logged *l, const char *name, const struct csv_cell *cell, hunch_error *reterr)
{
    struct csv_scratch *text = &l->table.text;
    size_t length = strlen(name);
    double value;
    if (cell->length == 0)
        return HUNCH_OK;
    if (cell_number(cell, &value))
        return value_add(l, name, length, value, reterr);
    if (!csv_scratch_reserve(text, length + cell->length + 1))
        return error_memory(reterr);
    memcpy(text->bytes, name, length);
    text->bytes[length] = '=';
    memcpy(text->bytes + length + 1, cell->text, cell->length);
    return value_add(l, text->bytes, length + 1 + cell->length, 1, reterr);
}

/* "a:1 b:0.5" as in VW text, or JSON. */
static hunch_status x_add(struct logged *l, const struct csv_cell *cell, hunch_error *reterr)
{
    struct csv_scratch *text = &l->table.text;
    size_t used;
    if (cell->length && (cell->text[0] == '{' || cell->text[0] == '['))
        return logged_json_x(l, cell->text, cell->length, reterr);
    if (!csv_scratch_reserve(text, cell->length + 3 + PARSER_PADDING))
        return error_memory(reterr);
    memcpy(text->bytes, "| ", 2);
    memcpy(text->bytes + 2, cell->text, cell->length);
    memset(text->bytes + 2 + cell->length, 0, 1 + PARSER_PADDING);
    text->bytes[2 + cell->length] = '\n';
    return format_vw.parse(&l->vw, text->bytes, cell->length + 3, true, &l->batch, &used, reterr);
}

static hunch_status cell_take(struct logged *l, size_t column, const struct csv_cell *cell, struct logged_row *ret,
                              int *right, hunch_error *reterr)
{
    double prob;
    switch (l->table.kind[column]) {
    case COLUMN_LABEL:
        if (cell->length == 0)
            return parser_fail(&l->json, l->json.line, reterr, "there is no label");
        return parser_label(&l->json, cell->text, cell->length, l->json.line, &ret->label, reterr);
    case COLUMN_TRUTH:
        return cell->length ? parser_label(&l->json, cell->text, cell->length, l->json.line, &ret->truth, reterr)
                            : HUNCH_OK;
    case COLUMN_PROB:
        if (!cell_number(cell, &prob))
            return parser_fail(&l->json, l->json.line, reterr, "the probability is not a number: '%s'",
                               quote(cell->text, cell->length).text);
        return logged_prob(l, prob, ret, reterr);
    case COLUMN_RIGHT:
        *right = right_read(cell);
        return *right == -2 ? parser_fail(&l->json, l->json.line, reterr, "'right' is neither 1 nor 0: '%s'",
                                          quote(cell->text, cell->length).text)
                            : HUNCH_OK;
    case COLUMN_X:
        return x_add(l, cell, reterr);
    case COLUMN_FEATURE:
        return feature_add(l, l->table.name[column], cell, reterr);
    default:
        return HUNCH_OK;
    }
}

hunch_status logged_table(struct logged *l, const char *text, size_t size, struct logged_row *ret, bool *ret_answered,
                          hunch_error *reterr)
{
    const char *newline = text + size - 1;
    struct csv_cell cell;
    size_t column = 0;
    int right = -1;
    bool memory = false, x = columns_of(&l->table, COLUMN_X);
    hunch_status status = rows_reserve(&l->batch, 1, 1, reterr);
    if (!status && !x)
        l->batch.start[1] = 0;
    for (; !status && cell_next(&l->table, &text, newline, &cell, &memory); column++) {
        if (column >= l->table.columns)
            return parser_fail(&l->json, l->json.line, reterr, "there are more cells than columns");
        status = cell_take(l, column, &cell, ret, &right, reterr);
    }
    if (memory)
        return error_memory(reterr);
    if (!status && column < l->table.columns)
        status = parser_fail(&l->json, l->json.line, reterr, "there are %zu cells, and %zu columns", column,
                             l->table.columns);
    if (!status && !x && !rows_sort_row(&l->batch, 0, (size_t)l->batch.start[1]))
        status = parser_fail(&l->json, l->json.line, reterr, "a feature is there twice");
    if (!status && !x)
        parser_row(&l->batch, (size_t)l->batch.start[1], LOGGED_NONE, l->json.line);
    return status ? status : logged_answer(l, ret, right, ret_answered, reterr);
}

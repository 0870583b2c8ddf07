/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated cells to features: one-hot, scaled or plain columns, the class last. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "csv.h"
#include "base/error.h"
#include "input.h"
#include "lines.h"
#include "prepare_sink.h"

struct column {
    const json_t *values; /* one-hot; NULL: a number */
    double low, high;     /* of a scaled one; low == high: as it is */
    uint32_t first;       /* its first feature, from 1 */
};

struct table {
    struct column *column;
    size_t columns;
    uint32_t features;
    struct csv_scratch scratch;
    const char *path;
    uint64_t line;
};

static hunch_status columns_add(struct table *t, const json_t *kind, hunch_error *reterr)
{
    const json_t *values = json_object_get(kind, "values"), *range = json_object_get(kind, "range");
    size_t times = (size_t)json_integer_value(json_object_get(kind, "times"));
    times = times ? times : 1;
    struct column *column = times < 100000 ? realloc(t->column, (t->columns + times) * sizeof *column) : NULL;
    if (!column)
        return error_memory(reterr);
    t->column = column;
    for (size_t i = 0; i < times; i++) {
        t->column[t->columns++] = (struct column){values, json_number_value(json_array_get(range, 0)),
                                                  json_number_value(json_array_get(range, 1)), t->features + 1};
        t->features += values ? (uint32_t)json_array_size(values) : 1;
    }
    return HUNCH_OK;
}

static hunch_status cell_fail(const struct table *t, const struct csv_cell *cell, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "%s:%" PRIu64 ": '%s' is not what the catalogue expects there", t->path,
                     t->line, quote(cell->text, cell->length).text);
}

static hunch_status number_take(struct sink *s, const struct table *t, const struct column *c,
                                const struct csv_cell *cell, hunch_error *reterr)
{
    char text[48] = "";
    double value;
    if (cell->length < sizeof text)
        memcpy(text, cell->text, cell->length);
    if (!number_is(text, &value))
        return cell_fail(t, cell, reterr);
    if (c->low < c->high)
        value = (value - c->low) / (c->high - c->low);
    return sink_value(s, c->first, value, reterr);
}

static hunch_status cell_take(struct sink *s, const struct table *t, const struct column *c,
                              const struct csv_cell *cell, hunch_error *reterr)
{
    if (!c->values)
        return number_take(s, t, c, cell, reterr);
    for (uint32_t i = 0; i < json_array_size(c->values); i++) {
        const char *value = json_string_value(json_array_get(c->values, i));
        if (value && strlen(value) == cell->length && !memcmp(value, cell->text, cell->length))
            return sink_value(s, c->first + i, 1, reterr);
    }
    return cell_fail(t, cell, reterr);
}

/* The class is the last cell, and the first of the row to be written. */
static hunch_status class_take(struct sink *s, struct table *t, const char *text, const char *newline,
                               hunch_error *reterr)
{
    const char *comma = memrchr(text, ',', (size_t)(newline - text));
    struct csv_cell cell;
    if (!comma || !csv_cell_read(comma + 1, newline, ',', &t->scratch, &cell))
        return error_set(reterr, HUNCH_EINVAL, "%s:%" PRIu64 ": there are too few cells", t->path, t->line);
    char *label = strndup(cell.text, cell.length);
    hunch_status status = label ? sink_row(s, label, reterr) : error_memory(reterr);
    free(label);
    return status;
}

static hunch_status row_take(struct sink *s, struct table *t, const char *text, const char *newline,
                             hunch_error *reterr)
{
    struct csv_cell cell;
    hunch_status status = class_take(s, t, text, newline, reterr);
    for (size_t i = 0; i < t->columns && !status; i++) {
        const char *stop = text < newline ? csv_cell_read(text, newline, ',', &t->scratch, &cell) : NULL;
        if (!stop || stop >= newline)
            return error_set(reterr, HUNCH_EINVAL, "%s:%" PRIu64 ": there are too few cells", t->path, t->line);
        status = cell_take(s, t, &t->column[i], &cell, reterr);
        text = stop + 1;
    }
    if (!status && memchr(text, ',', (size_t)(newline - text)))
        status = error_set(reterr, HUNCH_EINVAL, "%s:%" PRIu64 ": there are too many cells", t->path, t->line);
    return status ? status : sink_end(s, reterr);
}

static hunch_status file_take(struct sink *s, struct table *t, hunch_error *reterr)
{
    struct input *in = NULL;
    struct lines lines = {0};
    const char *text;
    size_t size = 1;
    bool last;
    hunch_status status = input_open(&in, t->path, false, reterr);
    if (!status)
        status = lines_begin(&lines, in, t->path, reterr);
    for (t->line = 1; !status; t->line++) {
        status = lines_window(&lines, 1, &text, &size, &last, reterr);
        if (status || !size)
            break;
        const char *newline = memchr(text, '\n', size);
        if (text + strspn(text, " \t\r") < newline)
            status = row_take(s, t, text, newline, reterr);
        lines_use(&lines, (size_t)(newline - text) + 1);
    }
    lines_free(&lines);
    input_close(in);
    return status;
}

hunch_status prepare_table(struct sink *s, const char *const *from, size_t n, hunch_error *reterr)
{
    struct table t = {0};
    const json_t *columns = json_object_get(s->step, "columns");
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < json_array_size(columns) && !status; i++)
        status = columns_add(&t, json_array_get(columns, i), reterr);
    for (size_t i = 0; i < n && !status; i++) {
        t.path = from[i];
        status = file_take(s, &t, reterr);
    }
    snprintf(s->done.what, sizeof s->done.what, "%zu columns became %" PRIu32 " features", t.columns, t.features);
    free(t.column);
    free(t.scratch.bytes);
    return status;
}

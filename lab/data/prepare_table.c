/* SPDX-License-Identifier: BSD-3-Clause */
/* Comma-separated cells to features: one-hot, scaled or plain columns, the class last. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/error.h"
#include "data/prepare_sink.h"

struct column {
    const json_t *values; /* one-hot; NULL: a number */
    double low, high;     /* of a scaled one; low == high: as it is */
    uint32_t first;       /* its first feature, from 1 */
};

struct table {
    struct column *column;
    size_t columns;
    uint32_t features;
    const char *path;
};

static hunch_status columns_add(struct table *t, const json_t *kind, hunch_error *reterr)
{
    const json_t *values = json_object_get(kind, "values"), *range = json_object_get(kind, "range");
    size_t times = (size_t)json_integer_value(json_object_get(kind, "times"));
    times = times ? times : 1;
    if (times >= 100000 || !array_resize(&t->column, t->columns + times, sizeof *t->column))
        return error_memory(reterr);
    for (size_t i = 0; i < times; i++) {
        t->column[t->columns++] = (struct column){values, json_number_value(json_array_get(range, 0)),
                                                  json_number_value(json_array_get(range, 1)), t->features + 1};
        t->features += values ? (uint32_t)json_array_size(values) : 1;
    }
    return HUNCH_OK;
}

static hunch_status cell_fail(const struct table *t, uint64_t line, const char *cell, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "%s:%" PRIu64 ": unexpected value '%s'", t->path, line,
                     quote(cell, strlen(cell)).text);
}

/* The cell as a feature; false: it is none of this column's. */
static bool cell_read(const struct column *c, const char *cell, uint32_t *ret_feature, double *ret_value)
{
    if (!c->values) {
        *ret_feature = c->first;
        if (!number_is(cell, ret_value))
            return false;
        if (c->low < c->high)
            *ret_value = (*ret_value - c->low) / (c->high - c->low);
        return true;
    }
    *ret_value = 1;
    for (uint32_t i = 0; i < json_array_size(c->values); i++) {
        const char *value = json_string_value(json_array_get(c->values, i));
        *ret_feature = c->first + i;
        if (value && !strcmp(value, cell))
            return true;
    }
    return false;
}

/* The class is the last cell, and the first of the row to be written. */
static hunch_status row_take(struct sink *s, const struct table *t, const struct rows *rows, size_t row,
                             hunch_error *reterr)
{
    hunch_status status = sink_row(s, rows_cell(rows, row, t->columns), reterr);
    for (size_t i = 0; i < t->columns && !status; i++) {
        const char *cell = rows_cell(rows, row, i);
        uint32_t feature;
        double value;
        status = cell_read(&t->column[i], cell, &feature, &value) ? sink_value(s, feature, value, reterr)
                                                                  : cell_fail(t, rows->line[row], cell, reterr);
    }
    return status ? status : sink_end(s, reterr);
}

static hunch_status file_take(struct sink *s, const struct table *t, hunch_error *reterr)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct stream *stream;
    struct rows rows = {0};
    char last[24];
    snprintf(last, sizeof last, "%zu", t->columns + 1);
    options.format = STREAM_CSV;
    options.label_column = last;
    options.columns = (struct schema_options){.ignore = "*", .with = "*", .delimiter = ",", .no_header = true};
    hunch_status status = stream_open(&stream, &t->path, 1, &options, reterr);
    if (status)
        return status;
    size_t cells = names_count(stream_with(stream));
    if (cells != t->columns + 1)
        status = error_set(reterr, HUNCH_EINVAL, "%s: has %zu columns instead of %zu", t->path, cells, t->columns + 1);
    do {
        status = status ? status : stream_next(stream, &rows, reterr);
        for (size_t i = 0; i < rows.n && !status; i++)
            status = row_take(s, t, &rows, i, reterr);
    } while (!status && rows.n);
    rows_free(&rows);
    stream_close(stream);
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
    return status;
}

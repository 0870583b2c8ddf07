/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

void rows_clear(struct rows *rows)
{
    if (rows->borrowed) {
        rows->start = NULL;
        rows->index = NULL;
        rows->value = NULL;
        rows->rows_capacity = rows->values_capacity = 0;
        rows->borrowed = false;
    }
    rows->n = rows->columns = rows->cells.n = rows->cells.used = rows->roles_n = rows->eligible_n = 0;
    rows->file = 0;
}

void rows_free(struct rows *rows)
{
    if (!rows->borrowed) {
        free(rows->start);
        free(rows->index);
        free(rows->value);
    }
    free(rows->label);
    free(rows->line);
    free(rows->log);
    free(rows->roles);
    free(rows->eligible);
    free(rows->cells.bytes);
    free(rows->cells.start);
    *rows = (struct rows){0};
}

static size_t grown(size_t capacity, size_t need)
{
    size_t more = capacity + capacity / 2;
    return more > need ? more : need;
}

hunch_status rows_reserve_labels(struct rows *rows, size_t n, hunch_error *reterr)
{
    if (n <= rows->label_capacity && rows->label)
        return HUNCH_OK;
    size_t capacity = grown(rows->label_capacity, n);
    if (capacity >= SIZE_MAX / 16 || !array_resize(&rows->label, capacity + 1, sizeof *rows->label))
        return error_memory(reterr);
    rows->label_capacity = capacity;
    return HUNCH_OK;
}

static hunch_status values_reserve(struct rows *rows, size_t n, size_t values, hunch_error *reterr)
{
    if (n > rows->rows_capacity || !rows->start) {
        size_t capacity = grown(rows->rows_capacity, n);
        if (capacity >= SIZE_MAX / 16 || !array_resize(&rows->start, capacity + 1, sizeof *rows->start))
            return error_memory(reterr);
        rows->rows_capacity = capacity;
    }
    if (values > rows->values_capacity || !rows->index || !rows->value) {
        size_t capacity = grown(rows->values_capacity, values);
        if (capacity >= SIZE_MAX / 16 || !array_resize(&rows->index, capacity + 1, sizeof *rows->index) ||
            !array_resize(&rows->value, capacity + 1, sizeof *rows->value))
            return error_memory(reterr);
        rows->values_capacity = capacity;
    }
    if (rows->n == 0)
        rows->start[0] = 0;
    return rows_reserve_labels(rows, n, reterr);
}

hunch_status rows_reserve(struct rows *rows, size_t n, size_t values, hunch_error *reterr)
{
    if (n > rows->line_capacity || !rows->line) {
        size_t capacity = grown(rows->line_capacity, n);
        if (capacity >= SIZE_MAX / 16 || !array_resize(&rows->line, capacity + 1, sizeof *rows->line))
            return error_memory(reterr);
        rows->line_capacity = capacity;
    }
    return values_reserve(rows, n, values, reterr);
}

hunch_status rows_reserve_log(struct rows *rows, size_t n, hunch_error *reterr)
{
    if (n <= rows->log_capacity && rows->log)
        return HUNCH_OK;
    size_t capacity = grown(rows->log_capacity, n);
    if (capacity >= SIZE_MAX / 64 || !array_resize(&rows->log, capacity + 1, sizeof *rows->log))
        return error_memory(reterr);
    rows->log_capacity = capacity;
    return HUNCH_OK;
}

hunch_status rows_add_role(struct rows *rows, uint32_t feature, hunch_role role, hunch_error *reterr)
{
    if (!array_reserve(&rows->roles, &rows->roles_capacity, rows->roles_n + 1, sizeof *rows->roles))
        return error_memory(reterr);
    rows->roles[rows->roles_n++] = (struct row_role){feature, role};
    return HUNCH_OK;
}

hunch_status rows_add_eligible(struct rows *rows, struct row_log *log, uint32_t label, hunch_error *reterr)
{
    if (!array_reserve(&rows->eligible, &rows->eligible_capacity, rows->eligible_n + 1, sizeof *rows->eligible))
        return error_memory(reterr);
    if (!log->eligible_n++)
        log->eligible = rows->eligible_n;
    rows->eligible[rows->eligible_n++] = label;
    return HUNCH_OK;
}

hunch_status rows_append(struct rows *rows, const struct rows *from, hunch_error *reterr)
{
    size_t n = rows->n;
    int64_t begin = from->n ? from->start[0] : 0, at = n ? rows->start[n] : 0;
    size_t values = from->n ? (size_t)(from->start[from->n] - begin) : 0;
    hunch_status status = values_reserve(rows, n + from->n, (size_t)at + values, reterr);
    for (size_t i = 0; i < from->roles_n && !status; i++)
        status = rows_add_role(rows, from->roles[i].feature, from->roles[i].role, reterr);
    if (status || from->n == 0)
        return status;
    memcpy(rows->label + n, from->label, from->n * sizeof *rows->label);
    memcpy(rows->index + at, from->index + begin, values * sizeof *rows->index);
    memcpy(rows->value + at, from->value + begin, values * sizeof *rows->value);
    for (size_t i = 1; i <= from->n; i++)
        rows->start[n + i] = from->start[i] - begin + at;
    rows->columns = !n || rows->columns == from->columns ? from->columns : 0;
    rows->n = n + from->n;
    return HUNCH_OK;
}

bool rows_gather(struct rows *rows, const struct rows *from, const uint32_t *which, size_t n)
{
    size_t values = 0;
    hunch_error error;
    for (size_t i = 0; i < n; i++)
        values += (size_t)(from->start[which[i] + 1] - from->start[which[i]]);
    rows_clear(rows);
    if (values_reserve(rows, n, values, &error))
        return false;
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t begin = from->start[which[i]], length = from->start[which[i] + 1] - begin;
        rows->label[i] = from->label[which[i]];
        if (!from->columns)
            memcpy(rows->index + at, from->index + begin, (size_t)length * sizeof *rows->index);
        memcpy(rows->value + at, from->value + begin, (size_t)length * sizeof *rows->value);
        at += length;
        rows->start[i + 1] = at;
    }
    rows->n = n;
    rows->columns = from->columns;
    return true;
}

hunch_batch rows_batch(const struct rows *rows, size_t from, size_t to)
{
    if (rows->columns)
        return (hunch_batch){to - from, NULL, NULL, rows->value + rows->start[from], rows->columns};
    return (hunch_batch){to - from, rows->start + from, rows->index, rows->value, 0};
}

void rows_measure(struct rows *rows)
{
    rows->columns = 0;
    if (rows->n == 0)
        return;
    size_t columns = (size_t)rows->start[1];
    for (size_t i = 0; i < rows->n; i++) {
        size_t begin = (size_t)rows->start[i], end = (size_t)rows->start[i + 1];
        /* increasing, so n of them with the last one n-1 are all of 0 .. n-1 */
        if (end - begin != columns || columns == 0 || rows->index[end - 1] != columns - 1)
            return;
    }
    rows->columns = columns;
}

#define SORT_OWN 256

/* For rows too long for insertion: by radix, as many bytes of the index as there are, the values along with them. */
static bool sort_long(uint32_t *index, float *value, size_t n)
{
    uint64_t own[2 * SORT_OWN], *memory = n <= SORT_OWN ? own : malloc(2 * n * sizeof *memory);
    uint64_t *from = memory, *to = from + n;
    uint32_t all = 0;
    if (!memory)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        from[i] = (uint64_t)index[i] << 32 | bits;
        all |= index[i];
    }
    for (unsigned shift = 32; shift < 64 && all >> (shift - 32); shift += 8) {
        size_t place[256], sum = 0, max = all >> (shift - 32) < 255 ? all >> (shift - 32) : 255;
        memset(place, 0, (max + 1) * sizeof *place);
        for (size_t i = 0; i < n; i++)
            place[from[i] >> shift & 0xff]++;
        for (size_t i = 0; i <= max; i++) {
            size_t count = place[i];
            place[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[place[from[i] >> shift & 0xff]++] = from[i];
        uint64_t *swapped = from;
        from = to;
        to = swapped;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)from[i];
        index[i] = (uint32_t)(from[i] >> 32);
        memcpy(&value[i], &bits, sizeof bits);
    }
    if (memory != own)
        free(memory);
    return true;
}

static void sort_short(uint32_t *index, float *value, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t at = index[i];
        float v = value[i];
        size_t j = i;
        for (; j > 0 && index[j - 1] > at; j--) {
            index[j] = index[j - 1];
            value[j] = value[j - 1];
        }
        index[j] = at;
        value[j] = v;
    }
}

bool rows_sort_row(struct rows *rows, size_t begin, size_t end)
{
    uint32_t *index = rows->index + begin;
    float *value = rows->value + begin;
    size_t n = end - begin;
    unsigned falls = 0;
    for (size_t i = 1; i < n; i++)
        falls |= index[i] <= index[i - 1];
    if (!falls)
        return true;
    if (n <= 24 || !sort_long(index, value, n))
        sort_short(index, value, n);
    for (size_t i = 1; i < n; i++)
        if (index[i] == index[i - 1])
            return false;
    return true;
}

/* Nothing to merge or to leave out, the usual case. */
static bool row_is_clean(const struct rows *rows, size_t begin, size_t end)
{
    unsigned zeros = 0;
    for (size_t i = begin; i < end; i++)
        zeros |= rows->value[i] == 0;
    return !zeros && (end == begin || rows->index[end - 1] != UINT32_MAX);
}

bool rows_merge_row(struct rows *rows, size_t begin, size_t *end)
{
    bool distinct = rows_sort_row(rows, begin, *end);
    size_t n = begin;
    if (distinct && row_is_clean(rows, begin, *end))
        return true;
    for (size_t i = begin; i < *end && rows->index[i] != UINT32_MAX; i++) {
        if (n > begin && rows->index[n - 1] == rows->index[i]) {
            rows->value[n - 1] += rows->value[i];
            continue;
        }
        n -= n > begin && rows->value[n - 1] == 0;
        rows->index[n] = rows->index[i];
        rows->value[n++] = rows->value[i];
    }
    n -= n > begin && rows->value[n - 1] == 0;
    for (size_t i = begin; i < n; i++)
        if (!isfinite(rows->value[i]))
            return false;
    *end = n;
    return true;
}

hunch_status rows_cells_begin(struct rows *rows, size_t n, hunch_error *reterr)
{
    struct row_cells *c = &rows->cells;
    if (!array_reserve(&c->start, &c->start_capacity, size_mul(rows->n + 1, n), sizeof *c->start) ||
        !array_reserve(&c->bytes, &c->capacity, c->used + 1, 1))
        return error_memory(reterr);
    c->n = n;
    for (size_t i = 0; i < n; i++)
        c->start[rows->n * n + i] = c->used;
    c->bytes[c->used++] = 0;
    return HUNCH_OK;
}

hunch_status rows_cell_set(struct rows *rows, size_t cell, const char *text, size_t length, hunch_error *reterr)
{
    struct row_cells *c = &rows->cells;
    if (!array_reserve(&c->bytes, &c->capacity, c->used + length + 1, 1))
        return error_memory(reterr);
    c->start[rows->n * c->n + cell] = c->used;
    memcpy(c->bytes + c->used, text, length);
    c->bytes[c->used + length] = 0;
    c->used += length + 1;
    return HUNCH_OK;
}

const char *rows_cell(const struct rows *rows, size_t row, size_t cell)
{
    return rows->cells.bytes + rows->cells.start[row * rows->cells.n + cell];
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

void batch_clear(struct stream_batch *batch)
{
    if (batch->borrowed)
        *batch = (struct stream_batch){0};
    batch->rows = 0;
    batch->columns = 0;
    batch->file = 0;
}

void stream_batch_free(struct stream_batch *batch)
{
    if (!batch)
        return;
    if (!batch->borrowed) {
        free(batch->start);
        free(batch->index);
        free(batch->value);
        free(batch->label);
        free(batch->line);
    }
    *batch = (struct stream_batch){0};
}

static bool grow(void *pointer, size_t count, size_t size)
{
    void *old, *new;
    if (count > SIZE_MAX / 2 / size)
        return false;
    memcpy(&old, pointer, sizeof old);
    new = realloc(old, count * size);
    if (new)
        memcpy(pointer, &new, sizeof new);
    return new;
}

static size_t grown(size_t capacity, size_t need)
{
    size_t more = capacity + capacity / 2;
    return more > need ? more : need;
}

hunch_status batch_reserve(struct stream_batch *batch, size_t rows, size_t values, hunch_error *reterr)
{
    if (rows > batch->rows_capacity || !batch->start) {
        size_t capacity = grown(batch->rows_capacity, rows);
        if (capacity >= SIZE_MAX / 16 || !grow(&batch->start, capacity + 1, sizeof *batch->start) ||
            !grow(&batch->label, capacity + 1, sizeof *batch->label) ||
            !grow(&batch->line, capacity + 1, sizeof *batch->line))
            return fail_memory(reterr);
        batch->rows_capacity = capacity;
    }
    if (values > batch->values_capacity || !batch->index) {
        size_t capacity = grown(batch->values_capacity, values);
        if (capacity >= SIZE_MAX / 16 || !grow(&batch->index, capacity + 1, sizeof *batch->index) ||
            !grow(&batch->value, capacity + 1, sizeof *batch->value))
            return fail_memory(reterr);
        batch->values_capacity = capacity;
    }
    if (batch->rows == 0)
        batch->start[0] = 0;
    return HUNCH_OK;
}

void batch_measure(struct stream_batch *batch)
{
    batch->columns = 0;
    if (batch->rows == 0)
        return;
    size_t columns = (size_t)batch->start[1];
    for (size_t i = 0; i < batch->rows; i++) {
        size_t begin = (size_t)batch->start[i], end = (size_t)batch->start[i + 1];
        /* increasing, so n of them with the last one n-1 are all of 0 .. n-1 */
        if (end - begin != columns || columns == 0 || batch->index[end - 1] != columns - 1)
            return;
    }
    batch->columns = columns;
}

/* For rows too long for insertion: by radix, as many bytes of the index as there are, the values along with them. */
static bool sort_long(uint32_t *index, float *value, size_t n)
{
    uint64_t *from = malloc(2 * n * sizeof *from), *to = from + n;
    uint32_t all = 0;
    if (!from)
        return false;
    uint64_t *memory = from;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        from[i] = (uint64_t)index[i] << 32 | bits;
        all |= index[i];
    }
    for (unsigned shift = 32; shift < 64 && all >> (shift - 32); shift += 8) {
        size_t place[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            place[from[i] >> shift & 0xff]++;
        for (size_t i = 0; i < 256; i++) {
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

bool batch_sort_row(struct stream_batch *batch, size_t begin, size_t end)
{
    uint32_t *index = batch->index + begin;
    float *value = batch->value + begin;
    size_t n = end - begin, rising = 1;
    while (rising < n && index[rising] > index[rising - 1])
        rising++;
    if (rising >= n)
        return true;
    if (n <= 24 || !sort_long(index, value, n))
        sort_short(index, value, n);
    for (size_t i = 1; i < n; i++)
        if (index[i] == index[i - 1])
            return false;
    return true;
}

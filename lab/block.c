/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

#include <stdlib.h>
#include <string.h>

hunch_batch block_batch(const struct block *block, size_t from, size_t to)
{
    if (block->columns)
        return (hunch_batch){to - from, NULL, NULL, block->value + block->start[from], block->columns};
    return (hunch_batch){to - from, block->start + from, block->index, block->value, 0};
}

static bool room_make(void *pointer, size_t count, size_t size)
{
    void *fresh = malloc(count * size), *old;
    if (!fresh)
        return false;
    memcpy(&old, pointer, sizeof old);
    free(old);
    memcpy(pointer, &fresh, sizeof fresh);
    return true;
}

static bool gather_reserve(struct gather *g, size_t rows, size_t values)
{
    if (rows > g->rows_room || !g->start) {
        g->rows_room = 0;
        if (!room_make(&g->start, rows + 1, sizeof *g->start) || !room_make(&g->label, rows + 1, sizeof *g->label))
            return false;
        g->rows_room = rows;
    }
    if (values > g->values_room || !g->index) {
        size_t room = values + values / 4;
        g->values_room = 0;
        if (!room_make(&g->index, room + 1, sizeof *g->index) || !room_make(&g->value, room + 1, sizeof *g->value))
            return false;
        g->values_room = room;
    }
    return true;
}

bool gather_rows(struct gather *g, const struct block *from, const uint32_t *rows, size_t n)
{
    size_t values = 0;
    for (size_t i = 0; i < n; i++)
        values += (size_t)(from->start[rows[i] + 1] - from->start[rows[i]]);
    if (!gather_reserve(g, n, values))
        return false;
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t begin = from->start[rows[i]], length = from->start[rows[i] + 1] - begin;
        g->start[i] = at;
        g->label[i] = from->label[rows[i]];
        if (!from->columns)
            memcpy(g->index + at, from->index + begin, (size_t)length * sizeof *g->index);
        memcpy(g->value + at, from->value + begin, (size_t)length * sizeof *g->value);
        at += length;
    }
    g->start[n] = at;
    g->block = (struct block){n, g->start, g->index, g->value, g->label, from->columns};
    return true;
}

void gather_free(struct gather *g)
{
    free(g->start);
    free(g->index);
    free(g->label);
    free(g->value);
    *g = (struct gather){0};
}

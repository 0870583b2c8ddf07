/* SPDX-License-Identifier: BSD-3-Clause */
/* Labelled rows on their way to the learners. */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"

/* A view of rows in CSR form that someone else owns. */
struct block {
    size_t rows;
    const int64_t *start; /* rows + 1 */
    const uint32_t *index;
    const float *value;
    const uint32_t *label;
    size_t columns; /* not 0: dense, every row holds exactly the features 0 .. columns-1 */
};

/* Rows from .. to-1 as the library takes them. */
hunch_batch block_batch(const struct block *block, size_t from, size_t to);

/* Rows gathered from a block in another order, in buffers that are used again. Start as {0}. */
struct gather {
    struct block block;
    size_t rows_room, values_room;
    int64_t *start;
    uint32_t *index, *label;
    float *value;
};

/* false: out of memory. */
bool gather_rows(struct gather *g, const struct block *from, const uint32_t *rows, size_t n);
void gather_free(struct gather *g);

#endif

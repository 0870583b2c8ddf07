/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes over a cache's blocks that find damage: they cost a good part of what learning from the rows does, so they
 * are compiled once per instruction set (cache_check.c) and the best is chosen at run time. */
#ifndef CACHE_CHECK_H
#define CACHE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block's arrays, wherever they lie. */
struct view {
    size_t rows, values, columns;
    const int64_t *start;
    const uint32_t *label, *index;
    const float *value;
};

struct cache_check_ops {
    uint64_t (*checksum)(const void *bytes, size_t size);     /* XXH3, 64 bits */
    bool (*starts)(const struct view *v);                     /* rows begin in order, within the block */
    bool (*indices)(const struct view *v, uint64_t features); /* rise within each row, and are below features */
    bool (*labels)(const struct view *v, uint32_t count);     /* have names, or there is none */
    bool (*values)(const struct view *v);                     /* are finite */
};

const struct cache_check_ops *cache_check_ops(void);

#endif

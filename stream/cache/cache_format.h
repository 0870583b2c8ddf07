/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache file's structures as they lie on disk; docs/reference/cache-format.md explains them. */
#ifndef CACHE_FORMAT_H
#define CACHE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_VERSION 1
#define CACHE_ENDIAN UINT32_C(0x01020304)
#define CACHE_ALIGN 64
#define CACHE_BLOCK_LIMIT ((uint64_t)1 << 30) /* bytes of a block, unpacked */

enum { CACHE_NAMED = 1, CACHE_ROLES = 2 };                /* header.flags */
enum { CACHE_DENSE = 1, CACHE_ONES = 2, CACHE_ZSTD = 4 }; /* cache_block.flags */

struct cache_header {
    char magic[8];
    uint32_t version, endian;
    uint64_t rows, values, features, blocks;
    uint64_t directory;           /* offset of the struct cache_block array */
    uint64_t labels, labels_size; /* names with their NULs */
    uint64_t names, names_size;   /* of features; their roles follow */
    uint32_t index_base, flags;
    uint64_t file_size;
    uint64_t names_checksum; /* of labels, names and roles */
    uint64_t directory_checksum;
    uint64_t checksum; /* of this header up to here */
};

struct cache_block {
    uint64_t offset, size; /* as stored */
    uint32_t rows, flags;
    uint64_t values;
    uint64_t checksum; /* of the bytes as stored */
};

_Static_assert(sizeof(struct cache_header) == 128 && sizeof(struct cache_block) == 40, "no padding on disk");

/* Where a block's arrays begin, from its own beginning; size: of the whole. */
struct cache_layout {
    uint64_t start, label, index, value, size;
};

/* False: more than CACHE_BLOCK_LIMIT. Arrays that the flags leave out have no bytes. */
static inline bool cache_layout(uint64_t rows, uint64_t values, uint32_t flags, struct cache_layout *ret)
{
    if (rows > CACHE_BLOCK_LIMIT || values > CACHE_BLOCK_LIMIT)
        return false;
    uint64_t length[4] = {flags & CACHE_DENSE ? 0 : 8 * (rows + 1), 4 * rows, flags & CACHE_DENSE ? 0 : 4 * values,
                          flags & CACHE_ONES ? 0 : 4 * values};
    uint64_t *offset[4] = {&ret->start, &ret->label, &ret->index, &ret->value};
    ret->size = 0;
    for (int i = 0; i < 4; i++) {
        *offset[i] = ret->size;
        ret->size += (length[i] + CACHE_ALIGN - 1) / CACHE_ALIGN * CACHE_ALIGN;
    }
    return ret->size <= CACHE_BLOCK_LIMIT;
}

#endif

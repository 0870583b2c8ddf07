/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "common/rows.h"
#include "cache/cache.h"
#include "cache/cache_format.h"
#include "base/array.h"
#include "base/error.h"

/* A block's arrays stay in a core's cache while they are checked and learned from. */
#define BLOCK_VALUES 32768
#define BLOCK_ROWS 8192
#define ZSTD_LEVEL 3

struct cache_writer {
    int fd;
    bool compress;
    uint64_t at; /* bytes written */
    struct cache_header header;
    struct cache_block *directory;
    size_t capacity;
    struct rows pending;
    uint8_t *roles; /* of features, as far as they are known: enum hunch_role */
    size_t roles_n, roles_room;
    char *raw, *packed;
    size_t raw_capacity, packed_capacity;
};

static hunch_status bytes_write(struct cache_writer *w, const void *bytes, size_t size, hunch_error *reterr)
{
    const char *p = bytes;
    for (size_t left = size; left > 0;) {
        ssize_t got = write(w->fd, p, left);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno));
        p += got;
        left -= (size_t)got;
    }
    w->at += size;
    return HUNCH_OK;
}

static hunch_status align_write(struct cache_writer *w, hunch_error *reterr)
{
    static const char zeros[CACHE_ALIGN];
    return bytes_write(w, zeros, (size_t)(-w->at % CACHE_ALIGN), reterr);
}

hunch_status cache_writer_new(struct cache_writer **ret, int fd, bool compress, hunch_error *reterr)
{
    struct cache_writer *w = calloc(1, sizeof *w);
    if (!w)
        return error_memory(reterr);
    w->fd = fd;
    w->compress = compress;
    /* zeros until the end: a file that was not finished is no cache */
    hunch_status status = bytes_write(w, &w->header, sizeof w->header, reterr);
    if (status) {
        cache_writer_free(w);
        return status;
    }
    *ret = w;
    return HUNCH_OK;
}

void cache_writer_free(struct cache_writer *w)
{
    if (!w)
        return;
    rows_free(&w->pending);
    free(w->roles);
    free(w->directory);
    free(w->raw);
    free(w->packed);
    free(w);
}

static bool buffer_reserve(char **buffer, size_t *capacity, size_t size)
{
    if (size <= *capacity)
        return true;
    free(*buffer);
    *buffer = malloc(size);
    *capacity = *buffer ? size : 0;
    return *buffer;
}

static uint32_t form_choose(const struct rows *batch, size_t values)
{
    if (batch->columns > 0)
        return CACHE_DENSE;
    size_t i = 0;
    while (i < values && batch->value[i] == 1)
        i++;
    return i == values ? CACHE_ONES : 0;
}

/* The pending rows as the block's bytes in w->raw. */
static hunch_status block_make(struct cache_writer *w, struct cache_block *block, size_t *ret_size, hunch_error *reterr)
{
    struct rows *batch = &w->pending;
    struct cache_layout layout;
    size_t values = (size_t)batch->start[batch->n];
    rows_measure(batch);
    *block = (struct cache_block){.rows = (uint32_t)batch->n, .values = values};
    block->flags = form_choose(batch, values);
    if (!cache_layout(batch->n, values, block->flags, &layout))
        return error_set(reterr, HUNCH_ELIMIT, "a row is too long for a cache");
    if (!buffer_reserve(&w->raw, &w->raw_capacity, layout.size))
        return error_memory(reterr);
    memset(w->raw, 0, layout.size);
    memcpy(w->raw + layout.label, batch->label, batch->n * sizeof *batch->label);
    if (!(block->flags & CACHE_DENSE)) {
        memcpy(w->raw + layout.start, batch->start, (batch->n + 1) * sizeof *batch->start);
        memcpy(w->raw + layout.index, batch->index, values * sizeof *batch->index);
    }
    if (!(block->flags & CACHE_ONES))
        memcpy(w->raw + layout.value, batch->value, values * sizeof *batch->value);
    *ret_size = layout.size;
    return HUNCH_OK;
}

/* Packs the bytes where that makes them fewer. */
static hunch_status block_pack(struct cache_writer *w, struct cache_block *block, const char **bytes, size_t *size,
                               hunch_error *reterr)
{
    size_t bound = ZSTD_compressBound(*size);
    if (!buffer_reserve(&w->packed, &w->packed_capacity, bound))
        return error_memory(reterr);
    size_t packed = ZSTD_compress(w->packed, bound, *bytes, *size, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return error_set(reterr, HUNCH_EIO, "zstd: %s", ZSTD_getErrorName(packed));
    if (packed < *size) {
        *bytes = w->packed;
        *size = packed;
        block->flags |= CACHE_ZSTD;
    }
    return HUNCH_OK;
}

static hunch_status block_write(struct cache_writer *w, hunch_error *reterr)
{
    struct cache_block block;
    size_t size = 0;
    if (w->pending.n == 0)
        return HUNCH_OK;
    hunch_status status = block_make(w, &block, &size, reterr);
    const char *bytes = w->raw;
    if (!status && w->compress)
        status = block_pack(w, &block, &bytes, &size, reterr);
    if (!status)
        status = align_write(w, reterr);
    if (status)
        return status;
    if (!array_reserve(&w->directory, &w->capacity, w->header.blocks + 1, sizeof *w->directory))
        return error_memory(reterr);
    block.offset = w->at;
    block.size = size;
    block.checksum = XXH3_64bits(bytes, size);
    w->directory[w->header.blocks++] = block;
    w->header.rows += block.rows;
    w->header.values += block.values;
    rows_clear(&w->pending);
    return bytes_write(w, bytes, size, reterr);
}

static hunch_status roles_take(struct cache_writer *w, const struct rows *batch, hunch_error *reterr)
{
    for (size_t i = 0; i < batch->roles_n; i++) {
        size_t feature = batch->roles[i].feature, had = w->roles_room;
        if (!array_reserve(&w->roles, &w->roles_room, feature + 1, sizeof *w->roles))
            return error_memory(reterr);
        memset(w->roles + had, HUNCH_ROLE_UNKNOWN, w->roles_room - had);
        w->roles[feature] = (uint8_t)batch->roles[i].role;
        w->roles_n = feature >= w->roles_n ? feature + 1 : w->roles_n;
    }
    return HUNCH_OK;
}

hunch_status cache_writer_add(struct cache_writer *w, const struct rows *batch, hunch_error *reterr)
{
    hunch_status status = roles_take(w, batch, reterr);
    for (size_t i = 0; i < batch->n && !status; i++) {
        struct rows *pending = &w->pending;
        size_t from = (size_t)batch->start[i], n = (size_t)batch->start[i + 1] - from;
        size_t to = pending->n ? (size_t)pending->start[pending->n] : 0;
        if (pending->n >= BLOCK_ROWS || (pending->n > 0 && to + n > BLOCK_VALUES)) {
            status = block_write(w, reterr);
            to = 0;
        }
        if (!status)
            status = rows_reserve(pending, pending->n + 1, to + n, reterr);
        if (status)
            break;
        memcpy(pending->index + to, batch->index + from, n * sizeof *batch->index);
        memcpy(pending->value + to, batch->value + from, n * sizeof *batch->value);
        pending->label[pending->n] = batch->label[i];
        pending->start[++pending->n] = (int64_t)(to + n);
        if (n > 0 && w->header.features < (uint64_t)pending->index[to + n - 1] + 1)
            w->header.features = (uint64_t)pending->index[to + n - 1] + 1;
    }
    return status;
}

static hunch_status names_write(struct cache_writer *w, const struct names *names, XXH3_state_t *checksum,
                                uint64_t *ret_size, hunch_error *reterr)
{
    size_t size = 0;
    char *block = names_block(names, &size);
    if (!block)
        return error_memory(reterr);
    XXH3_64bits_update(checksum, block, size);
    hunch_status status = bytes_write(w, block, size, reterr);
    free(block);
    *ret_size = size;
    return status;
}

static hunch_status tables_write(struct cache_writer *w, const struct names *labels, const struct names *features,
                                 hunch_error *reterr)
{
    struct cache_header *h = &w->header;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    h->labels = w->at;
    hunch_status status = names_write(w, labels, &state, &h->labels_size, reterr);
    h->names = w->at;
    h->flags |= features ? CACHE_NAMED : 0;
    if (!status && features)
        status = names_write(w, features, &state, &h->names_size, reterr);
    if (!status && w->roles_n) { /* one for each feature */
        size_t had = w->roles_room, n = (size_t)h->features;
        if (!array_reserve(&w->roles, &w->roles_room, n, sizeof *w->roles))
            return error_memory(reterr);
        memset(w->roles + had, HUNCH_ROLE_UNKNOWN, w->roles_room - had);
        h->flags |= CACHE_ROLES;
        XXH3_64bits_update(&state, w->roles, n);
        status = bytes_write(w, w->roles, n, reterr);
    }
    h->names_checksum = XXH3_64bits_digest(&state);
    return status;
}

hunch_status cache_writer_finish(struct cache_writer *w, const struct names *labels, const struct names *features,
                                 int index_base, hunch_error *reterr)
{
    struct cache_header *h = &w->header;
    hunch_status status = block_write(w, reterr);
    if (!status)
        status = align_write(w, reterr);
    if (status)
        return status;
    h->directory = w->at;
    h->directory_checksum = XXH3_64bits(w->directory, h->blocks * sizeof *w->directory);
    status = bytes_write(w, w->directory, h->blocks * sizeof *w->directory, reterr);
    if (!status)
        status = tables_write(w, labels, features, reterr);
    if (status)
        return status;
    memcpy(h->magic, CACHE_MAGIC, sizeof h->magic);
    h->version = CACHE_VERSION;
    h->endian = CACHE_ENDIAN;
    h->index_base = index_base > 0;
    h->file_size = w->at;
    h->checksum = XXH3_64bits(h, offsetof(struct cache_header, checksum));
    if (pwrite(w->fd, h, sizeof *h, 0) != (ssize_t)sizeof *h)
        return error_set(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno));
    return HUNCH_OK;
}

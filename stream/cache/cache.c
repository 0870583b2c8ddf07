/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a cache. The file is mapped, and rows are handed out where they lie; before that each block is checked, by
 * checksum against damage and by content against malice, in loops that the compiler makes vectors of.
 */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "common/rows.h"
#include "cache/cache_format.h"
#include "base/error.h"
#include "cache/cache_check.h"

/* Pages of rows that were handed out this long ago are released; a later access reads them again. */
#define BEHIND_BYTES ((size_t)8 << 20)
#define DROP_BYTES ((size_t)8 << 20) /* at a time */

struct cache {
    char *name;
    const unsigned char *bytes;
    size_t size;
    bool mapped;
    size_t dropped; /* bytes at the beginning of the map whose pages have been given back */
    size_t behind;  /* bytes that stay */
    const struct cache_check_ops *check;
    struct cache_header header;
    const struct cache_block *directory;
    struct names *labels, *features;
    uint64_t next, bytes_read, rows_read;
    /* What blocks leave out, for all of them: ones, and the start and index of rows of dense_columns features. */
    float *ones;
    uint64_t dense_columns;
    int64_t *dense_start;
    uint32_t *dense_index;
    unsigned char *unpacked;
    size_t unpacked_capacity;
};

static hunch_status damaged(const struct cache *c, const char *what, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "%s: damaged cache (%s)", c->name, what);
}

static hunch_status header_check(struct cache *c, hunch_error *reterr)
{
    struct cache_header *h = &c->header;
    if (c->size < CACHE_MAGIC_SIZE || memcmp(c->bytes, CACHE_MAGIC, CACHE_MAGIC_SIZE) != 0)
        return error_set(reterr, HUNCH_EINVAL, "%s: is not a cache, or was not finished", c->name);
    if (c->size < sizeof *h)
        return error_set(reterr, HUNCH_EINVAL, "%s: truncated cache", c->name);
    memcpy(h, c->bytes, sizeof *h);
    if (h->endian == __builtin_bswap32(CACHE_ENDIAN))
        return error_set(reterr, HUNCH_EINVAL, "%s: cache of a machine with the other byte order", c->name);
    if (h->endian != CACHE_ENDIAN)
        return damaged(c, "byte order mark", reterr);
    if (h->version > CACHE_VERSION)
        return error_set(reterr, HUNCH_EINVAL, "%s: cache of a newer version (%u; this program reads up to %d)",
                         c->name, h->version, CACHE_VERSION);
    if (h->version == 0 || h->checksum != XXH3_64bits(h, offsetof(struct cache_header, checksum)))
        return damaged(c, "header", reterr);
    if (h->file_size > c->size)
        return error_set(reterr, HUNCH_EINVAL, "%s: truncated cache", c->name);
    if (h->file_size < c->size)
        return damaged(c, "bytes after its end", reterr);
    return HUNCH_OK;
}

static bool is_within(const struct cache *c, uint64_t offset, uint64_t size)
{
    return offset <= c->size && size <= c->size - offset;
}

static hunch_status names_load(struct cache *c, hunch_error *reterr)
{
    const struct cache_header *h = &c->header;
    bool named = h->flags & CACHE_NAMED;
    XXH3_state_t state;
    uint64_t roles = h->flags & CACHE_ROLES ? h->features : 0;
    if (!is_within(c, h->labels, h->labels_size) || !is_within(c, h->names, h->names_size) ||
        !is_within(c, h->names + h->names_size, roles))
        return damaged(c, "names", reterr);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, c->bytes + h->labels, h->labels_size);
    XXH3_64bits_update(&state, c->bytes + h->names, h->names_size + roles);
    if (h->names_checksum != XXH3_64bits_digest(&state))
        return damaged(c, "checksum of the names", reterr);
    c->labels = names_from_block(c->bytes + h->labels, h->labels_size);
    if (named)
        c->features = names_from_block(c->bytes + h->names, h->names_size);
    if (!c->labels || (named && !c->features))
        return damaged(c, "names", reterr);
    if (h->features > (named ? names_count(c->features) : UINT32_MAX))
        return damaged(c, "number of features", reterr);
    return HUNCH_OK;
}

/* Every block is in the file and has the size that its counts ask for. */
static hunch_status directory_check(struct cache *c, hunch_error *reterr)
{
    const struct cache_header *h = &c->header;
    uint64_t rows = 0, values = 0;
    if (h->blocks > c->size / sizeof *c->directory || h->directory % 8 != 0 ||
        !is_within(c, h->directory, h->blocks * sizeof *c->directory))
        return damaged(c, "directory", reterr);
    c->directory = (const struct cache_block *)(const void *)(c->bytes + h->directory);
    if (h->directory_checksum != XXH3_64bits(c->directory, h->blocks * sizeof *c->directory))
        return damaged(c, "checksum of the directory", reterr);
    for (uint64_t i = 0; i < h->blocks; i++) {
        const struct cache_block *b = &c->directory[i];
        struct cache_layout layout;
        uint32_t form = b->flags & (CACHE_DENSE | CACHE_ONES);
        if (b->rows == 0 || form == (CACHE_DENSE | CACHE_ONES) ||
            (form == CACHE_DENSE && (b->values == 0 || b->values % b->rows != 0)) ||
            b->flags > (CACHE_DENSE | CACHE_ONES | CACHE_ZSTD) || b->offset % CACHE_ALIGN != 0 ||
            !is_within(c, b->offset, b->size) || !cache_layout(b->rows, b->values, b->flags, &layout) ||
            (!(b->flags & CACHE_ZSTD) && b->size != layout.size))
            return damaged(c, "directory", reterr);
        rows += b->rows;
        values += b->values;
    }
    return rows == h->rows && values == h->values ? HUNCH_OK : damaged(c, "totals", reterr);
}

/* The arrays that blocks leave out, made once and as large as any mapped block needs: they stay valid with the map. */
static hunch_status shared_make(struct cache *c, hunch_error *reterr)
{
    uint64_t ones = 0, dense = 0, dense_rows = 0;
    for (uint64_t i = 0; i < c->header.blocks; i++) {
        const struct cache_block *b = &c->directory[i];
        if (b->flags & CACHE_ONES && b->values > ones)
            ones = b->values;
        if (!(b->flags & CACHE_DENSE))
            continue;
        if (c->dense_columns == 0)
            c->dense_columns = b->values / b->rows;
        if (b->values == c->dense_columns * b->rows && b->rows > dense_rows) {
            dense_rows = b->rows;
            dense = b->values;
        }
    }
    c->ones = malloc((ones + 1) * sizeof *c->ones);
    c->dense_start = malloc((dense_rows + 1) * sizeof *c->dense_start);
    c->dense_index = malloc((dense + 1) * sizeof *c->dense_index);
    if (!c->ones || !c->dense_start || !c->dense_index)
        return error_memory(reterr);
    for (uint64_t i = 0; i < ones; i++)
        c->ones[i] = 1;
    for (uint64_t i = 0; i <= dense_rows; i++)
        c->dense_start[i] = (int64_t)(i * c->dense_columns);
    for (uint64_t i = 0; i < dense; i++)
        c->dense_index[i] = (uint32_t)(i % c->dense_columns);
    return HUNCH_OK;
}

static hunch_status cache_check(struct cache *c, struct cache **ret, hunch_error *reterr)
{
    c->check = cache_check_ops();
    hunch_status status = header_check(c, reterr);
    if (!status)
        status = names_load(c, reterr);
    if (!status)
        status = directory_check(c, reterr);
    if (!status)
        status = shared_make(c, reterr);
    if (status)
        cache_close(c);
    else
        *ret = c;
    return status;
}

hunch_status cache_open_bytes(struct cache **ret, const void *bytes, size_t size, const char *name, hunch_error *reterr)
{
    struct cache *c = calloc(1, sizeof *c);
    if (c)
        c->name = strdup(name);
    if (!c || !c->name) {
        free(c);
        return error_memory(reterr);
    }
    c->bytes = bytes;
    c->size = size;
    return cache_check(c, ret, reterr);
}

void cache_keep_behind(struct cache *c, size_t bytes)
{
    c->behind = bytes ? bytes : BEHIND_BYTES;
}

hunch_status cache_open(struct cache **ret, const char *path, hunch_error *reterr)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct cache *c = calloc(1, sizeof *c);
    if (c)
        c->name = strdup(path);
    if (fd < 0 || !c || !c->name || fstat(fd, &st)) {
        hunch_status status =
            c && c->name ? error_set(reterr, HUNCH_EINVAL, "%s: %s", path, strerror(errno)) : error_memory(reterr);
        if (fd >= 0)
            close(fd);
        cache_close(c);
        return status;
    }
    c->size = (size_t)st.st_size;
    void *map = c->size > 0 ? mmap(NULL, c->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) {
        cache_close(c);
        return error_set(reterr, HUNCH_EINVAL, "%s: a cache must be a plain file that can be mapped", path);
    }
    madvise(map, c->size, MADV_SEQUENTIAL);
    c->bytes = map;
    c->mapped = true;
    cache_keep_behind(c, 0);
    return cache_check(c, ret, reterr);
}

void cache_close(struct cache *c)
{
    if (!c)
        return;
    if (c->mapped)
        munmap((void *)(uintptr_t)c->bytes, c->size);
    names_free(c->labels);
    names_free(c->features);
    free(c->ones);
    free(c->dense_start);
    free(c->dense_index);
    free(c->unpacked);
    free(c->name);
    free(c);
}

/* --- blocks --- */

static hunch_status block_unpack(struct cache *c, const struct cache_block *b, size_t size, hunch_error *reterr)
{
    const unsigned char *packed = c->bytes + b->offset;
    if (ZSTD_getFrameContentSize(packed, b->size) != size)
        return damaged(c, "size of a compressed block", reterr);
    if (size > c->unpacked_capacity) {
        free(c->unpacked);
        c->unpacked = aligned_alloc(CACHE_ALIGN, size);
        c->unpacked_capacity = c->unpacked ? size : 0;
        if (!c->unpacked)
            return error_memory(reterr);
    }
    if (ZSTD_decompress(c->unpacked, size, packed, b->size) != size)
        return damaged(c, "compressed block", reterr);
    return HUNCH_OK;
}

static hunch_status view_check(const struct cache *c, const struct view *v, bool ones, hunch_error *reterr)
{
    if (!c->check->labels(v, names_count(c->labels)))
        return damaged(c, "label without a name", reterr);
    if (v->columns == 0 && !c->check->starts(v))
        return damaged(c, "beginnings of rows", reterr);
    if (v->columns == 0 ? !c->check->indices(v, c->header.features) : v->columns > c->header.features)
        return damaged(c, "order of features", reterr);
    if (!ones && !c->check->values(v))
        return damaged(c, "a value that is no number", reterr);
    return HUNCH_OK;
}

/* Finds the arrays of a block; *ret_lasting: they stay where they are as long as the cache is open. */
static hunch_status view_make(struct cache *c, const struct cache_block *b, struct view *v, bool *ret_lasting,
                              hunch_error *reterr)
{
    struct cache_layout layout;
    const unsigned char *bytes = c->bytes + b->offset;
    if (c->check->checksum(bytes, b->size) != b->checksum)
        return damaged(c, "checksum of a block", reterr);
    cache_layout(b->rows, b->values, b->flags, &layout);
    *ret_lasting = !(b->flags & CACHE_ZSTD);
    if (b->flags & CACHE_ZSTD) {
        hunch_status status = block_unpack(c, b, layout.size, reterr);
        if (status)
            return status;
        bytes = c->unpacked;
    }
    *v = (struct view){.rows = b->rows, .values = b->values};
    v->label = (const uint32_t *)(const void *)(bytes + layout.label);
    v->value = b->flags & CACHE_ONES ? c->ones : (const float *)(const void *)(bytes + layout.value);
    if (b->flags & CACHE_DENSE) {
        v->columns = b->values / b->rows;
        v->start = v->columns == c->dense_columns ? c->dense_start : NULL;
        v->index = v->columns == c->dense_columns ? c->dense_index : NULL;
        *ret_lasting = *ret_lasting && v->start;
    } else {
        v->start = (const int64_t *)(const void *)(bytes + layout.start);
        v->index = (const uint32_t *)(const void *)(bytes + layout.index);
    }
    return view_check(c, v, b->flags & CACHE_ONES, reterr);
}

static hunch_status rows_borrow(struct rows *rows, const struct view *v, hunch_error *reterr)
{
    free(rows->start);
    free(rows->index);
    free(rows->value);
    free(rows->line);
    rows->line = NULL;
    rows->rows_capacity = rows->values_capacity = rows->line_capacity = 0;
    rows->start = (int64_t *)(uintptr_t)v->start;
    rows->index = (uint32_t *)(uintptr_t)v->index;
    rows->value = (float *)(uintptr_t)v->value;
    rows->borrowed = true;
    return rows_reserve_labels(rows, v->rows, reterr);
}

static hunch_status rows_copy(struct rows *rows, const struct view *v, uint64_t first_row, hunch_error *reterr)
{
    hunch_status status = rows_reserve(rows, v->rows, v->values, reterr);
    if (status)
        return status;
    memcpy(rows->value, v->value, v->values * sizeof *v->value);
    for (size_t i = 0; i < v->rows; i++)
        rows->line[i] = first_row + i + 1;
    for (size_t i = 0; i <= v->rows; i++)
        rows->start[i] = v->start ? v->start[i] : (int64_t)(i * v->columns);
    if (v->index)
        memcpy(rows->index, v->index, v->values * sizeof *v->index);
    else
        for (size_t i = 0; i < v->values; i++)
            rows->index[i] = (uint32_t)(i % v->columns);
    return HUNCH_OK;
}

static void features_map(struct rows *rows, const uint32_t *map)
{
    for (int64_t i = 0; i < rows->start[rows->n]; i++)
        rows->index[i] = map[rows->index[i]];
    for (size_t i = 0; i < rows->n; i++)
        rows_sort_row(rows, (size_t)rows->start[i], (size_t)rows->start[i + 1]);
    rows_measure(rows);
}

/* However long the file is, only a stretch of it is mapped to memory at a time. */
static void pages_drop(struct cache *c)
{
    if (!c->mapped || c->bytes_read < c->dropped + DROP_BYTES + c->behind)
        return;
    madvise((void *)(uintptr_t)(c->bytes + c->dropped), DROP_BYTES, MADV_DONTNEED);
    c->dropped += DROP_BYTES;
}

hunch_status cache_read(struct cache *c, const uint32_t *label_map, const uint32_t *feature_map, struct rows *rows,
                        hunch_error *reterr)
{
    struct view view = {0};
    bool lasting = false;
    rows_clear(rows);
    if (c->next == c->header.blocks)
        return HUNCH_OK;
    const struct cache_block *b = &c->directory[c->next];
    hunch_status status = view_make(c, b, &view, &lasting, reterr);
    if (!status)
        status =
            lasting && !feature_map ? rows_borrow(rows, &view, reterr) : rows_copy(rows, &view, c->rows_read, reterr);
    if (status)
        return status;
    rows->n = view.rows;
    rows->columns = view.columns;
    for (size_t i = 0; i < view.rows; i++)
        rows->label[i] = label_map && view.label[i] != STREAM_NO_LABEL ? label_map[view.label[i]] : view.label[i];
    if (feature_map)
        features_map(rows, feature_map);
    c->next++;
    c->rows_read += b->rows;
    c->bytes_read = b->offset + b->size;
    pages_drop(c);
    return HUNCH_OK;
}

const struct names *cache_labels(const struct cache *c)
{
    return c->labels;
}

const struct names *cache_features(const struct cache *c)
{
    return c->features;
}

hunch_role cache_role(const struct cache *c, uint32_t feature)
{
    const struct cache_header *h = &c->header;
    if (!(h->flags & CACHE_ROLES) || feature >= h->features)
        return HUNCH_ROLE_UNKNOWN;
    unsigned char role = (unsigned char)c->bytes[h->names + h->names_size + feature];
    return role <= HUNCH_WORD ? (hunch_role)role : HUNCH_ROLE_UNKNOWN;
}

int cache_index_base(const struct cache *c)
{
    return c->header.index_base > 0;
}

uint64_t cache_width(const struct cache *c)
{
    return c->header.features;
}

uint64_t cache_bytes(const struct cache *c)
{
    return c->next == c->header.blocks ? c->size : c->bytes_read;
}

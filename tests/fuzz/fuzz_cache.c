/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of arbitrary bytes. Checksums would keep the fuzzer out, so they are made right before the reading: what
 * remains is what a forger could write.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/cache.h"
#include "cache/cache_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool is_within(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

static void seal(uint8_t *bytes, size_t size)
{
    struct cache_header h;
    if (size < sizeof h)
        return;
    memcpy(&h, bytes, sizeof h);
    memcpy(h.magic, CACHE_MAGIC, sizeof h.magic);
    h.file_size = size;
    if (h.blocks < 1000 && is_within(h.directory, h.blocks * sizeof(struct cache_block), size)) {
        for (uint64_t i = 0; i < h.blocks; i++) {
            struct cache_block b;
            uint8_t *at = bytes + h.directory + i * sizeof b;
            memcpy(&b, at, sizeof b);
            if (is_within(b.offset, b.size, size))
                b.checksum = XXH3_64bits(bytes + b.offset, b.size);
            memcpy(at, &b, sizeof b);
        }
        h.directory_checksum = XXH3_64bits(bytes + h.directory, h.blocks * sizeof(struct cache_block));
    }
    if (is_within(h.labels, h.labels_size, size) && is_within(h.names, h.names_size, size)) {
        XXH3_state_t state;
        XXH3_64bits_reset(&state);
        XXH3_64bits_update(&state, bytes + h.labels, h.labels_size);
        XXH3_64bits_update(&state, bytes + h.names, h.names_size);
        h.names_checksum = XXH3_64bits_digest(&state);
    }
    h.checksum = XXH3_64bits(&h, offsetof(struct cache_header, checksum));
    memcpy(bytes, &h, sizeof h);
}

static void read_all(const uint8_t *bytes, size_t size)
{
    struct cache *c;
    struct rows batch = {0};
    hunch_error error;
    volatile double sum = 0;
    if (cache_open_bytes(&c, bytes, size, "x", &error))
        return;
    while (!cache_read(c, NULL, NULL, &batch, &error) && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++)
            for (int64_t j = batch.start[i]; j < batch.start[i + 1]; j++) {
                if (j > batch.start[i] && batch.index[j] <= batch.index[j - 1])
                    abort();
                sum += (double)batch.value[j] + batch.label[i];
            }
    rows_free(&batch);
    cache_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = aligned_alloc(64, (size + 64) / 64 * 64);
    if (size > 0)
        memcpy(copy, bytes, size);
    read_all(copy, size);
    seal(copy, size);
    read_all(copy, size);
    free(copy);
    return 0;
}

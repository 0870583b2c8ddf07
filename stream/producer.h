/* SPDX-License-Identifier: BSD-3-Clause */
/* The reading side of a stream: opens the files in turn and fills batches. Runs in one thread, whichever that is. */
#ifndef PRODUCER_H
#define PRODUCER_H

#include <stdatomic.h>

#include "cache.h"
#include "input.h"
#include "lines.h"
#include "parser.h"

struct producer {
    const struct stream_options *options;
    char *const *paths;
    size_t n;
    bool threaded; /* decompression may have its own thread */
    struct parser parser;
    struct input *input;
    struct lines lines;
    /* Caches stay open until the end: batches borrow from them. */
    struct cache **caches;
    struct cache *cache; /* the one being read, or NULL */
    uint32_t *label_map, *feature_map;
    size_t file; /* the one that is open, or the next */
    bool open;
    uint64_t file_rows, skipped_before;
    uint64_t done_bytes;        /* of the files before */
    atomic_uint_fast64_t bytes; /* read so far; for any thread */
};

/* Opens the first file, so that the format is known. */
hunch_status producer_init(struct producer *p, const struct stream_options *options, char *const *paths, size_t n,
                           bool threaded, hunch_error *reterr);
/* rows == 0 at the end. */
hunch_status producer_fill(struct producer *p, struct stream_batch *batch, hunch_error *reterr);
void producer_free(struct producer *p);
bool producer_is_named(const struct producer *p);

#endif

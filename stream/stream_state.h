/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream from within: for stream.c, which reads, stream_labels.c, which sorts, and stream_known.c, which tells. */
#ifndef STREAM_STATE_H
#define STREAM_STATE_H

#include <stdatomic.h>

#include "cache/cache.h"
#include "bytes/input.h"
#include "bytes/lines.h"
#include "table/parser.h"
#include "stream.h"

struct stream {
    struct stream_options options;
    char **paths;
    size_t n;
    uint64_t total;
    bool threaded; /* decompression may have its own thread */
    struct parser parser;
    struct input *input;
    struct lines lines;
    struct cache **caches; /* stay open until the end: rows borrow from them */
    struct cache *cache;   /* the one being read, or NULL */
    uint32_t *label_map, *feature_map;
    size_t file; /* the one that is open, or the next */
    bool open;
    uint64_t file_rows, skipped_before;
    uint64_t done_bytes; /* of the files before */
    bool named;          /* features have names in the files */
    uint64_t described;  /* features, told by the header of the only file; or 0 */
    uint32_t width;
    uint64_t *label_rows; /* rows with each label */
    size_t label_rows_n;
    uint64_t label_repeats; /* rows with the label of the row before */
    uint32_t last_label;
    struct rows kept; /* rows of which some were left out */
    uint32_t *which;
    size_t which_capacity;
    struct rows *ahead; /* read ahead, handed out up to ahead_next */
    size_t ahead_n, ahead_next, ahead_capacity;
    bool ended;
    hunch_status status; /* of the failure that ended the stream */
    hunch_error error;
    atomic_uint_fast64_t bytes, rows; /* read so far; for any thread */
    atomic_int gate;
};

/* Recomputes label_map: the numbers that the labels of the cache being read, if one is, have in this stream. */
hunch_status stream_map_labels(struct stream *s, hunch_error *reterr);

#endif

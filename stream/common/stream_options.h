/* SPDX-License-Identifier: BSD-3-Clause */
/* How a stream is to be read: the user's options. */
#ifndef STREAM_OPTIONS_H
#define STREAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"
#include "common/names.h"
#include "common/schema.h"

enum stream_format {
    STREAM_AUTO,
    STREAM_SVMLIGHT,
    STREAM_CSV,
    STREAM_TSV,
    STREAM_VW,
    STREAM_JSONL,
    STREAM_ARFF,
    STREAM_CACHE
};

/* Bytes that come from elsewhere than a file; *ret_got == 0 at the end. */
struct stream_source {
    hunch_status (*read)(void *context, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr);
    void *context;
};

struct stream_options {
    enum stream_format format;          /* STREAM_AUTO: by content (cache magic), file name ending, then first line */
    int index_base;                     /* svmlight: 0, 1, or -1 for "1 unless an index 0 is in the first block" */
    const char *label_column;           /* of tables: name or 1-based position; NULL: told by the schema's rules */
    struct schema_options columns;      /* of tables: what the user says about them */
    const struct schema *schema;        /* of tables: known (a model's, a file's); NULL: made from the first rows */
    const struct stream_source *source; /* of the only path's bytes; NULL: the path is a file's */
    bool log;                           /* the rows are rounds of a log: rows.log */
    bool skip_bad_rows;                 /* count malformed rows instead of failing */
    bool mark_bad_rows;                 /* and leave an empty row with the label STREAM_BAD_ROW in their place */
    bool labelled;                      /* a row without a label is malformed, or, of tables, left out */
    uint32_t max_features; /* a row with a larger index + 1 is malformed; that many names are kept; 0: no limit */
    size_t batch_bytes;    /* aim for batches of about this size; 0: a good default */
    size_t behind_bytes;   /* of a cache, which stay in memory after they were handed out; 0: a good default */
    const struct names *labels, *features; /* known names to start from (a loaded model's); NULL: none */
    bool numbered;       /* features have numbers only (such a model's): names must be numbers, from index_base on */
    uint32_t hash_bits;  /* names are hashed to 2^hash_bits numbers; 0: they are kept */
    bool fixed_features; /* names that are not in features are left out */
};

#define STREAM_OPTIONS_INIT                                                                                            \
    {                                                                                                                  \
        .format = STREAM_AUTO, .index_base = -1                                                                        \
    }

#endif

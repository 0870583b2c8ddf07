/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examples in: files or standard input, compressed or not, in any of the formats, as batches of rows.
 *
 * A stream is read front to back, several files in a row. Labels are kept by name in the order in which they were
 * first seen (struct names); so are the features of formats that name them (CSV columns, VW text).
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"
#include "names.h"

#define STREAM_NO_LABEL UINT32_MAX

enum stream_format { STREAM_AUTO, STREAM_SVMLIGHT, STREAM_CSV, STREAM_TSV, STREAM_VW, STREAM_JSONL, STREAM_CACHE };

/* Reading ahead in threads of its own (decompression, parsing): when it pays, never, always, or only to decompress,
 * for callers that read in a thread made for it. The rows are the same. */
enum stream_threads { STREAM_THREADS_AUTO, STREAM_THREADS_NONE, STREAM_THREADS_ALWAYS, STREAM_THREADS_INPUT };

struct stream_options {
    enum stream_format format; /* STREAM_AUTO: by content (cache magic), file name ending, then first line */
    int index_base;            /* svmlight: 0, 1, or -1 for "1 unless an index 0 is in the first block" */
    const char *label_column;  /* CSV: name or 1-based position; NULL: "label", "class", "y", or the last column */
    bool skip_bad_rows;        /* count malformed rows instead of failing */
    size_t batch_bytes;        /* aim for batches of about this size; 0: a good default */
    size_t behind_bytes;       /* of a cache, which stay in memory after they were handed out; 0: a good default */
    const struct names *labels, *features; /* known names to start from (a loaded model's); NULL: none */
    bool fixed_labels;                     /* a label not in labels is an error instead of a new one */
    enum stream_threads threads;
};

#define STREAM_OPTIONS_INIT                                                                                            \
    {                                                                                                                  \
        STREAM_AUTO, -1, NULL, false, 0, 0, NULL, NULL, false, STREAM_THREADS_AUTO                                     \
    }

/* Rows in CSR form, to be started as {0}. Buffers belong to the batch (or to the stream, see borrowed) and are reused
 * by the next stream_next on it. A batch must be freed or filled again before its stream is closed: borrowed rows lie
 * in the stream's memory. */
struct stream_batch {
    size_t rows;
    int64_t *start;  /* rows + 1 */
    uint32_t *index; /* strictly increasing within a row, 0-based */
    float *value;
    uint32_t *label; /* id in stream_labels, or STREAM_NO_LABEL */
    uint64_t *line;  /* line number of each row in its file; for messages; NULL for mapped caches */
    uint32_t file;   /* which of the paths */
    size_t columns;  /* not 0: dense, every row holds exactly the features 0 .. columns-1 */
    size_t rows_capacity, values_capacity;
    bool borrowed; /* private: the arrays are the stream's (a mapped cache) */
};

struct stream;

/* path "-": standard input. Errors name the file and the line: "data.svm:17: ...". */
hunch_status stream_open(struct stream **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         hunch_error *reterr);
/* Fill batch; rows == 0 at the end. After a failure the batch is empty and the next call fails in the same way.
 * HUNCH_EINVAL: the input is bad (missing, unreadable, malformed, damaged); HUNCH_EIO: the system failed. */
hunch_status stream_next(struct stream *s, struct stream_batch *batch, hunch_error *reterr);
void stream_close(struct stream *s); /* NULL is fine */

const struct names *stream_labels(const struct stream *s);
const struct names *stream_features(const struct stream *s); /* NULL: features have numbers only */
/* How many features the input has, when its header says so (one cache); its first batch then brings all labels. 0: not
 * known. */
uint64_t stream_width(const struct stream *s);
int stream_index_base(const struct stream *s);
uint64_t stream_skipped(const struct stream *s);
uint64_t stream_bytes_read(const struct stream *s);  /* of the input as stored; for progress */
uint64_t stream_bytes_total(const struct stream *s); /* 0: not known (standard input) */
/* Names the i-th path's file in a message. */
const char *stream_path(const struct stream *s, uint32_t file);

void stream_batch_free(struct stream_batch *batch);

/* Where a data file is: path as given, then the folders of HUNCH_DATA (colon-separated) and one level below each,
 * also with .svm, .svm.xz ... appended. Returns a malloc'd path or NULL. */
char *stream_find(const char *name);

#endif

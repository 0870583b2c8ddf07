/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examples in: files or standard input, compressed or not, in any of the formats, as rows with numbered labels and
 * features. The interface of this module: what others may use is here and in the headers that are included below.
 *
 * A stream is read front to back, several files in a row, by one thread at a time; a pipeline is a thread that does so
 * and hands the rows on. There is one table of label names and one of feature names (formats that name them: CSV
 * columns, VW text, JSON), numbered in the order in which they were first seen unless stream_ahead sorts the labels.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hunch.h"
#include "common/names.h"
#include "common/rows.h"
#include "common/schema.h"
#include "common/stream_options.h"
#include "bytes/input.h"
#include "table/row_encoder.h"
#include "format/json_cell.h"
#include "write/output.h"
#include "synth.h"

struct stream;

/* path "-": standard input. Errors name the file and the line: "data.svm:17: ...". */
hunch_status stream_open(struct stream **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         hunch_error *reterr);
/* Fill rows; n == 0 at the end. After a failure rows is empty and the next call fails in the same way. Rows of a cache
 * lie in the stream's memory: they must be freed or filled again before the stream is closed.
 * HUNCH_EINVAL: the input is bad (missing, unreadable, malformed, damaged); HUNCH_EIO: the system failed. */
hunch_status stream_next(struct stream *s, struct rows *rows, hunch_error *reterr);
/* Called first, once: read ahead until the input ends, 64 MiB of rows are there (8 MiB if the last three quarters of
 * them brought no new label), that many classes have been seen (0: no such limit), or a header tells the labels; then,
 * unless labels were known beforehand, sort them if all are numbers, so that the order of the rows does not decide
 * which class is which. The rows come with the next calls of stream_next. *stop (may be NULL), set by anyone, ends it
 * too. */
hunch_status stream_ahead(struct stream *s, uint32_t classes, const atomic_bool *stop, hunch_error *reterr);
/* The same sorting, for callers that have read all rows: *ret[old number] is the new one; NULL: nothing changed. */
hunch_status stream_sort_labels(struct stream *s, uint32_t **ret, hunch_error *reterr);
void stream_close(struct stream *s); /* NULL is fine. Does nothing when a pipeline has left its thread behind */

/* Both may be asked for names of rows that have been handed out, from any thread. */
const struct names *stream_labels(const struct stream *s);
const struct names *stream_features(const struct stream *s); /* NULL: features have numbers only */
const struct schema *stream_schema(const struct stream *s);  /* of tables, once open; NULL: there is none */
const struct names *stream_remarks(const struct stream *s);  /* what the user should know, as sentences */
const struct names *stream_with(const struct stream *s);     /* the columns of the rows' cells; NULL: none */
uint64_t stream_unanswered(const struct stream *s); /* rounds of a log left out because they have no feedback */
uint64_t stream_unlabelled(const struct stream *s); /* rows of a table left out because their label is missing */
uint64_t stream_ignored(const struct stream *s);    /* values left out: their names are beyond max_features */
int stream_index_base(const struct stream *s);
uint64_t stream_skipped(const struct stream *s);                    /* malformed rows so far, with skip_bad_rows */
uint64_t stream_label_rows(const struct stream *s, uint32_t label); /* with this label, once all has been read */
uint64_t stream_label_repeats(const struct stream *s);              /* rows with the label of the row before */
uint64_t stream_rows_read(const struct stream *s);                  /* from any thread; for progress */
uint64_t stream_bytes_read(const struct stream *s);                 /* of the input as stored; from any thread */
uint64_t stream_bytes_total(const struct stream *s);                /* 0: not known (standard input) */

/* A thread that reads a stream ahead of those who use its rows. */
struct pipeline;

struct pipeline_options {
    bool ahead; /* stream_ahead comes first, with that many: */
    uint32_t classes;
};

/* The stream is the thread's until pipeline_stop. */
hunch_status pipeline_start(struct pipeline **ret, struct stream *s, const struct pipeline_options *options,
                            hunch_error *reterr);
/* Waits for the next rows, to be returned some time; NULL at the end. From one thread at a time. */
hunch_status pipeline_next(struct pipeline *p, struct rows **ret, hunch_error *reterr);
void pipeline_return(struct pipeline *p, struct rows *rows); /* from any thread */
/* From any thread: read no more. What has been read still comes out of pipeline_next. A thread that waits for its input
 * is left behind, now or at another call: this call is to be repeated until the end. */
void pipeline_end(struct pipeline *p);
/* Ends the thread and frees all rows, which must have been returned. NULL is fine. */
void pipeline_stop(struct pipeline *p);

#endif

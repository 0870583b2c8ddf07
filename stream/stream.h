/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examples in: files or standard input, compressed or not, in any of the formats, as rows with numbered labels and
 * features. The only door of this room: what others may use is here and in the headers that are included below.
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
#include "input.h"
#include "json_cell.h"
#include "names.h"
#include "rows.h"
#include "schema.h"
#include "synth.h"

enum stream_format { STREAM_AUTO, STREAM_SVMLIGHT, STREAM_CSV, STREAM_TSV, STREAM_VW, STREAM_JSONL, STREAM_CACHE };

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
    bool log;                           /* the rows are rounds that someone has played: rows.log */
    bool skip_bad_rows;                 /* count malformed rows instead of failing */
    bool mark_bad_rows;                 /* and leave an empty row with the label STREAM_BAD_ROW in their place */
    bool labelled;                      /* a row without a label is malformed, or, of tables, left out */
    uint32_t max_features; /* a row with a larger index + 1 is malformed; so many names are kept; 0: no limit */
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
uint64_t stream_unanswered(const struct stream *s); /* rounds of a log left out because no one said right or wrong */
uint64_t stream_unlabelled(const struct stream *s); /* rows of a table left out because their label is missing */
uint64_t stream_ignored(const struct stream *s);    /* values left out: their names are beyond max_features */
int stream_index_base(const struct stream *s);
uint64_t stream_skipped(const struct stream *s);                    /* malformed rows so far, with skip_bad_rows */
uint64_t stream_label_rows(const struct stream *s, uint32_t label); /* with this label, once all has been read */
uint64_t stream_rows_read(const struct stream *s);                  /* from any thread; for progress */
uint64_t stream_bytes_read(const struct stream *s);                 /* of the input as stored; from any thread */
uint64_t stream_bytes_total(const struct stream *s);                /* 0: not known (standard input) */

/* Rows out: as the path's ending says a cache (.hc), a table (.csv), JSON lines (.jsonl), VW text (.vw) or svmlight
 * text, written beside the path and renamed when all is there. */
struct output;

/* What the numbers in rows mean; features NULL: they are called by their numbers, from base on. */
struct row_names {
    const struct names *labels, *features;
    uint32_t base;
};

/* path NULL or "-": text to standard output. compress: the cache's blocks with zstd. */
hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr);
/* names: those known by now; the labels' order goes into svmlight text before the first row. A table is kept in memory
 * until its columns are known. */
hunch_status output_add(struct output *o, const struct rows *rows, const struct row_names *names, hunch_error *reterr);
hunch_status output_finish(struct output *o, const struct row_names *names, hunch_error *reterr);
void output_free(struct output *o); /* NULL is fine; what was not finished is removed */
bool output_is_cache(const char *path);
/* A string of JSON, with its quotes; bytes that are no UTF-8 become question marks. */
void text_write_string(FILE *file, const char *text);
/* The features of a row: {"name": value, ...}; index NULL: 0 .. n-1. */
void text_write_features(FILE *file, const uint32_t *index, const float *value, size_t n,
                         const struct row_names *names);

/* Rows that do not come from files: named cells, turned into features by a schema. */
struct row_encoder;

struct row_cell {
    const char *name; /* of the column */
    const char *text;
    size_t length; /* of text; 0: missing */
};

/* Both are borrowed. features: names that are not there are added if grow is set, else left out; NULL if the schema
 * hashes. */
hunch_status row_encoder_new(struct row_encoder **ret, const struct schema *schema, struct names *features, bool grow,
                             hunch_error *reterr);
/* The features of one row into rows, which then holds nothing else; columns without a cell are missing, cells of labels
 * and of unknown columns are passed over. *ret_known (may be NULL): how many cells had a column. */
hunch_status row_encode(struct row_encoder *e, const struct row_cell *cells, size_t n, struct rows *rows,
                        size_t *ret_known, hunch_error *reterr);
void row_encoder_free(struct row_encoder *e); /* NULL is fine */

/* A thread that reads a stream ahead of those who use its rows. */
struct pipeline;

struct pipeline_options {
    bool ahead; /* stream_ahead comes first, with so many: */
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

/* Where a data file is: path as given, then the folders of HUNCH_DATA (colon-separated) and one level below each,
 * also with .svm, .svm.xz ... appended. Returns a malloc'd path or NULL. */
char *stream_find(const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of streams share: files in a folder of their own, and a stream's rows all in one. */
#ifndef STREAM_HELPER_H
#define STREAM_HELPER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"
#include "synth.h"
#include "write/text_write.h"

/* A path in a new folder; path_free removes both. */
static inline char *path_make(const char *name)
{
    const char *base = getenv("TMPDIR");
    size_t size = strlen(base && *base ? base : P_tmpdir) + strlen(name) + 32;
    char *path = calloc(size, 1);
    assert_non_null(path);
    snprintf(path, size, "%s/hunch-test-XXXXXX", base && *base ? base : P_tmpdir);
    assert_non_null(mkdtemp(path));
    strcat(strcat(path, "/"), name);
    return path;
}

/* The rest of the rows as svmlight text, indices from 1. */
static inline hunch_status synth_write(struct synth *s, FILE *file, hunch_error *reterr)
{
    struct rows batch = {0};
    hunch_status status = svmlight_write_labels(file, synth_labels(s), reterr);
    while (!status && !(status = synth_next(s, 0, &batch, reterr)) && batch.n)
        status = svmlight_write(file, &batch, synth_labels(s), 1, reterr);
    rows_free(&batch);
    return status;
}

static inline void path_free(char *path)
{
    char *slash = strrchr(path, '/');
    unlink(path);
    *slash = 0;
    rmdir(path);
    free(path);
}

static inline void file_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline char *text_file(const char *name, const char *text)
{
    char *path = path_make(name);
    file_write(path, text, strlen(text));
    return path;
}

/* Rows with their labels' texts, so that they can be compared whatever the numbers of the labels are. */
struct seen {
    size_t rows, capacity, values_capacity;
    size_t *start;
    char (*label)[32]; /* cut; "" for none */
    uint64_t *line;
    uint32_t *index;
    float *value;
    char features[256]; /* names, joined by blanks, as far as they fit */
};

static inline const char *seen_label(const struct seen *r, size_t row)
{
    return r->label[row];
}

static inline void seen_append(struct seen *r, const struct rows *batch, const struct names *labels)
{
    size_t n = r->rows ? r->start[r->rows] : 0, more = (size_t)batch->start[batch->n];
    while (r->rows + batch->n >= r->capacity || !r->start) {
        r->capacity = 2 * r->capacity + 64;
        r->start = realloc(r->start, r->capacity * sizeof *r->start);
        r->label = realloc(r->label, r->capacity * sizeof *r->label);
        r->line = realloc(r->line, r->capacity * sizeof *r->line);
        r->start[0] = 0;
    }
    while (n + more >= r->values_capacity) {
        r->values_capacity = 2 * r->values_capacity + 64;
        r->index = realloc(r->index, r->values_capacity * sizeof *r->index);
        r->value = realloc(r->value, r->values_capacity * sizeof *r->value);
    }
    memcpy(r->index + n, batch->index, more * sizeof *r->index);
    memcpy(r->value + n, batch->value, more * sizeof *r->value);
    for (size_t i = 0; i < batch->n; i++, r->rows++) {
        const char *label = batch->label[i] == STREAM_NO_LABEL ? "" : names_text(labels, batch->label[i], NULL);
        assert_non_null(label);
        memset(r->label[r->rows], 0, sizeof *r->label);
        strncpy(r->label[r->rows], label, sizeof *r->label - 1);
        r->line[r->rows] = batch->line ? batch->line[i] : 0;
        r->start[r->rows + 1] = n + (size_t)batch->start[i + 1];
    }
}

static inline void seen_free(struct seen *r)
{
    free(r->start);
    free(r->label);
    free(r->line);
    free(r->index);
    free(r->value);
    *r = (struct seen){0};
}

/* By a pipeline instead of stream_next. */
static bool seen_by_pipeline;

static inline hunch_status seen_all(struct seen *seen, struct stream *s, hunch_error *reterr)
{
    struct pipeline_options reading = {0};
    struct pipeline *pipeline = NULL;
    struct rows own = {0}, *rows = &own;
    hunch_status status = seen_by_pipeline ? pipeline_start(&pipeline, s, &reading, reterr) : HUNCH_OK;
    while (!status) {
        status = pipeline ? pipeline_next(pipeline, &rows, reterr) : stream_next(s, rows, reterr);
        if (status || !rows || !rows->n)
            break;
        seen_append(seen, rows, stream_labels(s));
        if (pipeline)
            pipeline_return(pipeline, rows);
    }
    pipeline_stop(pipeline);
    rows_free(&own);
    return status;
}

/* Everything that the paths hold, up to the end or a failure. */
static inline hunch_status seen_try(const char *const *paths, size_t n, const struct stream_options *options,
                                    struct seen *ret, uint64_t *ret_skipped, hunch_error *reterr)
{
    struct stream *s;
    hunch_status status = stream_open(&s, paths, n, options, reterr);
    *ret = (struct seen){0};
    if (status)
        return status;
    status = seen_all(ret, s, reterr);
    for (uint32_t i = 0; stream_features(s) && i < names_count(stream_features(s)); i++) {
        size_t at = strlen(ret->features);
        snprintf(ret->features + at, sizeof ret->features - at, "%s%s", i ? " " : "",
                 names_text(stream_features(s), i, NULL));
    }
    if (ret_skipped)
        *ret_skipped = stream_skipped(s);
    stream_close(s);
    return status;
}

static inline struct seen seen_read(const char *path, const struct stream_options *options)
{
    struct seen rows;
    hunch_error error = {{0}};
    if (seen_try(&path, 1, options, &rows, NULL, &error))
        fail_msg("%s", error.message);
    return rows;
}

static inline void assert_seen_equal(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->rows, b->rows);
    if (a->rows == 0)
        return;
    assert_memory_equal(a->start, b->start, (a->rows + 1) * sizeof *a->start);
    assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
    size_t n = a->start[a->rows];
    if (n == 0)
        return;
    assert_memory_equal(a->index, b->index, n * sizeof *a->index);
    assert_memory_equal(a->value, b->value, n * sizeof *a->value);
}

#endif

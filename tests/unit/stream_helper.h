/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of streams share: files in a folder of their own, and a stream's rows all in one. */
#ifndef STREAM_HELPER_H
#define STREAM_HELPER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream.h"

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
struct rows {
    size_t rows, capacity, values_capacity;
    size_t *start;
    char (*label)[32]; /* cut; "" for none */
    uint64_t *line;
    uint32_t *index;
    float *value;
    char features[256]; /* names, joined by blanks, as far as they fit */
};

static inline const char *rows_label(const struct rows *r, size_t row)
{
    return r->label[row];
}

static inline void rows_append(struct rows *r, const struct stream_batch *batch, const struct names *labels)
{
    size_t n = r->rows ? r->start[r->rows] : 0, more = (size_t)batch->start[batch->rows];
    while (r->rows + batch->rows >= r->capacity || !r->start) {
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
    for (size_t i = 0; i < batch->rows; i++, r->rows++) {
        const char *label = batch->label[i] == STREAM_NO_LABEL ? "" : names_text(labels, batch->label[i], NULL);
        assert_non_null(label);
        memset(r->label[r->rows], 0, sizeof *r->label);
        strncpy(r->label[r->rows], label, sizeof *r->label - 1);
        r->line[r->rows] = batch->line ? batch->line[i] : 0;
        r->start[r->rows + 1] = n + (size_t)batch->start[i + 1];
    }
}

static inline void rows_free(struct rows *r)
{
    free(r->start);
    free(r->label);
    free(r->line);
    free(r->index);
    free(r->value);
    *r = (struct rows){0};
}

/* Everything that the paths hold, up to the end or a failure. */
static inline hunch_status rows_try(const char *const *paths, size_t n, const struct stream_options *options,
                                    struct rows *ret, uint64_t *ret_skipped, hunch_error *reterr)
{
    struct stream *s;
    struct stream_batch batch = {0};
    hunch_status status = stream_open(&s, paths, n, options, reterr);
    *ret = (struct rows){0};
    if (status)
        return status;
    do {
        status = stream_next(s, &batch, reterr);
        if (!status && batch.rows > 0)
            rows_append(ret, &batch, stream_labels(s));
    } while (!status && batch.rows > 0);
    for (uint32_t i = 0; stream_features(s) && i < names_count(stream_features(s)); i++) {
        size_t at = strlen(ret->features);
        snprintf(ret->features + at, sizeof ret->features - at, "%s%s", i ? " " : "",
                 names_text(stream_features(s), i, NULL));
    }
    if (ret_skipped)
        *ret_skipped = stream_skipped(s);
    stream_batch_free(&batch);
    stream_close(s);
    return status;
}

static inline struct rows rows_read(const char *path, const struct stream_options *options)
{
    struct rows rows;
    hunch_error error = {{0}};
    if (rows_try(&path, 1, options, &rows, NULL, &error))
        fail_msg("%s", error.message);
    return rows;
}

static inline void assert_rows_equal(const struct rows *a, const struct rows *b)
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

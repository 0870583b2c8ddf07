/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text format fed with arbitrary bytes, as a stream would: whole lines with padding behind them, in windows of
 * different sizes. The windows must not matter, and what comes out must be what batches promise.
 */
#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

static inline void fuzz_check(const struct parser *p, const struct rows *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        fuzz_require(batch->start[i] <= batch->start[i + 1]);
        fuzz_require(batch->label[i] == STREAM_NO_LABEL || batch->label[i] < names_count(p->labels));
        for (int64_t j = batch->start[i]; j < batch->start[i + 1]; j++) {
            fuzz_require(isfinite(batch->value[j]) && batch->value[j] != 0);
            fuzz_require(j == batch->start[i] || batch->index[j] > batch->index[j - 1]);
            fuzz_require(!p->features || batch->index[j] < names_count(p->features));
        }
    }
}

/* All of text in windows of about the given size; returns a digest of what was read. */
static inline uint64_t fuzz_parse(const struct format *format, const char *text, size_t size, size_t window, bool skip)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct rows batch = {0};
    hunch_error error;
    uint64_t digest = 0;
    options.skip_bad_rows = skip;
    struct parser p = {.format = format, .options = &options, .path = "x", .line = 1, .base = -1};
    p.labels = names_new();
    p.features = format->named ? names_new() : NULL;
    hunch_status status = format->begin ? format->begin(&p, text, size, &error) : HUNCH_OK;
    for (size_t at = 0, target = window; !status && at < size;) {
        size_t end = at + target < size ? at + target : size, used = 0;
        while (text[end - 1] != '\n')
            end++;
        /* a copy of the window's own size: reading beyond its padding is seen */
        char *copy = malloc(end - at + LINES_PADDING);
        memcpy(copy, text + at, end - at);
        memset(copy + (end - at), 0, LINES_PADDING);
        p.last = end == size;
        status = format->parse(&p, copy, end - at, &batch, &used, &error);
        free(copy);
        fuzz_require(used <= end - at && (status || used > 0 || end < size));
        at += used;
        target = used ? window : 2 * target;
        if (!status)
            fuzz_check(&p, &batch);
    }
    if (!status) {
        digest = batch.n * 1000003 + p.skipped;
        for (size_t j = 0; batch.n && j < (size_t)batch.start[batch.n]; j++)
            digest = digest * 31 + batch.index[j];
    }
    if (format->end)
        format->end(&p);
    names_free(p.labels);
    names_free(p.features);
    schema_free(p.schema);
    free(p.roles);
    rows_free(&batch);
    return status ? UINT64_MAX : digest;
}

static inline int fuzz_text(const struct format *format, const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1 + LINES_PADDING);
    if (size > 0)
        memcpy(text, bytes, size);
    if (size == 0 || text[size - 1] != '\n')
        text[size++] = '\n';
    memset(text + size, 0, LINES_PADDING);
    for (int skip = 0; skip < 2; skip++)
        fuzz_require(fuzz_parse(format, text, size, size, skip) == fuzz_parse(format, text, size, 7, skip));
    free(text);
    return 0;
}

#endif

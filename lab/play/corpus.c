/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "play/order.h"
#include "stream.h"

static void sum_write(XXH128_hash_t hash, char ret[CORPUS_SUM])
{
    snprintf(ret, CORPUS_SUM, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

void corpus_hash(const char *text, size_t length, char ret[CORPUS_SUM])
{
    sum_write(XXH3_128bits(text, length), ret);
}

static hunch_status corpus_sum(struct corpus *c, hunch_error *reterr)
{
    const struct dataset *d = &c->data;
    size_t values = (size_t)d->rows.start[d->rows.n];
    uint64_t head[] = {d->rows.n, d->classes, d->width, d->rows.columns};
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return error_memory(reterr);
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, head, sizeof head);
    XXH3_128bits_update(state, d->rows.start, (d->rows.n + 1) * sizeof *d->rows.start);
    XXH3_128bits_update(state, d->rows.label, d->rows.n * sizeof *d->rows.label);
    XXH3_128bits_update(state, d->rows.value, values * sizeof *d->rows.value);
    if (!d->rows.columns)
        XXH3_128bits_update(state, d->rows.index, values * sizeof *d->rows.index);
    sum_write(XXH3_128bits_digest(state), c->sum);
    XXH3_freeState(state);
    return HUNCH_OK;
}

static int row_compare(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return left < right ? -1 : left > right;
}

/* A random sample of the rows, in their old order. */
static hunch_status corpus_sample(struct corpus *c, uint32_t rows, hunch_error *reterr)
{
    struct dataset *d = &c->data;
    struct order order = {0};
    struct rows gather = {0};
    bool good = order_init(&order, (uint32_t)d->rows.n, 1);
    if (good) {
        order_shuffle(&order);
        qsort(order.row, rows, sizeof *order.row, row_compare);
        good = rows_gather(&gather, &d->rows, order.row, rows);
    }
    order_free(&order);
    if (!good) {
        rows_free(&gather);
        return error_memory(reterr);
    }
    rows_free(&d->rows);
    d->rows = gather;
    return HUNCH_OK;
}

static hunch_status corpus_finish(struct corpus *c, uint32_t rows, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (rows && rows < c->data.rows.n)
        status = corpus_sample(c, rows, reterr);
    if (!status)
        status = corpus_sum(c, reterr);
    if (status)
        corpus_free(c);
    return status;
}

hunch_status corpus_read(struct corpus *ret, const char *const *paths, size_t n, const struct corpus_options *options,
                         hunch_error *reterr)
{
    struct corpus c = {0};
    struct stream_options reading = options->stream;
    struct stream *stream;
    reading.labelled = true;
    reading.max_features = options->max_features ? options->max_features : HUNCH_MAX_FEATURES;
    hunch_status status = stream_open(&stream, paths, n, &reading, reterr);
    if (status)
        return status;
    status = dataset_read(&c.data, stream, options->stop, options->progress, options->context, reterr);
    c.skipped = stream_skipped(stream);
    if (!status && stream_schema(stream) && !(c.schema = schema_copy(stream_schema(stream)))) {
        status = error_set(reterr, HUNCH_ENOMEM, "out of memory");
        dataset_free(&c.data);
    }
    stream_close(stream);
    if (!status && options->stop && atomic_load(options->stop)) {
        corpus_free(&c);
        return error_set(reterr, HUNCH_EIO, "interrupted while reading");
    }
    if (!status)
        status = corpus_finish(&c, options->rows, reterr);
    if (!status)
        *ret = c;
    return status;
}

hunch_status corpus_synth(struct corpus *ret, const char *name, const struct synth_options *options,
                          hunch_error *reterr)
{
    struct corpus c = {0};
    struct dataset *d = &c.data;
    struct rows batch = {0};
    struct synth *synth;
    hunch_status status = synth_open(&synth, name, options, reterr);
    if (status)
        return status;
    if (synth_find(name)->revealed)
        status = synth_record(synth, &c.truth, reterr);
    while (!status && !(status = synth_next(synth, 0, &batch, reterr)) && batch.n)
        if ((status = rows_append(&d->rows, &batch, reterr)))
            break;
    d->classes = names_count(synth_labels(synth));
    d->width = synth_features(synth);
    rows_free(&batch);
    synth_close(synth);
    if (!status && !d->rows.n)
        status = error_set(reterr, HUNCH_EINVAL, "%s: no rows", name);
    if (!status)
        status = corpus_finish(&c, 0, reterr);
    else
        corpus_free(&c);
    if (!status)
        *ret = c;
    return status;
}

void corpus_free(struct corpus *corpus)
{
    dataset_free(&corpus->data);
    truth_free(&corpus->truth);
    schema_free(corpus->schema);
    *corpus = (struct corpus){0};
}

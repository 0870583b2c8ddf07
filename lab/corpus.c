/* SPDX-License-Identifier: BSD-3-Clause */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fail.h"
#include "order.h"

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
    size_t values = (size_t)d->start[d->block.rows];
    uint64_t head[] = {d->block.rows, d->classes, d->width, d->block.columns};
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return fail_memory(reterr);
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, head, sizeof head);
    XXH3_128bits_update(state, d->start, (d->block.rows + 1) * sizeof *d->start);
    XXH3_128bits_update(state, d->label, d->block.rows * sizeof *d->label);
    XXH3_128bits_update(state, d->value, values * sizeof *d->value);
    if (!d->block.columns)
        XXH3_128bits_update(state, d->index, values * sizeof *d->index);
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
    struct gather gather = {0};
    bool good = order_init(&order, (uint32_t)d->block.rows, 1);
    if (good) {
        order_shuffle(&order);
        qsort(order.row, rows, sizeof *order.row, row_compare);
        good = gather_rows(&gather, &d->block, order.row, rows);
    }
    order_free(&order);
    if (!good) {
        gather_free(&gather);
        return fail_memory(reterr);
    }
    struct dataset sample = {.block = gather.block,
                             .classes = d->classes,
                             .width = d->width,
                             .start = gather.start,
                             .index = gather.index,
                             .label = gather.label,
                             .value = gather.value};
    dataset_free(d);
    *d = sample;
    return HUNCH_OK;
}

static hunch_status corpus_finish(struct corpus *c, uint32_t rows, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (rows && rows < c->data.block.rows)
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
    struct source *source;
    hunch_status status = source_open(&source, paths, n, &options->stream, options->max_features, reterr);
    if (status)
        return status;
    status = dataset_read(&c.data, source, options->stop, options->progress, options->context, reterr);
    c.skipped = source_skipped(source);
    source_close(source);
    if (!status && options->stop && atomic_load(options->stop)) {
        dataset_free(&c.data);
        return fail_with(reterr, HUNCH_EIO, "interrupted while reading");
    }
    if (!status)
        status = corpus_finish(&c, options->rows, reterr);
    if (!status)
        *ret = c;
    return status;
}

static bool room_make(struct dataset *d, size_t rows, size_t values)
{
    if (rows > d->rows_room || !d->start) {
        int64_t *start = realloc(d->start, (rows + 1) * sizeof *start);
        d->start = start ? start : d->start;
        uint32_t *label = realloc(d->label, (rows + 1) * sizeof *label);
        d->label = label ? label : d->label;
        if (!start || !label)
            return false;
        d->rows_room = rows;
    }
    if (values > d->values_room || !d->index) {
        size_t room = values + values / 2;
        uint32_t *index = realloc(d->index, (room + 1) * sizeof *index);
        d->index = index ? index : d->index;
        float *value = realloc(d->value, (room + 1) * sizeof *value);
        d->value = value ? value : d->value;
        if (!index || !value)
            return false;
        d->values_room = room;
    }
    return true;
}

static bool batch_append(struct dataset *d, const struct stream_batch *b)
{
    size_t rows = d->block.rows, at = rows ? (size_t)d->start[rows] : 0;
    size_t begin = (size_t)b->start[0], values = (size_t)b->start[b->rows] - begin;
    if (!room_make(d, rows + b->rows, at + values))
        return false;
    memcpy(d->label + rows, b->label, b->rows * sizeof *d->label);
    memcpy(d->index + at, b->index + begin, values * sizeof *d->index);
    memcpy(d->value + at, b->value + begin, values * sizeof *d->value);
    d->start[0] = 0;
    for (size_t i = 1; i <= b->rows; i++)
        d->start[rows + i] = b->start[i] - (int64_t)begin + (int64_t)at;
    d->block.columns = !rows || d->block.columns == b->columns ? b->columns : 0;
    d->block.rows = rows + b->rows;
    return true;
}

hunch_status corpus_synth(struct corpus *ret, const char *name, const struct synth_options *options,
                          hunch_error *reterr)
{
    struct corpus c = {0};
    struct dataset *d = &c.data;
    struct stream_batch batch = {0};
    struct synth *synth;
    hunch_status status = synth_open(&synth, name, options, reterr);
    if (status)
        return status;
    while (!(status = synth_next(synth, 0, &batch, reterr)) && batch.rows)
        if (!batch_append(d, &batch)) {
            status = fail_memory(reterr);
            break;
        }
    d->classes = names_count(synth_labels(synth));
    d->width = synth_features(synth);
    stream_batch_free(&batch);
    synth_close(synth);
    if (!status && !d->block.rows)
        status = fail_with(reterr, HUNCH_EINVAL, "%s: no rows", name);
    d->block = (struct block){d->block.rows, d->start, d->index, d->value, d->label, d->block.columns};
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
    *corpus = (struct corpus){0};
}

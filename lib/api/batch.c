/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rounds in one call: the same numbers as row by row, with the next row's weights fetched ahead. */
#include "api/eligible.h"

#define CACHE_LINE 64
/* States smaller than this live in the caches anyway: fetching ahead would only cost instructions. */
#define PREFETCH_FROM ((size_t)1 << 20)

bool batch_row(const hunch_batch *batch, size_t i, hunch_vec *ret)
{
    if (!batch->start) {
        *ret = (hunch_vec){NULL, batch->value + i * batch->columns, batch->columns};
        return true;
    }
    int64_t from = batch->start[i], to = batch->start[i + 1];
    if (from < 0 || to < from)
        return false;
    *ret = (hunch_vec){batch->index + from, batch->value + from, (size_t)(to - from)};
    return true;
}

static void row_prefetch(const hunch *h, const hunch_batch *batch, size_t i)
{
    const struct state *s = &h->state;
    hunch_vec x;
    if (!batch->start || !batch_row(batch, i, &x))
        return;
    size_t bytes = s->stride * sizeof(real), bias = s->bias != 0;
    for (size_t j = 0; j < x.n; j++) {
        if (x.index[j] + bias >= s->features)
            return;
        const char *row = (const char *)(s->rows + (x.index[j] + bias) * s->stride);
        for (size_t at = 0; at < bytes; at += CACHE_LINE)
            __builtin_prefetch(row + at, 1);
    }
}

static hunch_status row_run(hunch *h, const hunch_batch *batch, size_t i, uint32_t label, hunch_choice *ret)
{
    hunch_vec x;
    struct vec v;
    if (!batch_row(batch, i, &x))
        return error_set(&h->error, HUNCH_EINVAL, "row %zu: the batch's starts do not increase", i);
    if (label >= h->state.K)
        return error_set(&h->error, HUNCH_EINVAL, "row %zu: label %u, but there are %u classes", i, label, h->state.K);
    unsigned wants = learner_wants(h, NULL);
    hunch_status status = learner_prepare(h, &x, wants, &v);
    if (status != HUNCH_OK)
        return status;
    learner_predict(h, &v, &(struct eligible){h->usable, h->usable_n}, ret, NULL);
    if (learner_observe(h)) {
        h->state.scored = false;
        status = learner_prepare(h, &x, wants, &v);
        if (status != HUNCH_OK)
            return status;
    }
    if (!h->state.algo->info.full_information)
        return learner_learn(h, &v, ret, ret->label == label);
    status = learner_teach(h, &v, label);
    if (status == HUNCH_OK)
        learner_observe(h);
    return status;
}

hunch_status hunch_run_batch(hunch *h, const hunch_batch *batch, const uint32_t *labels, hunch_choice *ret_choices,
                             size_t *ret_done)
{
    hunch_status status = HUNCH_OK;
    hunch_choice choice;
    size_t i;
    bool ahead = !h->state.scale && (size_t)h->state.features * h->state.stride * sizeof(real) > PREFETCH_FROM;
    for (i = 0; i < batch->rows; i++) {
        if (ahead && i + 1 < batch->rows)
            row_prefetch(h, batch, i + 1);
        status = row_run(h, batch, i, labels[i], &choice);
        if (status != HUNCH_OK)
            break;
        if (ret_choices)
            ret_choices[i] = choice;
    }
    if (ret_done)
        *ret_done = i;
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Const calls: they grow nothing and share no scratch, so that several may run together. */
#include "api/learner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/eligible.h"
#include "state/explore.h"
#include "numeric/zeros.h"

/* Features that the state has never seen weigh nothing: leave them out, but remember how long they were. */
static void vec_cut(const struct state *s, struct vec *x)
{
    while (x->n && (x->index ? x->index[x->n - 1] : x->n - 1) >= s->features) {
        double v = x->value[--x->n];
        x->unseen += v * v;
    }
    while (x->words.n && x->words.index[x->words.n - 1] >= s->features)
        x->words.n--;
    while (x->plain.n && x->plain.index[x->plain.n - 1] + s->mapped >= s->features)
        x->plain.n--;
}

#define FEW 16 /* scores of n lanes need no memory of their own */

/* Buffers of one const call. */
struct scoring {
    uint32_t *index;
    float *value;
    real *scores;
    struct front_room front;
    _Alignas(64) real few[SCORE_ROOM * FEW];
};

static void scoring_free(struct scoring *b)
{
    free(b->index);
    free(b->value);
    if (b->scores != b->few)
        free(b->scores);
    front_room_free(&b->front);
}

static hunch_status scoring_make(const struct state *s, size_t n, struct scoring *ret)
{
    *ret = (struct scoring){0};
    ret->scores = s->lanes <= FEW ? ret->few : zeros_allocate(SCORE_ROOM * s->lanes, sizeof(real));
    bool whole = ret->scores && (!(s->normalize || state_has_bias(s)) ||
                                 (array_resize(&ret->index, size_add(n, 1), sizeof *ret->index) &&
                                  array_resize(&ret->value, size_add(n, 1), sizeof *ret->value)));
    if (whole)
        return HUNCH_OK;
    scoring_free(ret);
    return HUNCH_ENOMEM;
}

/* In builds with real = double a score may be beyond what a float holds. */
static float score_of(real score)
{
    return (float)(score > FLT_MAX ? FLT_MAX : score < -FLT_MAX ? -FLT_MAX : score);
}

static hunch_status row_score(const hunch *h, const hunch_vec *x, struct scoring *b)
{
    const struct state *s = &h->state;
    struct vec v;
    hunch_status status = vec_check(h, x, NULL);
    if (status != HUNCH_OK)
        return status;
    if (b->index)
        vec_rewrite(s, x, b->index, b->value, &v);
    else
        v = (struct vec){.index = x->index, .value = x->value, .n = x->n, .all = x->n};
    if (s->scale) {
        hunch_vec raw = {v.index, v.value, v.n};
        status = front_write(&h->front, s->linear, &raw, learner_wants(h, NULL) | WANT_MAP, &b->front, &v);
        if (status != HUNCH_OK)
            return status;
    }
    vec_cut(s, &v);
    s->algo->scores(s, &v, b->scores);
    return HUNCH_OK;
}

hunch_status hunch_score_batch(const hunch *h, const hunch_batch *batch, uint32_t *ret_labels, float *ret_scores)
{
    const struct state *s = &h->state;
    size_t longest = 0;
    hunch_vec x;
    for (size_t i = 0; i < batch->rows; i++) {
        if (!batch_row(batch, i, &x))
            return HUNCH_EINVAL;
        longest = x.n > longest ? x.n : longest;
    }
    struct scoring b;
    hunch_status status = scoring_make(s, longest, &b);
    if (status != HUNCH_OK)
        return status;
    for (size_t i = 0; i < batch->rows && status == HUNCH_OK; i++) {
        batch_row(batch, i, &x);
        status = row_score(h, &x, &b);
        for (uint32_t k = 0; status == HUNCH_OK && ret_scores && k < s->K; k++)
            ret_scores[i * s->K + k] = score_of(b.scores[k]);
        if (status == HUNCH_OK && ret_labels)
            ret_labels[i] = eligible_greedy(h, b.scores);
    }
    scoring_free(&b);
    return status;
}

static hunch_status one_score(const hunch *h, const hunch_vec *x, uint32_t *ret_label, float *ret_scores)
{
    struct scoring b;
    hunch_status status = x ? scoring_make(&h->state, x->n, &b) : HUNCH_EINVAL;
    if (status != HUNCH_OK)
        return status;
    status = row_score(h, x, &b);
    for (uint32_t k = 0; status == HUNCH_OK && ret_scores && k < h->state.K; k++)
        ret_scores[k] = score_of(b.scores[k]);
    if (status == HUNCH_OK && ret_label)
        *ret_label = eligible_greedy(h, b.scores);
    scoring_free(&b);
    return status;
}

hunch_status hunch_scores(const hunch *h, const hunch_vec *x, float *ret_scores)
{
    return one_score(h, x, NULL, ret_scores);
}

hunch_status hunch_probabilities(const hunch *h, const float *scores, double *ret_probabilities)
{
    for (uint32_t k = 0; k < h->state.K; k++)
        if (!isfinite(scores[k]))
            return HUNCH_EINVAL;
    confidence_spread(&h->confidence, scores, h->state.K, ret_probabilities);
    return HUNCH_OK;
}

hunch_status hunch_greedy(const hunch *h, const hunch_vec *x, uint32_t *ret_label)
{
    return one_score(h, x, ret_label, NULL);
}

/* Without feature i: dense examples have a zero in its place. */
static void vec_without(const hunch_vec *x, size_t i, uint32_t *index, float *value, hunch_vec *ret)
{
    *ret = (hunch_vec){x->index ? index : NULL, value, x->n - (x->index != NULL)};
    memcpy(value, x->value, x->n * sizeof *value);
    if (!x->index) {
        value[i] = 0;
        return;
    }
    memcpy(index, x->index, i * sizeof *index);
    memcpy(index + i, x->index + i + 1, (x->n - i - 1) * sizeof *index);
    memmove(value + i, value + i + 1, (x->n - i - 1) * sizeof *value);
}

hunch_status hunch_explain(const hunch *h, const hunch_vec *x, uint32_t label, float *ret_losses)
{
    const struct state *s = &h->state;
    struct scoring b;
    hunch_status status = x && label < s->K ? scoring_make(s, x->n, &b) : HUNCH_EINVAL;
    if (status != HUNCH_OK)
        return status;
    uint32_t *index = NULL;
    float *value = NULL;
    status = row_score(h, x, &b);
    if (status == HUNCH_OK && !(array_resize(&index, x->n, sizeof *index) && array_resize(&value, x->n, sizeof *value)))
        status = HUNCH_ENOMEM;
    float whole = status == HUNCH_OK ? score_of(b.scores[label]) : 0;
    for (size_t i = 0; i < x->n && status == HUNCH_OK; i++) {
        hunch_vec part;
        vec_without(x, i, index, value, &part);
        status = row_score(h, &part, &b);
        ret_losses[i] = whole - score_of(b.scores[label]);
    }
    free(index);
    free(value);
    scoring_free(&b);
    return status;
}

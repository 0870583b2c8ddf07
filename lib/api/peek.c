/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A choice in two halves: hunch_peek chooses and leaves no trace, hunch_observe counts a choice that was made, here or
 * elsewhere, as a round. So where a log orders the choices of several learners that are to stay alike, each may answer
 * at once from a seed of its own and change only by what the log says.
 *
 * What a prediction changes besides scratch is little: the number of rounds and of features, the generator, and the
 * numbers of algo.note. hunch_peek keeps these aside, predicts, and puts them back.
 */
#include <stdlib.h>

#include "state/state_bytes.h"
#include "covariance/covariance.h"
#include "api/eligible.h"

/* More features may bring matrix=auto to another form, for good. */
static bool growth_is_final(const struct state *s)
{
    const struct state *child;
    for (size_t i = 0; (child = state_member(s, i)); i++)
        if (growth_is_final(child))
            return true;
    return s->covariance.automatic && s->covariance.form == &covariance_full;
}

/* Numbers that note may change. */
static size_t noted_numbers(const struct state *s, size_t t)
{
    const struct tensor_place *p = &s->tensor[t];
    return s->algo->note && p->kind == PER_MODEL ? p->groups * p->lanes : 0;
}

static void put_noted(struct writer *w, const struct state *s)
{
    const struct state *child;
    put_u32(w, s->features);
    put_u64(w, s->round);
    put_u64(w, s->rng.state);
    for (size_t t = 0; t < state_tensors(s->algo); t++)
        put(w, s->tensor[t].numbers, noted_numbers(s, t) * sizeof(double));
    for (size_t i = 0; (child = state_member(s, i)); i++)
        put_noted(w, child);
}

static void take_noted(struct reader *r, struct state *s)
{
    struct state *child;
    s->features = take_u32(r);
    s->round = take_u64(r);
    s->rng.state = take_u64(r);
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        size_t n = noted_numbers(s, t) * sizeof(double);
        if (n)
            memcpy(s->tensor[t].numbers, take(r, n), n);
    }
    s->scored = false;
    for (size_t i = 0; (child = state_member(s, i)); i++)
        take_noted(r, child);
}

/* What is to be found out: a choice and, unless that is NULL, the chances that it had. */
struct question {
    const uint32_t *labels;
    size_t n;
    uint64_t seed;
};

static hunch_status peek(hunch *h, const hunch_vec *x, const struct question *q, hunch_choice *ret,
                         double *ret_chances);

static hunch_status peek_in_copy(hunch *h, const hunch_vec *x, const struct question *q, hunch_choice *ret,
                                 double *ret_chances)
{
    void *bytes;
    size_t size;
    hunch *copy = NULL;
    hunch_status status = hunch_write(h, &bytes, &size, &h->error);
    if (status != HUNCH_OK)
        return status;
    status = hunch_read(&copy, bytes, size, &h->error);
    hunch_free_bytes(bytes);
    if (status != HUNCH_OK)
        return status;
    struct vec v;
    status = learner_prepare(copy, x, WANT_ALL, &v); /* it may grow for good */
    if (status == HUNCH_OK)
        status = peek(copy, x, q, ret, ret_chances);
    if (status != HUNCH_OK)
        h->error = copy->error;
    hunch_free(copy);
    return status;
}

static hunch_status peek(hunch *h, const hunch_vec *x, const struct question *q, hunch_choice *ret, double *ret_chances)
{
    struct state *s = &h->state;
    struct vec v;
    struct eligible among;
    uint32_t features = 0;
    hunch_status status = eligible_take(h, q->labels, q->n, &among);
    if (status == HUNCH_OK)
        status = learner_see(h, x, WANT_ALL, &v, &features);
    if (status != HUNCH_OK)
        return status;
    if (features > s->features && growth_is_final(s))
        return peek_in_copy(h, x, q, ret, ret_chances);
    struct writer w = {NULL, 0};
    put_noted(&w, s);
    if (!array_reserve(&h->noted, &h->noted_room, w.used, 1))
        return error_set(&h->error, HUNCH_ENOMEM, "out of memory for a choice");
    w = (struct writer){h->noted, 0};
    put_noted(&w, s);
    status = state_grow_features(s, features);
    if (status == HUNCH_OK) {
        state_reseed(s, q->seed);
        learner_predict(h, &v, &among, ret, ret_chances);
    }
    struct reader r = {h->noted, w.used, false};
    take_noted(&r, s);
    return status == HUNCH_OK ? status : error_set(&h->error, status, "out of memory for more features");
}

hunch_status hunch_peek_among(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n, uint64_t seed,
                              hunch_choice *ret)
{
    return peek(h, x, &(struct question){eligible, n, seed}, ret, NULL);
}

hunch_status hunch_peek(hunch *h, const hunch_vec *x, uint64_t seed, hunch_choice *ret)
{
    return hunch_peek_among(h, x, NULL, 0, seed, ret);
}

hunch_status hunch_chances(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n, double *ret_chances)
{
    hunch_choice ignored;
    return peek(h, x, &(struct question){eligible, n, h->state.rng.state}, &ignored, ret_chances);
}

hunch_status hunch_observe(hunch *h, const hunch_vec *x, const hunch_choice *choice)
{
    struct vec v;
    hunch_status status = learner_check(h, choice);
    if (status == HUNCH_OK)
        status = learner_prepare(h, x, WANT_ALL, &v);
    if (status != HUNCH_OK)
        return status;
    round_note(&h->state, &v);
    learner_observe(h);
    return HUNCH_OK;
}

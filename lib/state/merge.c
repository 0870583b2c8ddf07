/* SPDX-License-Identifier: BSD-3-Clause */
/* Two learners into one: counts are added, weights averaged by the rounds that each has seen, information about weights
 * added up (covariance.h), and what follows from these is recomputed. */
#include <string.h>

#include "state/child.h"
#include "state/second_moments.h"
#include "state/state.h"

static void tensor_merge(struct state *s, const struct state *other, int t, double mine)
{
    bool sum = s->algo->tensors[t].merge == MERGE_SUM;
    double initial = s->tensor[t].initial;
    size_t rows, columns;
    state_tensor_size(other, t, &rows, &columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double a = state_get(s, t, i, j), b = state_get(other, t, i, j);
            /* What both started from must not count twice. */
            state_set(s, t, i, j, sum ? a + (b - initial) : mine * a + (1 - mine) * b);
        }
}

/* Features that only s has seen: the other's are still at their initial values. */
static void tensor_merge_rest(struct state *s, const struct state *other, int t, double mine)
{
    if (s->algo->tensors[t].merge == MERGE_SUM || s->tensor[t].kind != PER_FEATURE)
        return;
    size_t rows, columns;
    state_tensor_size(s, t, &rows, &columns);
    for (size_t i = other->features; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            state_set(s, t, i, j, mine * state_get(s, t, i, j) + (1 - mine) * s->tensor[t].initial);
}

static void tensors_merge(struct state *s, const struct state *other, double mine)
{
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        enum merge_rule rule = s->algo->tensors[t].merge;
        if (s->tensor[t].kind == ABSENT || rule == MERGE_DERIVE || (rule == MERGE_COVARIANCE && s->covariance.form))
            continue;
        tensor_merge(s, other, (int)t, mine);
        tensor_merge_rest(s, other, (int)t, mine);
    }
}

/* Both of one form; what may fail comes first and leaves what was learned as it is. */
static hunch_status aligned_merge(struct state *s, const struct state *other)
{
    hunch_status status = s->extra ? state_extra(s)->merge(s, other) : HUNCH_OK;
    if (status == HUNCH_OK && s->covariance.form)
        status = covariance_merge(s, other);
    if (status != HUNCH_OK)
        return status;
    uint64_t rounds = s->round + other->round;
    if (state_extra(s)->align)
        state_extra(s)->align(s, other);
    tensors_merge(s, other, rounds ? (double)s->round / (double)rounds : 0.5);
    if (s->algo->derive)
        s->algo->derive(s);
    s->round = rounds;
    return HUNCH_OK;
}

hunch_status state_merge(struct state *s, const struct state *other)
{
    struct state *copy = NULL;
    if (s->extra && !state_extra(s)->merge)
        return HUNCH_EUNSUPPORTED;
    hunch_status status = state_grow_features(s, other->features);
    if (status == HUNCH_OK && s->covariance.form)
        status = covariance_align(s, other);
    if (status == HUNCH_OK && !covariance_is_alike(s, other)) { /* s has the smaller form */
        status = child_copy(&copy, other);
        if (status == HUNCH_OK)
            status = covariance_align(copy, s);
    }
    if (status == HUNCH_OK)
        status = aligned_merge(s, copy ? copy : other);
    child_free(copy);
    return status;
}

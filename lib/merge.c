/* SPDX-License-Identifier: BSD-3-Clause */
/* Two learners into one: counts are added, weights averaged by the rounds that each has seen. */
#include <string.h>

#include "learner.h"

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

/* Features that only dst has seen: the other's are still at their initial values. */
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

hunch_status hunch_merge(hunch *dst, const hunch *src)
{
    struct state *s = &dst->state;
    const struct state *other = &src->state;
    if (dst == src || strcmp(dst->spec, src->spec) || s->K != other->K)
        return error_set(&dst->error, HUNCH_EINVAL, "only two learners of the same spec and classes can be merged");
    if (s->extra && !s->algo->extra_merge)
        return error_set(&dst->error, HUNCH_EUNSUPPORTED, "%s cannot be merged", s->algo->info.name);
    for (size_t t = 0; t < state_tensors(s->algo); t++)
        if (s->tensor[t].kind == MATRIX)
            return error_set(&dst->error, HUNCH_EUNSUPPORTED, "full matrices cannot be merged");
    if (state_grow_features(s, other->features) != HUNCH_OK)
        return error_set(&dst->error, HUNCH_ENOMEM, "out of memory for the other's features");
    if (s->extra) {
        hunch_status status = s->algo->extra_merge(s, other);
        if (status != HUNCH_OK)
            return error_set(&dst->error, status, "the two cannot be merged");
    }
    uint64_t rounds = s->round + other->round;
    double mine = rounds ? (double)s->round / (double)rounds : 0.5;
    if (s->algo->align)
        s->algo->align(s, other);
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        tensor_merge(s, other, (int)t, mine);
        tensor_merge_rest(s, other, (int)t, mine);
    }
    if (s->algo->merged)
        s->algo->merged(s);
    s->round = rounds;
    return HUNCH_OK;
}

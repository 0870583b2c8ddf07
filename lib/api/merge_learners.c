/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch_merge: the preprocessing, the state and the calibration of two learners into one. */
#include <string.h>

#include "api/learner.h"
#include "base/error.h"

/* A learner that has met no row yet takes over the other's front. */
static hunch_status fronts_merge(hunch *dst, const hunch *src)
{
    struct front *f = &dst->front;
    const struct front *other = &src->front;
    if (!other->scale.rows)
        return HUNCH_OK;
    if (f->scale.rows)
        return front_is_alike(f, other) ? front_merge(f, other) : HUNCH_EINVAL;
    struct front copy;
    hunch_status status = front_copy(&copy, other);
    if (status == HUNCH_OK)
        status = state_renew(&dst->state, src->state.mapped, src->state.text, NULL);
    if (status != HUNCH_OK)
        return status;
    front_free(f);
    *f = copy;
    return HUNCH_OK;
}

hunch_status hunch_merge(hunch *dst, const hunch *src)
{
    struct state *s = &dst->state;
    if (dst == src || strcmp(dst->spec, src->spec) || s->K != src->state.K)
        return error_set(&dst->error, HUNCH_EINVAL, "only two learners of the same spec and classes can be merged");
    hunch_status status = s->scale ? fronts_merge(dst, src) : HUNCH_OK;
    if (status == HUNCH_EINVAL)
        return error_set(
            &dst->error, HUNCH_EUNSUPPORTED,
            "the two learners have seen different kinds of columns (scale, map), so their weights cannot be merged");
    if (status == HUNCH_OK)
        status = state_merge(s, &src->state);
    if (status == HUNCH_OK) {
        confidence_merge(&dst->confidence, s->K, &src->confidence);
        promises_merge(&dst->promises, &src->promises);
    }
    if (status == HUNCH_EUNSUPPORTED)
        return error_set(&dst->error, status, "%s cannot be merged", s->algo->info.name);
    return status == HUNCH_OK ? status : error_set(&dst->error, status, "out of memory for a merge");
}

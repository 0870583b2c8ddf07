/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which labels may be shown: those that are not retired and, in one choice, those among which it is made.
 *
 * The masks live here, one byte per label; explore.h's functions choose among the labels that a state's mask allows. A
 * learner without retired labels, asked for a choice among all, has no mask at all.
 */
#include "api/eligible.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "state/explore.h"

hunch_status eligible_grow(hunch *h, uint32_t classes)
{
    uint32_t K = h->state.K;
    if (!h->usable)
        return HUNCH_OK;
    unsigned char *usable = realloc(h->usable, classes);
    if (!usable)
        return error_set(&h->error, HUNCH_ENOMEM, "out of memory for more classes");
    memset(usable + K, 1, classes - K);
    h->usable = usable;
    return HUNCH_OK;
}

void eligible_added(hunch *h, uint32_t classes)
{
    h->usable_n += h->usable ? classes : 0;
}

hunch_status hunch_retire(hunch *h, uint32_t label, int retired)
{
    uint32_t K = h->state.K;
    if (label >= K)
        return error_set(&h->error, HUNCH_EINVAL, "label %u: there are %u classes", label, K);
    if (retired != 0 && retired != 1)
        return error_set(&h->error, HUNCH_EINVAL, "retired must be 0 or 1");
    if (retired == hunch_is_retired(h, label))
        return HUNCH_OK;
    if (retired && (h->usable ? h->usable_n : K) == 1)
        return error_set(&h->error, HUNCH_EINVAL, "label %u is the only one that is not retired", label);
    if (!h->usable) {
        h->usable = malloc(K);
        if (!h->usable)
            return error_set(&h->error, HUNCH_ENOMEM, "out of memory for a label's state");
        memset(h->usable, 1, K);
        h->usable_n = K;
    }
    h->usable[label] = !retired;
    h->usable_n += retired ? -1u : 1u;
    if (h->usable_n == K) {
        free(h->usable);
        h->usable = NULL;
    }
    return HUNCH_OK;
}

int hunch_is_retired(const hunch *h, uint32_t label)
{
    return h->usable && label < h->state.K && !h->usable[label];
}

hunch_status eligible_take(hunch *h, const uint32_t *labels, size_t n, struct eligible *ret)
{
    uint32_t K = h->state.K, count = 0;
    *ret = (struct eligible){h->usable, h->usable_n};
    if (!labels)
        return HUNCH_OK;
    if (!array_reserve(&h->eligible, &h->eligible_room, K, 1))
        return error_set(&h->error, HUNCH_ENOMEM, "out of memory for the eligible labels");
    memset(h->eligible, 0, K);
    for (size_t i = 0; i < n; i++) {
        if (labels[i] >= K)
            return error_set(&h->error, HUNCH_EINVAL, "eligible label %u: there are %u classes", labels[i], K);
        if (h->usable && !h->usable[labels[i]])
            continue;
        count += !h->eligible[labels[i]];
        h->eligible[labels[i]] = 1;
    }
    if (!count)
        return error_set(&h->error, HUNCH_EINVAL, n ? "every eligible label is retired" : "no label is eligible");
    *ret = count == K ? (struct eligible){NULL, 0} : (struct eligible){h->eligible, count};
    return HUNCH_OK;
}

uint32_t eligible_greedy(const hunch *h, const real *scores)
{
    return explore_best_of(scores, h->state.K, h->usable);
}

/* --- in a model's file: how many are retired, and which --- */

void eligible_put(struct writer *w, const hunch *h)
{
    uint32_t K = h->state.K;
    put_u32(w, h->usable ? K - h->usable_n : 0);
    for (uint32_t k = 0; h->usable && k < K; k++)
        if (!h->usable[k])
            put_u32(w, k);
}

hunch_status eligible_read(struct reader *r, hunch *h, hunch_error *reterr)
{
    uint32_t n = take_u32(r);
    for (uint32_t i = 0; i < n && !r->short_of; i++)
        if (hunch_retire(h, take_u32(r), 1) != HUNCH_OK)
            return error_set(reterr, HUNCH_EMODEL, "the model is damaged: its retired labels are invalid");
    return r->short_of ? damaged(reterr, "its retired labels are cut") : HUNCH_OK;
}

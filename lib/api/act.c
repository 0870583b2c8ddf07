/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptive conformal inference under one bit (Gibbs and Candes 2021; Gollapudi, Kollias, Munagala and Sinop 2026): after
 * an answer to a choice whose confidence reached the threshold, threshold += STEP * (promise - right). The sum of
 * promise - right over those choices is then the way that the threshold has gone, over STEP, which is bounded: so of n
 * of them at least n * promise - 1.06 / STEP are right, for every sequence of confidences and answers.
 *
 * A threshold that no confidence reaches would stay there, as no answer could lower it. So the surest choices, SHARE of
 * all, move it too while it is above theirs, although they are handed over: it comes down again once enough of them
 * would have been right.
 */
#include "api/act.h"

#include <math.h>

#include "api/learner.h"

#define STEP 0.02
#define SHARE 0.05        /* of the choices are the surest */
#define SURE_STEP 0.005   /* by which that confidence follows */
#define BEYOND (3 * STEP) /* as far as a threshold may be above the surest */
#define AMONG_SUREST 2u   /* of a mark */

static struct promise *find(const struct promises *p, double promise)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->each[i].known.promise == promise)
            return (struct promise *)&p->each[i];
    return NULL;
}

static struct promise promise_new(double promise)
{
    return (struct promise){.known = {.promise = promise, .threshold = promise}, .surest = promise};
}

/* *ret NULL: it is a new one, for which there is room. */
static hunch_status check(hunch *h, double promise, struct promise **ret)
{
    if (!(promise > 0 && promise < 1))
        return error_set(&h->error, HUNCH_EINVAL, "a promise must be above 0 and below 1");
    *ret = find(&h->promises, promise);
    return *ret || h->promises.n < HUNCH_PROMISES
               ? HUNCH_OK
               : error_set(&h->error, HUNCH_ELIMIT, "a learner keeps at most %d promises", HUNCH_PROMISES);
}

hunch_status hunch_act(hunch *h, const hunch_choice *choice, double promise, uint32_t *ret_mark)
{
    struct promise *known = NULL;
    hunch_status status = check(h, promise, &known);
    if (status != HUNCH_OK)
        return status;
    struct promise p = known ? *known : promise_new(promise);
    *ret_mark =
        (choice->confidence >= p.known.threshold ? HUNCH_ACT : 0) | (choice->confidence >= p.surest ? AMONG_SUREST : 0);
    return HUNCH_OK;
}

hunch_status hunch_acted(hunch *h, double promise, uint32_t mark, int right)
{
    struct promise *p = NULL;
    hunch_status status = check(h, promise, &p);
    if (status == HUNCH_OK && (mark > (HUNCH_ACT | AMONG_SUREST) || (right != 0 && right != 1)))
        status = error_set(&h->error, HUNCH_EINVAL, "the mark is not from hunch_act, or right is not 0 or 1");
    if (status != HUNCH_OK)
        return status;
    if (!p) {
        p = &h->promises.each[h->promises.n++];
        *p = promise_new(promise);
    }
    hunch_promise *k = &p->known;
    k->answers++;
    k->acted += (mark & HUNCH_ACT) != 0;
    k->right += (mark & HUNCH_ACT) && right;
    if (mark)
        k->threshold = fmin(fmax(k->threshold + STEP * (promise - right), 0), p->surest + BEYOND);
    p->surest = fmin(fmax(p->surest + SURE_STEP * ((mark & AMONG_SUREST ? 1 : 0) - SHARE), 0), 1);
    return HUNCH_OK;
}

size_t hunch_get_promise(const hunch *h, size_t i, hunch_promise *ret)
{
    if (ret)
        *ret = i < h->promises.n ? h->promises.each[i].known : (hunch_promise){0};
    return h->promises.n;
}

void promises_merge(struct promises *dst, const struct promises *src)
{
    for (uint32_t i = 0; i < src->n; i++) {
        const struct promise *theirs = &src->each[i];
        struct promise *ours = find(dst, theirs->known.promise);
        if (!ours && dst->n < HUNCH_PROMISES)
            dst->each[dst->n++] = *theirs;
        if (!ours)
            continue;
        double a = (double)ours->known.answers, b = (double)theirs->known.answers;
        ours->known.threshold = (a * ours->known.threshold + b * theirs->known.threshold) / (a + b);
        ours->surest = (a * ours->surest + b * theirs->surest) / (a + b);
        ours->known.answers += theirs->known.answers;
        ours->known.acted += theirs->known.acted;
        ours->known.right += theirs->known.right;
    }
}

/* --- as bytes --- */

void promises_put(struct writer *w, const struct promises *p)
{
    put_u32(w, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        const hunch_promise *k = &p->each[i].known;
        put(w, &k->promise, sizeof k->promise);
        put(w, &k->threshold, sizeof k->threshold);
        put(w, &p->each[i].surest, sizeof p->each[i].surest);
        put_u64(w, k->answers);
        put_u64(w, k->acted);
        put_u64(w, k->right);
    }
}

static double take_number(struct reader *r)
{
    double v = NAN;
    const void *bytes = take(r, sizeof v);
    if (bytes)
        memcpy(&v, bytes, sizeof v);
    return v;
}

hunch_status promises_take(struct reader *r, struct promises *ret, hunch_error *reterr)
{
    struct promises p = {.n = take_u32(r)};
    bool ok = p.n <= HUNCH_PROMISES;
    for (uint32_t i = 0; i < p.n && ok; i++) {
        struct promise *one = &p.each[i];
        hunch_promise *k = &one->known;
        k->promise = take_number(r);
        k->threshold = take_number(r);
        one->surest = take_number(r);
        k->answers = take_u64(r);
        k->acted = take_u64(r);
        k->right = take_u64(r);
        ok = k->promise > 0 && k->promise < 1 && k->threshold >= 0 && k->threshold <= 1 + BEYOND && one->surest >= 0 &&
             one->surest <= 1 && k->answers > 0 && k->acted <= k->answers && k->right <= k->acted;
    }
    if (r->short_of || !ok)
        return damaged(reterr, "its promises are none");
    *ret = p;
    return HUNCH_OK;
}

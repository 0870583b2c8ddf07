/* SPDX-License-Identifier: BSD-3-Clause */
#include "ensemble/persistence.h"

#include <math.h>
#include <string.h>

#define KEEP 0.999 /* of pairs of rounds, and of shares */
#define EXCESS 0.1
#define DEVIATIONS 5
#define VARIANCE_MIN 0.01

void persistence_forget(const struct persistence *p)
{
    p->counts->was_right = 0;
    memset(p->failed, 0, p->K * sizeof *p->failed);
}

int persistence_context(const struct persistence *p)
{
    return p->counts->was_right > 0 ? PERSISTENCE_AGAIN : PERSISTENCE_OTHER;
}

/* A model file may claim anything. */
static uint32_t label_before(const struct persistence *p)
{
    return (uint32_t)fmin(fmax(p->counts->label, 0), p->K - 1);
}

static bool labels_persist(const struct persistence_counts *c)
{
    double more = c->same - c->expected;
    return more > EXCESS * c->n && more > DEVIATIONS * sqrt(c->variance);
}

uint32_t persistence_label(const struct persistence *p, const real *scores)
{
    uint32_t best = p->K;
    if (!labels_persist(p->counts))
        return p->K;
    if (persistence_context(p) == PERSISTENCE_AGAIN)
        return label_before(p);
    for (uint32_t k = 0; k < p->K; k++)
        if (!(p->failed[k] > 0) && (best == p->K || scores[k] > scores[best]))
            best = k;
    return best;
}

/* The label of this round is known; maybe that of the one before is, too. */
static void pairs_learn(const struct persistence *p, uint32_t label)
{
    struct persistence_counts *c = p->counts;
    if (c->was_right > 0 && c->known > 0) {
        uint32_t before = label_before(p);
        double chance = p->share[before] / c->known;
        c->n = c->n * KEEP + 1;
        c->same = c->same * KEEP + (before == label);
        c->expected = c->expected * KEEP + chance;
        c->variance = c->variance * KEEP + fmax(chance * (1 - chance), VARIANCE_MIN);
    }
    for (uint32_t k = 0; k < p->K; k++)
        p->share[k] *= KEEP;
    p->share[label]++;
    c->known = c->known * KEEP + 1;
}

void persistence_learn(const struct persistence *p, uint32_t label, bool right)
{
    if (p->K == 2 && !right) {
        label = 1 - label;
        right = true;
    }
    if (right) {
        pairs_learn(p, label);
        memset(p->failed, 0, p->K * sizeof *p->failed);
    } else {
        p->failed[label] = 1;
    }
    p->counts->label = label;
    p->counts->was_right = right;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How sure: the chance that a label is right given its margin (how far its score is above the best other's), learned
 * online from every answer; docs/explanation/confidence.md has the rules and what was measured.
 *
 * Margins are put on (-1, 1) by u = z/(1 + |z|), z = margin over the running mean of |margin|, where CONFIDENCE_NODES
 * nodes lie evenly. An answer counts for the two nodes beside its u, nearer ones more; counts fade, so that drift is
 * followed. The chance at a node is its share of right answers, made to rise with u (pool adjacent violators), and
 * between nodes a straight line.
 */
#ifndef CONFIDENCE_H
#define CONFIDENCE_H

#include "state/state_bytes.h"

#define CONFIDENCE_NODES 32

struct confidence {
    double learned; /* answers so far */
    double size;    /* running mean of |margin| */
    double shown[CONFIDENCE_NODES], right[CONFIDENCE_NODES];
    double chance[CONFIDENCE_NODES]; /* in force: follows the counts every few answers */
};

void confidence_init(struct confidence *c, uint32_t K);
/* margin as struct hunch_choice has it, not 0 */
double confidence_read(const struct confidence *c, float margin);
void confidence_learn(struct confidence *c, uint32_t K, float margin, bool right);
void confidence_merge(struct confidence *c, uint32_t K, const struct confidence *other);
/* The chances of all labels: the best label has its confidence (at least 1/K), the others share the rest. */
void confidence_spread(const struct confidence *c, const float *scores, uint32_t K, double *ret);

void confidence_put(struct writer *w, const struct confidence *c);
hunch_status confidence_take(struct reader *r, struct confidence *ret, hunch_error *reterr);

#endif

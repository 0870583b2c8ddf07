/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams whose labels persist: a season, a walk through a forest, one customer's tickets. There the label that was
 * right in the round before is likely right again, whatever the example looks like, and labels that have just failed
 * are likely wrong again. The panel compares its choice with both where labels do persist (a no-change classifier):
 *
 * Of two consecutive rounds whose labels are known (the label shown was right; of two classes always), n counts all,
 * `same` those with equal labels and `expected` the share of the first one's label among the labels known so far; v
 * sums the variances of `expected`, at least 0.01 each. All look back on about a thousand. Labels persist where
 * same - expected > n/10 and > 5 sqrt(v).
 */
#ifndef PERSISTENCE_H
#define PERSISTENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "numeric/real.h"

/* Kept as a tensor of a state: numbers only. */
struct persistence_counts {
    double label;     /* of the round before */
    double was_right; /* it was */
    double n, same, expected, variance;
    double known; /* sum of the shares */
};
#define PERSISTENCE_NUMBERS (sizeof(struct persistence_counts) / sizeof(double))

/* A view of a state's numbers. */
struct persistence {
    struct persistence_counts *counts;
    double *failed; /* by class: 1 since it was shown and wrong, until a label is right */
    double *share;  /* by class: how often it was known to be right */
    uint32_t K;
};

/* The round before is no longer known. */
void persistence_forget(const struct persistence *p);

/* In which of two contexts the round is: the label before was right and is proposed again, or it was not, and another one
 * than those that failed is proposed. */
enum { PERSISTENCE_AGAIN, PERSISTENCE_OTHER };
int persistence_context(const struct persistence *p);
/* The label that it proposes; K: none. scores: by class, to choose among those that have not failed. */
uint32_t persistence_label(const struct persistence *p, const real *scores);
void persistence_learn(const struct persistence *p, uint32_t label, bool right);

#endif

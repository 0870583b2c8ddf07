/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams whose labels come in streaks: a season, a walk through a forest, one customer's tickets. There the label that
 * was right in the round before is likely right again, whatever the example looks like; and labels that have just
 * failed are likely wrong again. Panel challenges itself with both, in duels of their own, where the labels do come in
 * streaks:
 *
 * Of two rounds after one another whose labels are known (the label shown was right; of two classes always), n counts
 * all, `same` those with equal labels and `expected` the share of the first one's label among the labels known so far;
 * v sums what `expected` varies by, at least 0.01 each. All look back on about a thousand. Labels come in streaks where
 * same - expected > n/10 and > 5 sqrt(v).
 */
#ifndef STREAKS_H
#define STREAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "duel.h"
#include "real.h"

enum { STREAKS_AGAIN, STREAKS_OTHER, STREAKS_DUELS }; /* the last label again; another one than those that failed */
enum {
    STREAKS_AGE = DUEL_SIDES,
    STREAKS_DUEL, /* numbers of one duel */
    STREAKS_LABEL = STREAKS_DUELS * STREAKS_DUEL,
    STREAKS_GO_ON, /* it was right */
    STREAKS_N,
    STREAKS_SAME,
    STREAKS_EXPECTED,
    STREAKS_VARIANCE,
    STREAKS_KNOWN, /* sum of the shares */
    STREAKS_NUMBERS
};

/* A view of a state's numbers. */
struct streaks {
    double *numbers; /* STREAKS_NUMBERS */
    double *failed;  /* by class: 1 since it was shown and wrong, until a label is right */
    double *share;   /* by class: how often it was known to be right */
    uint32_t K;
};

void streaks_begin(const struct streaks *r);
/* What happened just before is no longer known. */
void streaks_forget(const struct streaks *r);

/* Which duel the coming round belongs to. */
int streaks_which(const struct streaks *r);
/* The label that it sets against the champion's; K: none. scores: of the champion, by class. */
uint32_t streaks_label(const struct streaks *r, const real *scores);
double streaks_chance(const struct streaks *r);

/* sides: for each duel two bits, 1 if the champion's label was shown in it and 2 if the other one. */
void streaks_learn(const struct streaks *r, uint32_t sides, uint32_t label, bool right);

#endif

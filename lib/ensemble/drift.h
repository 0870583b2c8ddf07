/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects from right and wrong answers alone whether a learner still improves, and whether it suddenly got worse.
 *
 * Plateau: the rounds are cut into epochs of 32 K, 64 K, 128 K ...; the learner is on a plateau from the first epoch on
 * whose share of errors is above 0.9 of the one before, or, of the first, not two standard deviations below guessing.
 *
 * Drift: two running shares of errors, e = 1 for a wrong answer: fast += (e - fast) max(1/n, 0.01), slow likewise with
 * 0.0005. With p = max(slow, 0.01), the limit is `deviations` times sqrt(p (1 - p) 0.01/1.99), the standard deviation of
 * the fast one. Drift: fast - slow is above the limit; warning: above half of it; neither in the first 200 rounds.
 */
#ifndef DRIFT_H
#define DRIFT_H

#include <stdbool.h>
#include <stdint.h>

/* Kept as a tensor of a state: numbers only. */
struct drift {
    double rounds;     /* since it began */
    double fast, slow; /* shares of errors */
    double plateau;    /* 1: it is on one, or there was a warning */
    double found;      /* 1: there is a drift */
    double epoch_rounds, epoch_wrong, epoch_length, epoch_before;
};
#define DRIFT_NUMBERS (sizeof(struct drift) / sizeof(double))

void drift_begin(struct drift *d, uint32_t K);
/* deviations 0: no drift, no warning. */
void drift_update(struct drift *d, double deviations, bool right);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ensemble/drift.h"

#include <math.h>

#define FIRST_EPOCH 32 /* rounds for each class */
#define PLATEAU 0.9
#define FAST 0.01
#define SLOW 0.0005
#define RATE_MIN 0.01 /* share of errors that is taken for granted */
#define FIRST_ROUNDS 200

void drift_begin(struct drift *d, uint32_t K)
{
    double guess = 1 - 1 / (double)K, length = FIRST_EPOCH * (double)K;
    double before = (guess - 2 * sqrt(guess * (1 - guess) / length)) / PLATEAU;
    *d = (struct drift){.fast = 1, .slow = 1, .epoch_length = length, .epoch_before = before};
}

static void epoch_update(struct drift *d, bool right)
{
    d->epoch_rounds++;
    d->epoch_wrong += !right;
    if (d->epoch_rounds < d->epoch_length)
        return;
    double share = d->epoch_wrong / d->epoch_rounds;
    if (share > PLATEAU * d->epoch_before)
        d->plateau = 1;
    d->epoch_before = share;
    d->epoch_length *= 2;
    d->epoch_rounds = d->epoch_wrong = 0;
}

void drift_update(struct drift *d, double deviations, bool right)
{
    epoch_update(d, right);
    d->rounds++;
    d->fast += (!right - d->fast) * fmax(1 / d->rounds, FAST);
    d->slow += (!right - d->slow) * fmax(1 / d->rounds, SLOW);
    double p = fmax(d->slow, RATE_MIN), limit = deviations * sqrt(p * (1 - p) * FAST / (2 - FAST));
    double more = d->fast - d->slow;
    bool known = limit > 0 && d->rounds > FIRST_ROUNDS;
    d->found = known && more > limit;
    if (known && more > limit / 2)
        d->plateau = 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <math.h>

#define FIRST_EPOCH 32 /* rounds for each class */
#define STALL 0.9
#define CLEARLY 2   /* standard deviations */
#define WARNING 0.5 /* of the limit */
#define FALSE_MOST 8

void epoch_begin(double *epoch, uint32_t K)
{
    epoch[EPOCH_ROUNDS] = epoch[EPOCH_WRONG] = 0;
    epoch[EPOCH_LENGTH] = FIRST_EPOCH * (double)K;
    /* Before the first there was guessing: who is not clearly better than that is stalled. */
    double guess = 1 - 1 / (double)K;
    epoch[EPOCH_BEFORE] = (guess - CLEARLY * sqrt(guess * (1 - guess) / epoch[EPOCH_LENGTH])) / STALL;
}

enum progress epoch_learn(double *epoch, bool right)
{
    epoch[EPOCH_ROUNDS]++;
    epoch[EPOCH_WRONG] += !right;
    if (epoch[EPOCH_ROUNDS] < epoch[EPOCH_LENGTH])
        return EPOCH_GOES_ON;
    double share = epoch[EPOCH_WRONG] / epoch[EPOCH_ROUNDS], before = epoch[EPOCH_BEFORE];
    epoch[EPOCH_BEFORE] = share;
    epoch[EPOCH_LENGTH] *= 2;
    epoch[EPOCH_ROUNDS] = epoch[EPOCH_WRONG] = 0;
    return before >= 0 && share > STALL * before ? EPOCH_STALLED : EPOCH_BETTER; /* < 0: in models of before */
}

bool errors_learn(double *errors, double limit, bool right)
{
    double n = ++errors[SINCE];
    errors[FAST] += (!right - errors[FAST]) * fmax(1 / n, 0.01);
    errors[SLOW] += (!right - errors[SLOW]) * fmax(1 / n, 0.0005);
    double p = fmax(errors[SLOW], 0.01), threshold = limit * sqrt(p * (1 - p) * 0.01 / 1.99);
    double more = errors[FAST] - errors[SLOW];
    if (threshold <= 0 || n <= ERRORS_FIRST_ROUNDS || more <= WARNING * threshold)
        return false;
    errors[ALARM] = more > threshold * (1 + WARNING * fmin(errors[FALSE_ALARMS], FALSE_MOST));
    return true;
}

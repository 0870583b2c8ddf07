/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a learner still gets better, and whether it suddenly got worse: what panel wakes its members by, and begins
 * anew. The numbers are a state's (PER_MODEL tensors).
 *
 * Epochs of 32 K, 64 K, 128 K ... rounds: it is stalled when the share of errors of one is above 0.9 of the one before,
 * or, of the first, not two standard deviations below what guessing would have.
 *
 * Errors of late and of long: with e = 1 for a wrong answer and n rounds, fast += (e - fast) max(1/n, 0.01), slow
 * likewise with 0.0005, p = max(slow, 0.01). A warning, from n > 200 on: fast - slow > limit/2 sqrt(p (1 - p)
 * 0.01/1.99). An alarm: twice that, and as much again as a warning for every false alarm so far, up to eight: errors
 * that come and go with the stream are no change of what was learned.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { EPOCH_ROUNDS, EPOCH_WRONG, EPOCH_LENGTH, EPOCH_BEFORE, EPOCH_NUMBERS };
enum { FAST, SLOW, SINCE, ALARM, FALSE_ALARMS, ERROR_NUMBERS };
/* SINCE: n; ALARM: there is one, which its owner takes back; FALSE_ALARMS: those that its owner found to be false. */

#define ERRORS_FIRST_ROUNDS 200 /* without an alarm */

void epoch_begin(double *epoch, uint32_t K);
/* Whether one has ended, and how. */
enum progress { EPOCH_GOES_ON, EPOCH_STALLED, EPOCH_BETTER };
enum progress epoch_learn(double *epoch, bool right);

/* True: there is a warning, or an alarm. limit in standard deviations; 0: never. */
bool errors_learn(double *errors, double limit, bool right);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of rewards for the doubly robust estimate: for every label a logistic regression of "right" on x, learned
 * online by AdaGrad on features scaled by the largest value seen. It only has to be useful: the estimate is unbiased
 * whatever the model says, as long as it has not seen the round that it is asked about.
 */
#ifndef REWARD_H
#define REWARD_H

#include <stdbool.h>

#include "hunch.h"

struct reward;

struct reward *reward_new(void); /* NULL: out of memory */
void reward_free(struct reward *r);
/* Room for such labels and features; false: out of memory. To be called before those below. */
bool reward_reserve(struct reward *r, uint32_t classes, uint32_t features);
/* The chance that label is right, in (0, 1). */
double reward_guess(const struct reward *r, const hunch_vec *x, uint32_t label);
void reward_learn(struct reward *r, const hunch_vec *x, uint32_t label, bool right);

#endif

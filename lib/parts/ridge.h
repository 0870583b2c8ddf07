/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ridge regression per class on the reward of the label shown (1 if right, else 0): what LinUCB, Thompson
 * sampling and SquareCB all learn. Per class A = lambda I + sum x x' and w = A^-1 (sum reward x), kept by
 *   w += A^-1 x (reward - w.x)/(1 + x'A^-1 x),   A += x x'.
 * matrix=diag keeps the diagonal of A only and takes the same step with it.
 */
#ifndef RIDGE_H
#define RIDGE_H

#include "covariance/covariance.h"

/* The settings of an algorithm that learns this way, one after the other, and its tensors: those of the regressions, or
 * also the number of rounds learned from. */
#define RIDGE_SETTING_TABLE                                                                                            \
    SETTING_REAL("lambda", "1", 1e-9, 1e9, "regularisation: what the diagonal of A starts from"),                      \
        SETTING_CHOICE("matrix", "diag", covariance_choices, "how much of A is kept"), COVARIANCE_SETTING_RANK
extern const struct tensor ridge_tensors[], ridge_counted_tensors[];
enum { RIDGE_LEARNED = COVARIANCE_TENSORS };

/* lambda: the first of those settings. */
#define RIDGE_COVARIANCE(lambda)                                                                                       \
    {                                                                                                                  \
        .setting = (lambda) + 1, .precision = ridge_precision, .rule = DIAGONAL_RIDGE, .rank = (lambda) + 2            \
    }
double ridge_precision(const struct state *s);

/* algo.learn: the class shown saw a reward. The second counts the rounds. */
void ridge_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right);
void ridge_learn_counted(struct state *s, const struct vec *x, const hunch_choice *c, bool right);

#endif

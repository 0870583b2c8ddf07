/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Online smooth boosting of weak binary learners, one-versus-all (S.-T. Chen, H.-T. Lin, C.-J. Lu, ICML 2012 and 2014):
 * what boost (bandit feedback) and osboost (full information) share.
 *
 * Class k has N weak learners h^n in [-1, 1] and votes alpha^n on the simplex; f_k = sum_n alpha^n h^n(x).
 * One step of class k on (x, y), y = +1 or -1, with theta = gamma/(2 + gamma):
 *   z = 0; for each n: weak learner n learns (x, y) with the weight min((1 - gamma)^(z/2), 1) * importance,
 *   then z += y h^n - theta (h^n as it was);
 *   if y f_k < theta: alpha^n *= exp(rate y h^n), and alpha is brought back to the sum 1.
 */
#ifndef BOOSTING_H
#define BOOSTING_H

#include "parts/naive_bayes.h"
#include "parts/weak.h"

/* Settings that a boosting algorithm begins its table with, and its tensors. */
enum { BOOSTING_GAMMA = WEAK_SETTINGS, BOOSTING_SETTINGS };
extern const struct tensor boosting_tensors[];

/* clang-format off */
#define BOOSTING_SETTING_TABLE                                                                                        \
    WEAK_SETTING_TABLE("100"), SETTING_REAL("gamma", "0.1", 1e-6, 0.5, "the weak learners' assumed advantage")
/* clang-format on */

void boosting_shape(const struct state *s, int tensor, struct tensor *inout);
/* f_k of every class. */
void boosting_scores(const struct state *s, const struct vec *x, real *ret);
struct boosting_lesson {
    double y, importance, rate;
};
/* A step of class k whose score is f; weak_meet follows the steps of a round. */
void boosting_step(struct state *s, const struct vec *x, uint32_t k, double f, struct boosting_lesson lesson);

#endif

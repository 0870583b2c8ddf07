/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Naive Bayes as a binary learner, many side by side. An example is the set of its features that are not zero; what is
 * counted are weights. With N_s the weight of examples of sign s (no or yes), c_sj that of those with feature j,
 * T_s = sum_j c_sj and V the number of different features ever learned from:
 *
 *     l_s = ln(N_s + smooth) + sum_{j present} ln((c_sj + smooth)/(T_s + smooth (V + 1)))
 *     f   = 2 P(yes | x) - 1 = tanh((l_yes - l_no)/2)
 *
 * V + 1 and not V: a feature that was never seen has its share, so that the chances of all that may come sum to 1.
 * smooth = 0 is the unsmoothed form: 0 where neither side can have made x.
 *
 * The log-odds ln((c_yes,j + smooth)/(c_no,j + smooth)) are kept beside the counts, so that asking takes additions and
 * only learning takes logarithms.
 *
 * Learner number `id` has its counts at offset `at` in each feature's row, within the three tensors of the same shape.
 */
#ifndef NAIVE_BAYES_H
#define NAIVE_BAYES_H

#include "state/algo.h"

/* Which of a state's tensors a set of naive Bayes learners lives in. */
struct naive_bayes {
    int no, yes;    /* PER_FEATURE: c_no, c_yes of each learner */
    int odds;       /* PER_FEATURE: of the same shape */
    int seen;       /* PER_FEATURE, one number: more than 0 once the feature was learned from */
    int totals;     /* PER_MODEL: NAIVE_BAYES_TOTALS numbers of each learner, by id */
    int vocabulary; /* PER_MODEL, one number: V */
    double smooth;
};

enum { NAIVE_BAYES_N_NO, NAIVE_BAYES_N_YES, NAIVE_BAYES_T_NO, NAIVE_BAYES_T_YES, NAIVE_BAYES_TOTALS };

#define NAIVE_BAYES_SETTING_SMOOTH                                                                                     \
    SETTING_REAL("smooth", "1", 0, 1e3, "naive-bayes: what is added to every count; 0: unsmoothed")

/* Learners that lie side by side: number id .. id+n-1, at .. at+n-1. */
struct naive_bayes_block {
    size_t at, id, n;
};

void naive_bayes_outputs(const struct state *s, const struct naive_bayes *b, struct naive_bayes_block block,
                         const struct vec *x, real *ret);
/* After the updates of one round: x's features count as seen. */
void naive_bayes_meet(struct state *s, const struct naive_bayes *b, const struct vec *x);
/* The block's first learner learns that x is of the sign that weight has, that many times. */
void naive_bayes_update(struct state *s, const struct naive_bayes *b, struct naive_bayes_block block,
                        const struct vec *x, double weight);
/* After the counts were changed from outside (a merge): odds and V of all learners. */
void naive_bayes_renew(struct state *s, const struct naive_bayes *b);

#endif

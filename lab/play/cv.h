/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cross-validation as in the Confidit papers (Crammer and Gentile 2013, sections 5 and 6):
 *
 *   1. Noise: every row is picked with probability noise and its label, as far as training is concerned, replaced by
 *      one drawn uniformly from all classes.
 *   2. Tuning: one split of the rows, tune : 1 - tune. Every setting of every learner learns from the first part for
 *      that many epochs and is tested on the second; both with the noisy labels. The lowest error of the greedy label
 *      wins; the first of several.
 *   3. Folds: the rows are cut into that many equal parts. With its setting every learner learns from all parts but one
 *      (noisy labels) and its greedy label is tested on that one (true labels).
 *
 * All learners see the same noise, splits, folds and orders, so that their test errors can be compared fold by fold.
 */
#ifndef CV_H
#define CV_H

#include "play/trial.h"
#include "play/grid.h"
#include "play/summary.h"

struct cv_options {
    uint32_t folds, epochs;
    double tune;  /* share of the rows that tuning learns from; 0: the first point of every grid */
    double noise; /* share of the rows */
    uint64_t seed;
    struct trials_options trials;
};

struct cv_learner {
    size_t point; /* the setting that won */
    bool edge;
    double tuning_error;
    double *errors;         /* of every fold, in [0, 1] */
    double error, sd;       /* their mean and standard deviation */
    struct summary summary; /* of what the folds learned from; mistakes there are those against the true labels */
    const struct outcome *outcomes; /* of the folds */
};

struct cv {
    size_t learners, folds;
    struct cv_learner *learner;
    double *p;               /* of the paired t test between learners i and j: p[i * learners + j] */
    double tuning_seconds;   /* of processor time */
    bool stopped;            /* then there are no results */
    struct outcome *playing; /* private */
    struct cv_split *split;
};

hunch_status cv_play(struct cv *ret, const struct corpus *corpus, const struct grid *grids, size_t learners,
                     const struct cv_options *options, hunch_error *reterr);
void cv_free(struct cv *cv);

/* --- the split itself, for tests --- */

struct cv_split {
    struct part tuning;
    struct part *fold;
    uint32_t folds;
    uint32_t *label;  /* noisy, for every row */
    uint32_t *memory; /* that the parts' rows lie in */
};

hunch_status cv_split_make(struct cv_split *ret, const struct corpus *corpus, const struct cv_options *options,
                           hunch_error *reterr);
void cv_split_free(struct cv_split *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One learner's runs in a few numbers, and as one curve. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "play/player.h"

struct summary {
    size_t runs;             /* that have played at least one round */
    double rounds, mistakes; /* of a run, on average */
    double error, error_sd;  /* mean over runs, and their standard deviation (n - 1); 0 for one run */
    double unseen_error;     /* mean over runs, of the rows that were played for the first time */
    double greedy_error, explored;
    double regret, regret_sd;   /* of a run */
    double balanced, discovery; /* see tally.h; 0 where they were not counted */
    double calibration;         /* error of the confidence: see tally_calibration */
    double acted, acted_right;  /* shares of the unseen rows acted on, and of these those that were right */
    double seconds;             /* of all runs together, processor time */
    double rate;                /* rounds per second */
    double bytes;               /* of the learner at its end, on average */
};

/* The exponent with which regret grew in the last of the rounds (from a thirtieth on): mean over the runs and its
 * standard error, NAN for one run. false: too few points, or no regret. */
bool summary_growth(const struct outcome *runs, size_t n, double *ret, double *ret_error);
struct summary summary_make(const struct outcome *runs, size_t n);

/* Mean over the runs, round by round, as far as all have the same points. */
struct curve {
    size_t n;
    double *round, *error, *greedy, *explored;  /* shares of the rounds so far: the means of the runs */
    double *error_sd, *greedy_sd, *explored_sd; /* and their standard deviations */
};

/* false: out of memory, or no run has a point. */
bool curve_mean(struct curve *ret, const struct outcome *runs, size_t n);
void curve_free(struct curve *c);

#endif

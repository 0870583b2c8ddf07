/* SPDX-License-Identifier: BSD-3-Clause */
/* One learner's runs in a few numbers. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "progressive.h"

struct summary {
    size_t runs;             /* that have played at least one round */
    double rounds, mistakes; /* of a run, on average */
    double error, error_sd;  /* mean over runs, and their standard deviation (n - 1); 0 for one run */
    double greedy_error, explored;
    double seconds; /* of all runs together */
    double rate;    /* rounds per second */
};

struct summary summary_make(const struct progressive_result *results, size_t runs);
/* Mean error of the runs at point i of their curves; false: some run has no such point. */
bool summary_point(const struct progressive_result *results, size_t runs, size_t i, double *ret_round,
                   double *ret_error);

#endif

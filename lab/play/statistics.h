/* SPDX-License-Identifier: BSD-3-Clause */
/* Means, deviations and the paired t test. */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stddef.h>

double statistics_mean(const double *x, size_t n); /* NAN for none */
double statistics_sd(const double *x, size_t n);   /* over n - 1; 0 for fewer than two */

/* I_x(a, b), the regularised incomplete beta function. */
double statistics_beta(double a, double b, double x);
/* P(|T| >= |t|) for Student's t with that many degrees of freedom. */
double statistics_student(double t, double degrees);
/* The t for which that is p, 0 < p < 1; NAN for no degrees. */
double statistics_quantile(double p, double degrees);
/* Two-sided p value of the hypothesis that two samples with these standard deviations, over m + 1 and n + 1 numbers,
 * scatter alike: the F test. 1 where both are 0. */
double statistics_spread(double sd, double m, double other, double n);
/* Two-sided p value of the hypothesis that a - b has mean 0, pair by pair. 1 when a and b are equal or n < 2; 0 when
 * all differences are the same and not 0. */
double statistics_paired(const double *a, const double *b, size_t n);

#endif

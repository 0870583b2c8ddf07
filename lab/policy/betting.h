/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds of a mean that hold after every observation at once (a confidence sequence).
 *
 * Whoever bets the share b of his wealth on every x_t being larger than v, at odds that are fair if v is the mean, has
 * the wealth prod (1 + b (x_t - v)) >= 0, since x_t >= 0 and b v <= 1. If the mean is v, that is a martingale, and it
 * ever exceeds 1/alpha with a chance of at most alpha (Ville). So every v at which it has exceeded it is refuted, now and
 * for good. The bets here are a mixture of fixed shares, so nothing is tuned to how long one will look, and no bound on
 * the x_t is needed, such as importance-weighted rewards do not have.
 */
#ifndef BETTING_H
#define BETTING_H

#include <stddef.h>

/* With the chance 1 - alpha the mean of x_1, x_2 ... (each >= 0, the mean given those before it at most top) is never
 * below the bound, whichever n is asked for. */
double betting_lower(const double *x, size_t n, double top, double alpha);

#endif

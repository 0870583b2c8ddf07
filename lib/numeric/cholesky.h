/* SPDX-License-Identifier: BSD-3-Clause */
/* Small symmetric positive definite matrices in double, row by row, lower triangles: for what is done now and then. */
#ifndef CHOLESKY_H
#define CHOLESKY_H

#include <stddef.h>

/* a becomes L with L L' = a, in rows of `stride` numbers, from row `from` on (those before are factored already). Where
 * rounding has left a pivot below `least`, it is that. */
void cholesky_factor(double *a, size_t n, size_t stride, size_t from, double min);
/* y = L^-1 y */
void cholesky_forward(const double *l, size_t n, size_t stride, double *y);
/* a = a^-1, both triangles; scratch of n numbers. The whole of a is in rows of n. */
void cholesky_invert(double *a, size_t n, double *scratch);

#endif

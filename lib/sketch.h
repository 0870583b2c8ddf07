/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covariances between the diagonal and the full matrix: per class, S^-1 = diag(p) + U'U, where U has at most 2m rows.
 * A step S^-1 += rho x x' appends sqrt(rho) x to U; when U is full its m leading directions (in the metric of 1/p) are
 * kept and the squares of the others are folded into p. So S^-1 is positive definite always, and its diagonal exact.
 * L is the Cholesky factor of I + U diag(1/p) U': with y = L^-1 U (x/p) and z = L'^-1 y,
 *   x'Sx = sum x^2/p - |y|^2,  S x = (x - U'z)/p.
 * (The idea is that of sketched online Newton: Luo, Agarwal, Cesa-Bianchi, Langford 2016.)
 */
#ifndef SKETCH_H
#define SKETCH_H

#include "algo.h"

/* The tensors of a sketch stand together; the first's number is passed to every call. U is kept per feature as classes
 * x 2m numbers. */
enum { SKETCH_DIAGONAL, SKETCH_U, SKETCH_FACTOR, SKETCH_USED, SKETCH_TENSORS };
#define SKETCH_TENSOR_TABLE                                                                                            \
    {"sketch_p", PER_FEATURE, 1, CLASSES, 1, MERGE_SUM}, {"sketch_U", PER_FEATURE, CLASSES, 1, 0, MERGE_MEAN},         \
        {"sketch_L", PER_MODEL, CLASSES, 1, 0, MERGE_MEAN},                                                            \
    {                                                                                                                  \
        "sketch_used", PER_MODEL, 1, CLASSES, 0, MERGE_MEAN                                                            \
    }

#define SKETCH_MOST 16 /* largest m */

/* For algo.shape: which of the tensors above, and m. */
void sketch_shape(int which, size_t m, struct tensor *inout);
/* q[k] = x'S_k x for all classes */
void sketch_quads(const struct state *s, int first, const struct vec *x, real *q);
/* w_k += c S_k x, then S_k^-1 += rho x x' */
void sketch_step(struct state *s, int first, int W, const struct vec *x, uint32_t k, double c, double rho);
/* An entry of the diagonal of S_k^-1. */
double sketch_diagonal(const struct state *s, int first, uint32_t j, uint32_t k);

#endif

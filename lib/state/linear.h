/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scores and updates of a state's feature-major weights: one short contiguous read per non-zero, whatever the number of
 * classes. Every operation works lane by lane (a lane is a class), so that all instruction sets give the same bits.
 */
#ifndef LINEAR_H
#define LINEAR_H

#include "numeric/linear_ops.h"
#include "state/algo.h"

/* Where tensor's numbers of feature j begin. */
static inline real *linear_row(const struct state *s, int tensor, uint32_t j)
{
    return s->rows + (size_t)j * s->stride + s->tensor[tensor].at;
}

/* Runs body for every entry: row is the feature's place times the stride, v the value. Dense examples walk through the
 * rows, so that nothing is looked up or multiplied. */
#define FOR_EACH_ENTRY(body)                                                                                           \
    do {                                                                                                               \
        if (x->index) {                                                                                                \
            for (size_t i = 0; i < x->n; i++) {                                                                        \
                size_t row = (size_t)x->index[i] * s->stride;                                                          \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t i = 0, row = 0; i < x->n; i++, row += s->stride) {                                             \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* The squared length, from the example where it is known. */
static inline double linear_norm2(const struct state *s, const struct vec *x)
{
    if (x->unseen > 0)
        return vec_norm2(x);
    return x->norm2 > 0 ? x->norm2 : s->linear->dot(x->value, x->value, x->n);
}

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret);
/* algo.scores where W stands first in the table of tensors. */
void linear_first_scores(const struct state *s, const struct vec *x, real *ret);
void linear_add(const struct state *s, int W, uint32_t k, double c, const struct vec *x);
/* w += a x, then w += b x, in one pass (the roundings of two steps, the memory traffic of one) */
void linear_add_twice(const struct state *s, int W, uint32_t k, double a, double b, const struct vec *x);
/* w_k += a x and w_l += b x in one pass, for different classes */
struct linear_pair {
    uint32_t k;
    double a;
    uint32_t l;
    double b;
};
void linear_add_pair(const struct state *s, int W, struct linear_pair p, const struct vec *x);
void linear_add_all(const struct state *s, int W, const real *c, const struct vec *x);
/* Gradient descent: W -= rate h (x) x, with h the K factors in s->probabilities; and the rate B/sqrt(2 (1e-8 + *H))
 * after *H += |h (x) x|^2/p^2, for gradients that come with the weight 1/p. */
void linear_descend(struct state *s, int W, double rate, const struct vec *x);
double linear_adaptive_rate(const struct state *s, double *H, double B, const struct vec *x, double p);

#endif

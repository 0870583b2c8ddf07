/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scores and updates of feature-major weights: one short contiguous read per non-zero, whatever the number of
 * classes. Every operation works lane by lane (a lane is a class), so that all instruction sets give the same bits.
 */
#ifndef LINEAR_H
#define LINEAR_H

#include "algo.h"

/* The heavy loops, once per instruction set (linear_kernels.c). rows points at the tensor within the first row. */
struct linear_ops {
    const char *name;
    /* out[k] = sum_j x_j W_jk */
    void (*scores)(const real *W, size_t stride, size_t lanes, const struct vec *x, real *out);
    /* and q[k] = sum_j x_j^2 V_jk in the same pass */
    void (*scores_widths)(const real *W, const real *V, size_t stride, size_t lanes, const struct vec *x, real *out,
                          real *q);
    /* W_jk += c[k] x_j */
    void (*add_all)(real *W, size_t stride, size_t lanes, const struct vec *x, const real *c);
    /* W_jk += c[k] V_jk x_j;  V_jk -= b[k] (V_jk x_j)^2: the step of AROW */
    void (*arow_all)(real *W, real *V, size_t stride, size_t lanes, const struct vec *x, const real *c, const real *b);
    /* All values finite and, unless index is NULL, indices strictly increasing */
    bool (*is_sound)(const uint32_t *index, const float *value, size_t n);
};

/* The best that this machine runs; or a named one ("plain", "avx2", "avx512"), NULL if it can't. */
const struct linear_ops *linear_ops(void);
const struct linear_ops *linear_ops_named(const char *name);

/* Where tensor's numbers of feature j begin. */
static inline real *linear_row(const struct state *s, int tensor, uint32_t j)
{
    return s->rows + (size_t)j * s->stride + s->tensor[tensor].at;
}

static inline uint32_t vec_index(const struct vec *x, size_t i)
{
    return x->index ? x->index[i] : (uint32_t)i;
}

/* Squared length, unseen features included. */
double vec_norm2(const struct vec *x);

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret);
void linear_scores_widths(const struct state *s, int W, int V, const struct vec *x, real *ret, real *ret_widths);
void linear_add(const struct state *s, int W, uint32_t k, double c, const struct vec *x);
/* w += a x, then w += b x, in one pass (the roundings of two steps, the memory traffic of one) */
void linear_add_twice(const struct state *s, int W, uint32_t k, double a, double b, const struct vec *x);
void linear_add_all(const struct state *s, int W, const real *c, const struct vec *x);
void linear_arow_all(const struct state *s, int W, int V, const real *c, const real *b, const struct vec *x);
/* One class's column: w.x and x'Vx */
double linear_dot(const struct state *s, int W, uint32_t k, const struct vec *x);
double linear_width(const struct state *s, int V, uint32_t k, const struct vec *x);
/* One class's AROW step: w += c V x, V -= b (V x)^2 */
void linear_arow(const struct state *s, int W, int V, uint32_t k, double c, double b, const struct vec *x);

#endif

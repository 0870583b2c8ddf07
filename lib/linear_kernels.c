/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of linear.h. This file is compiled once per instruction set, with LINEAR_ISA naming the set and
 * LINEAR_VECTOR the largest vector in bytes. All arithmetic is element by element on vectors over classes, without
 * fused multiply-add, so every build of it gives the same bits.
 */
#include "linear.h"

#ifndef LINEAR_ISA
#define LINEAR_ISA plain
#define LINEAR_VECTOR 32
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)

typedef real vector16 __attribute__((vector_size(16), aligned(16)));
typedef real vector32 __attribute__((vector_size(32), aligned(16)));
#if LINEAR_VECTOR >= 64
typedef real vector64 __attribute__((vector_size(64), aligned(16)));
#endif

#define INLINE static inline __attribute__((always_inline))

/* The loops for n vectors of one type per row; n is a constant at every call, so that sums stay in registers. */
#define DEFINE_LOOPS(V)                                                                                                \
    INLINE void V##_scores(const real *W, size_t stride, const struct vec *x, real *out, int n)                       \
    {                                                                                                                  \
        V sum[4] = {{0}};                                                                                              \
        for (size_t i = 0; i < x->n; i++) {                                                                            \
            const V *w = (const V *)(W + (size_t)vec_index(x, i) * stride);                                            \
            real v = x->value[i];                                                                                      \
            for (int a = 0; a < n; a++)                                                                                \
                sum[a] += w[a] * v;                                                                                    \
        }                                                                                                              \
        for (int a = 0; a < n; a++)                                                                                    \
            ((V *)out)[a] = sum[a];                                                                                    \
    }                                                                                                                  \
    INLINE void V##_scores_widths(const real *W, const real *U, size_t stride, const struct vec *x, real *out,        \
                                  real *q, int n)                                                                      \
    {                                                                                                                  \
        V sum[4] = {{0}}, width[4] = {{0}};                                                                            \
        for (size_t i = 0; i < x->n; i++) {                                                                            \
            size_t row = (size_t)vec_index(x, i) * stride;                                                             \
            const V *w = (const V *)(W + row), *u = (const V *)(U + row);                                              \
            real v = x->value[i], v2 = v * v;                                                                          \
            for (int a = 0; a < n; a++) {                                                                              \
                sum[a] += w[a] * v;                                                                                    \
                width[a] += u[a] * v2;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        for (int a = 0; a < n; a++) {                                                                                  \
            ((V *)out)[a] = sum[a];                                                                                    \
            ((V *)q)[a] = width[a];                                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    INLINE void V##_add_all(real *W, size_t stride, const struct vec *x, const real *c, int n)                        \
    {                                                                                                                  \
        V step[4];                                                                                                     \
        for (int a = 0; a < n; a++)                                                                                    \
            step[a] = ((const V *)c)[a];                                                                               \
        for (size_t i = 0; i < x->n; i++) {                                                                            \
            V *w = (V *)(W + (size_t)vec_index(x, i) * stride);                                                        \
            for (int a = 0; a < n; a++)                                                                                \
                w[a] += step[a] * (real)x->value[i];                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    INLINE void V##_arow_all(real *W, real *U, size_t stride, const struct vec *x, const real *c, const real *b,      \
                             int n)                                                                                    \
    {                                                                                                                  \
        V step[4], shrink[4];                                                                                          \
        for (int a = 0; a < n; a++) {                                                                                  \
            step[a] = ((const V *)c)[a];                                                                               \
            shrink[a] = ((const V *)b)[a];                                                                             \
        }                                                                                                              \
        for (size_t i = 0; i < x->n; i++) {                                                                            \
            size_t row = (size_t)vec_index(x, i) * stride;                                                             \
            V *w = (V *)(W + row), *u = (V *)(U + row);                                                                \
            for (int a = 0; a < n; a++) {                                                                              \
                V ux = u[a] * (real)x->value[i];                                                                       \
                w[a] += step[a] * ux;                                                                                  \
                u[a] -= shrink[a] * (ux * ux);                                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_LOOPS(vector16)
DEFINE_LOOPS(vector32)
#if LINEAR_VECTOR >= 64
DEFINE_LOOPS(vector64)
#endif

/* Splits the lanes into pieces of at most four vectors, largest first, and hands each to CALL(type, n, offset). */
#define PIECES_OF(V, CALL)                                                                                             \
    while (lanes - k >= 4 * sizeof(V) / sizeof(real)) {                                                                \
        CALL(V, 4, k);                                                                                                 \
        k += 4 * sizeof(V) / sizeof(real);                                                                             \
    }                                                                                                                  \
    if (lanes - k >= 2 * sizeof(V) / sizeof(real)) {                                                                   \
        CALL(V, 2, k);                                                                                                 \
        k += 2 * sizeof(V) / sizeof(real);                                                                             \
    }                                                                                                                  \
    if (lanes - k >= sizeof(V) / sizeof(real)) {                                                                       \
        CALL(V, 1, k);                                                                                                 \
        k += sizeof(V) / sizeof(real);                                                                                 \
    }
#if LINEAR_VECTOR >= 64
#define PIECES(CALL)                                                                                                   \
    size_t k = 0;                                                                                                      \
    PIECES_OF(vector64, CALL)                                                                                          \
    PIECES_OF(vector32, CALL)                                                                                          \
    PIECES_OF(vector16, CALL)
#else
#define PIECES(CALL)                                                                                                   \
    size_t k = 0;                                                                                                      \
    PIECES_OF(vector32, CALL)                                                                                          \
    PIECES_OF(vector16, CALL)
#endif

static void scores(const real *W, size_t stride, size_t lanes, const struct vec *x, real *out)
{
#define CALL(V, n, k) V##_scores(W + k, stride, x, out + k, n)
    PIECES(CALL)
#undef CALL
}

static void scores_widths(const real *W, const real *V, size_t stride, size_t lanes, const struct vec *x, real *out,
                          real *q)
{
#define CALL(T, n, k) T##_scores_widths(W + k, V + k, stride, x, out + k, q + k, n)
    PIECES(CALL)
#undef CALL
}

static void add_all(real *W, size_t stride, size_t lanes, const struct vec *x, const real *c)
{
#define CALL(V, n, k) V##_add_all(W + k, stride, x, c + k, n)
    PIECES(CALL)
#undef CALL
}

static void arow_all(real *W, real *V, size_t stride, size_t lanes, const struct vec *x, const real *c, const real *b)
{
#define CALL(T, n, k) T##_arow_all(W + k, V + k, stride, x, c + k, b + k, n)
    PIECES(CALL)
#undef CALL
}

#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

extern const struct linear_ops JOIN(linear_ops, LINEAR_ISA);
const struct linear_ops JOIN(linear_ops, LINEAR_ISA) = {TEXT(LINEAR_ISA), scores, scores_widths, add_all, arow_all};

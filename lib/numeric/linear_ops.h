/* SPDX-License-Identifier: BSD-3-Clause */
/* The heavy loops over feature-major weights, one table of functions per instruction set. Every operation works lane by
 * lane (a lane is a class), so that all instruction sets give the same bits. */
#ifndef LINEAR_OPS_H
#define LINEAR_OPS_H

#include <string.h>

#include "numeric/vec.h"

struct scale;

/* What newton_all works on: three tensors and, one number per lane, the steps and the change of U's squared norm. */
struct linear_newton {
    real *U, *B, *A;
    const real *first, *second;
    real *change;
};

/* What odds works on: two tensors (B has one lane), and a ratio per lane. */
struct linear_odds {
    const real *C, *B;
    real share, prior; /* prior: p */
    const real *ratio;
};

/* The natural logarithm of a positive number to within 0.006: exponent and mantissa of the bits, and a parabola. Cheap,
 * and the same everywhere. */
static inline float log_near(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    float exponent = (float)(int)(bits >> 23) - 127;
    bits = (bits & 0x7fffff) | 0x3f800000;
    float m;
    memcpy(&m, &bits, sizeof m);
    m -= 1;
    return 0.69314718f * (exponent + m * (1.3465554f - 0.3465554f * m));
}

/* What a word says of a class, at least -1: B of it was seen in all, C in the class; see odds below. */
static inline real word_odds(real C, real B, real prior, real ratio)
{
    real before = prior * B + (real)1e-12, odd = log_near((float)((C + before) / (B - C + before) * ratio));
    return odd > -1 ? odd : -1;
}

/* What angles works on: n whole numbers, a multiple of 16, for each feature. */
struct linear_angles {
    const int16_t *D;
    size_t n;
    float steps;   /* of an x_j of 1 */
    int16_t *room; /* for x's entries */
};

/* Two tables side by side in the rows of the features, and how many classes of each are meant. */
struct linear_tables {
    real *W, *V;
    size_t stride, lanes;
};

/* The heavy loops, once per instruction set (linear_kernels.c). rows points at the tensor within the first row. */
struct linear_ops {
    const char *name;
    /* out[k] = sum_j x_j W_jk */
    void (*scores)(const real *W, size_t stride, size_t lanes, const struct vec *x, real *out);
    /* and q[k] = sum_j x_j^2 V_jk in the same pass */
    void (*scores_widths)(const struct linear_tables *t, const struct vec *x, real *out, real *q);
    /* W_jk += c[k] x_j */
    void (*add_all)(real *W, size_t stride, size_t lanes, const struct vec *x, const real *c);
    /* W_jk += c[k] V_jk x_j;  V_jk -= b[k] (V_jk x_j)^2: the step of AROW */
    void (*arow_all)(const struct linear_tables *t, const struct vec *x, const real *c, const real *b);
    /* W_jk += c[k] V_jk x_j;  1/V_jk += p[k] x_j^2: the same with V as the inverse of a sum */
    void (*sharpen_all)(const struct linear_tables *t, const struct vec *x, const real *c, const real *p);
    /* The same for one class, with the same bits */
    void (*sharpen_one)(real *w, real *v, size_t stride, const struct vec *x, real c, real p);
    /* B_jk += first[k] x_j;  A_jk += second[k] x_j^2;  U_jk = -B_jk / A_jk;  change[k] = what sum_j U_jk^2 gained */
    void (*newton_all)(const struct linear_newton *t, size_t stride, size_t lanes, const struct vec *x);
    /* out[k] = sum_j y_j max(-1, log((C_jk + p B'_j) / (B'_j - C_jk + p B'_j) ratio[k])) with y_j = share |x_j| and
     * B'_j = B_j + y_j */
    void (*odds)(const struct linear_odds *t, size_t stride, size_t lanes, const struct vec *x, real *out);
    /* out[j] = row_j.c of the first rows, n numbers of each */
    void (*dots)(const real *W, size_t stride, size_t n, size_t rows, const real *c, real *out);
    /* the same for whole numbers, n of them, a multiple of 16, in each row */
    void (*dots_whole)(const int16_t *W, size_t n, size_t rows, const real *c, real *out);
    /* out[i] = 2 pi/2^16 times the sum over j of D_ji times x_j in whole steps, modulo 2^16 */
    void (*angles)(const struct linear_angles *t, const struct vec *x, real *out);
    /* c cos x_i and c sin x_i to within 1e-6 c, for |x_i| < 2^24; n is a multiple of 16, all are aligned to 16 bytes */
    void (*waves)(const real *x, size_t n, real c, real *ret_cos, real *ret_sin);
    /* x.y; of x and x, with the bits of vec_norm2 */
    double (*dot)(const float *x, const float *y, size_t n);
    /* No value beyond HUNCH_MAX_VALUE and, unless index is NULL, indices strictly increasing */
    bool (*is_valid)(const uint32_t *index, const float *value, size_t n);
    /* What text makes of its entries: (1 + log x, of counts) log(1 + all rows/rows with it), 0 of those that are no
     * words */
    void (*words)(const struct scale *c, const hunch_vec *x, float *ret);
    /* What the columns of a row that is no text make of its entries: scale_number of each */
    void (*columns)(const struct scale *c, const hunch_vec *x, float *ret);
    /* The numbers of a row that are not 0, in order, and their places; returns how many. Both have room for SCALE_SLACK
     * more. ret_value may begin where row does, or before it. */
    size_t (*nonzeros)(const float *row, size_t n, uint32_t *ret_index, float *ret_value);
};

/* Name NULL: the best that this machine runs; or "plain", "avx2", "avx512": NULL if it can't. */
const struct linear_ops *linear_ops(const char *name);

#endif

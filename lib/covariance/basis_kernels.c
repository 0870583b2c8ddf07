/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of basis.h. This file is compiled once per instruction set, with BASIS_ISA naming it. Inner loops run
 * over columns and every sum has one fixed order, so that compilers may use vectors of any width: the bits are the
 * same.
 */
#include <math.h>
#include <string.h>

#include "covariance/basis.h"

#ifndef BASIS_ISA
#define BASIS_ISA plain
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

#define TOGETHER 4     /* rows that one walk over G takes in */
#define RANK_MIN 1e-12 /* of a column's squared length: what is left of it beside the columns before */

static bool row_is_zero(const real *y, size_t m)
{
    for (size_t a = 0; a < m; a++)
        if (y[a] != 0)
            return false;
    return true;
}

/* G_a += x_a y of up to TOGETHER rows; those that are missing are zero. */
static void gram_rows(const double x[][BASIS_MAX], const double y[][BASIS_MAX], size_t m, bool lower, double *G)
{
    for (size_t a = 0; a < m; a++) {
        double *restrict g = G + a * m, x0 = x[0][a], x1 = x[1][a], x2 = x[2][a], x3 = x[3][a];
        size_t width = lower ? a + 1 : m;
        for (size_t b = 0; b < width; b++)
            g[b] = (((g[b] + x0 * y[0][b]) + x1 * y[1][b]) + x2 * y[2][b]) + x3 * y[3][b];
    }
}

/* The last n of them. */
static void gram_rest(double x[][BASIS_MAX], double y[][BASIS_MAX], size_t n, size_t m, bool lower, double *G)
{
    if (!n)
        return;
    for (; n < TOGETHER; n++)
        for (size_t a = 0; a < m; a++)
            x[n][a] = y[n][a] = 0;
    gram_rows(x, y, m, lower, G);
}

static void gram(const real *X, const real *Y, const struct basis_rows *rows, size_t m, double *G)
{
    double x[TOGETHER][BASIS_MAX], y[TOGETHER][BASIS_MAX];
    size_t n = 0, stride = rows->stride;
    FOR_EACH_ROW(rows, j) {
        if (row_is_zero(Y + j * stride, m) || row_is_zero(X + j * stride, m))
            continue;
        for (size_t a = 0; a < m; a++) {
            x[n][a] = X[j * stride + a];
            y[n][a] = Y[j * stride + a];
        }
        if (++n == TOGETHER) {
            gram_rows(x, y, m, X == Y, G);
            n = 0;
        }
    }
    gram_rest(x, y, n, m, X == Y, G);
}

/* sum += v[0] l[0] + ... + v[TOGETHER-1] l[TOGETHER-1], in this order, for numbers `from` to m-1 of rows m apart. */
static inline void rows_add(const double *v, const double *l, size_t from, size_t m, double *restrict sum)
{
    const double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    const double *restrict l0 = l, *restrict l1 = l + m, *restrict l2 = l + 2 * m, *restrict l3 = l + 3 * m;
    for (size_t a = from; a < m; a++)
        sum[a] = (((sum[a] + v0 * l0[a]) + v1 * l1[a]) + v2 * l2[a]) + v3 * l3[a];
}

static void row_turn(const real *row, size_t m, const double *Lt, double *restrict sum)
{
    double y[BASIS_MAX];
    for (size_t a = 0; a < m; a++) {
        y[a] = row[a];
        sum[a] = 0;
    }
    size_t b = 0;
    for (; b + TOGETHER <= m; b += TOGETHER)
        rows_add(y + b, Lt + b * m, b, m, sum);
    for (; b < m; b++)
        for (size_t a = b; a < m; a++)
            sum[a] += Lt[b * m + a] * y[b];
}

static void turn(real *Y, const struct basis_rows *rows, size_t m, const double *Lt)
{
    double sum[BASIS_MAX];
    FOR_EACH_ROW(rows, j) {
        real *row = Y + j * rows->stride;
        if (row_is_zero(row, m))
            continue;
        row_turn(row, m, Lt, sum);
        for (size_t a = 0; a < m; a++)
            row[a] = (real)sum[a];
    }
}

/* The same numbers as turn, gram and a copy one after the other, with every row fetched once. */
static void renew(real *U, real *Y, const struct basis_rows *rows, size_t m, const double *Lt, double *R)
{
    double x[TOGETHER][BASIS_MAX], y[TOGETHER][BASIS_MAX];
    size_t n = 0;
    FOR_EACH_ROW(rows, j) {
        real *u = U + j * rows->stride, *row = Y + j * rows->stride;
        bool is_new = !row_is_zero(row, m), is_old = !row_is_zero(u, m);
        if (is_new)
            row_turn(row, m, Lt, y[n]);
        for (size_t a = 0; a < m; a++) {
            x[n][a] = u[a];
            y[n][a] = u[a] = is_new ? (real)y[n][a] : 0;
            row[a] = 0;
        }
        n += is_new && is_old;
        if (n == TOGETHER) {
            gram_rows(x, y, m, false, R);
            n = 0;
        }
    }
    gram_rest(x, y, n, m, false, R);
}

/* The same for two rows of factors v and w, and their sums: every l is fetched once for both. */
static inline void rows_add_two(const double *v, const double *w, const double *l, size_t m, size_t width,
                                double *restrict sum, double *restrict second)
{
    const double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3], w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const double *restrict l0 = l, *restrict l1 = l + m, *restrict l2 = l + 2 * m, *restrict l3 = l + 3 * m;
    for (size_t a = 0; a < width; a++) {
        sum[a] = (((sum[a] + v0 * l0[a]) + v1 * l1[a]) + v2 * l2[a]) + v3 * l3[a];
        second[a] = (((second[a] + w0 * l0[a]) + w1 * l1[a]) + w2 * l2[a]) + w3 * l3[a];
    }
}

/* Rows two by two; if the lower triangle is all that is wanted, as far as the second of them needs it. */
static void product(size_t m, const double *A, const double *B, bool lower, double *C)
{
    memset(C, 0, m * m * sizeof *C);
    for (size_t i = 0; i < m; i += 2) {
        const double *first = A + i * m, *second = i + 1 < m ? first + m : first;
        double spare[BASIS_MAX] = {0}, *sum = C + i * m, *other = i + 1 < m ? sum + m : spare;
        size_t width = lower && i + 2 < m ? i + 2 : m, z = 0;
        for (; z + TOGETHER <= m; z += TOGETHER)
            rows_add_two(first + z, second + z, B + z * m, m, width, sum, other);
        for (; z < m; z++)
            for (size_t j = 0; j < width; j++) {
                sum[j] += first[z] * B[z * m + j];
                other[j] += second[z] * B[z * m + j];
            }
    }
}

/* In eight chains, whatever the machine; what does not fill them goes to the first. */
#define CHAINS_SUM(s) ((((s)[0] + (s)[1]) + ((s)[2] + (s)[3])) + (((s)[4] + (s)[5]) + ((s)[6] + (s)[7])))
static double dot(const double *x, const double *y, size_t n)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t c = 0; c < 8; c++)
            sum[c] += x[i + c] * y[i + c];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return CHAINS_SUM(sum);
}

/* Likewise, but what is left goes to one chain each. */
static double chains_dot(const double *x, const real *y, size_t n)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t c = 0; c < 8; c++)
            sum[c] += x[i + c] * y[i + c];
    for (size_t c = 0; i + c < n; c++)
        sum[c] += x[i + c] * y[i + c];
    return CHAINS_SUM(sum);
}

static void project(real *U, const struct basis_rows *rows, size_t a)
{
    double inner[BASIS_MAX] = {0};
    FOR_EACH_ROW(rows, j) {
        const real *restrict u = U + j * rows->stride;
        double v = u[a];
        for (size_t i = 0; v != 0 && i < a; i++)
            inner[i] += v * u[i];
    }
    FOR_EACH_ROW(rows, j) {
        real *u = U + j * rows->stride;
        u[a] = (real)(u[a] - chains_dot(inner, u, a));
    }
}

static void fold(real *W, const real *U, const struct basis_rows *rows, const struct basis_square *A)
{
    FOR_EACH_ROW(rows, j) {
        real *restrict w = W + j * rows->stride;
        for (size_t i = 0; i < A->rows; i++) {
            const real *restrict a = A->numbers + i * A->lanes, u = U[j * rows->stride + i];
            for (size_t k = 0; u != 0 && k < A->lanes; k++)
                w[k] += u * a[k];
        }
    }
}

static double invert(double *G, size_t m, double *inverse)
{
    double min = 1;
    memset(inverse, 0, m * m * sizeof *inverse);
    for (size_t a = 0; a < m; a++) {
        double *row = G + a * m, whole = row[a];
        for (size_t c = 0; c <= a; c++) {
            const double *other = G + c * m;
            row[c] -= dot(row, other, c);
            if (c < a)
                row[c] = other[c] > 0 ? row[c] / other[c] : 0;
        }
        if (!(row[a] > RANK_MIN * whole && row[a] > 0)) {
            memset(row, 0, (a + 1) * sizeof *row);
            min = 0;
            continue;
        }
        min = fmin(min, row[a] / whole);
        row[a] = sqrt(row[a]);
        for (size_t c = 0; c <= a; c++) {
            double sum = (c == a) - dot(row + c, inverse + c * m + c, a - c);
            inverse[c * m + a] = sum / row[a];
        }
    }
    return min;
}

static void gains(const struct basis_step *p, const float *g, const float *z, size_t n, real *ret)
{
    const double c = p->c, sigma = p->sigma;
    for (size_t i = 0; i < n; i++)
        ret[i] = (real)(c * (g[i] - sigma * z[i]));
}

static void shrink(double root, float *restrict g, size_t n, real *restrict ret)
{
    for (size_t i = 0; i < n; i++) {
        g[i] = (float)(root * g[i]);
        ret[i] = -(real)g[i];
    }
}

static void decay(real *restrict inout, size_t n, real keep)
{
    for (size_t i = 0; i < n; i++)
        inout[i] *= keep;
}

extern const struct basis_ops JOIN(basis_ops, BASIS_ISA);
const struct basis_ops JOIN(basis_ops, BASIS_ISA) = {
    .name = TEXT(BASIS_ISA),
    .gains = gains,
    .shrink = shrink,
    .decay = decay,
    .gram = gram,
    .invert = invert,
    .turn = turn,
    .renew = renew,
    .product = product,
    .project = project,
    .fold = fold,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of basis.h. This file is compiled once per instruction set, with BASIS_ISA naming it. Inner loops run
 * over columns and every sum has one fixed order, so that compilers may use vectors of any width: the bits are the
 * same.
 */
#include <string.h>

#include "basis.h"

#ifndef BASIS_ISA
#define BASIS_ISA plain
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

#define TOGETHER 4 /* rows that one walk over G takes in */

static bool row_is_zero(const real *y, size_t m)
{
    for (size_t a = 0; a < m; a++)
        if (y[a] != 0)
            return false;
    return true;
}

/* G_a += x_a y of up to TOGETHER rows; those that are missing are zero. */
static void gram_rows(const double x[][BASIS_MOST], const double y[][BASIS_MOST], size_t m, bool lower, double *G)
{
    for (size_t a = 0; a < m; a++) {
        double *restrict g = G + a * m, x0 = x[0][a], x1 = x[1][a], x2 = x[2][a], x3 = x[3][a];
        size_t width = lower ? a + 1 : m;
        for (size_t b = 0; b < width; b++)
            g[b] = (((g[b] + x0 * y[0][b]) + x1 * y[1][b]) + x2 * y[2][b]) + x3 * y[3][b];
    }
}

static void gram(const real *X, const real *Y, size_t stride, size_t rows, size_t m, double *G)
{
    double x[TOGETHER][BASIS_MOST], y[TOGETHER][BASIS_MOST];
    size_t n = 0;
    for (size_t j = 0; j <= rows; j++) {
        if (j == rows) {
            if (!n)
                break;
            for (; n < TOGETHER; n++)
                for (size_t a = 0; a < m; a++)
                    x[n][a] = y[n][a] = 0;
        } else if (row_is_zero(Y + j * stride, m) || row_is_zero(X + j * stride, m)) {
            continue;
        } else {
            for (size_t a = 0; a < m; a++) {
                x[n][a] = X[j * stride + a];
                y[n][a] = Y[j * stride + a];
            }
            n++;
        }
        if (n == TOGETHER) {
            gram_rows(x, y, m, X == Y, G);
            n = 0;
        }
    }
}

static void turn(real *Y, size_t stride, size_t rows, size_t m, const double *Lt)
{
    double sum[BASIS_MOST];
    for (size_t j = 0; j < rows; j++) {
        real *y = Y + j * stride;
        if (row_is_zero(y, m))
            continue;
        for (size_t a = 0; a < m; a++)
            sum[a] = 0;
        for (size_t b = 0; b < m; b++) {
            double v = y[b];
            const double *restrict l = Lt + b * m;
            for (size_t a = b; a < m; a++)
                sum[a] += l[a] * v;
        }
        for (size_t a = 0; a < m; a++)
            y[a] = (real)sum[a];
    }
}

static void product(size_t m, const double *A, const double *B, double *C)
{
    memset(C, 0, m * m * sizeof *C);
    for (size_t i = 0; i < m; i++)
        for (size_t z = 0; z < m; z++) {
            double v = A[i * m + z], *restrict c = C + i * m;
            const double *restrict b = B + z * m;
            for (size_t j = 0; j < m; j++)
                c[j] += v * b[j];
        }
}

extern const struct basis_ops JOIN(basis_ops, BASIS_ISA);
const struct basis_ops JOIN(basis_ops,
                            BASIS_ISA) = {.name = TEXT(BASIS_ISA), .gram = gram, .turn = turn, .product = product};

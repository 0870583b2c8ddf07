/* SPDX-License-Identifier: BSD-3-Clause */
#include "numeric/cholesky.h"

#include <math.h>

void cholesky_factor(double *a, size_t n, size_t stride, size_t from, double min)
{
    for (size_t i = from; i < n; i++) {
        double *row = a + i * stride;
        for (size_t j = 0; j <= i; j++) {
            const double *other = a + j * stride;
            for (size_t z = 0; z < j; z++)
                row[j] -= row[z] * other[z];
            row[j] = j == i ? sqrt(fmax(row[j], min)) : row[j] / other[j];
        }
    }
}

void cholesky_forward(const double *l, size_t n, size_t stride, double *y)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            y[i] -= l[i * stride + j] * y[j];
        y[i] /= l[i * stride + i];
    }
}

/* L becomes L^-1 row by row: row i of the inverse is e_i/L_ii minus the rows above, each times L_ij/L_ii. */
static void lower_invert(double *l, size_t n, double *row)
{
    for (size_t i = 0; i < n; i++) {
        double *own = l + i * n, pivot = own[i];
        for (size_t j = 0; j < i; j++) {
            row[j] = own[j];
            own[j] = 0;
        }
        for (size_t z = 0; z < i; z++)
            for (size_t j = 0; j <= z; j++)
                own[j] -= row[z] * l[z * n + j];
        for (size_t j = 0; j < i; j++)
            own[j] /= pivot;
        own[i] = 1 / pivot;
    }
}

void cholesky_invert(double *a, size_t n, double *scratch)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, a[i * n + i]);
    cholesky_factor(a, n, n, 0, largest * 1e-14);
    lower_invert(a, n, scratch);
    for (size_t i = 0; i < n; i++) /* row i of L^-1' L^-1 needs rows from i on only, so it may take row i's place */
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t z = i; z < n; z++)
                sum += a[z * n + i] * a[z * n + j];
            scratch[j] = sum;
            if (j == i)
                for (size_t h = 0; h <= i; h++)
                    a[i * n + h] = scratch[h];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            a[i * n + j] = a[j * n + i];
}

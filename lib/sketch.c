/* SPDX-License-Identifier: BSD-3-Clause */
#include "sketch.h"

#include <math.h>
#include <string.h>

#include "linear.h"

#define ROWS_MOST (2 * SKETCH_MOST)

/* One class's part of a sketch. */
struct view {
    const struct state *s;
    size_t rows; /* 2m */
    size_t used;
    real *p, *U; /* of feature 0; the next feature's are stride further on */
    double *L;   /* rows x rows, lower triangle */
};

void sketch_shape(int which, size_t m, struct tensor *inout)
{
    if (which == SKETCH_U)
        inout->lanes = 2 * m;
    else if (which == SKETCH_FACTOR)
        inout->lanes = 4 * m * m;
}

static struct view view_of(const struct state *s, int first, uint32_t k)
{
    const struct tensor_place *U = &s->tensor[first + SKETCH_U];
    double used = model_numbers(s, first + SKETCH_USED)[k];
    return (struct view){
        .s = s,
        .rows = U->lanes,
        .used = used >= 1 && used < (double)U->lanes ? (size_t)used : 0, /* a model file may claim anything */
        .p = linear_row(s, first + SKETCH_DIAGONAL, 0) + k,
        .U = linear_row(s, first + SKETCH_U, 0) + k * U->padded,
        .L = model_numbers(s, first + SKETCH_FACTOR) + k * s->tensor[first + SKETCH_FACTOR].lanes,
    };
}

/* y = L^-1 U (x/p); returns x'Sx. */
static double sketch_solve(const struct view *v, const struct vec *x, double *y)
{
    double sum = 0;
    memset(y, 0, v->used * sizeof *y);
    for (size_t i = 0; i < x->n; i++) {
        size_t row = (size_t)vec_index(x, i) * v->s->stride;
        double xp = x->value[i] / (double)v->p[row];
        sum += xp * x->value[i];
        for (size_t e = 0; e < v->used; e++)
            y[e] += v->U[row + e] * xp;
    }
    for (size_t e = 0; e < v->used; e++) {
        for (size_t h = 0; h < e; h++)
            y[e] -= v->L[e * v->rows + h] * y[h];
        y[e] /= v->L[e * v->rows + e];
        sum -= y[e] * y[e];
    }
    return fmax(sum, 0);
}

void sketch_quads(const struct state *s, int first, const struct vec *x, real *q)
{
    double y[ROWS_MOST] = {0};
    for (uint32_t k = 0; k < s->K; k++) {
        struct view v = view_of(s, first, k);
        q[k] = (real)sketch_solve(&v, x, y);
    }
}

double sketch_diagonal(const struct state *s, int first, uint32_t j, uint32_t k)
{
    struct view v = view_of(s, first, k);
    double sum = v.p[(size_t)j * s->stride];
    for (size_t e = 0; e < v.used; e++)
        sum += (double)v.U[(size_t)j * s->stride + e] * v.U[(size_t)j * s->stride + e];
    return sum;
}

/* Rows from e on of the Cholesky factor of I + U diag(1/p) U'. */
static void factor_from(struct view *v, size_t e)
{
    for (; e < v->used; e++) {
        double *row = v->L + e * v->rows;
        for (size_t h = 0; h <= e; h++)
            row[h] = e == h;
        for (size_t j = 0; j < v->s->features; j++) {
            const real *u = v->U + j * v->s->stride;
            double up = u[e] != 0 ? u[e] / (double)v->p[j * v->s->stride] : 0;
            for (size_t h = 0; up != 0 && h <= e; h++)
                row[h] += up * u[h];
        }
        for (size_t h = 0; h <= e; h++) {
            const double *other = v->L + h * v->rows;
            for (size_t z = 0; z < h; z++)
                row[h] -= row[z] * other[z];
            row[h] = h == e ? sqrt(fmax(row[h], 1e-9)) : row[h] / other[h];
        }
    }
}

/* --- shrinking: eigenvectors of a small symmetric matrix by Jacobi's rotations --- */

static void rotate(double *A, double *Q, size_t n, size_t p, size_t q)
{
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), sine = t * c;
    for (size_t z = 0; z < n; z++) {
        double a = A[z * n + p], b = A[z * n + q];
        A[z * n + p] = c * a - sine * b;
        A[z * n + q] = sine * a + c * b;
    }
    for (size_t z = 0; z < n; z++) {
        double a = A[p * n + z], b = A[q * n + z];
        A[p * n + z] = c * a - sine * b;
        A[q * n + z] = sine * a + c * b;
        a = Q[z * n + p];
        b = Q[z * n + q];
        Q[z * n + p] = c * a - sine * b;
        Q[z * n + q] = sine * a + c * b;
    }
}

/* A becomes diagonal (its eigenvalues), Q's columns the eigenvectors. */
static void diagonalise(double *A, double *Q, size_t n)
{
    for (size_t i = 0; i < n * n; i++)
        Q[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, trace = 0;
        for (size_t p = 0; p < n; p++) {
            trace += A[p * n + p];
            for (size_t q = 0; q < p; q++)
                off += A[p * n + q] * A[p * n + q];
        }
        if (off <= 1e-16 * trace * trace)
            return;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(A[p * n + q]) > 1e-300)
                    rotate(A, Q, n, p, q);
    }
}

/* The columns of Q by decreasing eigenvalue. */
static void order_columns(const double *A, size_t n, size_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && A[ret[at - 1] * (n + 1)] < A[i * (n + 1)]; at--)
            ret[at] = ret[at - 1];
        ret[at] = i;
    }
}

/* One feature's column of U in the new directions; what is dropped goes into the diagonal. */
static void column_turn(struct view *v, size_t j, const double *Q, const size_t *order)
{
    real *u = v->U + j * v->s->stride, old[ROWS_MOST];
    size_t n = v->rows, keep = n / 2;
    double rest = 0;
    memcpy(old, u, n * sizeof *u);
    for (size_t e = 0; e < n; e++) {
        double sum = 0;
        for (size_t h = 0; h < n; h++)
            sum += Q[h * n + order[e]] * old[h];
        u[e] = e < keep ? (real)sum : 0;
        rest += e < keep ? 0 : sum * sum;
    }
    v->p[j * v->s->stride] += (real)rest;
}

static void sketch_shrink(struct view *v)
{
    double A[ROWS_MOST * ROWS_MOST], Q[ROWS_MOST * ROWS_MOST];
    size_t order[ROWS_MOST], n = v->rows;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q <= p; q++) {
            double sum = -(double)(p == q);
            for (size_t z = 0; z <= q; z++)
                sum += v->L[p * n + z] * v->L[q * n + z];
            A[p * n + q] = A[q * n + p] = sum;
        }
    diagonalise(A, Q, n);
    order_columns(A, n, order);
    for (size_t j = 0; j < v->s->features; j++) {
        const real *u = v->U + j * v->s->stride;
        bool any = false;
        for (size_t e = 0; e < n; e++)
            any |= u[e] != 0;
        if (any)
            column_turn(v, j, Q, order);
    }
    v->used = n / 2;
    factor_from(v, 0);
}

/* --- steps --- */

/* w += c S x = c (x - U'z)/p with z = L'^-1 y */
static void weights_step(const struct view *v, int W, uint32_t k, const struct vec *x, double c, double *y)
{
    real *w = linear_row(v->s, W, 0) + k;
    for (size_t e = v->used; e-- > 0;) {
        for (size_t h = e + 1; h < v->used; h++)
            y[e] -= v->L[h * v->rows + e] * y[h];
        y[e] /= v->L[e * v->rows + e];
    }
    for (size_t i = 0; i < x->n; i++) {
        size_t row = (size_t)vec_index(x, i) * v->s->stride;
        w[row] += (real)(c * x->value[i] / v->p[row]);
    }
    for (size_t j = 0; v->used && j < v->s->features; j++) {
        const real *u = v->U + j * v->s->stride;
        double sum = 0;
        for (size_t e = 0; e < v->used; e++)
            sum += u[e] * y[e];
        if (sum != 0)
            w[j * v->s->stride] -= (real)(c * sum / v->p[j * v->s->stride]);
    }
}

void sketch_step(struct state *s, int first, int W, const struct vec *x, uint32_t k, double c, double rho)
{
    struct view v = view_of(s, first, k);
    double y[ROWS_MOST] = {0}, root = sqrt(rho);
    sketch_solve(&v, x, y);
    weights_step(&v, W, k, x, c, y);
    for (size_t i = 0; i < x->n; i++)
        v.U[(size_t)vec_index(x, i) * s->stride + v.used] = (real)(root * x->value[i]);
    v.used++;
    factor_from(&v, v.used - 1);
    if (v.used == v.rows)
        sketch_shrink(&v);
    model_numbers(s, first + SKETCH_USED)[k] = (double)v.used;
}

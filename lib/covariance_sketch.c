/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covariances between the diagonal and the full matrix: per class, S^-1 = diag(p) + U'U, where U has at most 2m rows.
 * A step S^-1 += rho x x' appends sqrt(rho) x to U; when U is full its m leading directions (in the metric of 1/p) are
 * kept and the squares of the others are folded into p. So S^-1 is positive definite always, and its diagonal exact.
 * L is the Cholesky factor of I + U diag(1/p) U': with y = L^-1 U (x/p) and z = L'^-1 y,
 *   x'Sx = sum x^2/p - |y|^2,  S x = (x - U'z)/p.
 * (The idea is that of sketched online Newton: Luo, Agarwal, Cesa-Bianchi, Langford 2016.)
 * U is kept per feature as classes x 2m numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cholesky.h"
#include "covariance.h"
#include "linear.h"
#include "state.h"

#define ROWS_MOST (2 * COVARIANCE_SKETCH_MOST)

/* One class's part of a sketch. */
struct view {
    const struct state *s;
    size_t rows; /* 2m */
    size_t used;
    real *p, *U; /* of feature 0; the next feature's are stride further on */
    double *L;   /* rows x rows, lower triangle */
};

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    size_t m = covariance_rank(s);
    if (tensor == COVARIANCE_SKETCH_P)
        inout->initial = covariance_precision(s);
    else if (tensor == COVARIANCE_SKETCH_U)
        inout->lanes = 2 * m;
    else if (tensor == COVARIANCE_SKETCH_L)
        inout->lanes = 4 * m * m;
    return tensor == COVARIANCE_W || (tensor >= COVARIANCE_SKETCH_P && tensor <= COVARIANCE_SKETCH_USED);
}

static struct view view_of(const struct state *s, uint32_t k)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SKETCH_U];
    double used = model_numbers(s, COVARIANCE_SKETCH_USED)[k];
    return (struct view){
        .s = s,
        .rows = U->lanes,
        .used = used >= 1 && used < (double)U->lanes ? (size_t)used : 0, /* a model file may claim anything */
        .p = linear_row(s, COVARIANCE_SKETCH_P, 0) + k,
        .U = linear_row(s, COVARIANCE_SKETCH_U, 0) + k * U->padded,
        .L = model_numbers(s, COVARIANCE_SKETCH_L) + k * s->tensor[COVARIANCE_SKETCH_L].lanes,
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
    cholesky_forward(v->L, v->used, v->rows, y);
    for (size_t e = 0; e < v->used; e++)
        sum -= y[e] * y[e];
    return fmax(sum, 0);
}

static double diagonal(const struct state *s, uint32_t j, uint32_t k)
{
    struct view v = view_of(s, k);
    double sum = v.p[(size_t)j * s->stride];
    for (size_t e = 0; e < v.used; e++)
        sum += (double)v.U[(size_t)j * s->stride + e] * v.U[(size_t)j * s->stride + e];
    return 1 / sum;
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
        cholesky_factor(v->L, e + 1, v->rows, e, 1e-9);
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

/* --- reading --- */

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, COVARIANCE_W, x, ret);
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    double y[ROWS_MOST] = {0};
    scores(s, x, ret);
    for (uint32_t k = 0; k < s->K; k++) {
        struct view v = view_of(s, k);
        ret_variances[k] = (real)sketch_solve(&v, x, y);
    }
}

static void read(struct state *s, const struct vec *x, double scale)
{
    peek(s, x, s->scores, s->variances);
    covariance_rescale(s, scale);
}

/* --- steps --- */

static void load(struct state *s)
{
    (void)s;
}

/* w += c S x = c (x - U'z)/p with z = L'^-1 y */
static void weights_step(const struct view *v, uint32_t k, const struct vec *x, double c, double *y)
{
    real *w = linear_row(v->s, COVARIANCE_W, 0) + k;
    cholesky_backward(v->L, v->used, v->rows, y);
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

/* A row has been put into place `used` of U. */
static void row_take(struct state *s, struct view *v, uint32_t k)
{
    v->used++;
    factor_from(v, v->used - 1);
    if (v->used == v->rows)
        sketch_shrink(v);
    model_numbers(s, COVARIANCE_SKETCH_USED)[k] = (double)v->used;
}

static void step(struct state *s, uint32_t k, double c, double b)
{
    struct view v = view_of(s, k);
    const struct vec *x = s->covariance.x;
    double y[ROWS_MOST] = {0}, scale = s->covariance.scale;
    double root = sqrt(b / fmax(1 - b * s->variances[k], 1e-3) * scale * scale);
    sketch_solve(&v, x, y);
    weights_step(&v, k, x, c * scale, y);
    for (size_t i = 0; i < x->n; i++)
        v.U[(size_t)vec_index(x, i) * s->stride + v.used] = (real)(root * x->value[i]);
    row_take(s, &v, k);
}

/* --- forms and merges --- */

static void begin(struct state *s, const struct state *before, const struct covariance_form *from)
{
    for (uint32_t j = 0; j < s->features; j++)
        for (uint32_t k = 0; k < s->K; k++)
            linear_row(s, COVARIANCE_SKETCH_P, j)[k] = (real)(1 / from->diagonal(before, j, k));
}

/* b += S^-1 w */
static void information_add(const struct view *v, uint32_t k, double *b)
{
    const real *w = linear_row(v->s, COVARIANCE_W, 0) + k;
    double y[ROWS_MOST] = {0};
    for (size_t j = 0; j < v->s->features; j++)
        for (size_t e = 0; e < v->used; e++)
            y[e] += (double)v->U[j * v->s->stride + e] * w[j * v->s->stride];
    for (size_t j = 0; j < v->s->features; j++) {
        b[j] += (double)v->p[j * v->s->stride] * w[j * v->s->stride];
        for (size_t e = 0; e < v->used; e++)
            b[j] += v->U[j * v->s->stride + e] * y[e];
    }
}

/* w = S b */
static void weights_solve(const struct view *v, uint32_t k, const double *b)
{
    real *w = linear_row(v->s, COVARIANCE_W, 0) + k;
    double y[ROWS_MOST] = {0};
    for (size_t j = 0; j < v->s->features; j++)
        for (size_t e = 0; e < v->used; e++)
            y[e] += v->U[j * v->s->stride + e] * (b[j] / v->p[j * v->s->stride]);
    cholesky_forward(v->L, v->used, v->rows, y);
    cholesky_backward(v->L, v->used, v->rows, y);
    for (size_t j = 0; j < v->s->features; j++) {
        double sum = b[j];
        for (size_t e = 0; e < v->used; e++)
            sum -= v->U[j * v->s->stride + e] * y[e];
        w[j * v->s->stride] = (real)(sum / v->p[j * v->s->stride]);
    }
}

static void class_merge(struct state *s, const struct state *other, uint32_t k, double *b)
{
    struct view v = view_of(s, k), more = view_of(other, k);
    double least = covariance_precision(s);
    memset(b, 0, s->features * sizeof *b);
    information_add(&v, k, b);
    information_add(&more, k, b);
    for (size_t j = 0; j < other->features; j++) {
        real *p = v.p + j * s->stride;
        *p = (real)fmax(*p + (more.p[j * other->stride] - least), least);
    }
    factor_from(&v, 0);
    for (size_t e = 0; e < more.used; e++) {
        for (size_t j = 0; j < other->features; j++)
            v.U[j * s->stride + v.used] = more.U[j * other->stride + e];
        row_take(s, &v, k);
    }
    weights_solve(&v, k, b);
}

static hunch_status merge(struct state *s, const struct state *other)
{
    double *b = malloc(size_mul(s->features + (size_t)1, sizeof *b));
    if (!b)
        return HUNCH_ENOMEM;
    for (uint32_t k = 0; k < s->K; k++)
        class_merge(s, other, k, b);
    free(b);
    return HUNCH_OK;
}

const struct covariance_form covariance_sketch = {
    .name = "sketch",
    .shape = shape,
    .scores = scores,
    .peek = peek,
    .read = read,
    .load = load,
    .step = step,
    .diagonal = diagonal,
    .begin = begin,
    .merge = merge,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Full matrices of a state: what stands between matrix.h and the algorithms. A MATRIX tensor V may have a twin for the
 * low-order parts of its numbers (see "Drift" in matrix.h), declared with full_shape_low.
 */
#ifndef FULL_H
#define FULL_H

#include "algo.h"
#include "matrix.h"

/* Scratch for products; empty in states without a MATRIX tensor. */
struct full {
    const struct matrix_ops *ops;
    struct matrix_vec x;
    void *memory;    /* of x */
    real *g, *h;     /* products, padded with zeros */
    double *sums;    /* for mul_exact */
    uint32_t *index; /* of an outer product that is being loaded */
    float *value;
};

/* For algo.shape: the low-order twin is there only where it is needed. */
void full_shape_low(struct tensor *inout);

/* For state.c: scratch for matrices of n rows. */
hunch_status full_allocate(struct full *ret, size_t n);
void full_free(struct full *f);

/* Load x for the calls below. */
void full_load(struct state *s, const struct vec *x);
/* Load h (x) x instead, a vector over features times classes: entry j K + k is h_k x_j. For matrices with lanes = K. */
void full_load_outer(struct state *s, const struct vec *x, const double *h);
/* q[k] = x'V_k x for all classes */
void full_quads(struct state *s, int V, real *q);
/* g = V_k x; returns x'V_k x */
double full_mul(struct state *s, int V, int low, uint32_t k, real *g);
/* V_k += c g g' */
void full_update(struct state *s, int V, int low, uint32_t k, double c, const real *g);
/* Column k of a features x classes tensor: w += c g */
void full_add(struct state *s, int W, uint32_t k, double c, const real *g);
/* The whole features x classes tensor: W += c g for g over features times classes; returns the change of its squared
 * norm */
double full_add_outer(struct state *s, int W, double c, const real *g);
/* x'V_k x without scratch: for const calls, slower */
double full_quad(const struct state *s, int V, uint32_t k, const struct vec *x);

#endif

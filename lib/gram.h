/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dual form of a second-order learner: examples kept in order of arrival, with B = (a I + H)^-1, H the inner
 * products of what they stand for. An entry stands for z = scale (e_plus - e_minus) (x) phi(x), where phi is the
 * kernel's map and minus may be GRAM_NONE, and has a target b; weights are c = B b, and the score of class k is
 * <sum_s c_s z_s, e_k (x) phi(x)>.
 *
 * When the budget is used up, the oldest entry goes. Both steps change B by rank-one terms, so a round costs the square
 * of the number kept.
 */
#ifndef GRAM_H
#define GRAM_H

#include "bytes.h"
#include "kernel.h"

#define GRAM_NONE UINT32_MAX

/* Settings of kernel forms, in this order, wherever they stand in an algorithm's table. */
enum { GRAM_KERNEL, GRAM_DEGREE, GRAM_BANDWIDTH, GRAM_NU, GRAM_BUDGET, GRAM_SETTINGS };
extern const char *const gram_kernel_choices[];
#define GRAM_SETTING_TABLE(budget)                                                                                     \
    SETTING_CHOICE("kernel", "rbf", gram_kernel_choices, "matrix=kernel: which one"),                                  \
        SETTING_REAL("degree", "2", 1, 10, "of the poly kernel (1 + <x,z>)^degree"),                                   \
        SETTING_REAL("bandwidth", "1", 1e-9, 1e9, "of the rbf kernel: exp(-bandwidth times the squared distance)"),    \
        SETTING_REAL("nu", "0.5", 0, 0.999, "of the rational kernel 1/(1 - nu <x,z>), on the unit ball"),              \
        SETTING_INTEGER("budget", budget, 1, 100000, "matrix=kernel: examples kept; then the oldest goes")

struct kept {
    uint32_t *index;
    float *value;
    size_t n, room;
    double norm2, scale, target, weight;
    uint32_t plus, minus;
};

struct gram {
    struct kept *kept; /* oldest first */
    double *inverse;   /* B, rows of `room` numbers */
    size_t n, room, budget;
    double a;
};

/* Several grams (one per class, or one in all) with what they share. */
struct grams {
    struct kernel kernel;
    struct gram *of;
    size_t count;
    struct kept spare; /* where the next example is put before it is known whose it is */
    double *column, *product;
    size_t column_room;
};

hunch_status grams_attach(struct state *s, int first_setting, size_t count, double a, hunch_error *reterr);
void grams_detach(struct state *s);
/* More classes, for one gram per class. */
hunch_status grams_grow(struct grams *g, size_t count);
/* Room for one more x in any of them. */
hunch_status grams_reserve(struct grams *g, const struct vec *x);

/* <z_s, z> for all entries s of gram i, into g->column; returns <z, z>. */
double grams_column(struct grams *g, size_t i, const struct vec *x, uint32_t plus, uint32_t minus, double scale);
/* z'A^-1 z for the column just made and its <z,z>: (<z,z> - h'B h) / a. */
double grams_quad(struct grams *g, size_t i, double self);
/* Keep z, made known by grams_column just before. */
void grams_append(struct grams *g, size_t i, const struct vec *x, uint32_t plus, uint32_t minus, double scale,
                  double target, double self);
/* ret[k] += score of class k from gram i. */
void grams_scores(const struct grams *g, size_t i, const struct vec *x, real *ret);

size_t grams_size(const struct state *s);
void grams_write(const struct state *s, void *bytes);
hunch_status grams_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dual form of a second-order learner (covariance_kernel): examples kept in order of arrival, with B = (a I +
 * H)^-1, H the inner products of what they stand for. An entry stands for z = scale (e_plus - e_minus) (x) phi(x),
 * where phi is the kernel's map and minus may be GRAM_NONE, and has a target b; weights are c = B b, and the score of
 * class k is <sum_s c_s z_s, e_k (x) phi(x)>.
 *
 * When the budget is used up, the oldest entry goes. Both steps change B by rank-one terms, so a round costs the square
 * of the number kept. Steps that add to A w and leave A alone are kept beside them, as many again.
 */
#ifndef GRAM_H
#define GRAM_H

#include "covariance/covariance.h"
#include "covariance/kernel.h"

/* Settings of kernel forms, in this order, wherever they stand in an algorithm's table. */
enum { GRAM_KERNEL, GRAM_DEGREE, GRAM_BANDWIDTH, GRAM_NU, GRAM_BUDGET, GRAM_SETTINGS };
extern const char *const gram_kernel_choices[];
#define GRAM_SETTING_TABLE(budget)                                                                                     \
    SETTING_CHOICE("kernel", "rbf", gram_kernel_choices, "matrix=kernel: which one"),                                  \
        SETTING_REAL("degree", "2", 1, 10, "of the poly kernel (1 + <x,z>)^degree"),                                   \
        SETTING_REAL("bandwidth", "1", 1e-9, 1e9, "of the rbf kernel: exp(-bandwidth times the squared distance)"),    \
        SETTING_REAL("nu", "0.5", 0, 0.999, "of the rational kernel 1/(1 - nu <x,z>), on the unit ball"),              \
        SETTING_INTEGER("budget", budget, 1, 100000, "matrix=kernel: examples kept; then the oldest goes")

/* --- for covariance_kernel.c --- */

#define GRAM_NONE UINT32_MAX /* no second class */

/* What an entry of a store is besides: z = scale (e_owner - e_minus) (x) phi(x), and its target. */
struct part {
    uint32_t minus;
    double scale, target;
};

struct gram {
    struct store kept; /* oldest first; entries have the class `plus` as owner and c_s as weight */
    struct part *part; /* of each entry */
    double *inverse;   /* B, rows of `room` numbers */
    /* A w = sum_s target_s z_s + sum_p beta_p phi(x_p): what steps added to it without a part in A (of grams that have
     * one class), beta_p as weight. Targets are kept less <z_s, sum_p beta_p phi(x_p)>/a, so that c = B target still.
     */
    struct store moved;
    size_t room, budget;
    double a;
};

/* Several grams (one per class, or one in all) with what they share. */
struct grams {
    struct kernel kernel;
    struct gram *of;
    size_t count;
    double *column, *product;
    size_t column_room;
    double self; /* <z, z> of the joint step under way */
};

/* What an entry stands for: z = scale (e_plus - e_minus) (x) phi(x). */
struct image {
    const struct vec *x;
    uint32_t plus, minus;
    double scale;
};

/* Within what reals can be summed up in. */
real gram_real(double v);
/* <sum_p beta_p phi(x_p), phi(x)> / a: what was moved without a part in A, as x sees it. */
double gram_moved_score(const struct grams *g, const struct gram *m, const struct vec *x);
/* An image of squared length `self` is cut to what B can bear; whether that was needed. */
bool gram_limit(struct image *z, double self, double a);
/* <z_s, z> for all entries s of a gram, into g->column; returns <z, z>. */
double gram_column(struct grams *g, const struct gram *m, const struct image *z);
/* z'A^-1 z for the column just made and its <z,z>: (<z,z> - h'B h) / a. */
double gram_quad(struct grams *g, const struct gram *m, double self);
/* ret[k] += score of class k from a gram. */
void gram_scores(const struct grams *g, const struct gram *m, const struct vec *x, real *ret);
/* x'A^-1 x where no scratch may be touched: h in blocks, those of the columns computed again for each of the rows'. */
double gram_quad_peek(const struct grams *g, const struct gram *m, const struct vec *x);
/* Keep z, made known by gram_column just before. */
void gram_append(struct grams *g, struct gram *m, const struct image *z, double target, double self);
/* What a projection may move by: beta where x'A^-1 x of the column just made is more than rounding leaves of <x,x>;
 * else 0: beta came from a division by it. */
double gram_shift(struct grams *g, const struct gram *m, double self, double beta);
/* A w += beta phi(x) for class k; x is kept, and the oldest such goes when the budget is used up. */
void gram_move(const struct grams *g, struct gram *m, const struct vec *x, uint32_t k, double beta);

/* Their memory, bytes and merge. */
extern const struct extra gram_extra;

#endif

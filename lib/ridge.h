/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ridge regression per class on the reward of the label shown (1 if right, else 0): what LinUCB, Thompson
 * sampling and SquareCB all learn. Per class A = lambda I + sum x x' and w = A^-1 (sum reward x), kept by
 *   w += A^-1 x (reward - w.x)/(1 + x'A^-1 x),   A += x x'.
 * matrix=diag keeps the diagonal of A only and takes the same step with it.
 */
#ifndef RIDGE_H
#define RIDGE_H

#include "algo.h"

/* The first tensors of an algorithm that learns this way; V is the diagonal of A^-1, full_V all of it. */
enum { RIDGE_W, RIDGE_V, RIDGE_FULL_V, RIDGE_FULL_LOW, RIDGE_TENSORS };

#define RIDGE_TENSOR_TABLE                                                                                             \
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN}, {"V", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},                      \
        {"full_V", MATRIX, CLASSES, 1, 1, MERGE_MEAN},                                                                 \
    {                                                                                                                  \
        "full_V_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN                                                                \
    }

extern const char *const ridge_matrix_choices[];

#define RIDGE_SETTING_LAMBDA                                                                                           \
    SETTING_REAL("lambda", "1", 1e-9, 1e9, "regularisation: what the diagonal of A starts from")
#define RIDGE_SETTING_MATRIX SETTING_CHOICE("matrix", "diag", ridge_matrix_choices, "how much of A is kept")

/* full: what matrix=... was set to. */
void ridge_shape(int tensor, double lambda, bool full, struct tensor *inout);
void ridge_scores(const struct state *s, const struct vec *x, real *ret);
/* Scores w_k.x to s->scores and x'A_k^-1 x to s->widths. */
void ridge_examine(struct state *s, const struct vec *x);
/* Class o saw this reward; examines first unless predict just did. */
void ridge_learn(struct state *s, const struct vec *x, uint32_t o, double reward);

#endif

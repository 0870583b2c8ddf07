/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ridge regression per class on the reward of the label shown (1 if right, else 0): what LinUCB, Thompson
 * sampling and SquareCB all learn. Per class A = lambda I + sum x x' and w = A^-1 (sum reward x), kept by
 *   w += A^-1 x (reward - w.x)/(1 + x'A^-1 x),   A += x x'.
 * matrix=diag keeps the diagonal of A only and takes the same step with it.
 */
#ifndef RIDGE_H
#define RIDGE_H

#include "covariance.h"

/* Settings of an algorithm that learns this way, and how it begins its tensors. */
#define RIDGE_TENSOR_TABLE COVARIANCE_TABLE("W", "b", "V", "full_V")

extern const char *const ridge_matrix_choices[];

#define RIDGE_SETTING_LAMBDA                                                                                           \
    SETTING_REAL("lambda", "1", 1e-9, 1e9, "regularisation: what the diagonal of A starts from")
#define RIDGE_SETTING_MATRIX                                                                                           \
    SETTING_CHOICE("matrix", "diag", ridge_matrix_choices, "how much of A is kept"), COVARIANCE_SETTING_RANK
/* matrix: the setting, which rank follows; precision_of: a function that tells lambda */
#define RIDGE_COVARIANCE(matrix, precision_of)                                                                         \
    {                                                                                                                  \
        .setting = (matrix), .precision = precision_of, .rule = DIAGONAL_RIDGE, .rank = (matrix) + 1                   \
    }

/* Class o saw this reward; reads first unless predict just did. */
void ridge_learn(struct state *s, const struct vec *x, uint32_t o, double reward);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dual form of a second-order learner (covariance_kernel): examples kept in order of arrival, with B = (a I +
 * H)^-1, H the inner products of what they stand for. An entry stands for z = scale (e_plus - e_minus) (x) phi(x),
 * where phi is the kernel's map and minus may be GRAM_NONE, and has a target b; weights are c = B b, and the score of
 * class k is <sum_s c_s z_s, e_k (x) phi(x)>.
 *
 * When the budget is used up, the oldest entry goes. Both steps change B by rank-one terms, so a round costs the square
 * of the number kept.
 */
#ifndef GRAM_H
#define GRAM_H

#include "covariance.h"
#include "kernel.h"

/* Settings of kernel forms, in this order, wherever they stand in an algorithm's table. */
enum { GRAM_KERNEL, GRAM_DEGREE, GRAM_BANDWIDTH, GRAM_NU, GRAM_BUDGET, GRAM_SETTINGS };
extern const char *const gram_kernel_choices[];
#define GRAM_SETTING_TABLE(budget)                                                                                     \
    SETTING_CHOICE("kernel", "rbf", gram_kernel_choices, "matrix=kernel: which one"),                                  \
        SETTING_REAL("degree", "2", 1, 10, "of the poly kernel (1 + <x,z>)^degree"),                                   \
        SETTING_REAL("bandwidth", "1", 1e-9, 1e9, "of the rbf kernel: exp(-bandwidth times the squared distance)"),    \
        SETTING_REAL("nu", "0.5", 0, 0.999, "of the rational kernel 1/(1 - nu <x,z>), on the unit ball"),              \
        SETTING_INTEGER("budget", budget, 1, 100000, "matrix=kernel: examples kept; then the oldest goes")

#endif

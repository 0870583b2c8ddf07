/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of mathematics that give the same bits on every machine: plain double arithmetic (+, -, *, /, sqrt) in a
 * fixed order, without fused multiply-add, so that no choice of a compiler, a processor or a libm shows in a model.
 * Learning uses these, and of libm only what IEEE 754 defines to the last bit (sqrt, floor, fabs, fmin, fmax).
 *
 * Errors in units of the last place, largest seen by tests/unit/test_base_exact.c, which asserts the bounds given here.
 * Beyond their range results are as in C99: infinite, zero or NaN.
 */
#ifndef BASE_EXACT_H
#define BASE_EXACT_H

double exact_exp(double x);           /* < 1 ulp; below 2^-1022 < 1 unit of the subnormal */
double exact_expm1(double x);         /* < 2 ulp */
double exact_log(double x);           /* < 1 ulp */
double exact_log1p(double x);         /* < 2 ulp */
double exact_cos(double x);           /* < 1 ulp for |x| <= 2^20; NaN beyond */
double exact_tanh(double x);          /* < 3 ulp */
double exact_cbrt(double x);          /* < 1 ulp */
double exact_pow(double x, double y); /* < 1 ulp; x < 0 needs a whole y */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics against values from tables and textbooks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "play/statistics.h"

static void close_to(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.12g instead of %.12g", got, want);
}

static void means_and_deviations(void **state)
{
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    close_to(statistics_mean(x, 8), 5, 0);
    close_to(statistics_sd(x, 8), sqrt(32.0 / 7), 1e-15);
    close_to(statistics_sd(x, 1), 0, 0);
    assert_true(isnan(statistics_mean(x, 0)));
}

static void incomplete_beta(void **state)
{
    (void)state;
    close_to(statistics_beta(1, 1, 0.3), 0.3, 1e-14);
    close_to(statistics_beta(2, 3, 0.5), 0.6875, 1e-14); /* 11/16 */
    close_to(statistics_beta(0.5, 0.5, 0.25), 2 / M_PI * asin(0.5), 1e-13);
    close_to(statistics_beta(5, 2, 0.9) + statistics_beta(2, 5, 0.1), 1, 1e-14);
    close_to(statistics_beta(3, 4, 0), 0, 0);
    close_to(statistics_beta(3, 4, 1), 1, 0);
}

static void student(void **state)
{
    (void)state;
    /* two-sided critical values of the usual tables */
    close_to(statistics_student(2.262157, 9), 0.05, 1e-7);
    close_to(statistics_student(3.249836, 9), 0.01, 1e-7);
    close_to(statistics_student(4.780913, 9), 0.001, 1e-8);
    close_to(statistics_student(12.7062047, 1), 0.05, 1e-9);
    close_to(statistics_student(1.959964, 1e7), 0.05, 1e-6);
    close_to(statistics_student(0, 5), 1, 1e-14);
}

static void spreads(void **state)
{
    (void)state;
    /* F(9, 9) exceeds 6.54109 in 0.5 % of all cases, and so does its inverse; F(4, 9) exceeds 4.71808 in 2.5 % */
    close_to(statistics_spread(sqrt(6.541090), 9, 1, 9), 0.01, 1e-6);
    close_to(statistics_spread(1, 9, sqrt(6.541090), 9), 0.01, 1e-6);
    close_to(statistics_spread(3 * sqrt(4.718078), 4, 3, 9), 0.05, 1e-6);
    close_to(statistics_spread(2, 9, 2, 9), 1, 1e-12);
    close_to(statistics_spread(0, 9, 0, 9), 1, 0);
    close_to(statistics_spread(1, 9, 0, 9), 0, 1e-12);
}

static void paired(void **state)
{
    (void)state;
    /* Student's sleep data: t = -4.0621, 9 degrees, p = 0.002833 */
    const double a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
    const double b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
    close_to(statistics_paired(a, b, 10), 0.00283289, 1e-8);
    close_to(statistics_paired(b, a, 10), 0.00283289, 1e-8);
    close_to(statistics_paired(a, a, 10), 1, 0);
    close_to(statistics_paired(a, b, 1), 1, 0);
    const double c[] = {1, 2, 3}, d[] = {2, 3, 4};
    close_to(statistics_paired(c, d, 3), 0, 0); /* always the same difference */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(means_and_deviations), cmocka_unit_test(incomplete_beta),
                                       cmocka_unit_test(student), cmocka_unit_test(spreads), cmocka_unit_test(paired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

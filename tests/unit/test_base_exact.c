/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own functions of mathematics against those of twice the length (or 11 bits more) of the C library. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/exact.h"
#include "base/rng.h"

#define ROUNDS 200000

/* Units of the last place between what came out and what should have. */
static double ulps(double got, long double want)
{
    if (isnan(want) || isinf((double)want) || isnan(got))
        return (isnan(want) && isnan(got)) || (double)want == got ? 0 : 1e9;
    double near = fabs((double)want), unit = nextafter(near, INFINITY) - near;
    return (double)(fabsl((long double)got - want) / unit);
}

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

/* A number whose exponent is uniform. */
static double any_size(struct rng *r, int low, int high)
{
    return ldexp(between(r, 1, 2), low + (int)rng_below(r, (uint64_t)(high - low)));
}

static void compare(const char *name, double (*ours)(double), long double (*theirs)(long double), double low,
                    double high, double bound)
{
    struct rng r = {7};
    double worst = 0, where = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = between(&r, low, high);
        if (i % 2) { /* near zero too, from the side that is asked for */
            x = any_size(&r, -60, ilogb(fmax(fabs(low), high)) + 1) * (i % 4 == 1 && low < 0 ? -1 : 1);
            if (x < low || x > high)
                continue;
        }
        double error = ulps(ours(x), theirs((long double)x));
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    print_message("%-6s %10g .. %-10g %.3f ulp at %.17g\n", name, low, high, worst, where);
    assert_true(worst < bound);
}

static void test_accuracy(void **state)
{
    (void)state;
    compare("exp", exact_exp, expl, -708, 709.7, 1);
    compare("exp", exact_exp, expl, -1, 1, 1);
    compare("exp", exact_exp, expl, -745, -708, 1.01);
    compare("expm1", exact_expm1, expm1l, -39, 700, 2);
    compare("expm1", exact_expm1, expm1l, -2, 2, 2);
    compare("log", exact_log, logl, 0, 1e300, 1);
    compare("log", exact_log, logl, 0, 4, 1);
    compare("log", exact_log, logl, 0.9, 1.1, 1);
    compare("log", exact_log, logl, 0, 1e-300, 1);
    compare("log1p", exact_log1p, log1pl, -0.999, 4, 2);
    compare("log1p", exact_log1p, log1pl, 0, 1e30, 2);
    compare("cos", exact_cos, cosl, -4, 4, 1);
    compare("cos", exact_cos, cosl, -0x1p20, 0x1p20, 1);
    compare("tanh", exact_tanh, tanhl, -22, 22, 3);
    compare("cbrt", exact_cbrt, cbrtl, -1e300, 1e300, 1);
    compare("cbrt", exact_cbrt, cbrtl, -9, 9, 1);
}

static void test_powers(void **state)
{
    (void)state;
    struct rng r = {3};
    double worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = any_size(&r, i % 2 ? -1 : -300, i % 2 ? 1 : 300), max = 700 / fmax(fabs(log(x)), 1e-3);
        double y = i % 3 ? between(&r, -max, max) : round(between(&r, -fmin(max, 80), fmin(max, 80)));
        worst = fmax(worst, ulps(exact_pow(x, y), powl((long double)x, (long double)y)));
    }
    print_message("pow %.3f ulp\n", worst);
    assert_true(worst < 1);
    assert_true(exact_pow(10, -3) == 0.001);
    assert_true(exact_pow(2, -6) == 0x1p-6);
    assert_true(exact_pow(2, -1074) == 0x1p-1074);
    assert_true(exact_pow(-2, 3) == -8);
    assert_true(exact_pow(0.3, 1) == 0.3);
    assert_true(exact_pow(7, 0) == 1);
    assert_true(isnan(exact_pow(-2, 0.5)));
    assert_true(exact_pow(0, -1) == INFINITY);
    assert_true(exact_pow(0, 0.5) == 0);
    assert_true(exact_pow(2, 5000) == INFINITY);
    assert_true(exact_pow(2, -5000.5) == 0);
    assert_true(exact_pow(1.0000001, 1e300) == INFINITY);
}

static void test_beyond(void **state)
{
    (void)state;
    assert_true(exact_exp(1000) == INFINITY && exact_exp(-1000) == 0 && isnan(exact_exp(NAN)) && exact_exp(0) == 1);
    assert_true(exact_log(0) == -INFINITY && isnan(exact_log(-1)) && exact_log(1) == 0);
    assert_true(exact_log(INFINITY) == INFINITY && isnan(exact_log(NAN)));
    assert_true(exact_log1p(-1) == -INFINITY && isnan(exact_log1p(-2)) && exact_log1p(0) == 0);
    assert_true(exact_expm1(-100) == -1 && exact_expm1(1000) == INFINITY && exact_expm1(0) == 0);
    assert_true(exact_tanh(100) == 1 && exact_tanh(-100) == -1 && isnan(exact_tanh(NAN)));
    assert_true(isnan(exact_cos(INFINITY)) && isnan(exact_cos(NAN)) && isnan(exact_cos(0x1p21)));
    assert_true(exact_cbrt(27) == 3 && exact_cbrt(-8) == -2 && exact_cbrt(0) == 0);
}

static uint64_t mix(uint64_t sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (sum ^ bits) * UINT64_C(0x9E3779B97F4A7C15) + (sum >> 29);
}

/* One number for the bits of all results: it must be this one on every machine, compiler and build. */
static void test_the_same_bits_everywhere(void **state)
{
    (void)state;
    struct rng r = {1};
    uint64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double x = between(&r, -30, 30), y = any_size(&r, -20, 40);
        sum = mix(mix(mix(sum, exact_exp(x)), exact_log(y)), exact_pow(y, x / 10));
        sum = mix(mix(sum, exact_cos(x)), exact_tanh(x));
        sum = mix(mix(mix(sum, exact_log1p(y)), exact_expm1(x)), exact_cbrt(y));
    }
    print_message("%016llx\n", (unsigned long long)sum);
    assert_true(sum == UINT64_C(0xf07b3bfe8d110e3d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

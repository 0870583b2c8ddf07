/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals of importance-weighted rewards, looked at after every answer: how often they ever exclude the truth, how wide
 * they are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/value_bounds.h"

#define STREAMS 1000
#define ANSWERS 1000

/* The next answer of a stream: adds it and gives the policy's reward, given what was before. */
typedef double (*stream)(struct value_bounds *v, struct rng *rng, unsigned t);

static double own(struct value_bounds *v, struct rng *rng, unsigned t)
{
    (void)t;
    value_add(v, 1, rng_uniform(rng) < 0.3);
    return 0.3;
}

/* Shown with chances from 1/20 on; the policy would always show what is right in 70 %. */
static double weighted(struct value_bounds *v, struct rng *rng, unsigned t)
{
    double chance = t % 2 ? 0.05 : 0.5;
    bool shown = rng_uniform(rng) < chance;
    value_add(v, shown ? 1 / chance : 0, rng_uniform(rng) < (shown ? 0.7 : 0.2));
    return 0.7;
}

static double drifting(struct value_bounds *v, struct rng *rng, unsigned t)
{
    double p = 0.5 + 0.4 * sin(t * 0.01);
    value_add(v, 1, rng_uniform(rng) < p);
    return p;
}

static void excluded(stream next, double confidence, double *ret_share, double *ret_width)
{
    unsigned wrong = 0;
    *ret_width = 0;
    for (unsigned i = 0; i < STREAMS; i++) {
        struct rng rng = {i + 1};
        struct value_bounds v = {0};
        double sum = 0, low = 0, high = 1;
        bool out = false;
        for (unsigned t = 0; t < ANSWERS; t++) {
            sum += next(&v, &rng, t);
            if (out || (t > 100 && t % 10)) /* after every answer, then after every tenth */
                continue;
            value_interval(&v, confidence, &low, &high);
            out = sum / (t + 1) < low || sum / (t + 1) > high;
        }
        value_interval(&v, confidence, &low, &high);
        assert_true(low >= 0 && low <= value_mean(&v) + 1e-9 && value_mean(&v) - 1e-9 <= high + 0.2 && high <= 1);
        wrong += out;
        *ret_width += (high - low) / STREAMS;
    }
    *ret_share = (double)wrong / STREAMS;
}

/* The bound is 5 %; that of an interval for one fixed time is far above it when one looks this often. */
static void test_holds_at_all_times(void **state)
{
    (void)state;
    static const struct {
        stream next;
        double width;
    } cases[] = {{own, 0.12}, {weighted, 0.6}, {drifting, 0.13}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double share, width;
        excluded(cases[i].next, 0.95, &share, &width);
        print_message("excluded %.3f, width %.3f\n", share, width);
        assert_true(share <= 0.05);
        assert_true(width < cases[i].width);
    }
}

static void test_one_that_claims_more_is_caught(void **state)
{
    (void)state;
    double share, width;
    excluded(own, 0.01, &share, &width); /* 1 % sure */
    assert_true(share > 0.05);
}

static void test_without_support(void **state)
{
    (void)state;
    struct value_bounds v = {0};
    double low, high;
    assert_true(isnan(value_mean(&v)));
    value_interval(&v, 0.95, &low, &high);
    assert_true(low == 0 && high == 1);
    for (int i = 0; i < 10000; i++) /* the policy would never have shown it: anything may be true */
        value_add(&v, 0, i % 2);
    value_interval(&v, 0.95, &low, &high);
    assert_true(low == 0 && high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds_at_all_times),
        cmocka_unit_test(test_one_that_claims_more_is_caught),
        cmocka_unit_test(test_without_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

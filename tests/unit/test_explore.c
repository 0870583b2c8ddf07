/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "state/explore.h"

static struct state make(uint32_t K, uint64_t seed)
{
    struct state s = {.K = K, .rng = {seed}};
    return s;
}

/* The first uniforms of seed 101, as the authors' code was fed them. */
static void test_generator(void **state)
{
    (void)state;
    struct rng r = {101};
    assert_true(rng_uniform(&r) == 0.81644120059845027);
    assert_true(rng_uniform(&r) == 0.017191399024609089);
    assert_true(rng_uniform(&r) == 0.26865236244694557);
}

static void test_argmax_and_rival(void **state)
{
    (void)state;
    const real scores[] = {1, 3, 3, 2};
    struct state s = make(4, 1);
    assert_int_equal(explore_argmax(&s, scores), 1);
    assert_int_equal(s.rng.state, 1);
    assert_int_equal(explore_rival(scores, 4, 1), 2);
    assert_int_equal(explore_rival(scores, 4, 0), 1);
    assert_int_equal(explore_rival(scores, 1, 0), 0);
    s.ties_random = true;
    int count[4] = {0};
    for (int i = 0; i < 1000; i++)
        count[explore_argmax(&s, scores)]++;
    assert_int_equal(count[0] + count[3], 0);
    assert_true(count[1] > 400 && count[2] > 400);
}

/* Draws follow the mixture that is reported: frequencies within five standard deviations. */
static void test_mix(void **state)
{
    (void)state;
    struct state s = make(5, 3);
    const int n = 100000;
    double gamma = 0.4;
    int count[5] = {0};
    for (int i = 0; i < n; i++) {
        hunch_choice c = {0};
        explore_mix(&s, 2, gamma, &c);
        assert_true(fabs(c.prob - (gamma / 5 + (c.label == 2 ? 1 - gamma : 0))) < 1e-15);
        count[c.label]++;
    }
    for (int k = 0; k < 5; k++) {
        double p = gamma / 5 + (k == 2 ? 1 - gamma : 0);
        assert_true(fabs(count[k] - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
    for (int i = 0; i < 1000; i++) {
        hunch_choice c = {0};
        explore_mix(&s, 4, 0, &c);
        assert_true(c.label == 4 && c.prob == 1);
    }
}

static void test_sample_and_softmax(void **state)
{
    (void)state;
    struct state s = make(3, 9);
    const real scores[] = {1000, 1001, -1000};
    double p[3];
    explore_softmax(&s, scores, 1, p);
    assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
    assert_true(fabs(p[1] / p[0] - exp(1)) < 1e-9 && p[2] == 0);
    for (int i = 0; i < 1000; i++)
        assert_true(explore_sample(&s, p) < 2);
    double nothing[] = {0.5, 0, 0};
    int late = 0;
    for (int i = 0; i < 1000; i++) /* what rounding may leave over goes to a label that has a chance */
        late += explore_sample(&s, nothing) != 0;
    assert_int_equal(late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator),
        cmocka_unit_test(test_argmax_and_rival),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_sample_and_softmax),
    };
    return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}

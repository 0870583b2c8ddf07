/* SPDX-License-Identifier: BSD-3-Clause */
/* The chance that a label is right: learned, rising with the margin, following drift; and models from before it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/confidence.h"
#include "api/learner.h"

/* Margins over (-2, 2); right with a chance that rises with them. */
static double truth(double margin, double shift)
{
    return 1 / (1 + exp(-3 * margin + shift));
}

static void play(struct confidence *c, struct rng *rng, int n, double shift, double unit)
{
    for (int i = 0; i < n; i++) {
        double margin = 4 * rng_uniform(rng) - 2;
        confidence_learn(c, 3, (float)(unit * margin), rng_uniform(rng) < truth(margin, shift));
    }
}

static double distance(const struct confidence *c, double shift, double unit)
{
    double sum = 0;
    for (int i = 0; i < 100; i++) {
        double margin = -2 + 4 * (i + 0.5) / 100;
        sum += fabs(confidence_read(c, (float)(unit * margin)) - truth(margin, shift)) / 100;
    }
    return sum;
}

static void test_chances_are_learned_and_follow_drift(void **state)
{
    (void)state;
    const double units[] = {1, 1e-6, 1e9};
    for (int i = 0; i < 3; i++) {
        struct confidence c;
        struct rng rng = {1};
        confidence_init(&c, 3);
        assert_true(fabs(confidence_read(&c, 1) - 1.0 / 3) < 1e-12);
        play(&c, &rng, 10000, 0, units[i]);
        assert_true(distance(&c, 0, units[i]) < 0.04);
        play(&c, &rng, 8000, 2, units[i]);
        assert_true(distance(&c, 2, units[i]) < 0.04 && distance(&c, 0, units[i]) > 0.1);
    }
}

/* A learner that is right more and more often: how far the confidence is behind it in its first 300 rounds. */
static void test_confidence_keeps_up_with_a_learner_that_improves(void **state)
{
    (void)state;
    struct rng rng = {3};
    double behind = 0;
    for (int i = 0; i < 40; i++) {
        struct confidence c;
        confidence_init(&c, 3);
        for (int n = 0; n < 300; n++) {
            double chance = 0.3 + 0.7 * n / (n + 100.0);
            float margin = (float)rng_uniform(&rng);
            behind += (chance - confidence_read(&c, margin)) / (40 * 300);
            confidence_learn(&c, 3, margin, rng_uniform(&rng) < chance);
        }
    }
    assert_true(fabs(behind) < 0.06);
}

static void test_chances_rise_with_the_margin(void **state)
{
    (void)state;
    struct confidence c;
    struct rng rng = {2};
    confidence_init(&c, 5);
    for (int i = 0; i < 3000; i++) {
        confidence_learn(&c, 5, (float)(rng_uniform(&rng) - 0.5), rng_uniform(&rng) < 0.5);
        double before = 0;
        for (float m = -3; i % 100 == 0 && m < 3; m += 0.01f) {
            double now = confidence_read(&c, m);
            assert_true(now >= before - 1e-15 && now > 0 && now < 1);
            before = now;
        }
    }
    assert_true(confidence_read(&c, INFINITY) < 1 && confidence_read(&c, -INFINITY) > 0);
}

static void test_probabilities_have_the_confidence_on_top(void **state)
{
    (void)state;
    struct confidence c;
    struct rng rng = {3};
    confidence_init(&c, 4);
    play(&c, &rng, 5000, 0, 1);
    const float rows[][4] = {{0, 1, 0.5f, -1}, {2, 2, 2, 2}, {-1, -1, -3, 0}, {0, 0, 0, 1e30f}, {1, 1, 0, 0}};
    for (int i = 0; i < 5; i++) {
        double p[4], sum = 0, top = 0;
        const float *s = rows[i];
        confidence_spread(&c, s, 4, p);
        for (int k = 0; k < 4; k++) {
            sum += p[k];
            top = s[k] > s[(int)top] ? k : top;
            for (int l = 0; l < 4; l++)
                assert_true(k == (int)top || l == (int)top || s[k] < s[l] || p[k] >= p[l]);
        }
        float rival = -INFINITY;
        for (int k = 0; k < 4; k++)
            rival = k != (int)top && s[k] > rival ? s[k] : rival;
        assert_true(fabs(sum - 1) < 1e-12);
        double sure = fmax(confidence_read(&c, s[(int)top] - rival), 0.25);
        assert_true(fabs(p[(int)top] - sure) < 1e-12);
        for (int k = 0; k < 4; k++)
            assert_true(p[k] <= p[(int)top] + 1e-12);
    }
    double p[4], odds; /* softmax of the scores, sharpened: log odds are in proportion to differences of scores */
    confidence_spread(&c, rows[0], 4, p);
    odds = log(p[1] / p[2]) / 0.5;
    assert_true(fabs(log(p[1] / p[0]) - odds) < 1e-6 && fabs(log(p[2] / p[3]) - 1.5 * odds) < 1e-6);
}

static void test_senseless_confidences_are_refused(void **state)
{
    (void)state;
    struct confidence c, got;
    struct rng rng = {4};
    confidence_init(&c, 3);
    play(&c, &rng, 500, 0, 1);
    struct reader whole = {(const char *)&c, sizeof c, false}, cut = {(const char *)&c, sizeof c - 1, false};
    assert_int_equal(confidence_take(&whole, &got, NULL), HUNCH_OK);
    assert_memory_equal(&c, &got, sizeof c);
    assert_int_equal(confidence_take(&cut, &got, NULL), HUNCH_EMODEL);
    double *bad[] = {&c.size, &c.shown[3], &c.right[7], &c.chance[31], &c.learned};
    const double values[] = {NAN, INFINITY, -1, 1e301};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            double kept = *bad[i];
            *bad[i] = values[j];
            struct reader r = {(const char *)&c, sizeof c, false};
            assert_int_equal(confidence_take(&r, &got, NULL), HUNCH_EMODEL);
            *bad[i] = kept;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances_are_learned_and_follow_drift),
        cmocka_unit_test(test_confidence_keeps_up_with_a_learner_that_improves),
        cmocka_unit_test(test_chances_rise_with_the_margin),
        cmocka_unit_test(test_probabilities_have_the_confidence_on_top),
        cmocka_unit_test(test_senseless_confidences_are_refused),
    };
    return cmocka_run_group_tests_name("confidence", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The estimators against a simulated truth: unbiased, and intervals that hold as often as they say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/offpolicy.h"
#include "base/rng.h"

#define ROUNDS 600
#define LOGS 600

/* Two kinds of context, three labels; the log prefers the first label, the policy another one in each context. */
static const double reward[2][3] = {{0.2, 0.7, 0.4}, {0.5, 0.1, 0.9}};
static const double logging[2][3] = {{0.7, 0.2, 0.1}, {0.6, 0.25, 0.15}};
static const int policy[2] = {1, 2};
static const double truth = (0.7 + 0.9) / 2;

enum model { MODEL_RIGHT, MODEL_WRONG };

static double model_says(enum model model, int context, int label)
{
    return model == MODEL_RIGHT ? reward[context][label] : 0.95 - 0.8 * reward[context][label];
}

static void log_draw(struct offpolicy_row *rows, size_t n, enum model model, struct rng *state)
{
    for (size_t i = 0; i < n; i++) {
        int context = rng_uniform(state) < 0.5, label = 0;
        double u = rng_uniform(state);
        while (label < 2 && u >= logging[context][label])
            u -= logging[context][label++];
        rows[i].reward = rng_uniform(state) < reward[context][label];
        rows[i].weight = label == policy[context] ? 1 / logging[context][label] : 0;
        rows[i].shown = model_says(model, context, label);
        rows[i].expected = model_says(model, context, policy[context]);
    }
}

struct study {
    double mean[OFFPOLICY_METHODS], sd[OFFPOLICY_METHODS]; /* of the values over many logs */
    double error[OFFPOLICY_METHODS];                       /* mean standard error that was reported */
    double covered[OFFPOLICY_METHODS];
};

static struct study study_make(enum offpolicy_interval interval, enum model model)
{
    struct offpolicy_options options = {.interval = interval, .confidence = 0.95, .replicates = 300, .bound = 10};
    struct offpolicy_row *rows = calloc(ROUNDS, sizeof *rows);
    struct study s = {{0}, {0}, {0}, {0}};
    struct rng state = {7};
    for (int i = 0; i < LOGS; i++) {
        struct offpolicy result;
        options.seed = (uint64_t)i;
        log_draw(rows, ROUNDS, model, &state);
        assert_int_equal(offpolicy_estimate(&result, rows, ROUNDS, &options, NULL), HUNCH_OK);
        for (int m = 0; m < OFFPOLICY_METHODS; m++) {
            const struct offpolicy_estimate *e = &result.estimate[m];
            s.mean[m] += e->value / LOGS;
            s.sd[m] += e->value * e->value / LOGS;
            s.error[m] += e->std_error / LOGS;
            s.covered[m] += (e->low <= truth && truth <= e->high) / (double)LOGS;
        }
    }
    for (int m = 0; m < OFFPOLICY_METHODS; m++)
        s.sd[m] = sqrt(s.sd[m] - s.mean[m] * s.mean[m]);
    free(rows);
    return s;
}

/* Within four standard errors of the truth; snips has a bias of order 1/n beside. */
static void unbiased(void **unused)
{
    (void)unused;
    for (enum model model = MODEL_RIGHT; model <= MODEL_WRONG; model++) {
        struct study s = study_make(OFFPOLICY_NORMAL, model);
        for (int m = 0; m < OFFPOLICY_METHODS; m++) {
            double slack = m == OFFPOLICY_SNIPS ? 2.0 / ROUNDS : 0;
            if (fabs(s.mean[m] - truth) > 4 * s.sd[m] / sqrt(LOGS) + slack)
                fail_msg("%s: mean %g, truth %g, sd %g", offpolicy_name(m), s.mean[m], truth, s.sd[m]);
            /* the reported noise is the true noise */
            assert_true(fabs(s.error[m] / s.sd[m] - 1) < 0.15);
        }
    }
}

/* A good model takes noise away, a bad one adds some; snips is less noisy than ips. */
static void noise_ordered(void **unused)
{
    struct study good = study_make(OFFPOLICY_NORMAL, MODEL_RIGHT), bad = study_make(OFFPOLICY_NORMAL, MODEL_WRONG);
    (void)unused;
    assert_true(good.sd[OFFPOLICY_DR] < 0.7 * good.sd[OFFPOLICY_IPS]);
    assert_true(good.sd[OFFPOLICY_DR] < good.sd[OFFPOLICY_SNIPS] * 1.02);
    assert_true(good.sd[OFFPOLICY_DR] < bad.sd[OFFPOLICY_DR]);
    assert_true(good.sd[OFFPOLICY_SNIPS] < 0.8 * good.sd[OFFPOLICY_IPS]);
}

/* 95 % of 600 logs: a standard deviation is 0.9 %. */
static void intervals_cover(void **unused)
{
    (void)unused;
    for (enum offpolicy_interval i = OFFPOLICY_NORMAL; i <= OFFPOLICY_BOOTSTRAP; i++) {
        struct study s = study_make(i, MODEL_RIGHT);
        for (int m = 0; m < OFFPOLICY_METHODS; m++)
            if (s.covered[m] < 0.915 || s.covered[m] > 0.985)
                fail_msg("%s, interval %d: covers the truth in %g", offpolicy_name(m), (int)i, s.covered[m]);
    }
    struct study s = study_make(OFFPOLICY_BERNSTEIN, MODEL_WRONG);
    assert_true(s.covered[OFFPOLICY_IPS] >= 0.99 && s.covered[OFFPOLICY_DR] >= 0.99);
    assert_true(s.covered[OFFPOLICY_SNIPS] == 0); /* there is none */
}

/* Watched after every one of the rounds (what was refuted once stays refuted, so the last interval tells), at most 5 % of
 * 1,000 streams ever exclude the truth; and their width is printed. */
static void sequences_cover(void **unused)
{
    enum { STREAMS = 1000 };
    struct offpolicy_row *rows = calloc(ROUNDS, sizeof *rows);
    struct rng state = {11};
    double excluded[OFFPOLICY_METHODS] = {0}, width[OFFPOLICY_METHODS] = {0}, normal[OFFPOLICY_METHODS] = {0};
    (void)unused;
    for (int i = 0; i < STREAMS; i++) {
        struct offpolicy_options options = {.interval = OFFPOLICY_ANYTIME, .confidence = 0.95, .bound = 10};
        struct offpolicy result, fixed;
        log_draw(rows, ROUNDS, i % 2 ? MODEL_RIGHT : MODEL_WRONG, &state);
        assert_int_equal(offpolicy_estimate(&result, rows, ROUNDS, &options, NULL), HUNCH_OK);
        options.interval = OFFPOLICY_NORMAL;
        assert_int_equal(offpolicy_estimate(&fixed, rows, ROUNDS, &options, NULL), HUNCH_OK);
        for (int m = 0; m < OFFPOLICY_METHODS; m++) {
            const struct offpolicy_estimate *e = &result.estimate[m];
            excluded[m] += e->low > truth || e->high < truth;
            width[m] += (e->high - e->low) / STREAMS;
            normal[m] += (fixed.estimate[m].high - fixed.estimate[m].low) / STREAMS;
            if (m != OFFPOLICY_SNIPS && !(e->low >= 0 && e->high <= 1 && e->low <= e->high))
                fail_msg("%s, stream %d: %g .. %g", offpolicy_name(m), i, e->low, e->high);
        }
    }
    print_message("excluded: ips %g, dr %g of 1000; width: ips %.3f (at one time %.3f), dr %.3f (%.3f)\n",
                  excluded[OFFPOLICY_IPS], excluded[OFFPOLICY_DR], width[OFFPOLICY_IPS], normal[OFFPOLICY_IPS],
                  width[OFFPOLICY_DR], normal[OFFPOLICY_DR]);
    assert_true(excluded[OFFPOLICY_IPS] <= 50 && excluded[OFFPOLICY_DR] <= 50);
    assert_true(width[OFFPOLICY_IPS] < 0.6); /* they say something */
    free(rows);
}

/* Numbers worked out by hand. */
static void small_log(void **unused)
{
    const struct offpolicy_row rows[] = {{2, 1, 0.5, 0.25}, {0, 1, 0.5, 0.75}, {4, 0, 0.5, 0.5}, {2, 1, 0, 1}};
    struct offpolicy_options options = {.confidence = 0.95};
    struct offpolicy r;
    (void)unused;
    assert_int_equal(offpolicy_estimate(&r, rows, 4, &options, NULL), HUNCH_OK);
    assert_true(r.estimate[OFFPOLICY_IPS].value == 1.0);
    assert_true(r.estimate[OFFPOLICY_SNIPS].value == 0.5);
    /* 0.25 + 1, 0.75, 0.5 - 2, 1 + 2 */
    assert_true(r.estimate[OFFPOLICY_DR].value == 3.5 / 4);
    /* terms 2, 0, 0, 2: deviations 1, variance 4/3 */
    assert_true(fabs(r.estimate[OFFPOLICY_IPS].std_error - sqrt(4.0 / 3 / 4)) < 1e-12);
    assert_true(fabs(r.estimate[OFFPOLICY_IPS].high - (1 + 1.959963984540054 * sqrt(1.0 / 3))) < 1e-9);
    /* 2 w (r - 0.5) / 4: 0.5, 0, -1, 0.5 */
    assert_true(fabs(r.estimate[OFFPOLICY_SNIPS].std_error - sqrt((0.25 + 1 + 0.25) / 3 / 4)) < 1e-12);
    assert_true(fabs(r.effective - 64.0 / 24) < 1e-12);
    assert_true(r.max_weight == 4 && r.mean_weight == 2 && r.matches == 0.75 && r.rows == 4);
}

static void no_answer(void **unused)
{
    const struct offpolicy_row rows[] = {{0, 1, 0.5, 0.5}, {0, 0, 0.5, 0.5}};
    (void)unused;
    for (enum offpolicy_interval i = OFFPOLICY_NORMAL; i <= OFFPOLICY_BERNSTEIN; i++) {
        struct offpolicy_options options = {.interval = i, .confidence = 0.95, .bound = 2};
        struct offpolicy r;
        assert_int_equal(offpolicy_estimate(&r, rows, 2, &options, NULL), HUNCH_OK);
        assert_true(isnan(r.estimate[OFFPOLICY_SNIPS].value) && isnan(r.estimate[OFFPOLICY_SNIPS].low));
        assert_true(r.effective == 0 && r.matches == 0);
        assert_int_equal(offpolicy_estimate(&r, rows, 0, &options, NULL), HUNCH_OK);
        assert_true(isnan(r.estimate[OFFPOLICY_IPS].value));
    }
}

static void quantiles(void **unused)
{
    (void)unused;
    assert_true(fabs(offpolicy_normal(0.975) - 1.959963984540054) < 1e-10);
    assert_true(fabs(offpolicy_normal(0.5)) < 1e-10);
    assert_true(fabs(offpolicy_normal(0.001) + 3.090232306167813) < 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unbiased),        cmocka_unit_test(noise_ordered),
                                       cmocka_unit_test(intervals_cover), cmocka_unit_test(small_log),
                                       cmocka_unit_test(sequences_cover), cmocka_unit_test(no_answer),
                                       cmocka_unit_test(quantiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds other than predict and feedback. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "specs.h"

static struct small_stream data, longer;

/* --- teaching --- */

/* What was taught is there before and after the first prediction, whatever the unit of the values. */
static void test_taught_scores_stay(void **unused)
{
    (void)unused;
    hunch *h = learner_make("confident", 1);
    float before[STREAM_CLASSES], after[STREAM_CLASSES];
    double rate = 1;
    hunch_choice c;
    hunch_vec x = small_stream_row(&longer, 0);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec row = small_stream_row(&longer, i);
        assert_int_equal(hunch_teach(h, &row, longer.label[i]), HUNCH_OK);
    }
    assert_int_equal(hunch_scores(h, &x, before), HUNCH_OK);
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_scores(h, &x, after), HUNCH_OK);
    for (int k = 0; k < STREAM_CLASSES; k++)
        assert_true(fabs(after[k] - before[k]) < 0.05 * fabs(before[k]));
    assert_int_equal(hunch_get(h, "rate", 0, 0, &rate), HUNCH_OK);
    assert_true(rate < 0.6); /* it would have been right more often than not */
    hunch_free(h);
}

/* An expert keeps its own scale: values a thousand times as long change none of its labels. */
static void test_experts_are_told_of_rounds(void **unused)
{
    (void)unused;
    hunch *a = learner_make("exp4:experts=[confident:matrix=diag]", 1);
    hunch *b = learner_make("exp4:experts=[confident:matrix=diag]", 1);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_choice one = learner_play(a, &data, i), two = learner_play(b, &longer, i);
        assert_int_equal(one.greedy, two.greedy);
        assert_int_equal(one.label, two.label);
    }
    hunch_free(a);
    hunch_free(b);
}

/* --- choices without a trace --- */

static void reseed_all(hunch *a, hunch *b, hunch *c)
{
    hunch_reseed(a, 7);
    hunch_reseed(b, 7);
    hunch_reseed(c, 7);
}

/* Peek and observe are a prediction, and peeks alone are nothing. Features come in mid-stream. */
static void peek_and_observe_are_a_prediction(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7), *c = learner_make(spec, 7);
    hunch_choice one, two, other;
    reseed_all(a, b, c);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i), ahead = small_stream_row(&data, STREAM_ROWS - 1 - i);
        hunch_reseed(a, (uint64_t)i);
        assert_int_equal(hunch_predict(a, &x, &one), HUNCH_OK);
        assert_int_equal(hunch_peek(b, &ahead, 1, &other), HUNCH_OK);
        assert_int_equal(hunch_peek(b, &x, (uint64_t)i, &two), HUNCH_OK);
        assert_memory_equal(&one, &two, sizeof one);
        if (i % 50 == 0)
            learners_equal(b, c, "after a peek, and without");
        assert_int_equal(hunch_observe(b, &x, &two), HUNCH_OK);
        assert_int_equal(hunch_observe(c, &x, &two), HUNCH_OK);
        reseed_all(a, b, c);
        if (i % 50 == 0)
            learners_equal(a, b, "after a prediction, and after peek and observe");
        bool right = one.label == data.label[i];
        assert_int_equal(hunch_feedback(a, &x, &one, right), HUNCH_OK);
        assert_int_equal(hunch_feedback(b, &x, &two, right), HUNCH_OK);
        assert_int_equal(hunch_feedback(c, &x, &two, right), HUNCH_OK);
    }
    learners_equal(a, b, "at the end, after predictions, and after peek and observe");
    hunch_free(a);
    hunch_free(b);
    hunch_free(c);
}

static void test_peek_and_observe_are_a_prediction(void **unused)
{
    (void)unused;
    specs_each(peek_and_observe_are_a_prediction);
    /* Forms that change as features come; members that draw, or have members. */
    peek_and_observe_are_a_prediction("confident:matrix=auto");
    peek_and_observe_are_a_prediction("panel:members=[banditron;lints]");
    peek_and_observe_are_a_prediction("exp4:experts=[epoch-greedy;confident;exp4:experts=[confident]]");
}

/* Drawn from many seeds, a label comes as often as its probability says. */
static void probabilities_match(hunch *h, const hunch_vec *x, bool all)
{
    enum { PEEKS = 4000 };
    double prob[STREAM_CLASSES] = {0}, sum = 0;
    int shown[STREAM_CLASSES] = {0};
    for (uint64_t seed = 0; seed < PEEKS; seed++) {
        hunch_choice c;
        assert_int_equal(hunch_peek(h, x, seed << 20, &c), HUNCH_OK);
        if (shown[c.label]++ && fabs(prob[c.label] - c.prob) > 1e-12)
            fail_msg("%s: label %u has prob %.6f and %.6f", hunch_spec(h), c.label, prob[c.label], c.prob);
        prob[c.label] = c.prob;
    }
    for (int k = 0; k < STREAM_CLASSES; k++) {
        double share = (double)shown[k] / PEEKS, sd = sqrt(prob[k] * (1 - prob[k]) / PEEKS);
        sum += prob[k];
        if (fabs(share - prob[k]) > 5 * sd + 2e-3)
            fail_msg("%s: label %d was shown in %.4f of all choices, its prob is %.4f", hunch_spec(h), k, share,
                     prob[k]);
    }
    if (all && fabs(sum - 1) > 1e-3)
        fail_msg("%s: the probabilities add up to %.6f", hunch_spec(h), sum);
}

static void probabilities_are_exact(const char *spec)
{
    if (strstr(spec, "ties=random")) /* of which prob knows nothing */
        return;
    hunch *h = learner_make(spec, 7);
    for (int i = 0; i < 150; i++) {
        learner_play(h, &data, i);
        hunch_vec x = small_stream_row(&data, STREAM_ROWS - 1 - i);
        if (i == 10 || i == 30 || i == 149)
            probabilities_match(h, &x, strstr(spec, "floor=") != NULL);
    }
    hunch_free(h);
}

static void test_probabilities_are_exact(void **unused)
{
    (void)unused;
    specs_each(probabilities_are_exact);
    probabilities_are_exact("regcb:rule=elimination,floor=0.1");
    probabilities_are_exact("panel:members=[confident;cova;linucb],floor=0.1");
    probabilities_are_exact("lints:floor=1");
}

static void test_learners_within_have_no_floor(void **unused)
{
    (void)unused;
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {""};
    hunch *h = NULL;
    options.learner = "panel:members=[confident;linucb:floor=0.1]";
    assert_int_equal(hunch_create(&h, &options, &error), HUNCH_EINVAL);
    assert_non_null(strstr(error.message, "floor"));
}

static void test_peek_refuses_what_predict_refuses(void **unused)
{
    (void)unused;
    hunch *h = learner_make("panel", 1), *same = learner_make("panel", 1);
    hunch_vec x = small_stream_row(&data, 0);
    float bad_value[] = {NAN};
    hunch_vec bad = {NULL, bad_value, 1};
    hunch_choice c = {.round = 9, .prob = 1, .label = 1}, untouched = c;
    assert_int_equal(hunch_peek(h, &bad, 1, &c), HUNCH_EINVAL);
    assert_memory_equal(&c, &untouched, sizeof c);
    assert_int_equal(hunch_observe(h, &bad, &c), HUNCH_EINVAL);
    c.label = STREAM_CLASSES;
    assert_int_equal(hunch_observe(h, &x, &c), HUNCH_EINVAL);
    c = (hunch_choice){.round = 9, .prob = 0, .label = 1};
    assert_int_equal(hunch_observe(h, &x, &c), HUNCH_EINVAL);
    assert_true(strlen(hunch_reason(h)) > 0);
    learners_equal(h, same, "after refused calls");
    hunch_free(h);
    hunch_free(same);
}

/* --- columns that matter --- */

static void test_weights_are_told(void **unused)
{
    (void)unused;
    hunch *panel = learner_make("panel:map=fourier", 1), *other = learner_make("arow:scale=auto,map=fourier", 1);
    double weight = 0;
    hunch_choice c;
    assert_int_equal(hunch_get_weight(panel, 0, &weight), HUNCH_EINVAL);
    for (int t = 0; t < 400; t++) {
        hunch_vec x = small_stream_row(&data, t % STREAM_ROWS);
        assert_int_equal(hunch_predict(panel, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(panel, &x, &c, c.label == data.label[t % STREAM_ROWS]), HUNCH_OK);
        assert_int_equal(hunch_get_weight(panel, 0, &weight), HUNCH_OK);
        assert_true(t > 100 || weight == 1);
    }
    assert_true(weight > 0 && weight != 1);
    assert_int_equal(hunch_get_weight(panel, hunch_features(panel), &weight), HUNCH_EINVAL);
    hunch_vec far = {(uint32_t[]){0, 5000}, (float[]){1, 2}, 2}; /* beyond the columns that may have weights */
    assert_int_equal(hunch_predict(panel, &far, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(panel, &far, &c, 1), HUNCH_OK);
    assert_int_equal(hunch_get_weight(panel, 5000, &weight), HUNCH_OK);
    assert_true(weight == 1);
    assert_int_equal(hunch_get_weight(other, 0, &weight), HUNCH_EUNSUPPORTED);
    hunch_free(panel);
    hunch_free(other);
}

/* --- drift --- */

/* A rule that changes: labels are counted on by one from the middle on. */
static void test_drift_is_told(void **unused)
{
    (void)unused;
    hunch *panel = learner_make("panel", 1), *twin = learner_make("confident:matrix=span,decay=0.02", 1);
    hunch *other = learner_make("banditron", 1);
    hunch_drift d;
    hunch_choice c;
    for (int t = 0; t < 4000; t++) {
        hunch_vec x = small_stream_row(&data, t % STREAM_ROWS);
        uint32_t y = (data.label[t % STREAM_ROWS] + (t >= 2000)) % STREAM_CLASSES;
        assert_int_equal(hunch_predict(panel, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(panel, &x, &c, c.label == y), HUNCH_OK);
        if (t == 1999) {
            assert_int_equal(hunch_get_drift(panel, &d), HUNCH_OK);
            assert_true(d.restarts == 0 && d.last_restart == 0);
        }
    }
    assert_int_equal(hunch_get_drift(panel, &d), HUNCH_OK);
    assert_true(d.restarts > 0 && d.last_restart > 2000 && d.last_restart <= 4000);
    assert_int_equal(hunch_get_drift(twin, &d), HUNCH_OK);
    assert_true(d.restarts == 0 && d.last_restart == 0 && d.forgetting == 0.02);
    assert_int_equal(hunch_get_drift(other, &d), HUNCH_EUNSUPPORTED);
    hunch_free(panel);
    hunch_free(twin);
    hunch_free(other);
}

#define REPEATED_ROWS 400

/* Every row has a feature of its own, and its label is drawn: what is learned by heart helps nowhere else. */
static void drawn_rows_play(hunch *h, uint32_t first)
{
    hunch_choice c;
    for (uint32_t i = first; i < first + REPEATED_ROWS; i++) {
        const uint32_t index[] = {0, 1 + i};
        const float value[] = {1, 1};
        struct rng draw = {i};
        hunch_vec x = {index, value, 2};
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == rng_below(&draw, STREAM_CLASSES)), HUNCH_OK);
    }
}

/* Passes over the same rows say nothing of new ones: no alarm follows, and the confidence is that of unseen rows. */
static void test_repeated_rows_are_no_evidence(void **unused)
{
    (void)unused;
    hunch_drift told, untold;
    hunch_choice c;
    const uint32_t index[] = {0, 1 + 2 * REPEATED_ROWS};
    const float value[] = {1, 1};
    hunch_vec x = {index, value, 2};
    for (int says = 0; says < 2; says++) {
        hunch *h = learner_make("panel", 1);
        for (int pass = 0; pass < 6; pass++) {
            hunch_set_repeated(h, says && pass > 0);
            drawn_rows_play(h, 0);
        }
        hunch_set_repeated(h, 0);
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        if (says)
            assert_true(c.confidence < 0.5);
        drawn_rows_play(h, REPEATED_ROWS);
        assert_int_equal(hunch_get_drift(h, says ? &told : &untold), HUNCH_OK);
        hunch_free(h);
    }
    assert_true(untold.restarts > 0); /* else there would be nothing to prevent */
    assert_true(told.restarts == 0);
}

/* A rival that has retired knows nothing of the features that came later, also in a model that was saved and loaded. */
static void test_retired_members_are_loaded(void **unused)
{
    (void)unused;
    hunch *h =
        learner_make("panel:scale=none,restart=0,members=[confident:matrix=diag;confident:matrix=diag,r=1e6]", 1);
    double awake = 1;
    for (int t = 0; awake > 0; t++) {
        assert_in_range(t, 0, 20000);
        learner_play(h, &data, t % STREAM_ROWS);
        assert_int_equal(hunch_get(h, "lives", 1, 0, &awake), HUNCH_OK);
    }
    const uint32_t index[] = {2 * STREAM_FEATURES};
    const float value[] = {1};
    const hunch_vec later = {index, value, 1};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &later, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &later, &c, 1), HUNCH_OK);
    void *bytes = NULL;
    size_t size = 0;
    hunch *loaded = NULL;
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_choice one = learner_play(h, &data, i), two = learner_play(loaded, &data, i);
        assert_int_equal(one.label, two.label);
    }
    learners_equal(h, loaded, "after a member has retired");
    free(bytes);
    hunch_free(h);
    hunch_free(loaded);
}

/* --- rounds that others played --- */

/* The same as a prediction whose choice is then said to have been another. */
static void logged_rounds_are_learned(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    hunch_choice c;
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        uint32_t label = (uint32_t)i % STREAM_CLASSES;
        double prob = i % 3 ? 0.25 : 0.5;
        hunch_reseed(a, 7); /* some learners draw while they learn */
        assert_int_equal(hunch_learn(a, &x, label, prob, label == data.label[i]), HUNCH_OK);
        assert_int_equal(hunch_predict(b, &x, &c), HUNCH_OK);
        hunch_reseed(b, 7);
        c = (hunch_choice){.round = c.round, .prob = prob, .label = label, .greedy = c.greedy};
        assert_int_equal(hunch_feedback(b, &x, &c, label == data.label[i]), HUNCH_OK);
    }
    assert_int_equal(hunch_rounds(a), STREAM_ROWS);
    hunch_reseed(a, 7);
    hunch_reseed(b, 7);
    if (!strstr(spec, "ties=random")) /* which draws while it predicts, and so may break another tie */
        learners_equal(a, b, "learned from a log, and after predictions");
    hunch_vec x = small_stream_row(&data, 0);
    assert_int_equal(hunch_learn(a, &x, STREAM_CLASSES, 0.5, 1), HUNCH_EINVAL);
    assert_int_equal(hunch_learn(a, &x, 0, 0, 1), HUNCH_EINVAL);
    assert_int_equal(hunch_learn(a, &x, 0, NAN, 1), HUNCH_EINVAL);
    assert_int_equal(hunch_learn(a, &x, 0, 1.5, 1), HUNCH_EINVAL);
    assert_int_equal(hunch_learn(a, &x, 0, 0.5, 2), HUNCH_EINVAL);
    assert_int_equal(hunch_rounds(a), STREAM_ROWS);
    hunch_free(a);
    hunch_free(b);
}

static void test_logged_rounds_are_learned(void **unused)
{
    (void)unused;
    specs_each(logged_rounds_are_learned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taught_scores_stay),
        cmocka_unit_test(test_experts_are_told_of_rounds),
        cmocka_unit_test(test_peek_and_observe_are_a_prediction),
        cmocka_unit_test(test_probabilities_are_exact),
        cmocka_unit_test(test_learners_within_have_no_floor),
        cmocka_unit_test(test_peek_refuses_what_predict_refuses),
        cmocka_unit_test(test_weights_are_told),
        cmocka_unit_test(test_drift_is_told),
        cmocka_unit_test(test_repeated_rows_are_no_evidence),
        cmocka_unit_test(test_retired_members_are_loaded),
        cmocka_unit_test(test_logged_rounds_are_learned),
    };
    small_stream_make(&data, 1);
    longer = data;
    for (int64_t j = 0; j < data.start[STREAM_ROWS]; j++)
        longer.value[j] *= 1024; /* exactly, so that scaled rows are the same to the bit */
    return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as large and as small as are accepted: no learner's numbers, scores or choices ever stop being finite. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "specs.h"

static struct small_stream data;

#define LARGE HUNCH_MAX_VALUE
#define TINY 1e-45f /* the smallest float that is not zero */

/* Value j of example i, by the name of what is tried. */
static float value_at(const char *kind, int i, int64_t j, float fine)
{
    if (!strcmp(kind, "large"))
        return LARGE;
    if (!strcmp(kind, "large, of both signs"))
        return j % 2 ? LARGE : -LARGE;
    if (!strcmp(kind, "tiny"))
        return TINY;
    if (!strcmp(kind, "large and tiny in turn"))
        return i % 2 ? LARGE : TINY;
    if (!strcmp(kind, "large and tiny in one"))
        return j % 2 ? LARGE : -TINY;
    if (!strcmp(kind, "ordinary, then large, then ordinary"))
        return i / 20 % 2 ? LARGE : fine;
    return i / 20 % 2 ? TINY : fine; /* ordinary, then tiny, then ordinary */
}

static const char *const kinds[] = {"large",
                                    "large, of both signs",
                                    "tiny",
                                    "large and tiny in turn",
                                    "large and tiny in one",
                                    "ordinary, then large, then ordinary",
                                    "ordinary, then tiny, then ordinary"};

static void round_check(hunch *h, const struct small_stream *s, int i, const char *kind)
{
    hunch_vec x = small_stream_row(s, i);
    hunch_choice c = learner_play(h, s, i);
    float scores[STREAM_CLASSES];
    if (!(c.prob > 0 && c.prob <= 1))
        fail_msg("%s, %s: probability %g", hunch_spec(h), kind, c.prob);
    assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
    for (int k = 0; k < STREAM_CLASSES; k++)
        if (!isfinite(scores[k]))
            fail_msg("%s, %s, round %d: a score of %g", hunch_spec(h), kind, i, (double)scores[k]);
    if (i % 7 == 0)
        assert_int_equal(hunch_teach(h, &x, s->label[i]), HUNCH_OK);
}

static void numbers_stay_finite(const char *spec)
{
    static struct small_stream s;
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        hunch *h = learner_make(spec, 7);
        s = data;
        for (int i = 0; i < STREAM_ROWS; i++)
            for (int64_t j = s.start[i]; j < s.start[i + 1]; j++)
                s.value[j] = value_at(kinds[n], i, j, data.value[j]);
        for (int i = 0; i < 80; i++) {
            round_check(h, &s, i, kinds[n]);
            if (i % 20 == 19 || i < 3)
                learner_finite(h, kinds[n]);
        }
        hunch_free(h);
    }
}

static void test_numbers_stay_finite(void **unused)
{
    (void)unused;
    specs_each(numbers_stay_finite);
}

/* Rows of words, which some learners take for text, and then an example of one word. */
static void text_stays_finite(const char *spec)
{
    enum { WORDS = 25, ALL = 550, ROUNDS = 200 };
    static const float values[] = {TINY, 1e-39f, 2.9e-39f, FLT_MIN, 1e-37f, 1, LARGE};
    hunch *h = learner_make(spec, 7);
    uint32_t index[WORDS], words = 9;
    float value[WORDS], scores[STREAM_CLASSES];
    hunch_choice c;
    for (int i = 0; i < ROUNDS; i++) {
        for (size_t j = 0; j < WORDS; j++) {
            words = words * 1664525 + 1013904223;
            index[j] = (uint32_t)j * (ALL / WORDS) + (words >> 8) % (ALL / WORDS);
            value[j] = 1;
        }
        hunch_vec x = {index, value, WORDS};
        uint32_t label = index[0] % STREAM_CLASSES;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        if (hunch_feedback(h, &x, &c, c.label == label) != HUNCH_OK)
            assert_int_equal(hunch_teach(h, &x, label), HUNCH_OK);
        for (size_t v = 0; v < sizeof values / sizeof *values && (i < 5 || i % 50 == 49); v++)
            for (int new = 0; new < 2; new ++) {
                uint32_t one = new ? ALL + 3 : index[4];
                hunch_vec probe = {&one, &values[v], 1};
                assert_int_equal(hunch_scores(h, &probe, scores), HUNCH_OK);
                for (int k = 0; k < STREAM_CLASSES; k++)
                    if (!isfinite(scores[k]))
                        fail_msg("%s, round %d, one word of %g: a score of %g", hunch_spec(h), i, (double)values[v],
                                 (double)scores[k]);
            }
    }
    hunch_free(h);
}

static void test_text_stays_finite(void **unused)
{
    (void)unused;
    specs_each(text_stays_finite);
}

/* A few columns whose values lie anywhere between the limits, also next to each other and to 0. */
static void spread_stays_finite(const char *spec)
{
    enum { COLUMNS = 9, ROUNDS = 200 };
    static const float values[] = {TINY, -TINY, 1e-39f, FLT_MIN, 0, 1e-6f, 1, 1e6f, -1e6f, LARGE, -LARGE};
    const size_t usual = sizeof values / sizeof *values - 2;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        hunch *h = learner_make(spec, seed);
        uint32_t index[COLUMNS];
        float value[COLUMNS], scores[STREAM_CLASSES];
        uint64_t drawn = seed;
        for (int i = 0; i < ROUNDS; i++) {
            hunch_vec x = {index, value, 0};
            hunch_choice c;
            for (uint32_t j = 0; j < COLUMNS; j++) {
                drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407;
                index[x.n] = j;
                value[x.n] = values[(drawn >> 33) % (usual + 2 * (seed % 2))];
                x.n += drawn >> 61 == 0 || (j + 1 == COLUMNS && x.n == 0);
            }
            uint32_t label = index[0] % STREAM_CLASSES;
            assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
            if (hunch_feedback(h, &x, &c, c.label == label) != HUNCH_OK)
                assert_int_equal(hunch_teach(h, &x, label), HUNCH_OK);
            assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
            for (int k = 0; k < STREAM_CLASSES; k++)
                if (!isfinite(scores[k]))
                    fail_msg("%s, seed %d, round %d: a score of %g", hunch_spec(h), (int)seed, i, (double)scores[k]);
        }
        learner_finite(h, "values between the limits");
        hunch_free(h);
    }
}

static void test_spread_stays_finite(void **unused)
{
    (void)unused;
    specs_each(spread_stays_finite);
}

/* Every lane of the check sees it, and the reason names the feature. */
static void test_larger_values_are_refused(void **unused)
{
    (void)unused;
    enum { MANY = 70 };
    uint32_t index[MANY];
    float value[MANY], beyond[] = {nextafterf(LARGE, INFINITY), -nextafterf(LARGE, INFINITY), FLT_MAX, NAN, -INFINITY};
    hunch *h = learner_make("banditron", 1);
    for (uint32_t i = 0; i < MANY; i++) {
        index[i] = 3 * i + 1;
        value[i] = i % 2 ? LARGE : -LARGE;
    }
    hunch_vec x = {index, value, MANY};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    for (size_t b = 0; b < sizeof beyond / sizeof *beyond; b++)
        for (uint32_t i = 0; i < MANY; i++) {
            char feature[32];
            float before = value[i];
            value[i] = beyond[b];
            assert_int_equal(hunch_predict(h, &x, &c), HUNCH_EINVAL);
            snprintf(feature, sizeof feature, "feature %u:", index[i]);
            assert_non_null(strstr(hunch_reason(h), feature));
            value[i] = before;
        }
    assert_int_equal(hunch_rounds(h), 1);
    hunch_free(h);
}

static void test_normalised_tiny_examples_have_length_one(void **unused)
{
    (void)unused;
    hunch *h = learner_make("perceptron:normalize=l2", 1);
    float value[] = {TINY, TINY}, scores[STREAM_CLASSES];
    hunch_vec x = {NULL, value, 2};
    assert_int_equal(hunch_teach(h, &x, 1), HUNCH_OK);
    assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
    assert_true(fabs(scores[1] - 1) < 1e-6);
    learner_finite(h, "tiny");
    hunch_free(h);
}

static void test_the_largest_limit_of_features(void **unused)
{
    (void)unused;
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    hunch_choice c;
    uint32_t index[] = {3, UINT32_MAX};
    float value[] = {1, 1};
    hunch_vec near = {index, value, 1}, far = {index, value, 2};
    options.learner = "banditron:bias=1";
    options.max_features = UINT32_MAX;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    assert_int_equal(hunch_predict(h, &near, &c), HUNCH_OK);
    assert_int_equal(hunch_features(h), 4);
    assert_int_equal(hunch_predict(h, &far, &c), HUNCH_ELIMIT);
    hunch_free(h);
}

/* --- the same bytes on every machine --- */

static void play_with(const char *spec, const char *cpu, hunch **ret)
{
    if (cpu)
        setenv("HUNCH_CPU", cpu, 1);
    *ret = learner_make(spec, 7);
    for (int i = 0; i < STREAM_ROWS; i++)
        learner_play(*ret, &data, i);
    unsetenv("HUNCH_CPU");
}

static void instruction_sets_agree(const char *spec)
{
    hunch *best, *other;
    play_with(spec, NULL, &best);
    for (int i = 0; i < 2; i++) {
        play_with(spec, i ? "plain" : "avx2", &other);
        learners_equal(best, other, "two instruction sets");
        hunch_free(other);
    }
    hunch_free(best);
}

static void test_instruction_sets_agree(void **unused)
{
    (void)unused;
    specs_each(instruction_sets_agree);
}

/* Labels that somebody else has shown with tiny probabilities, and large values of the server's bound. */
static void tiny_probabilities(const char *spec)
{
    static const double probs[] = {1e-6, 1e-12, 1e-30, 1e-300, 5e-324};
    const uint32_t index[] = {0, 1, 2};
    for (size_t p = 0; p < sizeof probs / sizeof *probs; p++)
        for (int large = 0; large < 2; large++) {
            const float big = large ? 1e9f : 1, value[] = {big, big / 2, 1};
            hunch_vec x = {index, value, 3};
            hunch_choice c;
            float scores[STREAM_CLASSES];
            hunch *h = learner_make(spec, 1);
            for (int i = 0; i < 12; i++) {
                assert_int_equal(hunch_learn(h, &x, (uint32_t)i % STREAM_CLASSES, probs[p], i % 2), HUNCH_OK);
                assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
                c.prob = probs[p];
                assert_int_equal(hunch_feedback(h, &x, &c, i % 3 == 0), HUNCH_OK);
                assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
                for (int k = 0; k < STREAM_CLASSES; k++)
                    if (!isfinite(scores[k]))
                        fail_msg("%s: a score of %g after a probability of %g", spec, (double)scores[k], probs[p]);
            }
            learner_finite(h, "after tiny probabilities");
            hunch_free(h);
        }
}

static void test_tiny_probabilities(void **unused)
{
    (void)unused;
    specs_each(tiny_probabilities);
}

/* Room that is made beforehand for features that may come is not memory that is taken. */
static void test_bytes_are_those_taken(void **unused)
{
    (void)unused;
    hunch *h = learner_make("banditron", 1);
    const float value[] = {1};
    hunch_choice c;
    uint64_t first = 0;
    for (uint32_t last = 600000; last <= 700000; last += 50000) {
        hunch_vec x = {&last, value, 1};
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        first = first ? first : hunch_bytes(h);
    }
    assert_in_range(hunch_bytes(h), first, first + first / 2);
    hunch_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_those_taken),
        cmocka_unit_test(test_numbers_stay_finite),
        cmocka_unit_test(test_text_stays_finite),
        cmocka_unit_test(test_spread_stays_finite),
        cmocka_unit_test(test_tiny_probabilities),
        cmocka_unit_test(test_larger_values_are_refused),
        cmocka_unit_test(test_normalised_tiny_examples_have_length_one),
        cmocka_unit_test(test_the_largest_limit_of_features),
        cmocka_unit_test(test_instruction_sets_agree),
    };
    small_stream_make(&data, 1);
    return cmocka_run_group_tests_name("extremes", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Two learners into one, for every learner and form in the table. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "specs.h"

static struct small_stream data, other;

static void play(hunch *h, const struct small_stream *s, int from, int to)
{
    for (int i = from; i < to; i++)
        learner_play(h, s, i);
}

/* --- looking inside --- */

static bool tensor_find(const hunch *h, const char *name, hunch_tensor *ret)
{
    for (size_t i = 0; i < hunch_tensors(h, 0, NULL); i++) {
        hunch_tensors(h, i, ret);
        if (!strcmp(ret->name, name))
            return true;
    }
    return false;
}

static double number(const hunch *h, const char *name, size_t i, size_t j)
{
    double v = NAN;
    assert_int_equal(hunch_get(h, name, i, j, &v), HUNCH_OK);
    return v;
}

/* The largest |W - sign b / (A + mu)|, where mu is Newtron's; 0 where there is no such thing. */
static double quotient_drift(const hunch *h, const char *W, const char *b, double sign)
{
    hunch_tensor t;
    bool ball = !strcmp(W, "W") && tensor_find(h, "mu", &t);
    double largest = 0, mu = ball ? number(h, "mu", 0, 0) : 0;
    sign = ball ? -1 : sign;
    if (!tensor_find(h, W, &t) || !tensor_find(h, b, &t) || !tensor_find(h, "A", &t))
        return 0;
    for (size_t i = 0; i < t.rows; i++)
        for (size_t j = 0; j < t.columns; j++)
            largest = fmax(largest, fabs(number(h, W, i, j) - sign * number(h, b, i, j) / (number(h, "A", i, j) + mu)));
    return largest;
}

static double norm_drift(const hunch *h)
{
    hunch_tensor t;
    double sum = 0;
    if (strstr(hunch_spec(h), "scale=auto")) /* the constant's row is not among the columns */
        return 0;
    if (strncmp(hunch_spec(h), "newtron", 7) || !tensor_find(h, "U", &t))
        return 0;
    for (size_t i = 0; i < t.rows; i++)
        for (size_t j = 0; j < t.columns; j++)
            sum += number(h, "U", i, j) * number(h, "U", i, j);
    return fabs(sum - number(h, "norm2", 0, 0));
}

static void derived_tensors_agree(const hunch *h)
{
    assert_true(quotient_drift(h, "W", "b", 1) < 1e-6);
    assert_true(quotient_drift(h, "W", "theta", 1) < 1e-6);
    assert_true(quotient_drift(h, "U", "b", -1) < 1e-6);
    assert_true(norm_drift(h) < 1e-5);
}

/* --- merges --- */

static void halves_merge(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 8);
    play(a, &data, 0, 150);
    play(b, &other, 0, 100);
    assert_int_equal(hunch_merge(a, b), HUNCH_OK);
    assert_int_equal(hunch_rounds(a), 250);
    learner_finite(a, "merged");
    derived_tensors_agree(a);
    play(a, &data, 150, 200);
    learner_finite(a, "merged");
    hunch_free(a);
    hunch_free(b);
}

static void test_halves(void **unused)
{
    (void)unused;
    specs_each(halves_merge);
}

/* A learner that has seen nothing adds nothing, from either side. */
static void nothing_adds_nothing(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    play(a, &data, 0, 150);
    float before[STREAM_CLASSES], after[STREAM_CLASSES];
    hunch_vec x = small_stream_row(&data, 170);
    assert_int_equal(hunch_scores(a, &x, before), HUNCH_OK);
    assert_int_equal(hunch_merge(b, a), HUNCH_OK);
    assert_int_equal(hunch_scores(b, &x, after), HUNCH_OK);
    /* eg-banditron's scores have a common factor that depends on the way to them. */
    float factor = strncmp(spec, "eg-", 3) ? 1 : after[0] / before[0];
    for (int k = 0; k < STREAM_CLASSES; k++)
        if (fabsf(factor * before[k] - after[k]) > 2e-4f * (1 + fabsf(before[k])))
            fail_msg("%s: class %d: %g, then %g", spec, k, before[k], after[k]);
    hunch_free(a);
    hunch_free(b);
}

static void test_nothing(void **unused)
{
    (void)unused;
    specs_each(nothing_adds_nothing);
}

/* Least squares is a sum over examples: the merge of two halves has learned what one learner has from both. */
static void halves_are_the_whole(const char *spec, double within)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7), *whole = learner_make(spec, 7);
    float apart[STREAM_CLASSES], together[STREAM_CLASSES];
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        assert_int_equal(hunch_teach(i % 2 ? a : b, &x, data.label[i]), HUNCH_OK);
        assert_int_equal(hunch_teach(whole, &x, data.label[i]), HUNCH_OK);
    }
    assert_int_equal(hunch_merge(a, b), HUNCH_OK);
    for (int i = 0; i < STREAM_ROWS; i += 17) {
        hunch_vec x = small_stream_row(&other, i);
        assert_int_equal(hunch_scores(a, &x, apart), HUNCH_OK);
        assert_int_equal(hunch_scores(whole, &x, together), HUNCH_OK);
        for (int k = 0; k < STREAM_CLASSES; k++)
            if (fabs((double)apart[k] - together[k]) > within)
                fail_msg("%s: %g, not %g", spec, apart[k], together[k]);
    }
    hunch_free(a);
    hunch_free(b);
    hunch_free(whole);
}

static void test_exact(void **unused)
{
    (void)unused;
    halves_are_the_whole("linucb:matrix=full", 1e-4);
    halves_are_the_whole("lints:matrix=full,lambda=0.1", 1e-3);
    halves_are_the_whole("squarecb:matrix=full", 1e-4);
    halves_are_the_whole("confidit:matrix=full", 1e-4);
    halves_are_the_whole("confidit", 1e-4);
    halves_are_the_whole("confidit:matrix=kernel,budget=1000", 1e-4);
    halves_are_the_whole("cova:base=naive-bayes", 1e-4);
}

/* What a projection moved adds up too: the dual form's merge is that of the full matrices. */
static void test_dual(void **unused)
{
    (void)unused;
    const char *specs[] = {"confidit:matrix=full,project=yes",
                           "confidit:matrix=kernel,kernel=linear,budget=1000,project=yes"};
    float scores[2][STREAM_CLASSES];
    hunch *merged[2];
    for (int f = 0; f < 2; f++) {
        hunch *b = learner_make(specs[f], 8);
        merged[f] = learner_make(specs[f], 7);
        play(merged[f], &data, 0, 70);
        play(b, &data, 70, 140);
        assert_int_equal(hunch_merge(merged[f], b), HUNCH_OK);
        hunch_free(b);
    }
    for (int i = 0; i < STREAM_ROWS; i += 17) {
        hunch_vec x = small_stream_row(&other, i);
        for (int f = 0; f < 2; f++)
            assert_int_equal(hunch_scores(merged[f], &x, scores[f]), HUNCH_OK);
        for (int k = 0; k < STREAM_CLASSES; k++)
            if (fabsf(scores[0][k] - scores[1][k]) > 1e-3f)
                fail_msg("row %d, class %d: %g, not %g", i, k, (double)scores[1][k], (double)scores[0][k]);
    }
    hunch_free(merged[0]);
    hunch_free(merged[1]);
}

/* matrix=auto may have come to different forms: the smaller one is that of the merge, whichever way round. */
static void dense_play(hunch *h, uint32_t features, int rounds)
{
    float value[400];
    hunch_vec x = {NULL, value, features};
    hunch_choice c;
    for (int i = 0; i < rounds; i++) {
        for (uint32_t j = 0; j < features; j++)
            value[j] = (float)((j * 7 + (uint32_t)i * 3) % 5) / 5;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, i % 3 == 0), HUNCH_OK);
    }
}

static hunch *auto_make(uint32_t features)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "confident";
    options.classes = STREAM_CLASSES;
    options.memory = 40000;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    dense_play(h, 24, 30);
    dense_play(h, features, 30);
    return h;
}

static void forms_merge(uint32_t first, uint32_t second, const char *form)
{
    hunch *a = auto_make(first), *b = auto_make(second);
    assert_int_equal(hunch_merge(a, b), HUNCH_OK);
    assert_string_equal(hunch_form(a), form);
    learner_finite(a, "merged");
    play(a, &data, 100, 200);
    learner_finite(a, "merged");
    hunch_free(a);
    hunch_free(b);
}

static void test_forms(void **unused)
{
    (void)unused;
    static const uint32_t features[] = {24, 100, 400};
    static const char *const forms[] = {"full", "span", "span"};
    for (int i = 0; i < 3; i++) {
        hunch *h = auto_make(features[i]), *loaded = NULL;
        void *bytes;
        size_t size;
        assert_string_equal(hunch_form(h), forms[i]);
        assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
        assert_string_equal(hunch_form(loaded), forms[i]);
        play(h, &data, 0, 50);
        play(loaded, &data, 0, 50);
        learners_equal(h, loaded, "a learner whose form has changed, and its copy");
        hunch_free_bytes(bytes);
        hunch_free(loaded);
        hunch_free(h);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            forms_merge(features[i], features[j], forms[i > j ? i : j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_halves), cmocka_unit_test(test_nothing),
                                       cmocka_unit_test(test_exact), cmocka_unit_test(test_dual),
                                       cmocka_unit_test(test_forms)};
    small_stream_make(&data, 1);
    small_stream_make(&other, 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What every learner promises, checked for every learner in the table. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "specs.h"

static struct small_stream data, other;

static void play(hunch *h, const struct small_stream *s, int from, int to)
{
    for (int i = from; i < to; i++)
        learner_play(h, s, i);
}

/* --- choices --- */

static void choices_are_sound(const char *spec)
{
    hunch *h = learner_make(spec, 7);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_choice c = learner_play(h, &data, i);
        assert_int_equal(c.round, i + 1);
        assert_true(c.label < STREAM_CLASSES && c.greedy < STREAM_CLASSES);
        assert_true(c.prob > 0 && c.prob <= 1);
    }
    assert_int_equal(hunch_rounds(h), STREAM_ROWS);
    hunch_free(h);
}

/* What hunch_explain tells is the difference of two hunch_scores, of sparse and of dense examples, and changes nothing. */
static void explanations_are_differences(const char *spec)
{
    hunch *h = learner_make(spec, 4);
    for (int i = 0; i < 60; i++)
        learner_play(h, &data, i);
    hunch_vec x = small_stream_row(&data, 61);
    float whole[STREAM_CLASSES], part[STREAM_CLASSES], losses[64], dense_losses[64], value[64];
    uint32_t index[64];
    float dense[64] = {0};
    uint32_t width = x.index[x.n - 1] + 1;
    assert_true(x.n > 1 && x.n <= 64 && width <= 64);
    for (size_t i = 0; i < x.n; i++)
        dense[x.index[i]] = x.value[i];
    hunch_vec all = {NULL, dense, width};
    void *before, *after;
    size_t size, size_after;
    assert_int_equal(hunch_write(h, &before, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_scores(h, &x, whole), HUNCH_OK);
    for (uint32_t k = 0; k < STREAM_CLASSES; k++) {
        assert_int_equal(hunch_explain(h, &x, k, losses), HUNCH_OK);
        assert_int_equal(hunch_explain(h, &all, k, dense_losses), HUNCH_OK);
        for (size_t i = 0; i < x.n; i++) {
            hunch_vec without = {index, value, 0};
            for (size_t j = 0; j < x.n; j++)
                if (j != i) {
                    index[without.n] = x.index[j];
                    value[without.n++] = x.value[j];
                }
            assert_int_equal(hunch_scores(h, &without, part), HUNCH_OK);
            assert_true(losses[i] == whole[k] - part[k]);
            assert_true(fabsf(dense_losses[x.index[i]] - losses[i]) <= 1e-4F * (1 + fabsf(losses[i])));
        }
    }
    assert_int_equal(hunch_explain(h, &x, STREAM_CLASSES, losses), HUNCH_EINVAL);
    assert_int_equal(hunch_explain(h, &(hunch_vec){0}, 0, losses), HUNCH_OK);
    assert_int_equal(hunch_write(h, &after, &size_after, NULL), HUNCH_OK);
    assert_true(size == size_after && !memcmp(before, after, size));
    hunch_free_bytes(before);
    hunch_free_bytes(after);
    hunch_free(h);
}

static void scores_name_the_greedy_label(const char *spec)
{
    if (strstr(spec, "ties=random"))
        return;
    hunch *h = learner_make(spec, 7);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        uint32_t greedy, best = 0;
        float scores[STREAM_CLASSES];
        assert_int_equal(hunch_greedy(h, &x, &greedy), HUNCH_OK);
        assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
        for (uint32_t k = 1; k < STREAM_CLASSES; k++)
            best = scores[k] > scores[best] ? k : best;
        hunch_choice c = learner_play(h, &data, i);
        assert_int_equal(c.greedy, greedy);
        assert_true(scores[best] == scores[greedy]);
        for (uint32_t k = 0; k < STREAM_CLASSES; k++)
            assert_true(isfinite(scores[k]));
    }
    hunch_free(h);
}

/* --- determinism, files, batches --- */

static void same_seed_same_run(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_choice one = learner_play(a, &data, i), two = learner_play(b, &data, i);
        assert_memory_equal(&one, &two, sizeof one);
    }
    learners_equal(a, b, "two runs with one seed");
    hunch_free(a);
    hunch_free(b);
}

static void saved_and_loaded_goes_on_as_if_never_stopped(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = NULL;
    void *bytes;
    size_t size;
    hunch_error error = {""};
    play(a, &data, 0, 120);
    assert_int_equal(hunch_set_meta(a, "labels", "a\0b\0c\0d", 8), HUNCH_OK);
    assert_int_equal(hunch_write(a, &bytes, &size, NULL), HUNCH_OK);
    if (hunch_read(&b, bytes, size, &error) != HUNCH_OK)
        fail_msg("%s: %s", spec, error.message);
    hunch_free_bytes(bytes);
    learners_equal(a, b, "saved and loaded");
    play(a, &data, 120, STREAM_ROWS);
    play(b, &data, 120, STREAM_ROWS);
    learners_equal(a, b, "runs that stopped and did not");
    size_t meta;
    assert_memory_equal(hunch_get_meta(b, "labels", &meta), "a\0b\0c\0d", 8);
    assert_int_equal(meta, 8);
    hunch_free(a);
    hunch_free(b);
}

static void batches_equal_single_rows(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    hunch_choice choices[STREAM_ROWS];
    hunch_batch batch = {STREAM_ROWS, data.start, data.index, data.value, 0};
    size_t done;
    assert_int_equal(hunch_run_batch(b, &batch, data.label, choices, &done), HUNCH_OK);
    assert_int_equal(done, STREAM_ROWS);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_choice c = learner_play(a, &data, i);
        assert_memory_equal(&c, &choices[i], sizeof c);
    }
    learners_equal(a, b, "row by row and in one batch");
    uint32_t labels[STREAM_ROWS];
    float *scores = calloc((size_t)STREAM_ROWS * STREAM_CLASSES, sizeof *scores);
    assert_non_null(scores);
    assert_int_equal(hunch_score_batch(a, &batch, labels, scores), HUNCH_OK);
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        uint32_t greedy;
        assert_int_equal(hunch_greedy(a, &x, &greedy), HUNCH_OK);
        assert_int_equal(greedy, labels[i]);
    }
    free(scores);
    hunch_free(a);
    hunch_free(b);
}

/* Zeros written out change nothing but what the example looks like in memory. */
static void dense_equals_sparse(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    float rows[STREAM_ROWS][STREAM_FEATURES];
    hunch_choice one[STREAM_ROWS], two[STREAM_ROWS];
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < STREAM_ROWS; i++)
        for (int64_t j = data.start[i]; j < data.start[i + 1]; j++)
            rows[i][data.index[j]] = data.value[j];
    hunch_batch sparse = {STREAM_ROWS, data.start, data.index, data.value, 0};
    hunch_batch dense = {STREAM_ROWS, NULL, NULL, &rows[0][0], STREAM_FEATURES};
    assert_int_equal(hunch_run_batch(a, &sparse, data.label, one, NULL), HUNCH_OK);
    assert_int_equal(hunch_run_batch(b, &dense, data.label, two, NULL), HUNCH_OK);
    for (int i = 0; i < STREAM_ROWS; i++) {
        assert_int_equal(one[i].label, two[i].label);
        assert_int_equal(one[i].greedy, two[i].greedy);
    }
    hunch_free(a);
    hunch_free(b);
}

static void spec_reads_back(const char *spec)
{
    hunch *a = learner_make(spec, 7), *b = learner_make(hunch_spec(a), 7);
    assert_string_equal(hunch_spec(a), hunch_spec(b));
    hunch_free(a);
    hunch_free(b);
}

/* --- bad input changes nothing --- */

static void refused(hunch *h, const hunch *before, hunch_status status, const char *what)
{
    if (status == HUNCH_OK)
        fail_msg("%s: %s was accepted", hunch_spec(h), what);
    assert_true(strlen(hunch_reason(h)) > 0);
    learners_equal(h, before, what);
}

static void bad_examples_are_refused(hunch *h, const hunch *before, const hunch_choice *c)
{
    uint32_t backwards[] = {3, 2}, twice[] = {2, 2}, huge[] = {0, UINT32_MAX}, fine[] = {0, 1};
    float values[] = {1, 1}, not_a_number[] = {1, NAN}, infinite[] = {-INFINITY, 1};
    struct {
        hunch_vec x;
        const char *what;
    } bad[] = {
        {{backwards, values, 2}, "decreasing indices"},
        {{twice, values, 2}, "an index twice"},
        {{huge, values, 2}, "a huge index"},
        {{fine, not_a_number, 2}, "NaN"},
        {{fine, infinite, 2}, "infinity"},
        {{NULL, NULL, 3}, "NULL values"},
    };
    hunch_choice out = *c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused(h, before, hunch_predict(h, &bad[i].x, &out), bad[i].what);
        assert_memory_equal(&out, c, sizeof out);
        refused(h, before, hunch_feedback(h, &bad[i].x, c, 1), bad[i].what);
        refused(h, before, hunch_teach(h, &bad[i].x, 0), bad[i].what);
        float scores[STREAM_CLASSES];
        assert_int_not_equal(hunch_scores(h, &bad[i].x, scores), HUNCH_OK);
    }
}

static void bad_choices_are_refused(hunch *h, const hunch *before, const hunch_choice *good)
{
    hunch_vec x = small_stream_row(&data, 0);
    hunch_choice c = *good;
    c.label = STREAM_CLASSES;
    refused(h, before, hunch_feedback(h, &x, &c, 0), "a label that does not exist");
    c = *good;
    c.greedy = UINT32_MAX;
    refused(h, before, hunch_feedback(h, &x, &c, 0), "a greedy label that does not exist");
    const double probs[] = {0, -1, 1.5, NAN, INFINITY};
    for (int i = 0; i < 5; i++) {
        c = *good;
        c.prob = probs[i];
        refused(h, before, hunch_feedback(h, &x, &c, 1), "an impossible probability");
    }
    c = *good;
    c.round = 0;
    refused(h, before, hunch_feedback(h, &x, &c, 1), "round 0");
    c.round = hunch_rounds(h) + 1;
    refused(h, before, hunch_feedback(h, &x, &c, 1), "a round of the future");
    refused(h, before, hunch_feedback(h, &x, good, 2), "right = 2");
    refused(h, before, hunch_teach(h, &x, STREAM_CLASSES), "a true label that does not exist");
}

static void bad_input_changes_nothing(const char *spec)
{
    hunch *h = learner_make(spec, 7), *before = learner_make(spec, 7);
    play(h, &data, 0, 49);
    play(before, &data, 0, 49);
    hunch_choice c = learner_play(h, &data, 49);
    learner_play(before, &data, 49);
    bad_examples_are_refused(h, before, &c);
    bad_choices_are_refused(h, before, &c);
    hunch_free(h);
    hunch_free(before);
}

/* --- feedback in any order --- */

static void any_feedback_is_safe(const char *spec)
{
    hunch *h = learner_make(spec, 7);
    hunch_choice kept[STREAM_ROWS];
    uint64_t r = 1;
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        assert_int_equal(hunch_predict(h, &x, &kept[i]), HUNCH_OK);
        for (int times = 0; times < 3; times++) { /* late, repeated, swapped; a third never comes */
            r = r * 6364136223846793005u + 1442695040888963407u;
            int j = (int)((r >> 33) % (unsigned)(i + 1));
            if (j % 3 == 0)
                continue;
            hunch_vec old = small_stream_row(&data, j);
            assert_int_equal(hunch_feedback(h, &old, &kept[j], kept[j].label == data.label[j]), HUNCH_OK);
        }
    }
    for (int i = 0; i < STREAM_ROWS; i++) {
        hunch_vec x = small_stream_row(&data, i);
        float scores[STREAM_CLASSES];
        assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
        for (int k = 0; k < STREAM_CLASSES; k++)
            assert_true(isfinite(scores[k]));
    }
    hunch_free(h);
}

/* --- growth --- */

static void classes_and_features_grow(const char *spec)
{
    hunch *h = learner_make(spec, 7);
    play(h, &data, 0, 100);
    hunch_vec x = small_stream_row(&data, 0);
    float before[STREAM_CLASSES], after[STREAM_CLASSES + 20];
    assert_int_equal(hunch_scores(h, &x, before), HUNCH_OK);
    assert_int_equal(hunch_add_classes(h, 20), HUNCH_OK);
    assert_int_equal(hunch_classes(h), STREAM_CLASSES + 20);
    play(h, &data, 100, 200);
    uint32_t far_index[] = {1, 5000};
    float value[] = {1, 0.5f};
    hunch_vec far = {far_index, value, 2};
    hunch_choice c;
    if (!strstr(spec, "matrix=full") && !strstr(spec, "matrix=kernel")) {
        assert_int_equal(hunch_predict(h, &far, &c), HUNCH_OK);
        assert_int_equal(hunch_features(h), 5001);
    }
    for (int i = 0; i < 30; i++)
        assert_int_equal(hunch_teach(h, &x, STREAM_CLASSES + 19), HUNCH_OK);
    assert_int_equal(hunch_scores(h, &x, after), HUNCH_OK);
    for (int k = 0; k < STREAM_CLASSES + 20; k++)
        assert_true(isfinite(after[k]));
    hunch_free(h);
}

/* Classes that come while little is known; what depended on their number then goes on as it was. */
static void grown_learners_are_saved(const char *spec)
{
    hunch *h = learner_make(spec, 7), *again = NULL;
    hunch_error error = {""};
    void *bytes;
    size_t size;
    play(h, &data, 0, 20);
    assert_int_equal(hunch_add_classes(h, 2), HUNCH_OK);
    play(h, &data, 20, 40);
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    if (hunch_read(&again, bytes, size, &error) != HUNCH_OK)
        fail_msg("%s: %s", spec, error.message);
    hunch_free_bytes(bytes);
    learners_equal(h, again, "after growth, saved and loaded");
    play(h, &data, 40, 80);
    play(again, &data, 40, 80);
    learners_equal(h, again, "runs that stopped after growth and did not");
    hunch_free(again);
    hunch_free(h);
}

/* --- hostile models --- */

static void damaged_models_are_refused(const char *spec)
{
    hunch *h = learner_make(spec, 7), *got = NULL;
    char *bytes;
    size_t size;
    play(h, &data, 0, 60);
    assert_int_equal(hunch_write(h, (void **)&bytes, &size, NULL), HUNCH_OK);
    size_t step = size / 400 + 1;
    for (size_t i = 0; i < size; i += step) {
        hunch_error error = {""};
        assert_int_not_equal(hunch_read(&got, bytes, i, &error), HUNCH_OK);
        assert_true(strlen(error.message) > 0);
        bytes[i] ^= 0x10;
        assert_int_not_equal(hunch_read(&got, bytes, size, NULL), HUNCH_OK);
        bytes[i] ^= 0x10;
    }
    assert_int_equal(hunch_read(&got, bytes, size, NULL), HUNCH_OK);
    hunch_free(got);
    hunch_free_bytes(bytes);
    hunch_free(h);
}

#define FOR_EVERY_SPEC(X)                                                                                              \
    X(choices_are_sound)                                                                                               \
    X(explanations_are_differences)                                                                                    \
    X(scores_name_the_greedy_label)                                                                                    \
    X(same_seed_same_run)                                                                                              \
    X(saved_and_loaded_goes_on_as_if_never_stopped)                                                                    \
    X(batches_equal_single_rows)                                                                                       \
    X(dense_equals_sparse)                                                                                             \
    X(spec_reads_back)                                                                                                 \
    X(bad_input_changes_nothing)                                                                                       \
    X(any_feedback_is_safe)                                                                                            \
    X(classes_and_features_grow)                                                                                       \
    X(grown_learners_are_saved)                                                                                        \
    X(damaged_models_are_refused)

#define TEST(name)                                                                                                     \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        specs_each(name);                                                                                              \
    }
FOR_EVERY_SPEC(TEST)

int main(int argc, char **argv)
{
#define ENTRY(name) cmocka_unit_test(test_##name),
    const struct CMUnitTest tests[] = {FOR_EVERY_SPEC(ENTRY)};
    specs_choose(argc, argv);
    small_stream_make(&data, 1);
    small_stream_make(&other, 2);
    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}

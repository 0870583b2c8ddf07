/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices among some labels only, and labels that are retired. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "specs.h"

#define K STREAM_CLASSES

static struct small_stream data;

static size_t mask_labels(unsigned mask, uint32_t ret[K])
{
    size_t n = 0;
    for (uint32_t k = 0; k < K; k++)
        if (mask >> k & 1)
            ret[n++] = k;
    return n;
}

/* Some learners draw before they choose, so that their chances differ from draw to draw. */
static bool draws_first(const char *spec)
{
    return strstr(spec, "adabandit") || strstr(spec, "lints") || strstr(spec, "ties=random");
}

/* The chances add up to 1 within the mask and are what choices report. */
static void mask_check(hunch *h, const char *spec, const hunch_vec *x, unsigned mask)
{
    uint32_t labels[K];
    size_t n = mask_labels(mask, labels);
    double chances[K], sum = 0;
    assert_int_equal(hunch_chances(h, x, labels, n, chances), HUNCH_OK);
    for (uint32_t k = 0; k < K; k++) {
        sum += chances[k];
        assert_true(chances[k] >= 0 && chances[k] <= 1);
        if (!(mask >> k & 1) && chances[k] != 0)
            fail_msg("%s: label %u has the chance %g and is not eligible (mask %x)", spec, k, chances[k], mask);
    }
    if (fabs(sum - 1) > (strstr(spec, "lints") ? 1e-2 : 1e-6))
        fail_msg("%s: the chances add up to %.12f (mask %x)", spec, sum, mask);
    for (uint64_t seed = 0; seed < 8; seed++) {
        hunch_choice c;
        assert_int_equal(hunch_peek_among(h, x, labels, n, seed << 30, &c), HUNCH_OK);
        if (!(mask >> c.label & 1) || !(mask >> c.greedy & 1))
            fail_msg("%s: label %u, greedy %u (mask %x)", spec, c.label, c.greedy, mask);
        assert_true(c.prob > 0 && c.prob <= 1);
        if (n == 1)
            assert_true(fabs(c.prob - 1) < 1e-9);
        if (!draws_first(spec) && fabs(c.prob - chances[c.label]) > 1e-6)
            fail_msg("%s: label %u has prob %.12f and chance %.12f (mask %x)", spec, c.label, c.prob, chances[c.label],
                     mask);
    }
}

/* Drawn from many seeds, each label comes as often as the probability that its choices report. */
static void mask_frequencies(hunch *h, const char *spec, const hunch_vec *x, unsigned mask)
{
    enum { PEEKS = 600 };
    uint32_t labels[K];
    size_t n = mask_labels(mask, labels);
    double prob[K] = {0};
    int shown[K] = {0};
    for (uint64_t seed = 0; seed < PEEKS; seed++) {
        hunch_choice c;
        assert_int_equal(hunch_peek_among(h, x, labels, n, seed << 20, &c), HUNCH_OK);
        shown[c.label]++;
        prob[c.label] = c.prob;
    }
    for (int k = 0; k < K; k++) {
        double share = (double)shown[k] / PEEKS, sd = sqrt(prob[k] * (1 - prob[k]) / PEEKS);
        if (fabs(share - prob[k]) > 5 * sd + 4e-3)
            fail_msg("%s: label %d was shown in %.4f of all choices, its prob is %.4f (mask %x)", spec, k, share,
                     prob[k], mask);
    }
}

static void masks_of_every_size(const char *spec)
{
    hunch *h = learner_make(spec, 7);
    for (int i = 0; i < 60; i++) {
        learner_play(h, &data, i);
        hunch_vec x = small_stream_row(&data, STREAM_ROWS - 1 - i);
        if (i != 3 && i != 59)
            continue;
        for (unsigned mask = 1; mask < 1u << K; mask++)
            mask_check(h, spec, &x, mask);
        if (!strstr(spec, "ties=random"))
            mask_frequencies(h, spec, &x, K > 2 ? 0x6 : 0x3);
    }
    hunch_free(h);
}

static void test_masks_of_every_size(void **unused)
{
    (void)unused;
    specs_each(masks_of_every_size);
    masks_of_every_size("regcb:rule=elimination,floor=0.1");
    masks_of_every_size("panel:members=[confident;consistent=banditron;consistent=linucb],floor=0.1");
    masks_of_every_size("exp4:experts=[epoch-greedy;confident;exp4:experts=[confident]]");
    masks_of_every_size("adabandit:rho=0");
    masks_of_every_size("adabandit:rho=1");
    masks_of_every_size("banditron:gamma=0");
    masks_of_every_size("squarecb:floor=1");
}

/* Rounds with masks and answers that come late: two learners that are given the same are the same, also over a file. */
static void masks_and_late_answers(const char *spec)
{
    hunch *a = learner_make(spec, 3), *b = learner_make(spec, 3), *read = NULL;
    hunch_choice one[20], two;
    for (int i = 0; i < 60; i++) {
        uint32_t labels[K];
        hunch_vec x = small_stream_row(&data, i);
        size_t n = mask_labels(1 + (unsigned)i * 7 % ((1u << K) - 1), labels);
        assert_int_equal(hunch_predict_among(a, &x, labels, n, &one[i % 20]), HUNCH_OK);
        assert_int_equal(hunch_predict_among(b, &x, labels, n, &two), HUNCH_OK);
        assert_memory_equal(&one[i % 20], &two, sizeof two);
        if (i % 20 != 19)
            continue;
        for (int j = 19; j >= 0; j--) {
            hunch_vec late = small_stream_row(&data, i - 19 + j);
            int right = one[j].label == data.label[i - 19 + j];
            assert_int_equal(hunch_feedback(a, &late, &one[j], right), HUNCH_OK);
            assert_int_equal(hunch_feedback(b, &late, &one[j], right), HUNCH_OK);
        }
        void *bytes;
        size_t size;
        assert_int_equal(hunch_write(b, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&read, bytes, size, NULL), HUNCH_OK);
        hunch_free_bytes(bytes);
        hunch_free(b);
        b = read;
    }
    learner_finite(a, "after rounds with masks");
    learners_equal(a, b, "one of them went through a file");
    hunch_free(a);
    hunch_free(b);
}

static void test_masks_and_late_answers(void **unused)
{
    (void)unused;
    specs_each(masks_and_late_answers);
}

/* A mask of all labels is no mask. */
static void all_eligible_is_as_ever(const char *spec)
{
    uint32_t all[K + 1];
    for (uint32_t k = 0; k <= K; k++)
        all[k] = (k + 1) % K; /* one of them twice */
    hunch *a = learner_make(spec, 5), *b = learner_make(spec, 5);
    for (int i = 0; i < 40; i++) {
        hunch_choice one, two;
        hunch_vec x = small_stream_row(&data, i);
        assert_int_equal(hunch_predict(a, &x, &one), HUNCH_OK);
        assert_int_equal(hunch_predict_among(b, &x, all, K + 1, &two), HUNCH_OK);
        assert_memory_equal(&one, &two, sizeof one);
        int right = one.label == data.label[i];
        assert_int_equal(hunch_feedback(a, &x, &one, right), HUNCH_OK);
        assert_int_equal(hunch_feedback(b, &x, &two, right), HUNCH_OK);
    }
    learners_equal(a, b, "with no mask, and with one of all labels");
    hunch_free(a);
    hunch_free(b);
}

static void test_all_eligible_is_as_ever(void **unused)
{
    (void)unused;
    specs_each(all_eligible_is_as_ever);
}

/* All retired but one; taught and scored all the same; kept in files and with more classes; restored. */
static void retired_labels(const char *spec)
{
    hunch *h = learner_make(spec, 9), *read = NULL;
    hunch_choice c;
    uint32_t greedy;
    float scores[K + 1];
    void *bytes;
    size_t size;
    for (int i = 0; i < 30; i++)
        learner_play(h, &data, i);
    hunch_vec x = small_stream_row(&data, 31);
    for (uint32_t k = 0; k < K; k++)
        assert_int_equal(hunch_retire(h, k, 1), k < K - 1 ? HUNCH_OK : HUNCH_EINVAL);
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_read(&read, bytes, size, NULL), HUNCH_OK);
    hunch_free_bytes(bytes);
    hunch_free(h);
    h = read;
    for (uint32_t k = 0; k < K; k++)
        assert_int_equal(hunch_is_retired(h, k), k < K - 1);
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_true(c.label == K - 1 && c.greedy == K - 1 && fabs(c.prob - 1) < 1e-9);
    assert_int_equal(hunch_greedy(h, &x, &greedy), HUNCH_OK);
    assert_int_equal(greedy, K - 1);
    assert_int_equal(hunch_teach(h, &x, 0), HUNCH_OK);
    assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
    static const uint32_t gone[] = {0, K / 2 - 1}, some[] = {0, K - 1}, none[] = {K};
    assert_int_equal(hunch_predict_among(h, &x, gone, 2, &c), HUNCH_EINVAL);
    assert_int_equal(hunch_predict_among(h, &x, none, 1, &c), HUNCH_EINVAL);
    assert_int_equal(hunch_predict_among(h, &x, gone, 0, &c), HUNCH_EINVAL);
    assert_int_equal(hunch_predict_among(h, &x, some, 2, &c), HUNCH_OK);
    assert_int_equal(c.label, K - 1);
    if (!strstr(spec, "matrix=kernel") && hunch_add_classes(h, 1) == HUNCH_OK) {
        static const uint32_t new_one[] = {K};
        assert_int_equal(hunch_is_retired(h, K), 0);
        assert_int_equal(hunch_retire(h, K - 1, 1), HUNCH_OK);
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(c.label, K);
        assert_int_equal(hunch_predict_among(h, &x, new_one, 1, &c), HUNCH_OK);
    }
    for (uint32_t k = 0; k < K; k++)
        assert_int_equal(hunch_retire(h, k, 0), HUNCH_OK);
    assert_int_equal(hunch_predict_among(h, &x, gone, 2, &c), HUNCH_OK);
    assert_true(c.label == gone[0] || c.label == gone[1]);
    hunch_free(h);
}

static void test_retired_labels(void **unused)
{
    (void)unused;
    specs_each(retired_labels);
}

/* A batch's rounds are those of single calls, with a retired label too. */
static void batches_with_a_retired_label(const char *spec)
{
    enum { ROWS = 120 };
    hunch *a = learner_make(spec, 3), *b = learner_make(spec, 3);
    hunch_batch batch = {ROWS, data.start, data.index, data.value, 0};
    hunch_choice choices[ROWS];
    assert_int_equal(hunch_retire(a, 0, 1), HUNCH_OK);
    assert_int_equal(hunch_retire(b, 0, 1), HUNCH_OK);
    assert_int_equal(hunch_run_batch(a, &batch, data.label, choices, NULL), HUNCH_OK);
    for (int i = 0; i < ROWS; i++) {
        hunch_choice c = learner_play(b, &data, i);
        assert_memory_equal(&c, &choices[i], sizeof c);
    }
    learners_equal(a, b, "a batch and single calls");
    hunch_free(a);
    hunch_free(b);
}

static void test_batches_with_a_retired_label(void **unused)
{
    (void)unused;
    specs_each(batches_with_a_retired_label);
}

/* A merge keeps the retired labels of the learner that is merged into. */
static void merges_with_retired_labels(const char *spec)
{
    hunch *a = learner_make(spec, 3), *b = learner_make(spec, 4);
    hunch_choice c;
    for (int i = 0; i < 40; i++) {
        learner_play(a, &data, i);
        learner_play(b, &data, i + 40);
    }
    assert_int_equal(hunch_retire(a, 1, 1), HUNCH_OK);
    assert_int_equal(hunch_retire(b, 0, 1), HUNCH_OK);
    hunch_status status = hunch_merge(a, b);
    assert_true(status == HUNCH_OK || status == HUNCH_EUNSUPPORTED);
    assert_true(hunch_is_retired(a, 1) && !hunch_is_retired(a, 0) && !hunch_is_retired(b, 1));
    for (int i = 80; i < 120; i++) {
        hunch_vec x = small_stream_row(&data, i);
        assert_int_equal(hunch_predict(a, &x, &c), HUNCH_OK);
        assert_true(c.label != 1 && c.greedy != 1);
        assert_int_equal(hunch_feedback(a, &x, &c, c.label == data.label[i]), HUNCH_OK);
    }
    learner_finite(a, "after a merge with retired labels");
    hunch_free(a);
    hunch_free(b);
}

static void test_merges_with_retired_labels(void **unused)
{
    (void)unused;
    specs_each(merges_with_retired_labels);
}

static uint32_t largest_of(const float *score, const uint32_t *label, uint32_t n)
{
    uint32_t g = label[0];
    for (uint32_t j = 1; j < n; j++)
        g = score[label[j]] > score[g] ? label[j] : g;
    return g;
}

/* Banditron's and SquareCB's chances under a mask, as their formulas give them for the eligible labels alone: all but
 * label 1 where there are more than two. */
static void test_chances_by_formula(void **unused)
{
    (void)unused;
    uint32_t label[K], n = 0;
    for (uint32_t k = 0; k < K; k++)
        if (k != 1 || K == 2)
            label[n++] = k;
    hunch *b = learner_make("banditron:gamma=0.3", 1), *s = learner_make("squarecb:gamma=5,power=0.5", 1);
    for (int i = 0; i < 50; i++) {
        learner_play(b, &data, i);
        learner_play(s, &data, i);
    }
    for (int i = 50; i < 90; i++) {
        hunch_vec x = small_stream_row(&data, i);
        double chances[K], greed = 5 * sqrt(50), rest = 1;
        float f[K];
        assert_int_equal(hunch_scores(b, &x, f), HUNCH_OK);
        uint32_t g = largest_of(f, label, n);
        assert_int_equal(hunch_chances(b, &x, label, n, chances), HUNCH_OK);
        for (uint32_t j = 0; j < n; j++)
            assert_true(fabs(chances[label[j]] - (label[j] == g ? 0.7 : 0) - 0.3 / n) < 1e-9);
        assert_int_equal(hunch_scores(s, &x, f), HUNCH_OK);
        g = largest_of(f, label, n);
        assert_int_equal(hunch_chances(s, &x, label, n, chances), HUNCH_OK);
        for (uint32_t j = 0; j < n; j++) {
            double p = 1 / (n + greed * ((double)f[g] - f[label[j]]));
            rest -= label[j] == g ? 0 : p;
            assert_true(label[j] == g || fabs(chances[label[j]] - p) < 1e-6);
        }
        assert_true(fabs(chances[g] - rest) < 1e-6 && (K == 2 || chances[1] == 0));
    }
    hunch_free(b);
    hunch_free(s);
}

static int set_up(void **unused)
{
    (void)unused;
    small_stream_make(&data, 2);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances_by_formula),
        cmocka_unit_test(test_masks_of_every_size),
        cmocka_unit_test(test_masks_and_late_answers),
        cmocka_unit_test(test_all_eligible_is_as_ever),
        cmocka_unit_test(test_retired_labels),
        cmocka_unit_test(test_batches_with_a_retired_label),
        cmocka_unit_test(test_merges_with_retired_labels),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

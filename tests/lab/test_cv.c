/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol of cross-validation: what is split how, where the noise is, and that the numbers follow from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "play/cv.h"

static struct corpus corpus_made(uint64_t rows, double noise)
{
    struct synth_options options = synth_find("synsep")->defaults;
    struct corpus c;
    options.rows = rows;
    options.seed = 7;
    options.noise = noise;
    assert_int_equal(corpus_synth(&c, "synsep", &options, NULL), HUNCH_OK);
    return c;
}

static void folds_are_a_partition(void **state)
{
    (void)state;
    struct corpus c = corpus_made(1003, 0);
    struct cv_options options = {.folds = 10, .epochs = 1, .tune = 0.8, .seed = 3};
    struct cv_split s;
    assert_int_equal(cv_split_make(&s, &c, &options, NULL), HUNCH_OK);
    int *tested = calloc(1003, sizeof *tested), *seen = calloc(1003, sizeof *seen);
    for (uint32_t f = 0; f < 10; f++) {
        const struct part *p = &s.fold[f];
        assert_true(p->tests == 100 || p->tests == 101);
        assert_int_equal(p->n + p->tests, 1003);
        assert_null(p->test_label); /* the true labels */
        memset(seen, 0, 1003 * sizeof *seen);
        for (uint32_t i = 0; i < p->n; i++)
            assert_int_equal(seen[p->rows[i]]++, 0);
        for (uint32_t i = 0; i < p->tests; i++) {
            assert_int_equal(seen[p->test[i]]++, 0); /* not among those it learns from */
            tested[p->test[i]]++;
        }
    }
    for (int i = 0; i < 1003; i++)
        assert_int_equal(tested[i], 1);
    assert_int_equal(s.tuning.n, 802);
    assert_int_equal(s.tuning.tests, 201);
    memset(seen, 0, 1003 * sizeof *seen);
    for (uint32_t i = 0; i < s.tuning.n; i++)
        assert_int_equal(seen[s.tuning.rows[i]]++, 0);
    for (uint32_t i = 0; i < s.tuning.tests; i++)
        assert_int_equal(seen[s.tuning.test[i]]++, 0);
    free(tested);
    free(seen);
    cv_split_free(&s);
    corpus_free(&c);
}

static void noise_is_in_the_training_labels_only(void **state)
{
    (void)state;
    struct corpus c = corpus_made(20000, 0);
    struct cv_options options = {.folds = 5, .epochs = 1, .tune = 0.8, .noise = 0.3, .seed = 3};
    struct cv_split s;
    size_t changed = 0, drawn[9] = {0};
    assert_int_equal(cv_split_make(&s, &c, &options, NULL), HUNCH_OK);
    for (size_t i = 0; i < 20000; i++)
        if (s.label[i] != c.data.rows.label[i]) {
            changed++;
            drawn[s.label[i]]++;
        }
    /* a ninth of the labels drawn anew are the old ones; five standard deviations */
    double share = 0.3 * 8 / 9;
    assert_true(fabs((double)changed / 20000 - share) < 5 * sqrt(share * (1 - share) / 20000));
    for (int k = 0; k < 9; k++)
        assert_true(fabs((double)drawn[k] / (double)changed - 1.0 / 9) < 5 * sqrt(8.0 / 81 / (double)changed));
    for (uint32_t f = 0; f < 5; f++)
        assert_true(s.fold[f].revealed == s.label && !s.fold[f].test_label);
    assert_true(s.tuning.revealed == s.label && s.tuning.test_label == s.label); /* tuning sees nothing clean */
    cv_split_free(&s);
    options.noise = 0;
    assert_int_equal(cv_split_make(&s, &c, &options, NULL), HUNCH_OK);
    assert_memory_equal(s.label, c.data.rows.label, 20000 * sizeof *s.label);
    cv_split_free(&s);
    corpus_free(&c);
}

static struct cv played(const struct corpus *c, const struct grid *grids, size_t n, double noise, unsigned threads)
{
    struct cv_options options = {.folds = 4, .epochs = 2, .tune = 0.8, .noise = noise, .seed = 1};
    struct cv cv;
    hunch_error error;
    options.trials.threads = threads;
    if (cv_play(&cv, c, grids, n, &options, &error))
        fail_msg("%s", error.message);
    assert_false(cv.stopped);
    return cv;
}

static void results_follow_the_protocol(void **state)
{
    (void)state;
    struct corpus c = corpus_made(2000, 0);
    struct grid grids[2];
    assert_int_equal(grid_parse(&grids[0], "perceptron", NULL, NULL), HUNCH_OK);
    assert_int_equal(grid_parse(&grids[1], "banditron:gamma={0.0001,0.05,1}", NULL, NULL), HUNCH_OK);
    struct cv clean = played(&c, grids, 2, 0, 1), again = played(&c, grids, 2, 0, 3),
              noisy = played(&c, grids, 2, 0.5, 2);
    assert_true(clean.learner[0].error < 0.05); /* separable, the true label told */
    assert_true(clean.learner[0].error < clean.learner[1].error);
    assert_true(noisy.learner[0].error > clean.learner[0].error);
    assert_true(clean.learner[1].point != 2); /* gamma = 1 learns as well, but was it chosen by what it shows? */
    for (size_t i = 0; i < 2; i++) {
        assert_memory_equal(clean.learner[i].errors, again.learner[i].errors, 4 * sizeof(double));
        assert_true(clean.p[i * 2 + i] == 1);
    }
    assert_true(clean.p[1] == clean.p[2]);
    /* two epochs over three quarters of the rows, judged by the true labels */
    assert_int_equal(noisy.learner[0].outcomes[0].tally.rounds, 3000);
    assert_true(noisy.learner[0].outcomes[0].tally.greedy_mistakes < 1500);
    cv_free(&clean);
    cv_free(&again);
    cv_free(&noisy);
    grid_free(&grids[0]);
    grid_free(&grids[1]);
    corpus_free(&c);
}

static void too_many_folds_are_refused(void **state)
{
    (void)state;
    struct corpus c = corpus_made(20, 0);
    struct cv_options options = {.folds = 21, .epochs = 1, .tune = 0.8};
    struct cv_split s;
    hunch_error error;
    assert_int_equal(cv_split_make(&s, &c, &options, &error), HUNCH_EINVAL);
    options.folds = 1;
    assert_int_equal(cv_split_make(&s, &c, &options, &error), HUNCH_EINVAL);
    corpus_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_are_a_partition), cmocka_unit_test(noise_is_in_the_training_labels_only),
        cmocka_unit_test(results_follow_the_protocol), cmocka_unit_test(too_many_folds_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

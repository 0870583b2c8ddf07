/* SPDX-License-Identifier: BSD-3-Clause */
/* The generators against their known properties: draw order, counts, first points, and that text equals batches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stream_helper.h"
#include "synth.h"

static struct seen all_of(const char *name, uint64_t rows, uint64_t seed, size_t max)
{
    struct synth_options options = synth_find(name)->defaults;
    struct synth *s;
    struct rows batch = {0};
    struct seen all = {0};
    hunch_error error;
    options.rows = rows;
    options.seed = seed;
    assert_int_equal(synth_open(&s, name, &options, &error), HUNCH_OK);
    for (;;) {
        assert_int_equal(synth_next(s, max, &batch, &error), HUNCH_OK);
        if (batch.n == 0)
            break;
        seen_append(&all, &batch, synth_labels(s));
    }
    rows_free(&batch);
    synth_close(s);
    return all;
}

static void test_generator(void **state)
{
    (void)state;
    struct rng random = {101}, skipped = {101};
    assert_true(rng_uniform(&random) == 0.81644120059845027);
    assert_true(rng_uniform(&random) == 0.017191399024609089);
    assert_true(rng_uniform(&random) == 0.26865236244694557);
    rng_skip(&skipped, 3);
    assert_true(random.state == skipped.state);
}

static void test_keywords(void **state)
{
    (void)state;
    static const int counts[9] = {27, 37, 29, 34, 32, 33, 29, 40, 32};
    struct seen all = all_of("synsep", 20000, 1, 0);
    bool seen[9][120] = {{false}};
    for (size_t i = 0; i < all.rows; i++)
        for (size_t j = all.start[i]; j < all.start[i + 1]; j++)
            if (all.index[j] < 120)
                seen[atoi(seen_label(&all, i)) - 1][all.index[j]] = true;
    for (int k = 0; k < 9; k++) {
        int count = 0;
        for (int j = 0; j < 120; j++)
            count += seen[k][j];
        assert_int_equal(count, counts[k]);
    }
    seen_free(&all);
}

static void test_first_row_and_noise(void **state)
{
    (void)state;
    static const uint32_t first[] = {4, 5, 6, 10, 13, 15};
    struct seen clean = all_of("synsep", 20000, 1, 0), noisy = all_of("synnonsep", 20000, 1, 17);
    size_t changed = 0;
    assert_string_equal(seen_label(&clean, 0), "2"); /* class 1 of 0 .. 8 */
    assert_int_equal(clean.start[1], 52);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(clean.index[i], first[i]);
    assert_int_equal(clean.index[51], 390);
    assert_int_equal(clean.rows, 20000);
    assert_int_equal(noisy.rows, 20000);
    for (size_t i = 0; i < clean.rows; i++)
        changed += strcmp(seen_label(&clean, i), seen_label(&noisy, i)) != 0;
    assert_int_equal(changed, 886);
    assert_int_equal(clean.start[clean.rows], noisy.start[noisy.rows]);
    assert_memory_equal(clean.index, noisy.index, clean.start[clean.rows] * sizeof *clean.index);
    seen_free(&clean);
    seen_free(&noisy);
}

static void separable_check(const char *name, const int *counts, double x, double y)
{
    struct seen all = all_of(name, 20000, 201, 0);
    int found[3] = {0};
    for (size_t i = 0; i < all.rows; i++)
        found[atoi(seen_label(&all, i)) - 1]++;
    for (int k = 0; k < 3; k++)
        assert_int_equal(found[k], counts[k]);
    assert_float_equal(all.value[0] * sqrtf(2), (float)x, 1e-6);
    assert_float_equal(all.value[1] * sqrtf(2), (float)y, 1e-6);
    seen_free(&all);
}

static void test_separable(void **state)
{
    (void)state;
    static const int strong[3] = {16071, 1953, 1976}, weak[3] = {16103, 1961, 1936};
    separable_check("separable-strong", strong, 0.999812942, -0.019341195);
    separable_check("separable-weak", weak, 0.890968241, -0.017235615);
}

static void test_confidit(void **state)
{
    (void)state;
    struct seen all = all_of("confidit", 1000, 5, 0);
    double sum = 0, squares = 0;
    assert_int_equal(all.rows, 1000);
    assert_int_equal(all.start[1000], 9000);
    for (size_t i = 0; i < 9000; i++) {
        sum += (double)all.value[i];
        squares += (double)all.value[i] * (double)all.value[i];
    }
    assert_true(fabs(sum / 9000) < 0.05 && fabs(squares / 9000 - 1) < 0.06);
    seen_free(&all);
}

static void test_zipf(void **state)
{
    (void)state;
    struct seen all = all_of("zipf", 5000, 1, 0);
    size_t n = all.start[all.rows], rare = 0, frequent = 0;
    assert_true(n > 5000 * 70 && n < 5000 * 80);
    for (size_t i = 0; i < n; i++) {
        frequent += all.index[i] < 100;
        rare += all.index[i] >= 10000;
    }
    assert_true(frequent > n / 5 && rare > n / 50);
    for (size_t i = 0; i < all.rows; i++) {
        double norm = 0;
        for (size_t j = all.start[i]; j < all.start[i + 1]; j++)
            norm += (double)all.value[j] * (double)all.value[j];
        assert_true(fabs(norm - 1) < 0.01);
    }
    seen_free(&all);
}

static void test_text_equals_batches(void **state)
{
    (void)state;
    const struct synth_kind *const *kinds;
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n; i++) {
        struct synth_options options = kinds[i]->defaults;
        struct synth *s;
        hunch_error error;
        options.rows = 300;
        char *path = path_make("synth.svm");
        FILE *file = fopen(path, "w");
        assert_int_equal(synth_open(&s, kinds[i]->name, &options, &error), HUNCH_OK);
        assert_int_equal(synth_write(s, file, &error), HUNCH_OK);
        fclose(file);
        synth_close(s);
        struct seen text = seen_read(path, NULL), batches = all_of(kinds[i]->name, 300, options.seed, 7);
        assert_seen_equal(&text, &batches);
        seen_free(&text);
        seen_free(&batches);
        path_free(path);
    }
}

static void refuse(const char *name, const struct synth_options *options, const char *message)
{
    struct synth *s;
    hunch_error error;
    assert_int_equal(synth_open(&s, name, options, &error), HUNCH_EINVAL);
    assert_string_equal(error.message, message);
}

/* The theorems' models: what their truth says is so, row by row and on average. */
static void test_theory(void **state)
{
    (void)state;
    static const char *const names[] = {"linear", "margin", "halfspaces", "adversary"};
    for (int set = 0; set < 4; set++) {
        struct synth_options options = synth_find(names[set])->defaults;
        struct truth truth = {0};
        struct rows batch = {0};
        struct synth *s;
        double expected = 0, got = 0, spread = 0;
        size_t wrong = 0;
        assert_int_equal(synth_open(&s, names[set], &options, NULL), HUNCH_OK);
        assert_int_equal(synth_record(s, &truth, NULL), HUNCH_OK);
        for (size_t row = 0; !synth_next(s, 0, &batch, NULL) && batch.n;)
            for (size_t i = 0; i < batch.n; i++, row++) {
                const float *chance = truth.chance + row * 5;
                double sum = 0, length = 0, best = (double)chance[truth.best[row]];
                for (int k = 0; k < 5; k++) {
                    sum += (double)chance[k];
                    if (set == 1 && k != (int)truth.best[row])
                        assert_true(best - (double)chance[k] >= 0.05 - 1e-6);
                }
                for (int64_t j = batch.start[i]; j < batch.start[i + 1]; j++)
                    length += (double)batch.value[j] * (double)batch.value[j];
                assert_float_equal(sum, 1, 1e-5);
                assert_float_equal(length, 1, 1e-3);
                wrong += batch.label[i] != truth.best[row];
                expected += best;
                got += batch.label[i] == truth.best[row];
                spread += best * (1 - best);
            }
        assert_int_equal(truth.n, options.rows);
        if (set < 2)
            assert_true(fabs(got - expected) < 4 * sqrt(spread) && spread > 100);
        else
            assert_int_equal(wrong, set == 2 ? 0 : 500);
        rows_free(&batch);
        truth_free(&truth);
        synth_close(s);
    }
}

/* 2,000 rows of 10 features and 5 classes. */
static struct rows theory_rows(const char *name)
{
    struct synth_options options = synth_find(name)->defaults;
    struct rows batch = {0};
    struct synth *s;
    options.rows = 2000;
    assert_int_equal(synth_open(&s, name, &options, NULL), HUNCH_OK);
    assert_int_equal(synth_next(s, 2000, &batch, NULL), HUNCH_OK);
    assert_int_equal(batch.n, 2000);
    synth_close(s);
    return batch;
}

/* The product of the means of class k's rows among the first and among the last 500. */
static double means_product(const struct rows *r, uint32_t k)
{
    double mean[2][10] = {{0}}, product = 0;
    for (size_t i = 0; i < r->n; i++)
        for (int64_t j = r->start[i]; r->label[i] == k && j < r->start[i + 1]; j++)
            if (i < 500 || i >= 1500)
                mean[i >= 1500][r->index[j]] += (double)r->value[j];
    for (int j = 0; j < 10; j++)
        product += mean[0][j] * mean[1][j];
    return product;
}

static void test_streams_change(void **state)
{
    (void)state;
    struct rows still = theory_rows("halfspaces"), permuted = theory_rows("permuted"),
                turning = theory_rows("rotating");
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(permuted.label[i], (still.label[i] + (i >= 1000)) % 5);
    assert_memory_equal(still.value, permuted.value, (size_t)still.start[2000] * sizeof *still.value);
    for (uint32_t k = 0; k < 5; k++)
        assert_true(means_product(&still, k) > 0 && means_product(&turning, k) < 0);
    rows_free(&still);
    rows_free(&permuted);
    rows_free(&turning);
}

static void test_truth_as_text(void **state)
{
    (void)state;
    struct synth_options options = synth_find("linear")->defaults;
    struct truth truth = {0}, back = {0};
    struct names *labels = names_new();
    struct rows batch = {0};
    struct synth *s;
    char path[] = "/tmp/hunch-truth-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    options.rows = 500;
    assert_int_equal(synth_open(&s, "linear", &options, NULL), HUNCH_OK);
    assert_int_equal(synth_record(s, &truth, NULL), HUNCH_OK);
    while (!synth_next(s, 0, &batch, NULL) && batch.n)
        ;
    truth_write(&truth, synth_labels(s), file);
    fclose(file);
    assert_int_equal(truth_read(&back, labels, path, NULL), HUNCH_OK);
    assert_true(back.n == 500 && back.classes == 5 && names_count(labels) == 5);
    assert_memory_equal(back.chance, truth.chance, 2500 * sizeof *back.chance);
    assert_memory_equal(back.best, truth.best, 500 * sizeof *back.best);
    static const char *const bad[] = {"",
                                      "a\tb\n",
                                      "a\tb\tbest\n",
                                      "a\tb\tbest\n0.5\t0.5\tc\n",
                                      "a\tb\tbest\n0.5\t2\ta\n",
                                      "a\tb\tbest\n0.5\ta\n",
                                      "a\ta\tbest\n1\t0\ta\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct truth t = {0};
        struct names *names = names_new();
        file = fopen(path, "w");
        fputs(bad[i], file);
        fclose(file);
        assert_int_equal(truth_read(&t, names, path, NULL), HUNCH_EINVAL);
        names_free(names);
    }
    remove(path);
    rows_free(&batch);
    truth_free(&truth);
    truth_free(&back);
    names_free(labels);
    synth_close(s);
}

static void test_refused(void **state)
{
    (void)state;
    struct synth_options options = synth_find("zipf")->defaults;
    assert_null(synth_find("nothing"));
    refuse("nothing", &options, "there is no synthetic set 'nothing'");
    refuse("synsep", &options, "synsep always has 400 features and 9 classes");
    options.noise = NAN;
    refuse("zipf", &options, "zipf: noise must be between 0 and 1");
    options = synth_find("zipf")->defaults;
    options.rows = 0;
    refuse("zipf", &options, "zipf: rows must be at least 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generator),
        cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_first_row_and_noise),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_confidit),
        cmocka_unit_test(test_zipf),
        cmocka_unit_test(test_text_equals_batches),
        cmocka_unit_test(test_theory),
        cmocka_unit_test(test_streams_change),
        cmocka_unit_test(test_truth_as_text),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

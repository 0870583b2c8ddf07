/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The authors' own mistake counts on SynSep: after 1,000, 5,000 and 20,000 rounds with exploration seed 101, for
 * every gamma of the published grid, and weights after 1,000 rounds. Obtained by running the SOBA authors' Octave
 * code on this very random stream; a build with -Dreal=double must give them exactly.
 */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "hunch.h"
#include "synsep.h"

#define ROWS 20000

static struct synsep data;

struct outcome {
    unsigned mistakes[3];
    hunch *learner;
};

static hunch_batch rows(uint32_t from, uint32_t to)
{
    return (hunch_batch){to - from, data.start + from, data.index, data.value, 0};
}

static void run(const char *spec, uint32_t limit, struct outcome *ret)
{
    static hunch_choice choices[ROWS];
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error;
    options.learner = spec;
    options.classes = SYN_CLASSES;
    options.seed = 101;
    if (hunch_create(&ret->learner, &options, &error) != HUNCH_OK)
        fail_msg("%s: %s", spec, error.message);
    hunch_batch batch = rows(0, limit);
    assert_int_equal(hunch_run_batch(ret->learner, &batch, data.label, choices, NULL), HUNCH_OK);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < limit; i++) {
        wrong += choices[i].label != data.label[i];
        if (i + 1 == 1000)
            ret->mistakes[0] = wrong;
        if (i + 1 == 5000)
            ret->mistakes[1] = wrong;
    }
    ret->mistakes[2] = wrong;
}

static double number(const hunch *h, const char *tensor, size_t row, size_t column)
{
    double value = NAN;
    assert_int_equal(hunch_get(h, tensor, row, column, &value), HUNCH_OK);
    return value;
}

static void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.12g is not %.12g", got, want);
}

struct golden {
    unsigned banditron[3], newtron[3], soba[3], margin_updates, mistake_updates;
};

/* gamma = 2^-13 .. 2^-3 */
static const struct golden table[] = {
    {{113, 156, 188}, {161, 197, 250}, {900, 4446, 16938}, 3061, 1},
    {{116, 187, 245}, {161, 197, 250}, {900, 4446, 17804}, 2196, 0},
    {{116, 186, 270}, {161, 198, 254}, {900, 4447, 16962}, 3036, 2},
    {{147, 222, 353}, {167, 207, 272}, {900, 4448, 17807}, 2193, 0},
    {{135, 225, 304}, {165, 203, 292}, {900, 4449, 16009}, 3989, 2},
    {{690, 3483, 5017}, {188, 247, 367}, {830, 3921, 13975}, 6022, 3},
    {{184, 289, 503}, {132, 193, 353}, {803, 2988, 6283}, 13709, 8},
    {{206, 402, 2131}, {180, 268, 541}, {808, 2896, 5232}, 14760, 8},
    {{245, 1535, 2737}, {166, 300, 815}, {657, 1548, 1953}, 18039, 8},
    {{564, 1274, 2185}, {143, 399, 1313}, {707, 2324, 3166}, 16826, 8},
    {{384, 1150, 2937}, {191, 676, 2418}, {567, 1281, 2929}, 17062, 9},
};

static void check_counts(const char *format, size_t offset)
{
    for (int i = 0; i < 11; i++) {
        const struct golden *g = &table[i];
        const unsigned *want = (const unsigned *)((const char *)g + offset);
        char spec[100];
        struct outcome got;
        snprintf(spec, sizeof spec, format, i - 13);
        run(spec, ROWS, &got);
        if (got.mistakes[0] != want[0] || got.mistakes[1] != want[1] || got.mistakes[2] != want[2])
            fail_msg("%s: %u/%u/%u, the authors' code %u/%u/%u", spec, got.mistakes[0], got.mistakes[1],
                     got.mistakes[2], want[0], want[1], want[2]);
        if (offset == offsetof(struct golden, soba)) {
            assert_int_equal((unsigned)number(got.learner, "margin_updates", 0, 0), g->margin_updates);
            assert_int_equal((unsigned)number(got.learner, "mistake_updates", 0, 0), g->mistake_updates);
        }
        hunch_free(got.learner);
    }
}

static void test_banditron(void **state)
{
    (void)state;
    check_counts("banditron:gamma=2^%d", offsetof(struct golden, banditron));
}

static void test_newtron(void **state)
{
    (void)state;
    check_counts("newtron:gamma=2^%d,estimator=author,step=rescale", offsetof(struct golden, newtron));
}

static void test_soba(void **state)
{
    (void)state;
    check_counts("soba:gamma=2^%d,margin=author", offsetof(struct golden, soba));
}

/* A tie counts as an error and as an update, so the updates are the authors' error count. */
static void test_perceptron(void **state)
{
    (void)state;
    const unsigned limits[] = {1000, 5000, 20000}, want[] = {18, 20, 21};
    for (int i = 0; i < 3; i++) {
        struct outcome got;
        run("perceptron", limits[i], &got);
        assert_int_equal((unsigned)number(got.learner, "updates", 0, 0), want[i]);
        hunch_free(got.learner);
    }
}

static void check_weights(const char *spec, const char *tensor, double scale, double norm, double sum, double w14,
                          double w3_121)
{
    struct outcome got;
    double sum2 = 0, total = 0;
    run(spec, 1000, &got);
    for (size_t j = 0; j < SYN_FEATURES; j++)
        for (size_t k = 0; k < SYN_CLASSES; k++) {
            double w = number(got.learner, tensor, j, k);
            sum2 += w * w;
            total += w;
        }
    if (scale == 0) /* weights are kept unscaled: bring them to norm 1 */
        scale = 1 / sqrt(sum2);
    check_near(scale * sqrt(sum2), norm, 1e-8 * norm);
    check_near(scale * total, sum, 1e-7 * fabs(sum) + 1e-9);
    check_near(scale * number(got.learner, tensor, 4, 0), w14, 1e-9);
    check_near(scale * number(got.learner, tensor, 120, 2), w3_121, 1e-9);
    hunch_free(got.learner);
}

static void test_weights(void **state)
{
    (void)state;
    check_weights("banditron:gamma=2^-6", "W", 1, 215.31220395, -9225.30985915, -4, -3.94366197183);
    check_weights("newtron:gamma=2^-6,estimator=author,step=rescale", "U", 0, 1, 30.1742818646, -0.00837520304045,
                  0.000654620413483);
    check_weights("soba:gamma=2^-6,margin=author", "W", 1, 25.0733796855, -646.485910531, 0, -0.503496503497);
    check_weights("perceptron", "W", 1, 38.6522961802, 0, -1, 0);
}

static void test_soba_margin(void **state)
{
    (void)state;
    struct outcome got;
    run("soba:gamma=2^-6,margin=author", 1000, &got);
    check_near(number(got.learner, "M", 0, 0), 37941.4977882, 1e-6);
    hunch_free(got.learner);
}

/* The full matrix on the first 300 rows of SynNonSep, gamma = 2^-3, against the authors' file with its debugging
 * overrides removed. */
static void check_soba_full(const char *spec, unsigned mistakes, unsigned margin_updates, double norm)
{
    struct outcome got;
    double sum2 = 0;
    run(spec, 300, &got);
    size_t features = hunch_features(got.learner);
    for (size_t j = 0; j < features; j++)
        for (size_t k = 0; k < SYN_CLASSES; k++) {
            double w = number(got.learner, "W", j, k);
            sum2 += w * w;
        }
    assert_int_equal(got.mistakes[2], mistakes);
    assert_int_equal((unsigned)number(got.learner, "margin_updates", 0, 0), margin_updates);
    check_near(sqrt(sum2), norm, 1e-9);
    hunch_free(got.learner);
}

static void test_soba_full(void **state)
{
    (void)state;
    struct synsep clean = data;
    synsep_make(&data, ROWS, 1, 0.05);
    check_soba_full("soba:matrix=full,gamma=2^-3,margin=always", 216, 82, 0.4238115167);
    check_soba_full("soba:matrix=full,gamma=2^-3,margin=author", 234, 1, 0.1948323841);
    synsep_free(&data);
    data = clean;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_banditron),  cmocka_unit_test(test_newtron), cmocka_unit_test(test_soba),
        cmocka_unit_test(test_perceptron), cmocka_unit_test(test_weights), cmocka_unit_test(test_soba_margin),
        cmocka_unit_test(test_soba_full),
    };
    synsep_make(&data, ROWS, 1, 0);
    int failed = cmocka_run_group_tests_name("authors", tests, NULL, NULL);
    synsep_free(&data);
    return failed;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that matter: slopes beside finite differences, weights, and how often rounds are looked at. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "api/learner.h"
#include "state/linear.h"
#include "features/relevance.h"

#define COLUMNS 5
#define DIRECTIONS 32
#define FEATURES (2 * DIRECTIONS + 1 + COLUMNS)

static const uint32_t places[COLUMNS] = {0, 1, 2, 3, 4};

/* As learners see z: waves, a constant, the columns. */
static void row_write(const struct relevance *r, const struct map *m, const float *z, uint32_t *ret_index, float *ret)
{
    float weighted[COLUMNS];
    int16_t steps[COLUMNS];
    _Alignas(64) real scratch[3 * DIRECTIONS];
    relevance_weigh(r, places, z, COLUMNS, weighted);
    struct map_input in = {.ops = linear_ops(NULL),
                           .weighted = {.index = places, .value = weighted, .n = COLUMNS, .all = COLUMNS},
                           .steps = steps,
                           .scratch = scratch};
    assert_int_equal(map_write(m, &in, ret_index, ret), 2 * DIRECTIONS);
    ret[2 * DIRECTIONS] = 1;
    memcpy(ret + 2 * DIRECTIONS + 1, z, COLUMNS * sizeof *z);
    for (uint32_t j = 2 * DIRECTIONS; j < FEATURES; j++)
        ret_index[j] = j;
}

static double lead_at(const struct relevance *r, const struct map *m, const float *z, const real *lead)
{
    uint32_t index[FEATURES];
    float x[FEATURES];
    double sum = 0;
    row_write(r, m, z, index, x);
    for (size_t j = 0; j < FEATURES; j++)
        sum += (double)lead[j] * x[j];
    return sum;
}

static double slope_measured(const struct relevance *r, const struct map *m, const float *z, const real *lead, size_t j)
{
    float more[COLUMNS], less[COLUMNS];
    memcpy(more, z, sizeof more);
    memcpy(less, z, sizeof less);
    more[j] += 0.01F;
    less[j] -= 0.01F;
    return (lead_at(r, m, more, lead) - lead_at(r, m, less, lead)) / ((double)more[j] - less[j]);
}

static void test_slopes_are_derivatives(void **unused)
{
    (void)unused;
    struct map m = {.kind = MAP_FOURIER, .directions = DIRECTIONS};
    struct relevance r = {0};
    struct rng chance = {7};
    assert_int_equal(map_reserve(&m, COLUMNS), HUNCH_OK);
    assert_int_equal(relevance_reserve(&r, COLUMNS), HUNCH_OK);
    for (int t = 1; t <= 300; t++) {
        float z[COLUMNS], x[FEATURES];
        uint32_t index[FEATURES];
        real lead[FEATURES];
        double before[COLUMNS], slope[COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++)
            z[j] = (float)(rng_uniform(&chance) - 0.5);
        for (size_t j = 0; j < FEATURES; j++) /* columns differ in how much they matter */
            lead[j] = (real)((rng_uniform(&chance) - 0.5) * (j > 2 * DIRECTIONS ? (double)(j - 2 * DIRECTIONS) : 1));
        row_write(&r, &m, z, index, x);
        for (size_t j = 0; j < COLUMNS; j++) {
            before[j] = r.slope[j];
            slope[j] = slope_measured(&r, &m, z, lead, j);
        }
        uint64_t next = r.next;
        struct vec v = {.index = index, .value = x, .n = FEATURES, .all = FEATURES};
        struct relevance_look look = {linear_ops(NULL), &m, &v, lead, NULL};
        if (!relevance_count(&r, false))
            continue;
        relevance_learn(&r, &look, COLUMNS);
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = before[j] + slope[j] * slope[j], share = r.next == next ? 1 : 0.5;
            assert_true(fabs(r.slope[j] - share * sum) < 0.02 * (1 + slope[j] * slope[j]));
        }
    }
    assert_true(r.weight[4] > 1.1 && r.weight[0] < 0.9); /* so the weights were in the slopes, too */
    map_free(&m);
    relevance_free(&r);
}

static hunch *learner(const char *spec)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = 2;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* Only column 1 decides, by a curve; the others are noise. turned: the two labels have changed places. */
static void play(hunch *h, struct rng *chance, bool turned)
{
    float x[COLUMNS];
    hunch_vec row = {NULL, x, COLUMNS};
    hunch_choice c;
    for (size_t j = 0; j < COLUMNS; j++)
        x[j] = (float)(2 * rng_uniform(chance) - 1);
    assert_int_equal(hunch_predict(h, &row, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &row, &c, c.label == ((fabsf(x[1]) > 0.5F) != turned)), HUNCH_OK);
}

static void test_the_column_that_decides_has_the_weight(void **unused)
{
    (void)unused;
    static const char *const specs[] = {"confident:scale=auto,map=fourier,matrix=diag",
                                        "confident:scale=auto,map=fourier,matrix=span,rank=16", "panel:map=fourier"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct rng chance = {11};
        hunch *h = learner(specs[i]);
        for (int t = 0; t < 1000; t++)
            play(h, &chance, false);
        const float *weight = h->front.relevance.weight;
        for (size_t j = 0; j < COLUMNS; j++)
            assert_true(j == 1 ? weight[j] > 1.2F : weight[j] < 1);
        hunch_free(h);
    }
}

/* When the panel starts over, what columns told before is void, too. */
static void test_a_panel_that_restarts_forgets(void **unused)
{
    (void)unused;
    struct rng chance = {11};
    hunch *h = learner("panel:map=fourier");
    hunch_drift drift;
    for (int t = 0; t < 3000; t++)
        play(h, &chance, t >= 2000);
    assert_int_equal(hunch_get_drift(h, &drift), HUNCH_OK);
    assert_true(drift.restarts > 0 && drift.last_restart > 2000);
    assert_true(h->front.relevance.rounds > 0 && h->front.relevance.rounds <= 3000 - drift.last_restart + 1);
    hunch_free(h);
}

/* Two classes differ in the mean of column 0 and in the spread of column 1, which the slopes know nothing about. */
static void classes_play(struct relevance *r, size_t columns)
{
    struct map m = {.kind = MAP_FOURIER, .directions = 16};
    struct rng chance = {13};
    float *x = calloc(33 + columns, sizeof *x);
    real *lead = calloc(33 + columns, sizeof *lead);
    struct vec v = {.value = x, .n = 33 + columns, .all = 33 + columns};
    struct relevance_look look = {linear_ops(NULL), &m, &v, lead, NULL};
    assert_int_equal(map_reserve(&m, columns), HUNCH_OK);
    assert_int_equal(relevance_reserve(r, columns), HUNCH_OK);
    for (int t = 0; t < 3000; t++) {
        uint32_t label = t % 2;
        for (size_t j = 0; j < columns; j++)
            x[33 + j] = (float)(rng_uniform(&chance) - 0.5);
        x[33] += label ? 0.2F : -0.2F;
        x[34] *= label ? 0.5F : 1.5F;
        bool is_looked_at = relevance_count(r, t % 10 != 0);
        relevance_note(r, &v, 33, label);
        if (is_looked_at)
            relevance_learn(r, &look, columns);
    }
    map_free(&m);
    free(x);
    free(lead);
}

static void test_many_silent_columns_fade_and_few_do_not(void **unused)
{
    (void)unused;
    struct relevance many = {0}, few = {0};
    classes_play(&many, 40);
    classes_play(&few, 3);
    assert_true(many.weight[0] > 2 && many.weight[1] > 2);
    for (size_t j = 2; j < 40; j++)
        assert_true(many.weight[j] < 0.8F * many.weight[0]);
    assert_true(few.weight[2] > 0.9F * few.weight[0] && few.weight[2] > 0.9F);
    relevance_free(&many);
    relevance_free(&few);
}

static void test_begin_and_restart(void **unused)
{
    (void)unused;
    struct relevance r = {0};
    assert_int_equal(relevance_reserve(&r, 2), HUNCH_OK);
    r.slope[0] = 3;
    r.weight[0] = 0.8F;
    r.right[1] = r.sums[RELEVANCE_SUMS + 2] = 5;
    r.rounds = r.next = 192;
    relevance_restart(&r);
    assert_true(r.slope[0] == 0 && r.weight[0] == 0.8F && !r.rounds && !r.next);
    assert_true(r.right[1] == 0 && r.sums[RELEVANCE_SUMS + 2] == 0);
    relevance_begin(&r);
    assert_true(r.weight[0] == 1);
    relevance_free(&r);
}

/* A round is looked at that has no columns. */
static void nothing_learn(struct relevance *r)
{
    struct map m = {.kind = MAP_FOURIER, .directions = DIRECTIONS};
    float x[FEATURES] = {0};
    real lead[FEATURES] = {0};
    struct vec v = {.value = x, .n = FEATURES, .all = FEATURES};
    struct relevance_look look = {linear_ops(NULL), &m, &v, lead, NULL};
    relevance_learn(r, &look, 0);
}

static void test_looks_become_rare(void **unused)
{
    (void)unused;
    struct relevance r = {0};
    uint64_t looks = 0;
    while (r.next < 1000000) {
        uint64_t next = r.next;
        looks += relevance_count(&r, false);
        nothing_learn(&r);
        if (r.next != next) {
            assert_true(looks >= 42 && looks <= 128);
            looks = 0;
        }
    }
}

static void test_who_hardly_errs_is_left_alone(void **unused)
{
    (void)unused;
    struct relevance r = {0};
    for (uint64_t t = 1, next = 0; t <= 100000; t++) { /* one answer of a thousand is wrong */
        uint64_t wrong = r.wrong + (t % 1000 == 0);
        if (relevance_count(&r, t % 1000 != 0))
            nothing_learn(&r);
        assert_int_equal(r.wrong, next != r.next && wrong >= 16 ? 0 : wrong);
        assert_true(r.next + r.next / 128 >= t || t < 128); /* or the next look */
        next = r.next;
    }
    relevance_restart(&r);
    assert_int_equal(r.wrong, 0);
}

/* Sums are added up; columns that only the other has come with it. */
static void test_merging(void **unused)
{
    (void)unused;
    struct relevance one = {0}, two = {0};
    assert_int_equal(relevance_reserve(&one, 1), HUNCH_OK);
    assert_int_equal(relevance_reserve(&two, COLUMNS), HUNCH_OK);
    one.slope[0] = 1;
    one.rounds = 100;
    two.slope[0] = 2;
    two.slope[4] = 5;
    two.rounds = 200;
    two.next = 288;
    one.right[3] = two.right[3] = 2;
    one.sums[6] = two.sums[6] = 0.5;
    assert_int_equal(relevance_merge(&one, &two, COLUMNS), HUNCH_OK);
    assert_true(one.slope[0] == 3 && one.slope[4] == 5 && one.rounds == 300 && one.next == 288);
    assert_true(one.right[3] == 4 && one.sums[6] == 1);
    relevance_free(&one);
    relevance_free(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes_are_derivatives),
        cmocka_unit_test(test_the_column_that_decides_has_the_weight),
        cmocka_unit_test(test_a_panel_that_restarts_forgets),
        cmocka_unit_test(test_many_silent_columns_fade_and_few_do_not),
        cmocka_unit_test(test_begin_and_restart),
        cmocka_unit_test(test_looks_become_rare),
        cmocka_unit_test(test_who_hardly_errs_is_left_alone),
        cmocka_unit_test(test_merging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state/linear.h"
#include "parts/naive_bayes.h"
#include "state/state.h"

#define LEARNERS 5
#define FEATURES 12
#define TOLERANCE (sizeof(real) == sizeof(float) ? 1e-5 : 1e-12)

/* A state of nothing but naive Bayes learners, in two groups. */
enum { NO, YES, ODDS, SEEN, TOTALS, VOCABULARY };

static const hunch_setting settings[] = {SETTINGS_END};
static const struct tensor tensors[] = {
    {"no", PER_FEATURE, 2, LEARNERS, 0, MERGE_SUM},
    {"yes", PER_FEATURE, 2, LEARNERS, 0, MERGE_SUM},
    {"odds", PER_FEATURE, 2, LEARNERS, 0, MERGE_MEAN},
    {"seen", PER_FEATURE, 1, 1, 0, MERGE_SUM},
    {"totals", PER_MODEL, 2, NAIVE_BAYES_TOTALS *LEARNERS, 0, MERGE_SUM},
    {"vocabulary", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    TENSORS_END,
};
static const struct algo algo = {.info = {"bayes", "", "", 0, settings}, .tensors = tensors};
static const struct naive_bayes bayes = {NO, YES, ODDS, SEEN, TOTALS, VOCABULARY, 0.5};

static struct state make(void)
{
    struct state s = {.algo = &algo, .K = 2};
    assert_int_equal(state_init(&s, NULL), HUNCH_OK);
    assert_int_equal(state_grow_features(&s, FEATURES), HUNCH_OK);
    return s;
}

/* Where learner (group, lane) is in a row. */
static size_t at(const struct state *s, size_t group, size_t lane)
{
    return group * s->tensor[ODDS].padded + lane;
}

/* The same learner, written down as in the header's formulas. */
struct plain {
    double N[2], c[2][FEATURES], V;
    bool known[FEATURES];
};

static double plain_output(const struct plain *p, const struct vec *x, double smooth)
{
    double l[2];
    for (int s = 0; s < 2; s++) {
        double T = 0;
        for (int j = 0; j < FEATURES; j++)
            T += p->c[s][j];
        l[s] = log(p->N[s] + smooth);
        for (size_t i = 0; i < x->all; i++)
            if (x->value[i] != 0) {
                uint32_t j = vec_index(x, i);
                l[s] += log(((j < FEATURES ? p->c[s][j] : 0) + smooth) / (T + smooth * (p->V + 1)));
            }
    }
    return tanh((l[1] - l[0]) / 2);
}

static void plain_update(struct plain *p, const struct vec *x, bool yes, double weight)
{
    p->N[yes] += weight;
    for (size_t i = 0; i < x->n; i++)
        if (x->value[i] != 0)
            p->c[yes][vec_index(x, i)] += weight;
}

static void plain_meet(struct plain *p, const struct vec *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->value[i] != 0 && !p->known[vec_index(x, i)]) {
            p->known[vec_index(x, i)] = true;
            p->V++;
        }
}

/* A random sparse example with a stored zero now and then. */
static struct vec example(struct rng *r, uint32_t *index, float *value)
{
    size_t n = 0;
    for (uint32_t j = 0; j < FEATURES; j++)
        if (rng_uniform(r) < 0.4) {
            index[n] = j;
            value[n++] = rng_uniform(r) < 0.2 ? 0 : (float)(rng_uniform(r) - 0.5);
        }
    return (struct vec){.index = index, .value = value, .n = n, .all = n};
}

static void check_all(const struct state *s, const struct plain plain[2][LEARNERS], const struct vec *x)
{
    real out[LEARNERS];
    for (size_t g = 0; g < 2; g++) {
        naive_bayes_outputs(s, &bayes, (struct naive_bayes_block){at(s, g, 0), g * LEARNERS, LEARNERS}, x, out);
        for (size_t l = 0; l < LEARNERS; l++)
            assert_true(fabs(out[l] - plain_output(&plain[g][l], x, bayes.smooth)) < TOLERANCE);
    }
}

static void learn_some(struct state *s, struct plain plain[2][LEARNERS], uint64_t seed, int rounds)
{
    struct rng r = {seed};
    uint32_t index[FEATURES];
    float value[FEATURES];
    for (int round = 0; round < rounds; round++) {
        struct vec x = example(&r, index, value);
        size_t g = rng_below(&r, 2), l = rng_below(&r, LEARNERS);
        bool yes = rng_uniform(&r) < 0.5;
        double weight = rng_uniform(&r) * 3;
        naive_bayes_update(s, &bayes, (struct naive_bayes_block){at(s, g, l), g * LEARNERS + l, 1}, &x,
                           yes ? weight : -weight);
        naive_bayes_meet(s, &bayes, &x);
        plain_update(&plain[g][l], &x, yes, weight);
        for (int i = 0; i < 2 * LEARNERS; i++)
            plain_meet(&plain[i / LEARNERS][i % LEARNERS], &x);
    }
}

static void test_follows_the_formulas(void **unused)
{
    (void)unused;
    struct state s = make();
    struct plain plain[2][LEARNERS] = {{{{0}, {{0}}, 0, {0}}}};
    struct rng r = {9};
    uint32_t index[FEATURES];
    float value[FEATURES];
    for (int round = 0; round < 50; round++) {
        struct vec x = example(&r, index, value);
        check_all(&s, (const struct plain(*)[LEARNERS])plain, &x);
        learn_some(&s, plain, (uint64_t)round, 3);
    }
    state_clear(&s);
}

static void test_starts_undecided(void **unused)
{
    (void)unused;
    struct state s = make();
    real out[LEARNERS];
    float value[] = {1, 0, 2};
    struct vec x = {.value = value, .n = 3, .all = 3}, none = {0};
    naive_bayes_outputs(&s, &bayes, (struct naive_bayes_block){0, 0, LEARNERS}, &x, out);
    for (int l = 0; l < LEARNERS; l++)
        assert_true(out[l] == 0);
    naive_bayes_update(&s, &bayes, (struct naive_bayes_block){0, 0, 1}, &x, 1);
    naive_bayes_outputs(&s, &bayes, (struct naive_bayes_block){0, 0, LEARNERS}, &none, out);
    assert_true(out[0] > 0 && out[1] == 0); /* the prior alone */
    state_clear(&s);
}

/* Features that have no rows yet count as present. */
static void test_unseen_features(void **unused)
{
    (void)unused;
    struct state s = make();
    struct plain plain[2][LEARNERS] = {{{{0}, {{0}}, 0, {0}}}};
    learn_some(&s, plain, 3, 40);
    uint32_t index[] = {1, 4, 50, 60, 70};
    float value[] = {1, 1, 1, 0, 1};
    struct vec x = {.index = index, .value = value, .n = 2, .all = 5};
    check_all(&s, (const struct plain(*)[LEARNERS])plain, &x);
    state_clear(&s);
}

/* What a merge leaves to be done: odds and V follow from the counts. */
static void test_renew(void **unused)
{
    (void)unused;
    struct state s = make();
    struct plain plain[2][LEARNERS] = {{{{0}, {{0}}, 0, {0}}}};
    uint32_t index[FEATURES];
    float value[FEATURES];
    struct rng r = {5};
    learn_some(&s, plain, 4, 60);
    for (uint32_t j = 0; j < FEATURES; j++)
        for (size_t i = 0; i < LEARNERS; i++)
            linear_row(&s, ODDS, j)[at(&s, 1, i)] = 7;
    model_numbers(&s, VOCABULARY)[0] = 99;
    naive_bayes_renew(&s, &bayes);
    struct vec x = example(&r, index, value);
    check_all(&s, (const struct plain(*)[LEARNERS])plain, &x);
    state_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follows_the_formulas),
        cmocka_unit_test(test_starts_undecided),
        cmocka_unit_test(test_unseen_features),
        cmocka_unit_test(test_renew),
    };
    return cmocka_run_group_tests_name("naive_bayes", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A long life: rules that change, features and classes that come later, feedback that comes late or never, labels that
 * are taught. A learner that is saved and loaded again and again must not differ from one that never was. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "specs.h"

#define FEATURES_MAX 64
#define CLASSES_MAX 12
#define WAITING 8

enum kind { NUMBERS, ONES, SKEW, BOTH, KINDS };

struct row {
    uint32_t index[FEATURES_MAX];
    float value[FEATURES_MAX];
    size_t n;
    uint32_t label;
    hunch_choice one, two; /* of the learner that lives on, and of the one that is loaded */
    bool waits;
};

struct world {
    struct rng rng;
    enum kind kind;
    uint32_t features, classes;
    double noise, weight[CLASSES_MAX][FEATURES_MAX];
    uint32_t shown_as[CLASSES_MAX];
    struct row waiting[WAITING];
};

static double normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(r);
    return sum;
}

static void world_make(struct world *w, uint64_t seed)
{
    *w = (struct world){.rng = {seed * 7919}, .kind = (enum kind)(seed % KINDS)};
    w->features = 3 + (uint32_t)rng_below(&w->rng, 20);
    w->classes = 2 + (uint32_t)rng_below(&w->rng, 4);
    w->noise = seed % 2 ? 0 : 0.3 * rng_uniform(&w->rng);
    for (uint32_t k = 0; k < CLASSES_MAX; k++) {
        w->shown_as[k] = k;
        for (uint32_t j = 0; j < FEATURES_MAX; j++)
            w->weight[k][j] = normal(&w->rng);
    }
}

static double value_draw(struct world *w, uint32_t j)
{
    bool one = w->kind == ONES || (w->kind == BOTH && j % 2);
    if (one)
        return rng_uniform(&w->rng) < 0.3;
    if (w->kind == SKEW)
        return rng_uniform(&w->rng) < 0.2 ? exp(normal(&w->rng)) : 0;
    return normal(&w->rng);
}

static void row_draw(struct world *w, struct row *ret)
{
    double score[CLASSES_MAX] = {0};
    uint32_t best = 0;
    *ret = (struct row){.n = 0};
    for (uint32_t j = 0; j < w->features; j++) {
        double x = value_draw(w, j);
        for (uint32_t k = 0; k < w->classes; k++)
            score[k] += w->weight[k][j] * x;
        ret->index[ret->n] = j;
        ret->value[ret->n] = (float)x;
        ret->n += x != 0;
    }
    for (uint32_t k = 1; k < w->classes; k++)
        best = score[k] > score[best] ? k : best;
    bool noise = rng_uniform(&w->rng) < w->noise;
    ret->label = noise ? (uint32_t)rng_below(&w->rng, w->classes) : w->shown_as[best];
}

/* Features and classes come, and sometimes labels change their meaning. */
static void world_turn(struct world *w, hunch *one, hunch *two)
{
    w->features += rng_uniform(&w->rng) < 0.003 && w->features < FEATURES_MAX;
    if (rng_uniform(&w->rng) < 0.001 && w->classes < CLASSES_MAX) {
        w->classes++;
        assert_int_equal(hunch_add_classes(one, 1), HUNCH_OK);
        assert_int_equal(hunch_add_classes(two, 1), HUNCH_OK);
    }
    if (rng_uniform(&w->rng) < 0.0008) {
        uint32_t a = (uint32_t)rng_below(&w->rng, w->classes), first = w->shown_as[0];
        w->shown_as[0] = w->shown_as[a];
        w->shown_as[a] = first;
    }
}

static void answer(hunch *one, hunch *two, const struct row *r)
{
    hunch_vec x = {r->index, r->value, r->n};
    int right = r->one.label == r->label;
    assert_int_equal(hunch_feedback(one, &x, &r->one, right), HUNCH_OK);
    assert_int_equal(hunch_feedback(two, &x, &r->two, right), HUNCH_OK);
}

static void life_round(struct world *w, hunch *one, hunch *two)
{
    struct row r;
    row_draw(w, &r);
    hunch_vec x = {r.index, r.value, r.n};
    assert_int_equal(hunch_predict(one, &x, &r.one), HUNCH_OK);
    assert_int_equal(hunch_predict(two, &x, &r.two), HUNCH_OK);
    assert_int_equal(r.one.label, r.two.label);
    assert_int_equal(r.one.note, r.two.note);
    assert_true(r.one.prob == r.two.prob);
    double fate = rng_uniform(&w->rng);
    struct row *slot = &w->waiting[rng_below(&w->rng, WAITING)];
    if (fate < 0.7) {
        answer(one, two, &r);
    } else if (fate < 0.9) { /* later, and after others */
        if (slot->waits)
            answer(one, two, slot);
        r.waits = true;
        *slot = r;
    } else if (fate < 0.93) {
        assert_int_equal(hunch_teach(one, &x, r.label), HUNCH_OK);
        assert_int_equal(hunch_teach(two, &x, r.label), HUNCH_OK);
    }
}

static hunch *loaded(hunch *h)
{
    void *bytes;
    size_t size;
    hunch *fresh = NULL;
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_read(&fresh, bytes, size, NULL), HUNCH_OK);
    hunch_free_bytes(bytes);
    hunch_free(h);
    return fresh;
}

static void life(const char *spec, uint64_t seed)
{
    static struct world w;
    world_make(&w, seed);
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = spec;
    options.classes = w.classes;
    options.seed = seed;
    hunch *one, *two;
    assert_int_equal(hunch_create(&one, &options, NULL), HUNCH_OK);
    assert_int_equal(hunch_create(&two, &options, NULL), HUNCH_OK);
    for (int t = 0; t < 3000; t++) {
        world_turn(&w, one, two);
        life_round(&w, one, two);
        if (rng_uniform(&w.rng) < 0.01)
            two = loaded(two);
    }
    learners_equal(one, two, spec ? spec : "the default");
    hunch_free(one);
    hunch_free(two);
}

static void test_the_default_lives_long(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 12; seed++)
        life(NULL, seed);
}

static void test_others_live_long(void **unused)
{
    (void)unused;
    static const char *const specs[] = {"confident", "confident:scale=auto,map=auto,matrix=span,decay=0.01",
                                        "linucb:scale=auto,map=auto,matrix=span", "panel:persistence=none,floor=0.1"};
    for (uint64_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++)
        life(specs[i / 2], 20 + i);
}

/* Labels that are added at once or one after the other: the same learner. */
static void labels_at_once_or_one_by_one(const char *spec)
{
    static struct small_stream data;
    hunch *a = learner_make(spec, 7), *b = learner_make(spec, 7);
    small_stream_make(&data, 3);
    for (int i = 0; i < 60; i++) {
        learner_play(a, &data, i);
        learner_play(b, &data, i);
        if (i % 30 == 10) {
            assert_int_equal(hunch_add_classes(a, 7), HUNCH_OK);
            for (int k = 0; k < 7; k++)
                assert_int_equal(hunch_add_classes(b, 1), HUNCH_OK);
        }
    }
    learners_equal(a, b, "labels at once and one by one");
    hunch_free(a);
    hunch_free(b);
}

static void test_labels_at_once(void **unused)
{
    (void)unused;
    specs_each(labels_at_once_or_one_by_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_default_lives_long),
                                       cmocka_unit_test(test_labels_at_once), cmocka_unit_test(test_others_live_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

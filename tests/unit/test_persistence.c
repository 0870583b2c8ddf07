/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "hunch.h"
#include "ensemble/persistence.h"

#define MAX 8

struct room {
    struct persistence_counts counts;
    double failed[MAX], share[MAX];
};

static struct persistence make(struct room *room, uint32_t K)
{
    *room = (struct room){.failed = {0}};
    return (struct persistence){&room->counts, room->failed, room->share, K};
}

static const real scores[MAX] = {3, 4, 1, 2};

/* Of labels that do not depend on those before none is proposed, however uneven their shares are. */
static void test_independent_labels(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    for (int even = 0; even < 2; even++) {
        struct room room;
        struct persistence r = make(&room, 4);
        for (int t = 0; t < 20000; t++) {
            uint32_t y = even || rng_uniform(&rng) < 0.3 ? (uint32_t)rng_below(&rng, 4) : 2;
            persistence_learn(&r, y, rng_uniform(&rng) < 0.7);
            assert_int_equal(persistence_label(&r, scores), 4);
        }
    }
}

/* Fifty equal labels in a row: the last label again; after it failed, the best of those that have not. */
static void test_labels_that_persist(void **unused)
{
    (void)unused;
    struct room room;
    struct persistence r = make(&room, 4);
    for (int t = 0; t < 400; t++)
        persistence_learn(&r, (uint32_t)(t / 50) % 4, true);
    assert_int_equal(persistence_context(&r), PERSISTENCE_AGAIN);
    assert_int_equal(persistence_label(&r, scores), 3);
    persistence_learn(&r, 1, false);
    assert_int_equal(persistence_context(&r), PERSISTENCE_OTHER);
    assert_int_equal(persistence_label(&r, scores), 0);
    persistence_learn(&r, 0, false);
    assert_int_equal(persistence_label(&r, scores), 3);
    persistence_learn(&r, 3, false);
    persistence_learn(&r, 2, false);
    assert_int_equal(persistence_label(&r, scores), 4); /* all have failed */
    persistence_learn(&r, 1, true);
    assert_int_equal(persistence_label(&r, scores), 1);
    persistence_forget(&r);
    assert_int_equal(persistence_label(&r, scores), 1); /* the best of all */
    room.counts.was_right = 1;
    room.counts.label = 1e300; /* as a damaged model may have it */
    assert_int_equal(persistence_label(&r, scores), 3);
    room.counts.label = -7;
    assert_int_equal(persistence_label(&r, scores), 0);
}

/* Of two classes a wrong answer says that the other is right. */
static void test_two_classes(void **unused)
{
    (void)unused;
    struct room room;
    struct persistence r = make(&room, 2);
    for (int t = 0; t < 400; t++)
        persistence_learn(&r, 0, t / 50 % 2 == 0);
    assert_int_equal(persistence_context(&r), PERSISTENCE_AGAIN);
    assert_int_equal(persistence_label(&r, scores), 1);
}

static double play(bool persist)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.classes = 4;
    hunch *h = NULL;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    struct rng rng = {5};
    const int rounds = 4000;
    int wrong = 0;
    for (int t = 0; t < rounds; t++) {
        float value[3];
        for (int j = 0; j < 3; j++)
            value[j] = (float)rng_uniform(&rng);
        uint32_t y = persist ? (uint32_t)(t / 40 * 7 % 4) : (uint32_t)rng_below(&rng, 4);
        hunch_vec x = {NULL, value, 3};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_true(c.prob > 0 && c.prob <= 1);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
        wrong += c.label != y;
    }
    hunch_free(h);
    return (double)wrong / rounds;
}

/* Examples without information: chance, or nearly all right where labels persist. */
static void test_an_ensemble(void **unused)
{
    (void)unused;
    assert_true(play(false) > 0.7);
    assert_true(play(true) < 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_labels),
        cmocka_unit_test(test_labels_that_persist),
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_an_ensemble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

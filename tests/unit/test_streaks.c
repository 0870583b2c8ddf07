/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/rng.h"
#include "hunch.h"
#include "streaks.h"

#define MOST 8

struct room {
    double numbers[STREAKS_NUMBERS], failed[MOST], share[MOST];
};

static struct streaks make(struct room *room, uint32_t K)
{
    *room = (struct room){.numbers = {0}};
    struct streaks r = {room->numbers, room->failed, room->share, K};
    streaks_begin(&r);
    return r;
}

static const real scores[MOST] = {3, 4, 1, 2};

/* Labels that do not depend on those before ask for nothing, however uneven their shares are. */
static void test_no_streaks(void **unused)
{
    (void)unused;
    struct rng rng = {1};
    for (int even = 0; even < 2; even++) {
        struct room room;
        struct streaks r = make(&room, 4);
        for (int t = 0; t < 20000; t++) {
            uint32_t y = even || rng_uniform(&rng) < 0.3 ? (uint32_t)rng_below(&rng, 4) : 2;
            streaks_learn(&r, 0, y, rng_uniform(&rng) < 0.7);
            assert_int_equal(streaks_label(&r, scores), 4);
        }
    }
}

/* In streaks of fifty: the last label again; after it failed, the best of those that have not. */
static void test_streaks(void **unused)
{
    (void)unused;
    struct room room;
    struct streaks r = make(&room, 4);
    for (int t = 0; t < 400; t++)
        streaks_learn(&r, 0, (uint32_t)(t / 50) % 4, true);
    assert_int_equal(streaks_which(&r), STREAKS_AGAIN);
    assert_int_equal(streaks_label(&r, scores), 3);
    streaks_learn(&r, 0, 1, false);
    assert_int_equal(streaks_which(&r), STREAKS_OTHER);
    assert_int_equal(streaks_label(&r, scores), 0);
    streaks_learn(&r, 0, 0, false);
    assert_int_equal(streaks_label(&r, scores), 3);
    streaks_learn(&r, 0, 3, false);
    streaks_learn(&r, 0, 2, false);
    assert_int_equal(streaks_label(&r, scores), 4); /* all have failed */
    streaks_learn(&r, 0, 1, true);
    assert_int_equal(streaks_label(&r, scores), 1);
    streaks_forget(&r);
    assert_int_equal(streaks_label(&r, scores), 1); /* the best of all */
    room.numbers[STREAKS_GO_ON] = 1;
    room.numbers[STREAKS_LABEL] = 1e300; /* as a damaged model may have it */
    assert_int_equal(streaks_label(&r, scores), 3);
    room.numbers[STREAKS_LABEL] = -7;
    assert_int_equal(streaks_label(&r, scores), 0);
}

static void test_duels(void **unused)
{
    (void)unused;
    struct room room;
    struct streaks r = make(&room, 4);
    double before = streaks_chance(&r);
    for (int t = 0; t < 50; t++)
        streaks_learn(&r, 2 << 2 * STREAKS_OTHER, 1, false);
    assert_true(streaks_chance(&r) < before);
    streaks_learn(&r, 0, 1, true);
    assert_true(streaks_chance(&r) == before); /* a duel of its own */
    for (int t = 0; t < 50; t++)
        streaks_learn(&r, 2 << 2 * STREAKS_AGAIN, 1, true);
    assert_true(streaks_chance(&r) > 0.9);
}

/* Of two classes a wrong answer tells the other. */
static void test_two_classes(void **unused)
{
    (void)unused;
    struct room room;
    struct streaks r = make(&room, 2);
    for (int t = 0; t < 400; t++)
        streaks_learn(&r, 0, 0, t / 50 % 2 == 0);
    assert_int_equal(streaks_which(&r), STREAKS_AGAIN);
    assert_int_equal(streaks_label(&r, scores), 1);
}

static double play(bool in_streaks)
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
        uint32_t y = in_streaks ? (uint32_t)(t / 40 * 7 % 4) : (uint32_t)rng_below(&rng, 4);
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

/* Examples that tell nothing: chance, or nearly all right where labels come in streaks. */
static void test_panel(void **unused)
{
    (void)unused;
    assert_true(play(false) > 0.7);
    assert_true(play(true) < 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_streaks),  cmocka_unit_test(test_streaks), cmocka_unit_test(test_duels),
        cmocka_unit_test(test_two_classes), cmocka_unit_test(test_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

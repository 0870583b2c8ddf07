/* SPDX-License-Identifier: BSD-3-Clause */
/* Twins of a panel: whose turn it is, and when one may go. Duels are set by hand, for what traces do not come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "learner.h"
#include "panel.h"
#include "progress.h"

#define MEMBER "confident:matrix=span,rank=4"
enum { SLOWER = 1, FASTER };

static hunch *stalled_panel(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "panel:scale=none,restart=0,members=[" MEMBER ";" MEMBER ",decay=0.01;" MEMBER ",decay=0.1]";
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    model_numbers(&h->state, STALLED)[0] = 1;
    return h;
}

/* A round, after which members that should be are awake. */
static void play(hunch *h)
{
    const float value[] = {1, 2};
    const hunch_vec x = {NULL, value, 2};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &x, &c, 1), HUNCH_OK);
}

static void duel_set(hunch *h, size_t i, double right_0, double right_1)
{
    double *d = panel_duel(&h->state, i);
    d[MET_0] = d[MET_1] = 50;
    d[WON_0] = 50 * right_0;
    d[WON_1] = 50 * right_1;
}

static void test_the_faster_wakes_when_the_slower_leads(void **unused)
{
    (void)unused;
    hunch *h = stalled_panel();
    play(h);
    assert_true(panel_is_awake(&h->state, SLOWER) && !panel_is_awake(&h->state, FASTER));
    duel_set(h, SLOWER, 0.6, 0.4);
    play(h);
    assert_false(panel_is_awake(&h->state, FASTER));
    duel_set(h, SLOWER, 0.4, 0.6);
    play(h);
    assert_true(panel_is_awake(&h->state, FASTER));
    duel_set(h, SLOWER, 0.6, 0.4); /* it stays until the slower one retires */
    duel_set(h, FASTER, 0.1, 0.9);
    play(h);
    assert_true(panel_is_awake(&h->state, FASTER));
    panel_duel(&h->state, SLOWER)[RETIRED] = 1;
    play(h);
    assert_false(panel_is_awake(&h->state, SLOWER) || panel_is_awake(&h->state, FASTER));
    panel_challenge(&h->state, SLOWER);
    play(h);
    duel_set(h, SLOWER, 0.4, 0.6);
    play(h);
    assert_true(panel_is_awake(&h->state, FASTER));
    assert_true(panel_duel(&h->state, FASTER)[MET_0] < 10); /* its duel began anew */
    hunch_free(h);
}

/* In a hundred rounds one of decay=0.01 has forgotten what the champion knew. */
static void test_a_twin_has_time_to_become_another(void **unused)
{
    (void)unused;
    hunch *h = stalled_panel();
    double *errors = model_numbers(&h->state, ERRORS), *d = panel_duel(&h->state, SLOWER);
    play(h);
    errors[SINCE] = 1000;
    errors[SLOW] = 1; /* every answer is wrong, and the twin, which always agrees, saves none */
    for (double rounds = 60; rounds <= 100; rounds += 40) {
        d[AWAKE_FROM] = errors[SINCE] - rounds;
        panel_twins_weigh(&h->state);
        assert_int_equal(d[RETIRED], rounds == 100);
    }
    hunch_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_faster_wakes_when_the_slower_leads),
        cmocka_unit_test(test_a_twin_has_time_to_become_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

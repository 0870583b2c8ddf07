/* SPDX-License-Identifier: BSD-3-Clause */
/* Which members of an ensemble take part: trials of a member that forgets, what drift does, roles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/learner.h"
#include "ensemble/panel.h"
#include "state/state.h"

#define MEMBER "confident:matrix=span,rank=4"
#define SPEC "panel:scale=none,members=[" MEMBER ";forgetting=" MEMBER ",decay=0.05;consistent=linucb]"

static hunch *made(const char *spec)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* Rounds of one example: what is right moves on with `shift`. */
static void play(hunch *h, int rounds, uint32_t shift)
{
    struct rng r = {5};
    for (int t = 0; t < rounds; t++) {
        uint32_t y = (uint32_t)rng_below(&r, 3);
        const float value[] = {1, y == 0, y == 1, y == 2};
        const hunch_vec x = {NULL, value, 4};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == (y + shift) % 3), HUNCH_OK);
    }
}

static void test_members_wait_for_a_plateau(void **unused)
{
    (void)unused;
    hunch *h = made(SPEC);
    play(h, 10, 0);
    assert_true(is_active(&h->state, 0) && !is_active(&h->state, 1) && !is_active(&h->state, 2));
    drift_of(&h->state)->plateau = 1;
    play(h, 1, 0);
    assert_true(is_active(&h->state, 1) && is_active(&h->state, 2));
    assert_true(life_of(&h->state, 1)->born == 0 && life_of(&h->state, 2)->born > 0); /* a copy, and one of its own */
    hunch_free(h);
}

/* After a trial in vain a copy rests three times as long as it was active, then begins again; one that leads stays. */
static void test_a_copy_rests_after_its_trial(void **unused)
{
    (void)unused;
    for (int leads = 0; leads < 2; leads++) {
        hunch *h = made("panel:scale=none,restart=0,members=[" MEMBER ";forgetting=" MEMBER ",decay=0.05]");
        struct state *s = &h->state;
        drift_of(s)->plateau = 1;
        play(h, 1, 0);
        double since = life_of(s, 1)->since;
        for (int t = 0; is_active(s, 1) && t < 1100; t++) {
            *comparison_of(s, 1, 0) = (struct comparison){{leads ? 10 : 20, leads ? 20 : 10}, {30, 30}, 60};
            play(h, 1, 0);
        }
        assert_int_equal(is_active(s, 1), leads);
        if (!leads) {
            double now = drift_of(s)->rounds;
            assert_true(now - since >= 1000 && life_of(s, 1)->until >= now + 3 * 1000 - 10);
            drift_of(s)->rounds = life_of(s, 1)->until;
            play(h, 1, 0);
            assert_true(is_active(s, 1));
            assert_true(comparison_of(s, 1, 0)->shown[0] < 10); /* its comparison began again */
        }
        hunch_free(h);
    }
}

/* The champion begins anew and the copy keeps what was learned, so that a false alarm costs little. */
static void test_drift_renews_the_champion(void **unused)
{
    (void)unused;
    hunch *h = made(SPEC);
    struct state *s = &h->state;
    play(h, 400, 0);
    float before[3], after[3];
    const float value[] = {1, 1, 0, 0};
    const hunch_vec x = {NULL, value, 4};
    assert_int_equal(hunch_scores(h, &x, before), HUNCH_OK);
    assert_true(before[0] > before[1] && before[0] > before[2]);
    drift_of(s)->found = 1;
    play(h, 1, 0);
    assert_true(is_active(s, 1) && !is_active(s, 2));
    assert_true(drift_of(s)->rounds == 1 && model_numbers(s, RESTARTS)[0] == 1);
    const struct state *champion = panel_of(s)->members.child[0], *copy = panel_of(s)->members.child[1];
    real scores[2][SCORE_ROOM * 64];
    const struct vec v = {.value = value, .n = 4, .all = 4};
    champion->algo->scores(champion, &v, scores[0]);
    copy->algo->scores(copy, &v, scores[1]);
    assert_true(scores[1][0] > 10 * scores[0][0] && scores[1][0] > scores[1][1]);
    assert_int_equal(hunch_scores(h, &x, after), HUNCH_OK);
    hunch_free(h);
}

/* Labels that persist, whatever the example says: the last one is proposed again. */
static void test_labels_that_persist_are_proposed(void **unused)
{
    (void)unused;
    for (int wanted = 0; wanted < 2; wanted++) {
        hunch *h = made(wanted ? "panel" : "panel:persistence=none");
        int wrong = 0;
        for (int t = 0; t < 3000; t++) {
            struct rng r = {(uint64_t)t}, block = {(uint64_t)t / 20};
            const float value[] = {(float)rng_uniform(&r), (float)rng_uniform(&r)};
            const hunch_vec x = {NULL, value, 2};
            uint32_t y = (uint32_t)rng_below(&block, 3);
            hunch_choice c;
            assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
            assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
            wrong += c.label != y && t >= 1000;
        }
        if (wanted)
            assert_true(wrong < 500);
        else
            assert_true(wrong > 600);
        hunch_free(h);
    }
}

static void refused(const char *spec, const char *why)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, &error), HUNCH_EINVAL);
    assert_non_null(strstr(error.message, why));
}

static void test_roles_are_checked(void **unused)
{
    (void)unused;
    refused("panel:members=[confident;winner=linucb]", "role winner");
    refused("panel:members=[confident;champion=linucb]", "role champion");
    refused("panel:members=[finder=clouds]", "role finder");
    refused("panel:members=[confident;forgetting=linucb]", "not a copy");
    refused("panel:members=[confident;finder=linucb]", "cannot detect new classes");
    refused("panel:members=[a;b;c;d;e;f;g]", "at most");
    refused("panel:members=[confident;averyveryverylongrole=linucb]", "no role");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_wait_for_a_plateau), cmocka_unit_test(test_a_copy_rests_after_its_trial),
        cmocka_unit_test(test_drift_renews_the_champion),  cmocka_unit_test(test_labels_that_persist_are_proposed),
        cmocka_unit_test(test_roles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

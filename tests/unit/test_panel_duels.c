/* SPDX-License-Identifier: BSD-3-Clause */
/* Twins of a panel: whose turn it is, and when one may go; guesses. Duels are set by hand, for what traces do not come
 * to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "learner.h"
#include "panel.h"
#include "progress.h"
#include "state.h"

#define MEMBER "confident:matrix=span,rank=4"
enum { SLOWER = 1, FASTER, CALMER };

static hunch *stalled_panel(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "panel:scale=none,restart=0,members=[" MEMBER ";" MEMBER ",decay=0.01;" MEMBER
                      ",decay=0.1;" MEMBER ",r=5,decay=0.01]";
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
    assert_true(d[ASLEEP_TO] == 1300); /* three times as long as it was awake */
    hunch_free(h);
}

/* Where hardly anything is wrong, one that never says something else does not stay until fifty answers were. */
static void test_a_silent_twin_goes(void **unused)
{
    (void)unused;
    hunch *h = stalled_panel();
    double *errors = model_numbers(&h->state, ERRORS), *d = panel_duel(&h->state, SLOWER);
    play(h);
    errors[SINCE] = 10000;
    errors[SLOW] = 0.001;
    for (double rounds = 3000; rounds <= 4000; rounds += 1000)
        for (double age = 1; age >= 0; age--) { /* one that did once may */
            d[AWAKE_FROM] = errors[SINCE] - rounds;
            d[AGE] = age;
            panel_twins_weigh(&h->state);
            assert_int_equal(d[RETIRED], rounds == 4000 && age == 0);
        }
    hunch_free(h);
}

/* Of 200 wrong answers it must be able to save seven. */
static void test_a_twin_that_can_matter_stays(void **unused)
{
    (void)unused;
    hunch *h = stalled_panel();
    double *errors = model_numbers(&h->state, ERRORS), *d = panel_duel(&h->state, SLOWER);
    play(h);
    errors[SINCE] = 1000;
    errors[SLOW] = 1;
    for (double age = 35; age >= 15; age -= 20) { /* a fifth of the duels more, if it is better than it seems */
        d[AWAKE_FROM] = 800;
        duel_set(h, SLOWER, 0.5, 0.5);
        d[AGE] = age;
        panel_twins_weigh(&h->state);
        assert_int_equal(d[RETIRED], age == 15);
    }
    hunch_free(h);
}

static int tensor_named(const struct state *s, const char *name)
{
    int i = 0;
    while (strcmp(s->algo->tensors[i].name, name))
        i++;
    return i;
}

/* Rounds that the twin has learned from, as it counts them. */
static double twin_learned(const hunch *h)
{
    const struct state *twin = ((const struct panel *)h->state.extra)->members.child[SLOWER];
    return model_numbers(twin, tensor_named(twin, "learned"))[0];
}

/* A round of this example; returns what the choice's note tells of the twin. */
static uint32_t twin_note(hunch *h, const float *value, bool right)
{
    const hunch_vec x = {NULL, value, 2};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &x, &c, right), HUNCH_OK);
    return c.note >> (NOTE_BITS * SLOWER) & 3;
}

/* Where the champion is sure, a twin is not asked; wrong answers then make it harder to be sure. A twin that leads is
 * always asked. */
static void test_a_twin_is_not_asked_what_is_sure(void **unused)
{
    (void)unused;
    static const float learned_from[] = {1, 0}, known[] = {3, 0}, doubtful[] = {0, 0.01F};
    hunch *h = stalled_panel();
    double *sure = &panel_duel(&h->state, 0)[SURE];
    for (int t = 0; t < 300; t++)
        twin_note(h, learned_from, t > 2); /* until one label is left */
    assert_int_equal(twin_note(h, known, true), NOTE_UNASKED);
    double learned = twin_learned(h);
    assert_int_equal(twin_note(h, known, true), NOTE_UNASKED);
    assert_true(twin_learned(h) == learned + 1); /* it has counted the round */
    assert_int_equal(twin_note(h, doubtful, true), 0);
    double before = *sure;
    assert_int_equal(twin_note(h, known, false), NOTE_UNASKED);
    assert_true(*sure > 1.09 && *sure > before);
    duel_set(h, SLOWER, 0.4, 0.6);
    assert_int_not_equal(twin_note(h, known, true), NOTE_UNASKED);
    hunch_free(h);
}

enum { TEXT_WORDS = 12, TEXT_ROUNDS = 3000 };

/* A row of a class's own twelve words of 3,000; returns the class. */
static uint32_t text_row(struct rng *r, uint32_t index[TEXT_WORDS], float value[TEXT_WORDS])
{
    uint32_t y = (uint32_t)rng_below(r, 3);
    for (uint32_t i = 0; i < TEXT_WORDS; i++) {
        index[i] = 250 * i + 3 * (uint32_t)rng_below(r, 80) + y;
        value[i] = 1;
    }
    return y;
}

static hunch *text_learner(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "panel:restart=0,members=[" MEMBER ";" MEMBER ",decay=0.01]";
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* Plays rows with the twin awake; told at once, or by way of a choice that is handed back. Returns in how many rounds
 * the twin was not asked. */
static int text_play(hunch *h, bool at_once)
{
    struct rng r = {5};
    int unasked = 0;
    for (int t = 0; t < TEXT_ROUNDS; t++) {
        uint32_t index[TEXT_WORDS];
        float value[TEXT_WORDS];
        uint32_t y = text_row(&r, index, value);
        const hunch_vec x = {index, value, TEXT_WORDS};
        const hunch_batch batch = {
            .rows = 1, .start = (const int64_t[]){0, TEXT_WORDS}, .index = index, .value = value};
        hunch_choice c;
        model_numbers(&h->state, STALLED)[0] = 1;
        if (at_once) {
            assert_int_equal(hunch_run_batch(h, &batch, &y, &c, NULL), HUNCH_OK);
        } else {
            assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
            assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
        }
        unasked += (c.note >> (NOTE_BITS * SLOWER) & 3) == NOTE_UNASKED;
    }
    assert_true(panel_is_awake(&h->state, SLOWER));
    return unasked;
}

/* The champion counts words for its twins, too; right answers they count themselves, asked or not. */
static void test_a_twin_sees_the_words_that_the_champion_counts(void **unused)
{
    (void)unused;
    hunch *h = text_learner();
    struct rng r = {6};
    uint32_t index[TEXT_WORDS];
    float value[TEXT_WORDS];
    text_row(&r, index, value);
    assert_true(text_play(h, false) > 100);
    const struct panel *p = h->state.extra;
    const struct state *champion = p->members.child[0], *twin = p->members.child[SLOWER];
    for (uint32_t k = 0; k < 3; k++)
        assert_true(model_numbers(champion, tensor_named(champion, "hits"))[k] ==
                    model_numbers(twin, tensor_named(twin, "hits"))[k]);

    const hunch_vec x = {index, value, TEXT_WORDS};
    struct vec v;
    float scores[3];
    _Alignas(64) real offset[64], nothing[64] = {0}, own[64];
    duel_set(h, SLOWER, 0.1, 0.9); /* it leads */
    assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
    assert_int_equal(learner_prepare(h, &x, WANT_ALL, &v), HUNCH_OK);
    assert_true(champion->algo->offset(champion, &v, offset));
    v.offset = nothing;
    twin->algo->scores(twin, &v, own);
    for (uint32_t k = 0; k < 3; k++) {
        assert_true(fabs((double)offset[k]) > 0.01);
        assert_true(fabs(scores[k] - ((double)own[k] + offset[k])) < 1e-5);
    }
    hunch_free(h);
}

/* Whoever learns after the champion sees its words as they were before it learned. */
static void test_twins_of_text_hear_the_same_told_at_once_and_late(void **unused)
{
    (void)unused;
    hunch *at_once = text_learner(), *late = text_learner();
    text_play(at_once, true);
    text_play(late, false);
    const struct panel *p = at_once->state.extra, *q = late->state.extra;
    for (size_t i = 0; i <= SLOWER; i++) {
        const struct state *a = p->members.child[i], *b = q->members.child[i];
        int W = tensor_named(a, "W");
        for (uint32_t j = 0; j < a->features; j++)
            for (uint32_t k = 0; k < 3; k++)
                assert_true(state_get(a, W, j, k) == state_get(b, W, j, k));
    }
    hunch_free(at_once);
    hunch_free(late);
}

/* When each was tried last, and till when each sleeps. */
static void twins_sleep(hunch *h, const double last[2], const double until[2])
{
    static const size_t twins[] = {SLOWER, CALMER};
    for (int j = 0; j < 2; j++) {
        double *d = panel_duel(&h->state, twins[j]);
        d[RETIRED] = 1;
        d[AWAKE_FROM] = last[j];
        d[ASLEEP_TO] = until[j];
    }
    play(h);
    assert_false(panel_is_awake(&h->state, SLOWER) || panel_is_awake(&h->state, CALMER));
    panel_twins_call(&h->state);
    play(h);
}

static void test_the_calm_one_and_the_first_take_turns(void **unused)
{
    (void)unused;
    hunch *h = stalled_panel();
    play(h); /* stalled, but there was no warning: only the first is tried */
    assert_true(panel_is_awake(&h->state, SLOWER) && !panel_is_awake(&h->state, CALMER));
    panel_twins_call(&h->state); /* nor while that is tried */
    play(h);
    assert_false(panel_is_awake(&h->state, CALMER));
    duel_set(h, SLOWER, 0.4, 0.6); /* it leads: another one may be tried */
    panel_twins_call(&h->state);
    play(h);
    assert_true(panel_is_awake(&h->state, SLOWER) && panel_is_awake(&h->state, CALMER));
    twins_sleep(h, (double[]){1, 2}, (double[]){0, 0}); /* who has waited longest */
    assert_true(panel_is_awake(&h->state, SLOWER) && !panel_is_awake(&h->state, CALMER));
    twins_sleep(h, (double[]){3, 2}, (double[]){0, 0});
    assert_true(!panel_is_awake(&h->state, SLOWER) && panel_is_awake(&h->state, CALMER));
    twins_sleep(h, (double[]){3, 2}, (double[]){0, 1e9}); /* of those that have rested */
    assert_true(panel_is_awake(&h->state, SLOWER) && !panel_is_awake(&h->state, CALMER));
    hunch_free(h);
}

/* Larger in both, and in nothing else. */
static void test_who_is_a_twin(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings;
        enum kind kind;
    } members[] = {{"", FORMER},    {",decay=0.1", TWIN},        {",decay=0.1,r=5", CALM},
                   {",r=5", RIVAL}, {",decay=0.1,r=0.1", RIVAL}, {",decay=0.1,r=5,eta=1", RIVAL}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        hunch_options options = HUNCH_OPTIONS_INIT;
        hunch *h = NULL;
        char spec[256];
        snprintf(spec, sizeof spec, "panel:scale=none,members=[" MEMBER ";" MEMBER "%s]", members[i].settings);
        options.learner = spec;
        options.classes = 3;
        assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
        assert_int_equal(((const struct panel *)h->state.extra)->kind[1], members[i].kind);
        hunch_free(h);
    }
}

/* A guess counts in the duel of guesses, another label of the finder's in the finder's own. */
static void test_guesses_have_a_duel_of_their_own(void **unused)
{
    (void)unused;
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "panel:scale=none,members=[" MEMBER ";clouds]";
    options.classes = 24;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    double *guesses = model_numbers(&h->state, FINDING), *own = panel_duel(&h->state, 1);
    const uint32_t challenger = 2u << NOTE_BITS, champion = 1u << NOTE_BITS;
    panel_duels_learn(&h->state, challenger | NOTE_GUESSED, true);
    assert_true(guesses[WON_1] > 1.9 && own[WON_1] == 1 && own[AGE] == 0);
    panel_duels_learn(&h->state, champion | NOTE_GUESSED, false);
    assert_true(guesses[MET_0] > 2.9 && own[MET_0] == 2 && guesses[MET_1] > 24.9);
    panel_duels_learn(&h->state, challenger, true);
    assert_true(guesses[FINDING_AGE] == 2 && own[AGE] == 1 && own[WON_1] > 1.9);
    panel_duels_learn(&h->state, 3u << NOTE_BITS, true); /* no note of ours */
    panel_duels_learn(&h->state, 3u << NOTE_BITS | NOTE_GUESSED, true);
    assert_true(guesses[FINDING_AGE] == 2 && own[AGE] == 1);
    double before = panel_guess_chance(&h->state);
    model_numbers(&h->state, ERRORS)[SINCE] = 240; /* the longer the stream, the more a label found is worth */
    assert_true(panel_guess_chance(&h->state) > before);
    hunch_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_faster_wakes_when_the_slower_leads),
        cmocka_unit_test(test_a_twin_has_time_to_become_another),
        cmocka_unit_test(test_a_silent_twin_goes),
        cmocka_unit_test(test_a_twin_that_can_matter_stays),
        cmocka_unit_test(test_a_twin_is_not_asked_what_is_sure),
        cmocka_unit_test(test_a_twin_sees_the_words_that_the_champion_counts),
        cmocka_unit_test(test_twins_of_text_hear_the_same_told_at_once_and_late),
        cmocka_unit_test(test_the_calm_one_and_the_first_take_turns),
        cmocka_unit_test(test_who_is_a_twin),
        cmocka_unit_test(test_guesses_have_a_duel_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

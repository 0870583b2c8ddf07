/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a panel that rest while another has won its duel: three rounds of four without the champion and its map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "learner.h"
#include "panel.h"
#include "state.h"

#define MEMBER "confident:matrix=span,rank=4"
enum { CHAMPION_AT, RIVAL_AT, TWIN_AT, COLUMNS = 12, ROUNDS = 900, LATE = 7 };

static hunch *panel_make(double floor)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = floor > 0 ? "panel:restart=0,members=[" MEMBER ",map=auto;" MEMBER "],floor=0.2"
                                : "panel:restart=0,members=[" MEMBER ",map=auto;" MEMBER ";" MEMBER
                                  ",decay=0.01,map=auto]";
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

static uint32_t row_make(struct rng *r, float x[COLUMNS])
{
    for (int j = 0; j < COLUMNS; j++)
        x[j] = (float)(10 * rng_uniform(r) - 5);
    return x[0] > 1 ? 0 : x[1] + x[2] > 0 ? 1 : 2;
}

/* The rival has won, whatever happens. */
static void rival_leads(hunch *h)
{
    double *d = panel_duel(&h->state, RIVAL_AT);
    d[MET_0] = d[MET_1] = 50;
    d[WON_0] = 5;
    d[WON_1] = 45;
}

static bool has_rested(const hunch *h, const hunch_choice *c)
{
    return panel_first_of(h->state.extra, c->note) == RIVAL_AT;
}

static void round_at_once(hunch *h, const float *x, uint32_t y, hunch_choice *ret)
{
    const hunch_batch batch = {.rows = 1, .columns = COLUMNS, .value = x};
    assert_int_equal(hunch_run_batch(h, &batch, &y, ret, NULL), HUNCH_OK);
}

static void round_told(hunch *h, const float *x, uint32_t y, hunch_choice *ret)
{
    const hunch_vec v = {NULL, x, COLUMNS};
    assert_int_equal(hunch_predict(h, &v, ret), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &v, ret, ret->label == y), HUNCH_OK);
}

static void models_are_equal(const hunch *a, const hunch *b)
{
    void *one, *two;
    size_t first, second;
    assert_int_equal(hunch_write(a, &one, &first, NULL), HUNCH_OK);
    assert_int_equal(hunch_write(b, &two, &second, NULL), HUNCH_OK);
    assert_int_equal(first, second);
    assert_memory_equal(one, two, first);
    free(one);
    free(two);
}

/* What the champion has learned. */
static double champion_steps(const hunch *h)
{
    double steps = -1;
    const struct state *champion = ((const struct panel *)h->state.extra)->members.child[CHAMPION_AT];
    for (int i = 0; champion->algo->tensors[i].name; i++)
        if (!strcmp(champion->algo->tensors[i].name, "seen"))
            steps = model_numbers(champion, i)[0];
    return steps;
}

static void test_three_of_four_rounds_are_for_rest(void **unused)
{
    (void)unused;
    hunch *h = panel_make(0);
    struct rng r = {3};
    int rested = 0;
    for (int t = 0; t < ROUNDS; t++) {
        float x[COLUMNS];
        hunch_choice c;
        uint32_t y = row_make(&r, x);
        rival_leads(h);
        double before = champion_steps(h);
        round_told(h, x, y, &c);
        if (t > 256) { /* until then what the rows are may be decided anew */
            assert_true(champion_steps(h) - before == !has_rested(h, &c));
            assert_true(!has_rested(h, &c) || c.prob == 1);
        }
        rested += t >= 500 && has_rested(h, &c);
    }
    assert_int_equal(rested, (ROUNDS - 500) / 4 * 3);
    hunch_free(h);
}

static void test_nobody_rests_while_a_twin_is_tried(void **unused)
{
    (void)unused;
    hunch *h = panel_make(0);
    struct rng r = {3};
    for (int t = 0; t < 300; t++) {
        float x[COLUMNS];
        hunch_choice c;
        uint32_t y = row_make(&r, x);
        rival_leads(h);
        panel_duel(&h->state, TWIN_AT)[RETIRED] = 0;
        model_numbers(&h->state, STALLED)[0] = 1;
        bool tried = panel_is_awake(&h->state, TWIN_AT);
        round_told(h, x, y, &c);
        assert_false(tried && has_rested(h, &c));
    }
    assert_true(panel_is_awake(&h->state, TWIN_AT));
    hunch_free(h);
}

/* In one call, or by way of a choice that is handed back: the same model to the last bit; also where labels are drawn.
 */
static void test_told_at_once_or_by_a_choice(void **unused)
{
    (void)unused;
    for (double floor = 0; floor < 0.3; floor += 0.2) {
        hunch *a = panel_make(floor), *b = panel_make(floor);
        struct rng r = {4};
        int rested = 0;
        for (int t = 0; t < ROUNDS; t++) {
            float x[COLUMNS];
            hunch_choice c, d;
            uint32_t y = row_make(&r, x);
            rival_leads(a);
            rival_leads(b);
            round_at_once(a, x, y, &c);
            round_told(b, x, y, &d);
            assert_true(c.label == d.label && c.prob == d.prob && c.note == d.note && c.greedy == d.greedy);
            rested += has_rested(a, &c);
        }
        assert_true(rested > ROUNDS / 2);
        models_are_equal(a, b);
        hunch_free(a);
        hunch_free(b);
    }
}

/* Answers that come seven rounds late, to a learner and to one that is saved and read after every round. */
static void test_saved_at_any_round(void **unused)
{
    (void)unused;
    hunch *a = panel_make(0), *b = panel_make(0);
    static float x[ROUNDS][COLUMNS];
    static hunch_choice c[ROUNDS], d[ROUNDS];
    static uint32_t y[ROUNDS];
    struct rng r = {5};
    for (int t = 0; t < 500; t++) {
        y[t] = row_make(&r, x[t]);
        const hunch_vec now = {NULL, x[t], COLUMNS}, then = {NULL, x[t < LATE ? 0 : t - LATE], COLUMNS};
        rival_leads(a);
        rival_leads(b);
        assert_int_equal(hunch_predict(a, &now, &c[t]), HUNCH_OK);
        assert_int_equal(hunch_predict(b, &now, &d[t]), HUNCH_OK);
        assert_int_equal(c[t].note, d[t].note);
        if (t >= LATE) {
            int right = c[t - LATE].label == y[t - LATE];
            assert_int_equal(hunch_feedback(a, &then, &c[t - LATE], right), HUNCH_OK);
            assert_int_equal(hunch_feedback(b, &then, &d[t - LATE], right), HUNCH_OK);
        }
        void *bytes;
        size_t size;
        hunch *again;
        assert_int_equal(hunch_write(b, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&again, bytes, size, NULL), HUNCH_OK);
        free(bytes);
        hunch_free(b);
        b = again;
    }
    models_are_equal(a, b);
    hunch_free(a);
    hunch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_of_four_rounds_are_for_rest),
        cmocka_unit_test(test_nobody_rests_while_a_twin_is_tried),
        cmocka_unit_test(test_told_at_once_or_by_a_choice),
        cmocka_unit_test(test_saved_at_any_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

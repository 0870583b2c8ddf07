/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions compared while another one decides: simulated streams of decisions, looked at after every answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "event/shadow.h"

#define STREAMS 1000
#define ANSWERS 2000
#define LABELS 4
#define EXPLORE 0.2
#define DELAY 50 /* decisions between a decision and its answer */

struct world {
    struct rng rng;
    double present, own; /* how often the greedy labels are right */
    struct event waiting[DELAY];
    bool right[DELAY];
};

/* The deciding version's greedy label is right with one probability, this one's with another; every label is shown with
 * a probability of at least EXPLORE / LABELS. */
static void decide(struct world *w, struct shadow *s, uint64_t seq)
{
    struct event *e = &w->waiting[seq % DELAY];
    uint32_t true_label = (uint32_t)rng_below(&w->rng, LABELS);
    bool present_right = rng_uniform(&w->rng) < w->present, own_right = rng_uniform(&w->rng) < w->own;
    hunch_choice own = {.greedy = own_right ? true_label : (true_label + 1) % LABELS};
    *e = (struct event){.kind = EVENT_DECISION, .seq = seq};
    e->choice.greedy = present_right ? true_label : (true_label + 2) % LABELS;
    bool explore = rng_uniform(&w->rng) < EXPLORE;
    e->choice.label = explore ? (uint32_t)rng_below(&w->rng, LABELS) : e->choice.greedy;
    e->choice.prob = EXPLORE / LABELS + (e->choice.label == e->choice.greedy ? 1 - EXPLORE : 0);
    w->right[seq % DELAY] = e->choice.label == true_label;
    assert_true(shadow_decided(s, e, 1, &own));
}

/* When the version would take over; 0: never. */
static uint64_t taken_over(uint64_t seed, double present, double own)
{
    struct world w = {.rng = {seed}, .present = present, .own = own};
    struct shadow s = {0};
    uint64_t when = 0;
    for (uint64_t seq = 1; seq <= ANSWERS && !when; seq++) {
        if (seq > DELAY)
            shadow_answered(&s, &w.waiting[seq % DELAY], w.right[seq % DELAY]);
        if (shadow_better(&s)) {
            when = seq;
            assert_true(shadow_gain_least(&s) >= 0);
        }
        decide(&w, &s, seq);
    }
    shadow_free(&s);
    return when;
}

static unsigned taken_over_of_all(double present, double own)
{
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= STREAMS; seed++)
        n += taken_over(seed, present, own) > 0;
    return n;
}

static void test_a_version_that_is_no_better_hardly_ever_takes_over(void **state)
{
    (void)state;
    unsigned equal = taken_over_of_all(0.6, 0.6), worse = taken_over_of_all(0.6, 0.5),
             poor = taken_over_of_all(0.1, 0.1);
    print_message("taken over in %u, %u and %u of %u streams\n", equal, worse, poor, STREAMS);
    assert_true(equal <= STREAMS / 20 && worse <= STREAMS / 20 && poor <= STREAMS / 20);
}

static void test_a_better_one_does(void **state)
{
    (void)state;
    unsigned better = taken_over_of_all(0.5, 0.8), slightly = taken_over_of_all(0.6, 0.65);
    print_message("taken over in %u and %u of %u streams\n", better, slightly, STREAMS);
    assert_true(better > STREAMS * 95 / 100);
    assert_true(slightly < better);
}

/* The average of the true gain so far lies within the interval at all times, also while both versions learn. */
static void test_the_interval_of_the_gain_holds_at_all_times(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= STREAMS; seed++) {
        struct world w = {.rng = {seed * 7919}};
        struct shadow s = {0};
        double gain, low, high, sum = 0;
        bool out = false;
        for (uint64_t seq = 1; seq <= 1000; seq++) {
            w.present = 0.3 + 0.4 * (double)seq / 1000;
            w.own = 0.1 + 0.7 * (double)seq / 1000;
            decide(&w, &s, seq);
            sum += w.own - w.present;
            shadow_answered(&s, &w.waiting[seq % DELAY], w.right[seq % DELAY]);
            if (seq > 100 && seq % 10)
                continue;
            shadow_gain(&s, &gain, &low, &high);
            out = out || sum / (double)seq < low || sum / (double)seq > high;
        }
        wrong += out;
        shadow_free(&s);
    }
    print_message("excluded in %u of %u streams\n", wrong, STREAMS);
    assert_true(wrong <= STREAMS / 20);
}

/* Against another version the comparison begins with nothing, and answers to older decisions do not count. */
static void test_another_version_decides(void **state)
{
    (void)state;
    struct shadow s = {0};
    struct event one = {.seq = 5, .choice = {.label = 1, .greedy = 1, .prob = 0.5}}, two = one;
    hunch_choice own = {.greedy = 2};
    two.seq = 9;
    assert_true(shadow_decided(&s, &one, 1, &own));
    shadow_answered(&s, &one, true);
    assert_int_equal(s.gain.n, 1);
    assert_true(shadow_decided(&s, &two, 3, &own));
    assert_int_equal(s.gain.n, 0);
    shadow_answered(&s, &one, true);
    assert_int_equal(s.gain.n, 0);
    shadow_answered(&s, &two, true);
    assert_int_equal(s.gain.n, 1);
    one.seq = 4; /* before its time */
    shadow_answered(&s, &one, true);
    assert_int_equal(s.answers, 3);
    shadow_free(&s);
}

static void test_written_and_read(void **state)
{
    (void)state;
    struct world w = {.rng = {3}, .present = 0.5, .own = 0.7};
    struct shadow s = {0}, again = {0};
    struct text text = {0}, more = {0};
    for (uint64_t seq = 1; seq <= 3 * SHADOW_PENDING; seq++) {
        if (seq > DELAY)
            shadow_answered(&s, &w.waiting[seq % DELAY], w.right[seq % DELAY]);
        decide(&w, &s, seq);
    }
    assert_int_equal(s.other_n, SHADOW_PENDING); /* no more are kept */
    shadow_write(&s, &text);
    json_t *json = json_loadb(text.data, text.length, 0, NULL);
    assert_true(shadow_read(&again, json));
    shadow_write(&again, &more);
    assert_int_equal(text.length, more.length);
    assert_memory_equal(text.data, more.data, text.length);
    struct event oldest = {.seq = s.known, .choice = {.label = 1, .greedy = 1, .prob = 1}};
    shadow_answered(&again, &oldest, true);
    assert_int_equal(again.answers, s.answers);
    json_array_append_new(json_object_get(json, "other"), json_integer(1));
    assert_false(shadow_read(&again, json));
    json_decref(json);
    text_free(&text);
    text_free(&more);
    shadow_free(&s);
    shadow_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_version_that_is_no_better_hardly_ever_takes_over),
        cmocka_unit_test(test_a_better_one_does),
        cmocka_unit_test(test_the_interval_of_the_gain_holds_at_all_times),
        cmocka_unit_test(test_another_version_decides),
        cmocka_unit_test(test_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

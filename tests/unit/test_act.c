/* SPDX-License-Identifier: BSD-3-Clause */
/* Act or hand over: promises are kept on streams whose confidence is calibrated, worthless, or wrong for a while. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "hunch.h"

#define ROUNDS 20000
#define STEP 0.02 /* of lib/api/act.c */

static hunch *make(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = "perceptron";
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* A confidence, and the chance that the choice is right. */
typedef void (*stream)(struct rng *rng, unsigned t, double *ret_confidence, double *ret_right);

static void calibrated(struct rng *rng, unsigned t, double *ret_confidence, double *ret_right)
{
    (void)t;
    *ret_confidence = *ret_right = 0.5 + rng_uniform(rng) / 2;
}

static void worthless(struct rng *rng, unsigned t, double *ret_confidence, double *ret_right)
{
    (void)t;
    *ret_confidence = rng_uniform(rng);
    *ret_right = 0.7;
}

static void boastful(struct rng *rng, unsigned t, double *ret_confidence, double *ret_right)
{
    (void)t;
    *ret_right = rng_uniform(rng);
    *ret_confidence = 0.9 + *ret_right / 10;
}

/* Wrong for a fifth of the time. */
static void drifting(struct rng *rng, unsigned t, double *ret_confidence, double *ret_right)
{
    *ret_confidence = *ret_right = 0.5 + rng_uniform(rng) / 2;
    if (t > ROUNDS * 2 / 5 && t < ROUNDS * 3 / 5)
        *ret_right = 0.4;
}

static void play(hunch *h, stream next, double promise, uint64_t seed, hunch_promise *ret)
{
    struct rng rng = {seed};
    for (unsigned t = 0; t < ROUNDS; t++) {
        hunch_choice c = {0};
        double chance;
        uint32_t mark = 99;
        next(&rng, t, &c.confidence, &chance);
        assert_int_equal(hunch_act(h, &c, promise, &mark), HUNCH_OK);
        assert_int_equal(hunch_acted(h, promise, mark, rng_uniform(&rng) < chance), HUNCH_OK);
    }
    assert_int_equal(hunch_get_promise(h, 0, ret), 1);
    assert_true(ret->promise == promise && ret->answers == ROUNDS);
    print_message("acted on %.3f, right %.4f, threshold %.3f\n", (double)ret->acted / ROUNDS,
                  (double)ret->right / (double)ret->acted, ret->threshold);
}

static double right_of(const hunch_promise *p)
{
    return (double)p->right / (double)p->acted;
}

static void test_promises_are_kept(void **state)
{
    (void)state;
    static const struct {
        stream next;
        double promise, acted; /* at least that share */
    } cases[] = {{calibrated, 0.9, 0.35}, {calibrated, 0.95, 0.15}, {boastful, 0.8, 0.25}, {drifting, 0.9, 0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            hunch_promise p;
            hunch *h = make();
            play(h, cases[i].next, cases[i].promise, seed, &p);
            assert_true(right_of(&p) > cases[i].promise - 0.01);
            assert_true((double)p.acted / ROUNDS > cases[i].acted);
            hunch_free(h);
        }
}

/* No threshold can keep the promise: hardly any choice is acted on. */
static void test_what_cannot_be_promised_is_handed_over(void **state)
{
    (void)state;
    hunch_promise p;
    hunch *h = make();
    play(h, worthless, 0.95, 7, &p);
    assert_true(p.acted < ROUNDS / 100);
    hunch_free(h);
}

/* While a threshold is in reach of the confidences, what is promised holds to the last answer, whatever the answers:
 * n promise - right <= (1 + STEP) / STEP. */
static void test_the_bound_holds_for_the_worst_answers(void **state)
{
    (void)state;
    hunch *h = make();
    struct rng rng = {5};
    double promise = 0.8, owed = 0, max = 0;
    for (unsigned t = 0; t < ROUNDS; t++) {
        hunch_choice c = {.confidence = t % 10 ? rng_uniform(&rng) : 1};
        uint32_t mark;
        assert_int_equal(hunch_act(h, &c, promise, &mark), HUNCH_OK);
        hunch_promise known;
        hunch_get_promise(h, 0, &known);
        bool right = known.threshold > 0.7; /* wrong whenever that does not take the threshold out of reach */
        assert_int_equal(hunch_acted(h, promise, mark, right), HUNCH_OK);
        owed += mark & HUNCH_ACT ? promise - right : 0;
        max = fmax(max, owed);
    }
    hunch_promise p;
    hunch_get_promise(h, 0, &p);
    assert_true(p.acted > 1000 && max <= (1 + STEP) / STEP);
    hunch_free(h);
}

static void test_saved_with_the_model_and_goes_on_the_same(void **state)
{
    (void)state;
    hunch *h = make(), *again = NULL;
    hunch_promise p, q;
    void *bytes, *more;
    size_t size, size_more;
    play(h, calibrated, 0.9, 1, &p);
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_read(&again, bytes, size, NULL), HUNCH_OK);
    hunch_get_promise(again, 0, &q);
    assert_memory_equal(&p, &q, sizeof p);
    hunch_free_bytes(bytes);
    for (hunch **one = (hunch *[]){h, again, NULL}; *one; one++)
        for (uint32_t i = 0; i < 100; i++)
            assert_int_equal(hunch_acted(*one, 0.9, i % 4, i % 3 == 0), HUNCH_OK);
    assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_write(again, &more, &size_more, NULL), HUNCH_OK);
    assert_int_equal(size, size_more);
    assert_memory_equal(bytes, more, size);
    hunch_free_bytes(bytes);
    hunch_free_bytes(more);
    assert_int_equal(hunch_merge(h, again), HUNCH_OK);
    hunch_get_promise(h, 0, &q);
    assert_int_equal(q.answers, 2 * (ROUNDS + 100));
    hunch_free(h);
    hunch_free(again);
}

static void test_bad_calls_change_nothing(void **state)
{
    (void)state;
    hunch *h = make();
    hunch_choice c = {.confidence = 0.5};
    uint32_t mark = 77;
    static const double bad[] = {0, 1, -0.5, 1.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hunch_act(h, &c, bad[i], &mark), HUNCH_EINVAL);
        assert_int_equal(hunch_acted(h, bad[i], 0, 1), HUNCH_EINVAL);
    }
    assert_int_equal(mark, 77);
    assert_int_equal(hunch_acted(h, 0.9, 4, 1), HUNCH_EINVAL);
    assert_int_equal(hunch_acted(h, 0.9, 1, 2), HUNCH_EINVAL);
    assert_int_equal(hunch_get_promise(h, 0, NULL), 0);
    for (unsigned i = 1; i <= HUNCH_PROMISES; i++)
        assert_int_equal(hunch_acted(h, i / 10.0, 0, 1), HUNCH_OK);
    assert_int_equal(hunch_act(h, &c, 0.95, &mark), HUNCH_ELIMIT);
    assert_int_equal(hunch_act(h, &c, 0.8, &mark), HUNCH_OK);
    hunch_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises_are_kept),
        cmocka_unit_test(test_what_cannot_be_promised_is_handed_over),
        cmocka_unit_test(test_the_bound_holds_for_the_worst_answers),
        cmocka_unit_test(test_saved_with_the_model_and_goes_on_the_same),
        cmocka_unit_test(test_bad_calls_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

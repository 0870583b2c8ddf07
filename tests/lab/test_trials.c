/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials: the same numbers as hunch run, whatever the threads; kept, found again, and gone on with after a stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "play/progressive.h"
#include "play/sweep.h"
#include "../temporary.h"

static struct corpus corpus;
static struct grid grids[3];
static char *folder;

enum { RUNS = 3, POINTS = 6 };

static int group_begin(void **state)
{
    (void)state;
    folder = temporary_folder();
    struct synth_options options = synth_find("synnonsep")->defaults;
    options.rows = 3000;
    return corpus_synth(&corpus, "synnonsep", &options, NULL) ||
           grid_parse(&grids[0], "banditron:gamma=2^-6..2^-3", NULL, NULL) ||
           grid_parse(&grids[1], "perceptron", NULL, NULL) || grid_parse(&grids[2], "confidit:eta=0.1", NULL, NULL) ||
           !folder;
}

static int group_end(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        grid_free(&grids[i]);
    corpus_free(&corpus);
    int code = temporary_remove(folder);
    free(folder);
    return code;
}

static struct sweep swept(const struct trials_options *trials)
{
    struct sweep_input input = {&corpus, 1, grids, 3};
    struct sweep_options options = {.runs = RUNS, .seed = 5, .shuffle = true, .trials = *trials};
    struct sweep s;
    hunch_error error;
    if (sweep_play(&s, &input, &options, &error))
        fail_msg("%s", error.message);
    return s;
}

static void sweeps_equal(const struct sweep *a, const struct sweep *b)
{
    for (size_t i = 0; i < POINTS * RUNS; i++) {
        assert_int_equal(a->outcomes[i].tally.mistakes, b->outcomes[i].tally.mistakes);
        assert_int_equal(a->outcomes[i].tally.explored, b->outcomes[i].tally.explored);
        assert_int_equal(a->outcomes[i].tally.points, b->outcomes[i].tally.points);
        assert_memory_equal(a->outcomes[i].tally.curve, b->outcomes[i].tally.curve,
                            a->outcomes[i].tally.points * sizeof *a->outcomes[i].tally.curve);
    }
}

static void as_progressive_evaluation(void **state)
{
    (void)state;
    struct trials_options trials = {.threads = 2};
    struct sweep s = swept(&trials);
    const char *specs[] = {"banditron:gamma=0.03125", "perceptron"};
    struct progressive_options options = {.specs = specs, .learners = 2, .seed = 5, .runs = RUNS, .shuffle = true};
    struct progressive p;
    assert_int_equal(progressive_memory(&p, &corpus.data, &options, NULL), HUNCH_OK);
    for (size_t r = 0; r < RUNS; r++) {
        assert_int_equal(s.outcomes[1 * RUNS + r].tally.mistakes, p.results[r].tally.mistakes);
        assert_int_equal(s.outcomes[4 * RUNS + r].tally.mistakes, p.results[RUNS + r].tally.mistakes);
        assert_int_equal(s.outcomes[1 * RUNS + r].tally.explored, p.results[r].tally.explored);
    }
    progressive_free(&p);
    sweep_free(&s);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    struct trials_options one = {.threads = 1}, many = {.threads = 7};
    struct sweep a = swept(&one), b = swept(&many);
    sweeps_equal(&a, &b);
    sweep_free(&a);
    sweep_free(&b);
}

static void the_best_is_the_best(void **state)
{
    (void)state;
    struct trials_options trials = {.threads = 2};
    struct sweep s = swept(&trials);
    for (size_t p = 0; p < grids[0].n; p++)
        assert_true(s.entries[s.best[0]].error <= s.entries[p].error);
    assert_int_equal(s.best[1], 0);
    struct curve c;
    assert_true(sweep_curve(&s, 0, s.best[0], &c));
    assert_true(c.round[c.n - 1] == 3000);
    assert_float_equal(c.error[c.n - 1], s.entries[s.best[0]].error, 1e-12);
    curve_free(&c);
    sweep_free(&s);
}

static void kept_cells_are_found_again(void **state)
{
    (void)state;
    struct store store;
    assert_int_equal(store_open(&store, folder, NULL), HUNCH_OK);
    struct trials_options trials = {.threads = 2, .store = &store};
    struct sweep a = swept(&trials), b = swept(&trials);
    for (size_t i = 0; i < POINTS * RUNS; i++)
        assert_true(!a.trials[i].cached && b.trials[i].cached);
    sweeps_equal(&a, &b);
    sweep_free(&b);
    /* a damaged result is played again */
    char path[128];
    snprintf(path, sizeof path, "%s/%.2s/%s.json", folder, a.trials[0].key, a.trials[0].key + 2);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"rounds\": 3000, \"mistakes\": 1", file);
    fclose(file);
    b = swept(&trials);
    assert_true(!b.trials[0].cached && b.trials[1].cached);
    sweeps_equal(&a, &b);
    sweep_free(&a);
    sweep_free(&b);
    store_close(&store);
}

/* Stops after the first trials, as Ctrl-C does. */
static void stop_soon(void *context, const struct progress *p)
{
    if (p->fraction > 0.05)
        atomic_store((atomic_bool *)context, true);
}

static void a_stopped_sweep_goes_on(void **state)
{
    (void)state;
    atomic_bool stop = false;
    char other[64];
    snprintf(other, sizeof other, "%s/stopped", folder);
    struct store store;
    assert_int_equal(store_open(&store, other, NULL), HUNCH_OK);
    struct trials_options trials = {
        .threads = 1, .store = &store, .stop = &stop, .progress = stop_soon, .context = &stop};
    struct sweep partial = swept(&trials), fresh, whole;
    struct trials_options plain = {.threads = 2}, go_on = {.threads = 2, .store = &store};
    fresh = swept(&plain);
    whole = swept(&go_on);
    size_t kept = 0;
    for (size_t i = 0; i < POINTS * RUNS; i++) {
        assert_int_equal(whole.trials[i].cached, partial.trials[i].done);
        kept += partial.trials[i].done;
    }
    assert_int_equal(partial.stopped, kept < POINTS * RUNS);
    sweeps_equal(&fresh, &whole);
    sweep_free(&partial);
    sweep_free(&fresh);
    sweep_free(&whole);
    store_close(&store);
}

/* What is not a result is refused as a whole. */
static void damaged_results_change_nothing(void **state)
{
    (void)state;
    struct outcome out = {.tally.rounds = 7};
    struct trial c = {.out = &out};
    const char *head =
        "{\"rounds\": 9, \"mistakes\": 1, \"greedy_mistakes\": 1, \"explored\": 0, \"test_mistakes\": 0, "
        "\"bytes\": 8, \"regret\": 0.5, \"balanced\": 0.1, \"discovery\": 2, \"seconds\": 0.5, \"curve\": ";
    const char *const curves[] = {"[[1,1]]}", "[[0,1,1,1,0.5]]}", "[[1,1,1,\"1\",0.5]]}", "[7]}", "[[9,1,1,0,0.5]]}"};
    for (size_t i = 0; i < 5; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", head, curves[i]);
        json_t *json = json_loads(text, 0, NULL);
        assert_non_null(json);
        assert_int_equal(trial_read(&c, json), i == 4);
        assert_int_equal(out.tally.rounds, i == 4 ? 9 : 7);
        json_decref(json);
    }
    outcome_free(&out);
}

static void keys_tell_everything_apart(void **state)
{
    (void)state;
    struct trial a = {.corpus = &corpus, .spec = "banditron", .seed = 1, .passes = 1, .shuffle = true}, b = a;
    assert_int_equal(trial_key(&a, NULL), HUNCH_OK);
    b.spec = "banditron:gamma=0.05"; /* the default, written out */
    assert_int_equal(trial_key(&b, NULL), HUNCH_OK);
    assert_string_equal(a.key, b.key);
    uint32_t rows[] = {0, 1, 2, 3}, revealed[3000] = {0};
    struct part part = {.rows = rows, .n = 3}, other = {.rows = rows, .n = 4},
                noisy = {.rows = rows, .n = 3, .revealed = revealed};
    struct corpus changed = corpus;
    changed.sum[0] = changed.sum[0] == 'a' ? 'b' : 'a';
    struct trial different[] = {a, a, a, a, a, a, a, a};
    different[0].spec = "banditron:gamma=0.06";
    different[1].seed = 2;
    different[2].passes = 2;
    different[3].shuffle = false;
    different[4].part = &part;
    different[5].part = &other;
    different[6].part = &noisy;
    different[7].corpus = &changed;
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(trial_key(&different[i], NULL), HUNCH_OK);
        assert_string_not_equal(different[i].key, a.key);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(different[i].key, different[j].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_progressive_evaluation),     cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_best_is_the_best),          cmocka_unit_test(kept_cells_are_found_again),
        cmocka_unit_test(a_stopped_sweep_goes_on),       cmocka_unit_test(keys_tell_everything_apart),
        cmocka_unit_test(damaged_results_change_nothing)};
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaying a log of which more is known than it tells. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/replay.h"
#include "base/rng.h"
#include "synth.h"
#include "../temporary.h"

#define ROWS 6000
#define CLASSES 9

/* The old policy prefers the class of the row before, and shows others with 0.4 / 9. */
static void log_write(const char *path, const struct rows *b, double *prob, uint32_t *shown)
{
    FILE *out = fopen(path, "w");
    struct rng state = {11};
    assert_non_null(out);
    for (size_t i = 0; i < b->n; i++) {
        uint32_t old = i ? b->label[i - 1] : 0;
        shown[i] = rng_uniform(&state) < 0.6 ? old : (uint32_t)rng_below(&state, CLASSES);
        prob[i] = 0.4 / CLASSES + (shown[i] == old ? 0.6 : 0);
        fprintf(out, "%u:%d:%.17g |", shown[i] + 1, shown[i] != b->label[i], prob[i]);
        for (int64_t j = b->start[i]; j < b->start[i + 1]; j++)
            fprintf(out, " %u:%.9g", b->index[j], (double)b->value[j]);
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
}

static void world_make(struct rows *b)
{
    struct synth_options options = synth_find("synnonsep")->defaults;
    struct synth *synth;
    options.rows = ROWS;
    options.seed = 4;
    assert_int_equal(synth_open(&synth, "synnonsep", &options, NULL), HUNCH_OK);
    assert_int_equal(synth_next(synth, ROWS, b, NULL), HUNCH_OK);
    assert_int_equal(b->n, ROWS);
    synth_close(synth);
}

/* What the learner's belief is worth when it learns from those rounds, by the true labels. */
static double truth_find(const char *spec, const struct rows *b, const double *prob, const uint32_t *shown)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h;
    size_t right = 0;
    options.learner = spec;
    options.classes = CLASSES;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    for (size_t i = 0; i < b->n; i++) {
        hunch_vec x = {b->index + b->start[i], b->value + b->start[i], (size_t)(b->start[i + 1] - b->start[i])};
        hunch_choice choice;
        assert_int_equal(hunch_predict(h, &x, &choice), HUNCH_OK);
        right += choice.greedy == b->label[i];
        choice.note = choice.label == shown[i] ? choice.note : 0;
        choice.label = shown[i];
        choice.prob = prob[i];
        assert_int_equal(hunch_feedback(h, &x, &choice, shown[i] == b->label[i]), HUNCH_OK);
    }
    hunch_free(h);
    return (double)right / (double)b->n;
}

static void replay_file(const char *path, struct replay *r)
{
    struct logged_options logged = {.stream = {.format = STREAM_VW, .numbered = true}};
    struct replay_options options = {.classes = CLASSES, .offpolicy = {.confidence = 0.999}};
    struct logged *log;
    hunch_error error;
    assert_int_equal(logged_open(&log, &path, 1, &logged, &error), HUNCH_OK);
    assert_int_equal(replay_play(r, log, &options, &error), HUNCH_OK);
    logged_close(log);
}

static void learners_truth(void **unused)
{
    const char *const specs[] = {"banditron:gamma=0.1", "confidit:eta=0.1", "soba:gamma=0.05", "perceptron"};
    enum { N = sizeof specs / sizeof *specs };
    struct policy policies[N] = {{0}};
    struct replay r = {.policies = policies, .n = N};
    struct rows b = {0};
    double *prob = calloc(ROWS, sizeof *prob);
    uint32_t *shown = calloc(ROWS, sizeof *shown);
    char *folder = temporary_folder(), *path = NULL;
    assert_non_null(folder);
    assert_true(asprintf(&path, "%s/log", folder) > 0);
    (void)unused;
    world_make(&b);
    log_write(path, &b, prob, shown);
    for (size_t i = 0; i < N; i++)
        policies[i] = (struct policy){.kind = POLICY_LEARNER, .name = specs[i]};
    replay_file(path, &r);
    assert_int_equal(r.rounds, ROWS);
    for (size_t i = 0; i < N; i++) {
        double truth = truth_find(specs[i], &b, prob, shown);
        for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++) {
            const struct offpolicy_estimate *e = &policies[i].result.estimate[m];
            if (!(e->low <= truth && truth <= e->high))
                fail_msg("%s, %s: %g .. %g, truth %g", specs[i], offpolicy_name(m), e->low, e->high, truth);
        }
        assert_true(policies[i].result.estimate[OFFPOLICY_DR].std_error <
                    0.7 * policies[i].result.estimate[OFFPOLICY_IPS].std_error);
        hunch_free(policies[i].learner);
    }
    replay_free(&r);
    rows_free(&b);
    free(prob);
    free(shown);
    assert_int_equal(temporary_remove(folder), 0);
    free(folder);
    free(path);
}

/* Every round has a feature of its own, and being right is chance: who has not seen a round knows nothing of it. A
 * model that learned first and guessed then would know it all. */
static void model_has_not_seen(void **unused)
{
    struct policy policy = {.kind = POLICY_UNIFORM, .name = "uniform"};
    struct replay r = {.policies = &policy, .n = 1};
    char *folder = temporary_folder(), *path = NULL;
    assert_non_null(folder);
    assert_true(asprintf(&path, "%s/log", folder) > 0);
    FILE *out = fopen(path, "w");
    struct rng state = {3};
    double agree = 0, n = 4000;
    (void)unused;
    assert_non_null(out);
    for (int i = 0; i < n; i++)
        fprintf(out, "%d:%d:0.5 | %d:20\n", 1 + (int)rng_below(&state, 2), (int)rng_below(&state, 2), i);
    assert_int_equal(fclose(out), 0);
    replay_file(path, &r);
    for (size_t i = 0; i < r.rounds; i++)
        agree += (policy.rows[i].shown > 0.5) == (policy.rows[i].reward > 0.5);
    assert_true(fabs(agree / n - 0.5) < 4 * sqrt(0.25 / n));
    replay_free(&r);
    assert_int_equal(temporary_remove(folder), 0);
    free(folder);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(learners_truth), cmocka_unit_test(model_has_not_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

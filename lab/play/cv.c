/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/cv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "play/order.h"
#include "base/rng.h"
#include "play/statistics.h"

/* What the three draws of the protocol add to the seed, so that they do not use the same numbers. */
enum { NOISE = 1000003, TUNING = 2000003, FOLDS = 3000017 };

/* --- the split --- */

static bool labels_disturb(struct cv_split *s, const struct corpus *corpus, const struct cv_options *options)
{
    const struct rows *b = &corpus->data.rows;
    struct rng start = {options->seed + NOISE}, state = {rng_next(&start)};
    s->label = malloc((b->n + 1) * sizeof *s->label);
    for (size_t i = 0; s->label && i < b->n; i++) {
        double pick = rng_uniform(&state);
        uint32_t other = (uint32_t)rng_below(&state, corpus->data.classes);
        s->label[i] = pick < options->noise ? other : b->label[i];
    }
    return s->label;
}

static bool rows_shuffle(uint32_t *ret, uint32_t rows, uint64_t seed)
{
    struct order order;
    if (!order_init(&order, rows, seed))
        return false;
    order_shuffle(&order);
    memcpy(ret, order.row, rows * sizeof *ret);
    order_free(&order);
    return true;
}

/* Fold f is tested on rows [n f / folds, n (f + 1) / folds) of a shuffled order, and learns from the others. */
static void folds_cut(struct cv_split *s, const uint32_t *shuffled, uint32_t rows, uint32_t *memory)
{
    for (uint32_t f = 0; f < s->folds; f++) {
        uint32_t from = (uint32_t)((uint64_t)rows * f / s->folds), to = (uint32_t)((uint64_t)rows * (f + 1) / s->folds);
        uint32_t tests = to - from;
        memcpy(memory, shuffled, from * sizeof *memory);
        memcpy(memory + from, shuffled + to, (rows - to) * sizeof *memory);
        memcpy(memory + rows - tests, shuffled + from, tests * sizeof *memory);
        s->fold[f] = (struct part){memory, rows - tests, s->label, memory + rows - tests, tests, NULL};
        memory += rows;
    }
}

hunch_status cv_split_make(struct cv_split *ret, const struct corpus *corpus, const struct cv_options *options,
                           hunch_error *reterr)
{
    uint32_t rows = (uint32_t)corpus->data.rows.n;
    struct cv_split s = {.folds = options->folds};
    if (options->folds < 2 || options->folds > rows)
        return error_set(reterr, HUNCH_EINVAL, "%u rows cannot be cut into %u folds", rows, options->folds);
    uint32_t learn = (uint32_t)lround(options->tune * rows);
    if (learn >= rows || (options->tune > 0 && !learn))
        return error_set(reterr, HUNCH_EINVAL, "%u rows are too few to tune on", rows);
    uint32_t *shuffled = malloc((size_t)rows * sizeof *shuffled);
    s.fold = calloc(s.folds, sizeof *s.fold);
    s.memory = malloc(((size_t)s.folds + 1) * rows * sizeof *s.memory);
    bool good = shuffled && s.fold && s.memory && labels_disturb(&s, corpus, options) &&
                rows_shuffle(s.memory, rows, options->seed + TUNING) &&
                rows_shuffle(shuffled, rows, options->seed + FOLDS);
    if (good) {
        s.tuning = (struct part){s.memory, learn, s.label, s.memory + learn, rows - learn, s.label};
        folds_cut(&s, shuffled, rows, s.memory + rows);
        *ret = s;
    } else {
        cv_split_free(&s);
    }
    free(shuffled);
    return good ? HUNCH_OK : error_memory(reterr);
}

void cv_split_free(struct cv_split *s)
{
    free(s->fold);
    free(s->label);
    free(s->memory);
    *s = (struct cv_split){0};
}

/* --- tuning and folds --- */

/* Trials with room for what comes out; the parts and seeds are set by the caller. */
static hunch_status trials_make(struct trial **ret, struct outcome **ret_out, size_t n,
                                const struct cv_options *options, hunch_error *reterr)
{
    struct trial *trials = calloc(n + 1, sizeof *trials);
    struct outcome *out = calloc(n + 1, sizeof *out);
    if (!trials || !out) {
        free(trials);
        free(out);
        return error_memory(reterr);
    }
    for (size_t i = 0; i < n; i++)
        trials[i] = (struct trial){.seed = options->seed, .passes = options->epochs, .shuffle = true, .out = &out[i]};
    *ret = trials;
    *ret_out = out;
    return HUNCH_OK;
}

static void tuning_judge(struct cv *cv, const struct grid *grids, const struct outcome *o)
{
    for (size_t i = 0; i < cv->learners; i++) {
        struct cv_learner *l = &cv->learner[i];
        for (size_t p = 0; p < grids[i].n; p++)
            if (o[p].test_mistakes < o[l->point].test_mistakes)
                l->point = p;
        l->edge = grids[i].points[l->point].edge;
        l->tuning_error = (double)o[l->point].test_mistakes / cv->split->tuning.tests;
        o += grids[i].n;
    }
}

static hunch_status tuning_play(struct cv *cv, const struct corpus *corpus, const struct grid *grids,
                                const struct cv_options *options, hunch_error *reterr)
{
    size_t n = 0, at = 0;
    struct trial *trials;
    struct outcome *out;
    for (size_t i = 0; i < cv->learners; i++)
        n += grids[i].n;
    hunch_status status = trials_make(&trials, &out, n, options, reterr);
    if (status)
        return status;
    for (size_t i = 0; i < cv->learners; i++)
        for (size_t p = 0; p < grids[i].n; p++, at++) {
            trials[at].corpus = corpus;
            trials[at].spec = grids[i].points[p].spec;
            trials[at].part = &cv->split->tuning;
        }
    status = trials_play(trials, n, &options->trials, &cv->stopped, reterr);
    if (!status && !cv->stopped)
        tuning_judge(cv, grids, out);
    for (size_t i = 0; i < n; i++) {
        cv->tuning_seconds += out[i].tally.seconds;
        outcome_free(&out[i]);
    }
    free(trials);
    free(out);
    return status;
}

static void folds_judge(struct cv *cv)
{
    for (size_t i = 0; i < cv->learners; i++) {
        struct cv_learner *l = &cv->learner[i];
        l->outcomes = &cv->playing[i * cv->folds];
        l->summary = summary_make(l->outcomes, cv->folds);
        for (size_t f = 0; f < cv->folds; f++)
            l->errors[f] = (double)l->outcomes[f].test_mistakes / cv->split->fold[f].tests;
        l->error = statistics_mean(l->errors, cv->folds);
        l->sd = statistics_sd(l->errors, cv->folds);
    }
    for (size_t i = 0; i < cv->learners; i++)
        for (size_t j = 0; j < cv->learners; j++)
            cv->p[i * cv->learners + j] = statistics_paired(cv->learner[i].errors, cv->learner[j].errors, cv->folds);
}

static hunch_status folds_play(struct cv *cv, const struct corpus *corpus, const struct grid *grids,
                               const struct cv_options *options, hunch_error *reterr)
{
    struct trial *trials;
    hunch_status status = trials_make(&trials, &cv->playing, cv->learners * cv->folds, options, reterr);
    if (status)
        return status;
    for (size_t i = 0; i < cv->learners * cv->folds; i++) {
        size_t learner = i / cv->folds, fold = i % cv->folds;
        trials[i].corpus = corpus;
        trials[i].spec = grids[learner].points[cv->learner[learner].point].spec;
        trials[i].part = &cv->split->fold[fold];
        trials[i].seed += fold;
    }
    status = trials_play(trials, cv->learners * cv->folds, &options->trials, &cv->stopped, reterr);
    free(trials);
    if (!status && !cv->stopped)
        folds_judge(cv);
    return status;
}

static bool cv_init(struct cv *cv, size_t learners, size_t folds)
{
    *cv = (struct cv){.learners = learners, .folds = folds};
    cv->learner = calloc(learners + 1, sizeof *cv->learner);
    cv->p = calloc(learners * learners + 1, sizeof *cv->p);
    cv->split = calloc(1, sizeof *cv->split);
    bool good = cv->learner && cv->p && cv->split;
    for (size_t i = 0; good && i < learners; i++)
        good = (cv->learner[i].errors = calloc(folds + 1, sizeof(double)));
    return good;
}

hunch_status cv_play(struct cv *ret, const struct corpus *corpus, const struct grid *grids, size_t learners,
                     const struct cv_options *options, hunch_error *reterr)
{
    struct cv cv;
    hunch_status status = cv_init(&cv, learners, options->folds) ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = cv_split_make(cv.split, corpus, options, reterr);
    if (!status && options->tune > 0)
        status = tuning_play(&cv, corpus, grids, options, reterr);
    if (!status && !cv.stopped)
        status = folds_play(&cv, corpus, grids, options, reterr);
    if (status)
        cv_free(&cv);
    else
        *ret = cv;
    return status;
}

void cv_free(struct cv *cv)
{
    for (size_t i = 0; cv->playing && i < cv->learners * cv->folds; i++)
        outcome_free(&cv->playing[i]);
    for (size_t i = 0; cv->learner && i < cv->learners; i++)
        free(cv->learner[i].errors);
    if (cv->split)
        cv_split_free(cv->split);
    free(cv->playing);
    free(cv->learner);
    free(cv->p);
    free(cv->split);
    *cv = (struct cv){0};
}

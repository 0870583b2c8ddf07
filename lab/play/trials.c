/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Playing trials: the one way in which rows in memory are played, by hunch run, sweeps, cross-validation and
 * experiments. A task is a few trials of the same rows and order: rows are gathered a block at a time, and the block is
 * played by all of the task's learners while it is in the cache. Threads take tasks until none is left.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/pool.h"
#include "play/trial.h"
#include "play/order.h"

#define TASK_TRIALS 8
#define TASKS_PER_THREAD 4 /* at least, where there are enough trials, so that no thread waits long at the end */
#define BLOCK_VALUES 32768 /* a block of long rows holds fewer of them: about 256 KiB */
#define TASK_WEIGHTS                                                                                                   \
    8000000 /* that many weights (features x classes) in the trials of a task, unless it has only one */

struct task {
    struct trial **trials;
    size_t n;
};

/* What the threads share. */
struct work {
    const struct trials_options *options;
    const struct trial *trials;
    struct task *tasks;
    size_t n, learners;
    uint64_t all; /* rounds to play */
    atomic_uint_fast64_t played;
    atomic_bool failed;
};

/* What a task works with. */
struct task_state {
    struct work *work;
    const struct task *task;
    const struct trial *trial; /* the first, for what all have in common */
    struct player players[TASK_TRIALS];
    size_t n;
    struct order order;
    struct rows gather;
    uint32_t revealed[PLAYER_ROWS], rows[PLAYER_ROWS], choice[PLAYER_ROWS];
};

unsigned play_threads(unsigned wanted, size_t useful)
{
    size_t threads = wanted ? wanted : pool_processors();
    return (unsigned)(threads < useful ? threads : useful);
}

static uint32_t trial_rows(const struct trial *c)
{
    return c->part ? c->part->n : (uint32_t)c->corpus->data.rows.n;
}

static bool should_stop(const struct work *w)
{
    return (w->options->stop && atomic_load_explicit(w->options->stop, memory_order_relaxed)) ||
           atomic_load_explicit(&w->failed, memory_order_relaxed);
}

/* How many rows make a block. */
static uint32_t block_size(const struct rows *all)
{
    size_t mean = (size_t)all->start[all->n] / all->n + 1, fit = BLOCK_VALUES / mean + 1;
    return (uint32_t)(fit < PLAYER_ROWS ? fit : PLAYER_ROWS);
}

static hunch_status players_create(struct task_state *t, hunch_error *reterr)
{
    const struct trials_options *o = t->work->options;
    const struct dataset *data = &t->trial->corpus->data;
    hunch_options options = HUNCH_OPTIONS_INIT;
    if (o->learner)
        options = *o->learner;
    uint32_t min = o->learner && options.classes ? options.classes : 1;
    options.classes = data->classes > min ? data->classes : min;
    options.features = data->width;
    options.seed = t->trial->seed;
    for (; t->n < t->task->n; t->n++) {
        struct player *p = &t->players[t->n];
        size_t number = (size_t)(t->task->trials[t->n] - t->work->trials), runs = o->runs ? o->runs : 1;
        options.learner = t->task->trials[t->n]->spec;
        hunch_status status = player_create(p, &options, o->loaded, reterr);
        if (!status)
            status = player_classes(p, data->classes, reterr);
        if (!status)
            status = player_roles(p, &data->rows, reterr);
        if (!status && o->taught)
            status = player_teach(p, o->taught, reterr);
        if (status)
            return status;
        p->tally.truth = trial_truth(t->trial);
        p->tally.per_class = o->per_class || !o->whole;
        p->tally.act_at = o->act_at;
        p->number = number / runs;
        p->run = number % runs;
        p->watch = o->watch;
        p->context = o->context;
    }
    return HUNCH_OK;
}

static void task_state_free(struct task_state *t)
{
    for (size_t i = 0; i < t->n; i++)
        player_free(&t->players[i]);
    order_free(&t->order);
    rows_free(&t->gather);
    free(t);
}

/* Rows from .. from+n-1 in the run's order, and what the feedback says of them. */
static bool block_make(struct task_state *t, uint32_t from, uint32_t n, struct rows *ret)
{
    const struct rows *all = &t->trial->corpus->data.rows;
    const struct part *part = t->trial->part;
    if (!part && !t->trial->shuffle) {
        *ret = (struct rows){.n = n,
                             .start = all->start + from,
                             .index = all->index,
                             .value = all->value,
                             .label = all->label + from,
                             .columns = all->columns};
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = t->order.row[from + i];
        t->rows[i] = part ? part->rows[at] : at;
        if (part && part->revealed)
            t->revealed[i] = part->revealed[t->rows[i]];
    }
    bool good = rows_gather(&t->gather, all, t->rows, n);
    *ret = t->gather;
    return good;
}

static hunch_status pass_play(struct task_state *t, hunch_error *reterr)
{
    const uint32_t *revealed = t->trial->part && t->trial->part->revealed ? t->revealed : NULL;
    uint32_t n = trial_rows(t->trial), size = block_size(&t->trial->corpus->data.rows);
    hunch_status status = HUNCH_OK;
    for (uint32_t from = 0; from < n && !status && !should_stop(t->work); from += size) {
        struct rows block;
        if (!block_make(t, from, n - from < size ? n - from : size, &block))
            return error_memory(reterr);
        for (size_t i = 0; i < t->n && !status; i++)
            status = player_play(&t->players[i], &block, revealed, NULL, reterr);
        atomic_fetch_add_explicit(&t->work->played, block.n * t->n, memory_order_relaxed);
    }
    return status;
}

/* The greedy labels of the rows kept for it. */
static hunch_status test_play(struct task_state *t, hunch_error *reterr)
{
    const struct part *part = t->trial->part;
    const struct rows *all = &t->trial->corpus->data.rows;
    uint32_t size = block_size(all);
    for (uint32_t from = 0; part && from < part->tests; from += size) {
        uint32_t count = part->tests - from < size ? part->tests - from : size;
        if (!rows_gather(&t->gather, all, part->test + from, count))
            return error_memory(reterr);
        hunch_batch batch = rows_batch(&t->gather, 0, count);
        for (size_t i = 0; i < t->n; i++) {
            hunch_status status = hunch_score_batch(t->players[i].learner, &batch, t->choice, NULL);
            if (status)
                return error_set(reterr, status, "%s: %s", t->task->trials[i]->spec, hunch_status_text(status));
            for (uint32_t j = 0; j < count; j++) {
                uint32_t row = part->test[from + j];
                uint32_t label = part->test_label ? part->test_label[row] : all->label[row];
                t->task->trials[i]->out->test_mistakes += t->choice[j] != label;
            }
        }
    }
    return HUNCH_OK;
}

static hunch_status task_finish(struct task_state *t, bool complete, hunch_error *reterr)
{
    const struct trials_options *o = t->work->options;
    for (size_t i = 0; i < t->n; i++)
        outcome_free(t->task->trials[i]->out);
    hunch_status status = test_play(t, reterr);
    for (size_t i = 0; i < t->n && !status; i++) {
        struct trial *c = t->task->trials[i];
        status = player_finish(&t->players[i], o->keep_learner, c->out, reterr);
        c->done = !status && complete;
        if (status || o->whole)
            continue;
        tally_thin(&c->out->tally);
        json_t *json = trial_json(c);
        store_put(o->store, c->key, json);
        json_decref(json);
    }
    return status;
}

static hunch_status task_play(struct work *w, const struct task *task, hunch_error *reterr)
{
    const struct trial *first = task->trials[0];
    struct task_state *t = calloc(1, sizeof *t);
    if (!t)
        return error_memory(reterr);
    t->work = w;
    t->task = task;
    t->trial = first;
    hunch_status status = order_init(&t->order, trial_rows(first), first->seed) ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = players_create(t, reterr);
    for (uint32_t pass = 0; pass < first->passes && !status && !should_stop(w); pass++) {
        for (size_t i = 0; i < t->n; i++)
            player_set_repeated(&t->players[i], pass > 0);
        if (first->shuffle)
            order_shuffle(&t->order);
        status = pass_play(t, reterr);
    }
    bool complete = !should_stop(w);
    if (!status && (complete || w->options->whole))
        status = task_finish(t, complete, reterr);
    task_state_free(t);
    return status;
}

static hunch_status task_run(void *context, size_t task, unsigned thread, hunch_error *reterr)
{
    struct work *w = context;
    hunch_status status = task_play(w, &w->tasks[task], reterr);
    if (status)
        atomic_store(&w->failed, true);
    return status;
}

static bool work_stops(void *context)
{
    return should_stop(context);
}

static void progress_report(void *context)
{
    struct work *w = context;
    uint64_t played = atomic_load_explicit(&w->played, memory_order_relaxed);
    struct progress progress = {false, w->all ? (double)played / (double)w->all : 1, played / w->learners};
    w->options->progress(w->options->context, &progress);
}

/* Which of two trials comes first, so that those of the same rows and order lie side by side; 0: these are. */
static int trials_differ(const struct trial *a, const struct trial *b)
{
    return a->corpus != b->corpus     ? (a->corpus < b->corpus ? -1 : 1)
           : a->part != b->part       ? (a->part < b->part ? -1 : 1)
           : a->seed != b->seed       ? (a->seed < b->seed ? -1 : 1)
           : a->passes != b->passes   ? (a->passes < b->passes ? -1 : 1)
           : a->shuffle != b->shuffle ? (a->shuffle < b->shuffle ? -1 : 1)
                                      : 0;
}

static int trials_compare(const void *a, const void *b)
{
    const struct trial *left = *(struct trial *const *)a, *right = *(struct trial *const *)b;
    int differ = trials_differ(left, right);
    return differ ? differ : left < right ? -1 : left > right;
}

/* Those that are still to be played; the rest is taken from the store. */
static hunch_status trials_missing(struct trial *trials, size_t n, const struct trials_options *options,
                                   struct trial **missing, size_t *ret_n, hunch_error *reterr)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct trial *c = &trials[i];
        hunch_status status = c->done || !options->store ? HUNCH_OK : trial_key(c, reterr);
        if (status)
            return status;
        json_t *kept = c->done || options->again || !options->store ? NULL : store_get(options->store, c->key);
        if (kept)
            trial_read(c, kept);
        json_decref(kept);
        if (!c->done)
            missing[count++] = c;
    }
    qsort(missing, count, sizeof *missing, trials_compare);
    *ret_n = count;
    return HUNCH_OK;
}

/* Fewer trials to a task when there would not be enough tasks for the threads. */
static void tasks_share(struct work *w, struct trial **trials, size_t n)
{
    size_t size = n / (play_threads(w->options->threads, n) * TASKS_PER_THREAD);
    size = size < 1 ? 1 : size > TASK_TRIALS ? TASK_TRIALS : size;
    for (size_t i = 0; i < n; i++) {
        const struct dataset *data = &trials[i]->corpus->data;
        size_t weights = (size_t)data->width * data->classes + 1, fit = TASK_WEIGHTS / weights + 1;
        struct task *last = w->n ? &w->tasks[w->n - 1] : NULL;
        w->all += (uint64_t)trial_rows(trials[i]) * trials[i]->passes;
        if (last && last->n < size && last->n < fit && !trials_differ(last->trials[0], trials[i]))
            last->n++;
        else
            w->tasks[w->n++] = (struct task){&trials[i], 1};
    }
}

hunch_status trials_play(struct trial *trials, size_t n, const struct trials_options *options, bool *ret_stopped,
                         hunch_error *reterr)
{
    struct work w = {.options = options, .trials = trials, .learners = options->runs ? n / options->runs : 1};
    struct trial **missing = calloc(n + 1, sizeof(struct trial *));
    w.tasks = calloc(n + 1, sizeof *w.tasks);
    size_t count = 0;
    hunch_status status = missing && w.tasks ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = trials_missing(trials, n, options, missing, &count, reterr);
    if (!status && count) {
        tasks_share(&w, missing, count);
        struct pool_job job = {.context = &w,
                               .tasks = w.n,
                               .threads = options->threads,
                               .run = task_run,
                               .stop = work_stops,
                               .watch = options->progress ? progress_report : NULL};
        status = pool_run(&job, reterr);
    }
    *ret_stopped = false;
    for (size_t i = 0; i < n; i++)
        *ret_stopped = *ret_stopped || !trials[i].done;
    free(missing);
    free(w.tasks);
    return status;
}

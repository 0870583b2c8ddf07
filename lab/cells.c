/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Playing cells. A task is a few cells of the same rows and order: rows are gathered a block at a time, and the block
 * is played by all of the task's learners while it is in the cache. Threads take tasks until none is left.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cell_share.h"
#include "fail.h"
#include "order.h"
#include "player.h"
#include "progressive_common.h"
#include "ranks.h"

#define TASK_CELLS 8
#define TASKS_PER_THREAD 4
#define BLOCK_VALUES 32768   /* a block of long rows holds fewer of them: about 256 KiB */
#define TASK_WEIGHTS 8000000 /* so many weights (features x classes) in the cells of a task, unless it has only one */

struct task {
    struct cell **cells;
    size_t n;
};

struct crew {
    const struct cells_options *options;
    struct task *tasks;
    size_t n, next; /* next and the rest below: under mutex */
    uint64_t all;   /* rounds to play */
    unsigned at_work, threads;
    atomic_uint_fast64_t played;
    atomic_bool failed;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    hunch_status status;
    hunch_error error;
};

/* What a task works with. */
struct table {
    hunch *learner[TASK_CELLS];
    struct tally tally[TASK_CELLS];
    struct order order;
    struct gather gather;
    uint32_t told[PLAYER_ROWS], rows[PLAYER_ROWS], choice[PLAYER_ROWS];
    hunch_choice choices[PLAYER_ROWS];
};

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t cell_rows(const struct cell *c)
{
    return c->part ? c->part->n : (uint32_t)c->corpus->data.block.rows;
}

static bool should_stop(const struct crew *w)
{
    return (w->options->stop && atomic_load_explicit(w->options->stop, memory_order_relaxed)) ||
           atomic_load_explicit(&w->failed, memory_order_relaxed);
}

/* How many rows make a block. */
static uint32_t block_size(const struct block *all)
{
    size_t mean = (size_t)all->start[all->rows] / all->rows + 1, fit = BLOCK_VALUES / mean + 1;
    return (uint32_t)(fit < PLAYER_ROWS ? fit : PLAYER_ROWS);
}

static hunch_status table_lay(struct table *t, const struct task *task, hunch_error *reterr)
{
    const struct cell *first = task->cells[0];
    const struct dataset *data = &first->corpus->data;
    if (!order_init(&t->order, cell_rows(first), first->seed))
        return fail_memory(reterr);
    for (size_t i = 0; i < task->n; i++) {
        hunch_options options = HUNCH_OPTIONS_INIT;
        hunch_error why;
        options.learner = task->cells[i]->spec;
        options.classes = data->classes ? data->classes : 1;
        options.features = data->width;
        options.seed = first->seed;
        if (!tally_init(&t->tally[i]))
            return fail_memory(reterr);
        hunch_status status = hunch_create(&t->learner[i], &options, &why);
        if (status)
            return fail_with(reterr, status, "%s: %s", options.learner, why.message);
    }
    return HUNCH_OK;
}

static void table_clear(struct table *t)
{
    for (size_t i = 0; i < TASK_CELLS; i++) {
        tally_free(&t->tally[i]);
        hunch_free(t->learner[i]);
    }
    order_free(&t->order);
    gather_free(&t->gather);
    free(t);
}

/* The block's rows to every learner. */
static hunch_status block_play(struct table *t, const struct task *task, const uint32_t *told, hunch_error *reterr)
{
    const struct block *b = &t->gather.block;
    hunch_batch batch = block_batch(b, 0, b->rows);
    for (size_t i = 0; i < task->n; i++) {
        double began = thread_seconds();
        hunch_status status = hunch_run_batch(t->learner[i], &batch, told, t->choices, NULL);
        if (status)
            return fail_with(reterr, status, "%s: %s", task->cells[i]->spec, hunch_reason(t->learner[i]));
        tally_count(&t->tally[i], t->choices, b->label, b->rows);
        t->tally[i].seconds += thread_seconds() - began;
    }
    return HUNCH_OK;
}

static hunch_status pass_play(struct crew *w, struct table *t, const struct task *task, hunch_error *reterr)
{
    const struct cell *first = task->cells[0];
    const struct part *part = first->part;
    const struct block *all = &first->corpus->data.block;
    uint32_t n = cell_rows(first), size = block_size(all);
    hunch_status status = HUNCH_OK;
    for (uint32_t from = 0; from < n && !status && !should_stop(w); from += size) {
        uint32_t count = n - from < size ? n - from : size;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = t->order.row[from + i];
            t->rows[i] = part ? part->rows[at] : at;
            if (part && part->told)
                t->told[i] = part->told[t->rows[i]];
        }
        if (!gather_rows(&t->gather, all, t->rows, count))
            return fail_memory(reterr);
        status = block_play(t, task, part && part->told ? t->told : t->gather.block.label, reterr);
        atomic_fetch_add_explicit(&w->played, count * task->n, memory_order_relaxed);
    }
    return status;
}

/* The greedy labels of the rows kept for it. */
static hunch_status test_play(struct table *t, const struct task *task, hunch_error *reterr)
{
    const struct part *part = task->cells[0]->part;
    const struct block *all = &task->cells[0]->corpus->data.block;
    uint32_t size = block_size(all);
    for (uint32_t from = 0; part && from < part->tests; from += size) {
        uint32_t count = part->tests - from < size ? part->tests - from : size;
        if (!gather_rows(&t->gather, all, part->test + from, count))
            return fail_memory(reterr);
        hunch_batch batch = block_batch(&t->gather.block, 0, count);
        for (size_t i = 0; i < task->n; i++) {
            hunch_status status = hunch_score_batch(t->learner[i], &batch, t->choice, NULL);
            if (status)
                return fail_with(reterr, status, "%s: %s", task->cells[i]->spec, hunch_status_text(status));
            for (uint32_t j = 0; j < count; j++) {
                uint32_t row = part->test[from + j];
                uint32_t label = part->test_label ? part->test_label[row] : all->label[row];
                task->cells[i]->test_mistakes += t->choice[j] != label;
            }
        }
    }
    return HUNCH_OK;
}

static hunch_status task_finish(struct crew *w, struct table *t, const struct task *task, hunch_error *reterr)
{
    for (size_t i = 0; i < task->n; i++)
        task->cells[i]->test_mistakes = 0;
    hunch_status status = test_play(t, task, reterr);
    for (size_t i = 0; i < task->n && !status; i++) {
        struct cell *c = task->cells[i];
        tally_finish(&t->tally[i]);
        if (!cell_take(c, &t->tally[i]))
            return fail_memory(reterr);
        c->done = true;
        json_t *json = cell_json(c);
        store_put(w->options->store, c->key, json);
        json_decref(json);
    }
    return status;
}

static hunch_status task_play(struct crew *w, const struct task *task, hunch_error *reterr)
{
    const struct cell *first = task->cells[0];
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return fail_memory(reterr);
    hunch_status status = table_lay(t, task, reterr);
    for (uint32_t pass = 0; pass < first->passes && !status && !should_stop(w); pass++) {
        if (first->shuffle)
            order_shuffle(&t->order);
        status = pass_play(w, t, task, reterr);
    }
    if (!status && !should_stop(w))
        status = task_finish(w, t, task, reterr);
    table_clear(t);
    return status;
}

static void *tasks_play(void *context)
{
    struct crew *w = context;
    hunch_error error;
    pthread_mutex_lock(&w->mutex);
    while (w->next < w->n && !should_stop(w)) {
        const struct task *task = &w->tasks[w->next++];
        pthread_mutex_unlock(&w->mutex);
        hunch_status status = task_play(w, task, &error);
        pthread_mutex_lock(&w->mutex);
        if (status && !w->status) {
            w->status = status;
            w->error = error;
            atomic_store(&w->failed, true);
        }
    }
    w->at_work--;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static hunch_status crew_work(struct crew *w, hunch_error *reterr)
{
    pthread_t *thread = calloc(w->threads, sizeof *thread);
    if (!thread)
        return fail_memory(reterr);
    unsigned started = 0;
    pthread_mutex_lock(&w->mutex);
    while (started < w->threads && !pthread_create(&thread[started], NULL, tasks_play, w))
        started++;
    w->at_work = started;
    while (w->at_work) {
        progressive_wait(&w->changed, &w->mutex);
        uint64_t played = atomic_load_explicit(&w->played, memory_order_relaxed);
        if (w->options->progress)
            w->options->progress(w->options->context, w->all ? (double)played / (double)w->all : 1, played);
    }
    pthread_mutex_unlock(&w->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (!started)
        return fail_with(reterr, HUNCH_ENOMEM, "no thread could be started");
    return w->status ? fail_with(reterr, w->status, "%s", w->error.message) : HUNCH_OK;
}

static bool cells_alike(const struct cell *a, const struct cell *b)
{
    return a->corpus == b->corpus && a->part == b->part && a->seed == b->seed && a->passes == b->passes &&
           a->shuffle == b->shuffle;
}

/* Cells of the same rows and order side by side, otherwise as they came. */
static int cells_compare(const void *a, const void *b)
{
    const struct cell *left = *(struct cell *const *)a, *right = *(struct cell *const *)b;
    if (left->corpus != right->corpus)
        return left->corpus < right->corpus ? -1 : 1;
    if (left->part != right->part)
        return left->part < right->part ? -1 : 1;
    if (left->seed != right->seed)
        return left->seed < right->seed ? -1 : 1;
    if (left->passes != right->passes)
        return left->passes < right->passes ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Those that are still to be played; the rest is taken from the store. */
static hunch_status cells_missing(struct cell *cells, size_t n, const struct cells_options *options,
                                  struct cell **missing, size_t *ret_n, hunch_error *reterr)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct cell *c = &cells[i];
        if (!ranks_mine(i))
            continue;
        hunch_status status = c->done ? HUNCH_OK : cell_key(c, reterr);
        if (status)
            return status;
        json_t *kept = c->done || options->again ? NULL : store_get(options->store, c->key);
        if (kept)
            cell_read(c, kept);
        json_decref(kept);
        if (!c->done)
            missing[count++] = c;
    }
    qsort(missing, count, sizeof *missing, cells_compare);
    *ret_n = count;
    return HUNCH_OK;
}

static void tasks_share(struct crew *w, struct cell **cells, size_t n)
{
    struct progressive_options threads = {.threads = w->options->threads};
    unsigned most = progressive_threads(&threads, n);
    size_t size = n / (most * TASKS_PER_THREAD);
    size = size < 1 ? 1 : size > TASK_CELLS ? TASK_CELLS : size;
    for (size_t i = 0; i < n; i++) {
        const struct dataset *data = &cells[i]->corpus->data;
        size_t weights = (size_t)data->width * data->classes + 1, fit = TASK_WEIGHTS / weights + 1;
        struct task *last = w->n ? &w->tasks[w->n - 1] : NULL;
        w->all += (uint64_t)cell_rows(cells[i]) * cells[i]->passes;
        if (last && last->n < size && last->n < fit && cells_alike(last->cells[0], cells[i]))
            last->n++;
        else
            w->tasks[w->n++] = (struct task){&cells[i], 1};
    }
    w->threads = progressive_threads(&threads, w->n);
}

hunch_status cells_play(struct cell *cells, size_t n, const struct cells_options *options, bool *ret_stopped,
                        hunch_error *reterr)
{
    struct crew w = {.options = options, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct cell **missing = calloc(n + 1, sizeof(struct cell *));
    w.tasks = calloc(n + 1, sizeof *w.tasks);
    size_t count = 0;
    hunch_status status = missing && w.tasks ? HUNCH_OK : fail_memory(reterr);
    if (!status)
        status = cells_missing(cells, n, options, missing, &count, reterr);
    if (!status && count) {
        tasks_share(&w, missing, count);
        status = crew_work(&w, reterr);
    }
    status = cells_share(cells, n, status, reterr);
    *ret_stopped = false;
    for (size_t i = 0; i < n; i++)
        *ret_stopped = *ret_stopped || !cells[i].done;
    free(missing);
    free(w.tasks);
    return status;
}

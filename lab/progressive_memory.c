/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs over a data set in memory. A task is one run of a few learners: rows are gathered in the run's order, a block
 * at a time, and the block is played by all of the task's learners while it is in the cache. Threads take tasks until
 * none is left.
 */
#include "progressive_common.h"

#include <stdlib.h>

#include "fail.h"
#include "order.h"

/* Learners that share the gathering of rows; more would keep more of their states in memory at once. */
#define TASK_LEARNERS 8
/* Tasks for each thread at least, where there are enough learners and runs, so that none waits long at the end. */
#define TASKS_PER_THREAD 4
/* A block of long rows holds fewer of them: about 256 KiB. */
#define BLOCK_VALUES 32768

struct team {
    const struct dataset *data;
    const struct progressive_options *options;
    struct progressive *results;
    size_t learners, runs, passes, size, tasks; /* size: learners of a task */
    unsigned threads;
    atomic_uint_fast64_t rows_played;
    atomic_bool failed;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t next_task; /* under mutex, like the rest */
    unsigned at_work;
    hunch_status status;
    hunch_error error;
};

/* What one task works with. */
struct bench {
    struct player players[TASK_LEARNERS];
    size_t n;
    struct order order;
    struct gather gather;
};

static bool should_stop(const struct team *t)
{
    return progressive_told(t->options) || atomic_load_explicit(&t->failed, memory_order_relaxed);
}

/* How many of the rows from `from` on make a block. */
static size_t block_rows(const struct block *all, size_t from)
{
    size_t rows = all->rows - from, mean = (size_t)all->start[all->rows] / all->rows + 1;
    size_t fit = BLOCK_VALUES / mean + 1;
    fit = fit < PLAYER_ROWS ? fit : PLAYER_ROWS;
    return rows < fit ? rows : fit;
}

static hunch_status block_play(struct team *t, struct bench *b, const struct block *block, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < b->n && !status; i++)
        status = player_play(&b->players[i], block, t->data->classes, NULL, reterr);
    atomic_fetch_add_explicit(&t->rows_played, block->rows * b->n, memory_order_relaxed);
    return status;
}

static hunch_status pass_play(struct team *t, struct bench *b, hunch_error *reterr)
{
    const struct block *all = &t->data->block;
    hunch_status status = HUNCH_OK;
    for (size_t from = 0; from < all->rows && !status && !should_stop(t);) {
        size_t n = block_rows(all, from);
        struct block block = {n, all->start + from, all->index, all->value, all->label + from, all->columns};
        if (t->options->shuffle) {
            if (!gather_rows(&b->gather, all, b->order.row + from, n))
                return fail_memory(reterr);
            block = b->gather.block;
        }
        status = block_play(t, b, &block, reterr);
        from += n;
    }
    return status;
}

static hunch_status bench_begin(struct team *t, struct bench *b, size_t task, hunch_error *reterr)
{
    size_t groups = (t->learners + t->size - 1) / t->size;
    size_t run = task / groups, first = task % groups * t->size;
    size_t last = first + t->size < t->learners ? first + t->size : t->learners;
    *b = (struct bench){0};
    if (t->options->shuffle && !order_init(&b->order, (uint32_t)t->data->block.rows, t->options->seed + run))
        return fail_memory(reterr);
    for (size_t i = first; i < last; i++) {
        hunch_status status =
            player_create(&b->players[b->n], t->options, i, run, t->data->classes, t->data->width, reterr);
        if (status)
            return status;
        b->n++;
    }
    return HUNCH_OK;
}

static hunch_status task_play(struct team *t, size_t task, hunch_error *reterr)
{
    struct bench b;
    hunch_status status = bench_begin(t, &b, task, reterr);
    for (size_t pass = 0; pass < t->passes && !status && !should_stop(t); pass++) {
        if (t->options->shuffle)
            order_shuffle(&b.order);
        status = pass_play(t, &b, reterr);
    }
    for (size_t i = 0; i < b.n; i++) {
        if (status)
            player_free(&b.players[i], t->options);
        else
            status = player_finish(&b.players[i], t->options, t->results, reterr);
    }
    order_free(&b.order);
    gather_free(&b.gather);
    return status;
}

static void *tasks_play(void *context)
{
    struct team *t = context;
    hunch_error error;
    pthread_mutex_lock(&t->mutex);
    while (t->next_task < t->tasks && !should_stop(t)) {
        size_t task = t->next_task++;
        pthread_mutex_unlock(&t->mutex);
        hunch_status status = task_play(t, task, &error);
        pthread_mutex_lock(&t->mutex);
        if (status && !t->status) {
            t->status = status;
            t->error = error;
            atomic_store(&t->failed, true);
        }
    }
    t->at_work--;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

static void progress_report(struct team *t)
{
    if (!t->options->progress)
        return;
    uint64_t all = t->data->block.rows * t->learners * t->runs * t->passes;
    uint64_t done = atomic_load_explicit(&t->rows_played, memory_order_relaxed);
    struct progress progress = {false, all ? (double)done / (double)all : 1, done / t->learners};
    t->options->progress(t->options->context, &progress);
}

static hunch_status team_play(struct team *t, hunch_error *reterr)
{
    pthread_t *thread = calloc(t->threads, sizeof *thread);
    if (!thread)
        return fail_memory(reterr);
    unsigned started = 0;
    pthread_mutex_lock(&t->mutex);
    while (started < t->threads && !pthread_create(&thread[started], NULL, tasks_play, t))
        started++;
    t->at_work = started;
    while (t->at_work) {
        progressive_wait(&t->changed, &t->mutex);
        progress_report(t);
    }
    pthread_mutex_unlock(&t->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (!started)
        return fail_with(reterr, HUNCH_ENOMEM, "no thread could be started");
    return t->status ? fail_with(reterr, t->status, "%s", t->error.message) : HUNCH_OK;
}

/* Fewer learners to a task when there would not be enough tasks for the threads. */
static void tasks_share(struct team *t)
{
    size_t players = t->learners * t->runs;
    unsigned threads = progressive_threads(t->options, players);
    t->size = players / (threads * TASKS_PER_THREAD);
    t->size = t->size < 1 ? 1 : t->size > TASK_LEARNERS ? TASK_LEARNERS : t->size;
    if (t->size > t->learners)
        t->size = t->learners;
    t->tasks = (t->learners + t->size - 1) / t->size * t->runs;
    t->threads = progressive_threads(t->options, t->tasks);
}

hunch_status progressive_memory(struct progressive *ret, const struct dataset *data,
                                const struct progressive_options *options, hunch_error *reterr)
{
    struct progressive results;
    struct team t = {.data = data,
                     .options = options,
                     .results = &results,
                     .learners = options->learners,
                     .runs = options->runs ? options->runs : 1,
                     .passes = options->passes ? options->passes : 1,
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    if (!progressive_init(&results, t.learners, t.runs))
        return fail_memory(reterr);
    tasks_share(&t);
    hunch_status status = data->block.rows ? team_play(&t, reterr) : HUNCH_OK;
    if (status) {
        progressive_free(&results);
        return status;
    }
    results.stopped = progressive_told(options);
    *ret = results;
    return HUNCH_OK;
}

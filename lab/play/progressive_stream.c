/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run in constant memory. A pipeline reads; its rows wait in a ring until every learner has played them, in order.
 * Free workers take the learner that is furthest behind, so the learners stay close together and rows are played by one
 * after the other while they are in the cache. Many learners' weights do not fit there, so that they
 * must be fetched again for each learner: then a learner plays several batches of rows at a time.
 *
 * The learners are made when the first rows come, which the pipeline sends when it knows the labels (stream_ahead).
 */
#include "play/progressive_common.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/pool.h"

/* Batches that may wait for the slowest learner. */
#define AHEAD 8
/* Batches played in one turn when there are many learners; twice as many may wait. */
#define STRETCH 128
/* A batch of a cache is about so large. */
#define BATCH_BYTES ((size_t)1 << 18)
/* More learners than that many per thread are many. */
#define MANY_PER_THREAD 4

struct learner {
    struct player player;
    uint64_t next;  /* the batch to play next, counted from the beginning */
    uint64_t bytes; /* of input that it has played */
    uint64_t rows;
    unsigned worker; /* that played it last, and has it in its cache */
    bool busy;
};

struct slot {
    struct rows *rows;
    size_t left; /* learners that have not played them */
};

struct run {
    struct stream *stream;
    struct pipeline *pipeline;
    struct progressive_options options;
    const atomic_bool *stop; /* for the players: NULL when what was read ahead is to be played to its end */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* all below under mutex */
    struct learner *learner;
    size_t learners;
    struct slot *ring;     /* batch i is in slot i % ahead */
    uint64_t first, end;   /* batches in the ring */
    size_t ahead, stretch; /* batches that may wait, and that make a turn */
    bool ready;            /* the learners exist */
    bool fetching;         /* a worker waits for the pipeline */
    bool ended;            /* and so has the pipeline */
    hunch_status status;
    hunch_error error;
};

static void run_fail(struct run *r, hunch_status status, const hunch_error *error)
{
    if (!r->status) {
        r->status = status;
        r->error = *error;
    }
}

static bool run_is_over(const struct run *r)
{
    return r->status || (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed));
}

static struct slot *slot_at(const struct run *r, uint64_t batch)
{
    return &r->ring[batch % r->ahead];
}

/* --- rows from the pipeline --- */

static hunch_status learners_create(struct run *r, const struct rows *rows, hunch_error *reterr)
{
    hunch_options data = HUNCH_OPTIONS_INIT;
    hunch_status status = HUNCH_OK;
    data.classes = rows ? rows->classes : names_count(stream_labels(r->stream));
    data.features = rows ? rows->width : 0;
    /* Told to stop while reading ahead: what has been read is all there is, and is played to its end. */
    if (progressive_stopped(&r->options))
        r->stop = NULL;
    for (size_t i = 0; i < r->learners && !status; i++) {
        status = progressive_player(&r->learner[i].player, &r->options, i, &data, reterr);
        r->learner[i].player.eligible = r->options.eligible ? stream_labels(r->stream) : NULL;
    }
    r->ready = true;
    return status;
}

/* With the mutex held, but for the waiting. */
static void rows_fetch(struct run *r)
{
    struct rows *rows = NULL;
    hunch_error error;
    r->fetching = true;
    pthread_mutex_unlock(&r->mutex);
    hunch_status status = pipeline_next(r->pipeline, &rows, &error);
    pthread_mutex_lock(&r->mutex);
    r->fetching = false;
    if (!status && !r->ready)
        status = learners_create(r, rows, &error);
    if (status)
        run_fail(r, status, &error);
    r->ended = !rows;
    if (rows)
        *slot_at(r, r->end++) = (struct slot){rows, r->learners};
    pthread_cond_broadcast(&r->changed);
}

/* --- the workers --- */

/* A whole turn, or what is left. */
static bool has_a_turn(const struct run *r, const struct learner *s)
{
    return s->next < r->end && (r->end - s->next >= r->stretch || r->ended);
}

/* The free learner that is furthest behind; of several, one that this worker played last. */
static struct learner *learner_choose(struct run *r, unsigned worker)
{
    struct learner *best = NULL;
    for (size_t i = 0; i < r->learners; i++) {
        struct learner *s = &r->learner[i];
        if (s->busy || !has_a_turn(r, s))
            continue;
        if (!best || s->next < best->next || (s->next == best->next && s->worker == worker && best->worker != worker))
            best = s;
    }
    return best;
}

/* With the mutex held, but for the playing itself. */
static void rows_play(struct run *r, struct learner *s)
{
    struct slot *slot = slot_at(r, s->next);
    struct rows *rows = slot->rows;
    hunch_error error;
    pthread_mutex_unlock(&r->mutex);
    hunch_status status = player_classes(&s->player, rows->classes, &error);
    if (!status)
        status = player_play(&s->player, rows, NULL, r->stop, &error);
    pthread_mutex_lock(&r->mutex);
    if (status)
        run_fail(r, status, &error);
    s->bytes = rows->bytes;
    s->rows = s->player.tally.rounds;
    s->next++;
    if (--slot->left == 0) {
        r->first++; /* batches are finished in order */
        pipeline_return(r->pipeline, rows);
        pthread_cond_broadcast(&r->changed);
    }
}

static void learner_play(struct run *r, struct learner *s, unsigned worker)
{
    s->busy = true;
    s->worker = worker;
    for (size_t i = 0; i < r->stretch && s->next < r->end && !run_is_over(r); i++)
        rows_play(r, s);
    s->busy = false;
    pthread_cond_broadcast(&r->changed);
}

/* A worker is a task of the pool that lasts to the end. */
static hunch_status work(void *context, size_t task, unsigned thread, hunch_error *reterr)
{
    struct run *r = context;
    pthread_mutex_lock(&r->mutex);
    while (!(r->ready && run_is_over(r)) && !r->status && !(r->ended && r->first == r->end)) {
        struct learner *s = learner_choose(r, (unsigned)task);
        if (s)
            learner_play(r, s, (unsigned)task);
        else if (!r->fetching && !r->ended && r->end - r->first < r->ahead)
            rows_fetch(r);
        else
            pthread_cond_wait(&r->changed, &r->mutex);
    }
    pthread_mutex_unlock(&r->mutex);
    return HUNCH_OK;
}

/* --- the whole --- */

static void progress_report(const struct run *r)
{
    if (!r->options.progress)
        return;
    uint64_t total = stream_bytes_total(r->stream), rows = 0;
    double bytes = 0;
    for (size_t i = 0; r->ready && i < r->learners; i++) {
        rows += r->learner[i].rows;
        bytes += (double)r->learner[i].bytes;
    }
    struct progress p = {false, bytes / (double)r->learners / (double)total, rows / r->learners};
    if (!r->ready)
        p = (struct progress){true, (double)stream_bytes_read(r->stream) / (double)total, stream_rows_read(r->stream)};
    if (!total)
        p.fraction = -1;
    r->options.progress(r->options.context, &p);
}

static void run_finish(struct run *r, struct progressive *results)
{
    hunch_error error;
    if (!r->status && r->end == 0 && !progressive_stopped(&r->options))
        run_fail(r, error_set(&error, HUNCH_EINVAL, "the input has no usable rows"), &error);
    for (size_t i = 0; i < r->learners; i++) {
        struct player *p = &r->learner[i].player;
        if (!p->learner)
            continue;
        hunch_status status = r->status;
        if (status)
            player_free(p);
        else
            status = player_finish(p, r->options.keep, &results->results[i], &error);
        if (status)
            run_fail(r, status, &error);
    }
}

static void run_watch(void *context)
{
    struct run *r = context;
    pthread_mutex_lock(&r->mutex);
    progress_report(r);
    if (run_is_over(r) || progressive_stopped(&r->options)) {
        pipeline_end(r->pipeline);
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->mutex);
}

static void run_play(struct run *r, unsigned threads)
{
    struct pool_job job = {.context = r, .tasks = threads, .threads = threads, .run = work, .watch = run_watch};
    hunch_error error;
    hunch_status status = pool_run(&job, &error);
    if (status)
        run_fail(r, status, &error);
    for (; r->first < r->end; r->first++)
        pipeline_return(r->pipeline, slot_at(r, r->first)->rows);
}

static bool are_many(const struct progressive_options *options, unsigned threads)
{
    return options->learners > MANY_PER_THREAD * (size_t)threads;
}

size_t progressive_reach(const struct progressive_options *options)
{
    bool many = are_many(options, play_threads(options->threads, options->learners));
    return many ? (2 * STRETCH + AHEAD) * BATCH_BYTES : 0;
}

hunch_status progressive_stream(struct progressive *ret, struct stream *stream,
                                const struct progressive_options *options, hunch_error *reterr)
{
    struct progressive results;
    unsigned threads = play_threads(options->threads, options->learners);
    bool many = are_many(options, threads);
    struct pipeline_options reading = {!options->loaded, options->classes};
    struct run r = {.stream = stream,
                    .options = *options,
                    .learners = options->learners,
                    .stop = options->stop,
                    .ahead = many ? 2 * STRETCH : AHEAD,
                    .stretch = many ? STRETCH : 1,
                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                    .changed = PTHREAD_COND_INITIALIZER};
    r.learner = calloc(options->learners + 1, sizeof *r.learner);
    r.ring = calloc(r.ahead, sizeof *r.ring);
    hunch_status status = r.learner && r.ring && progressive_init(&results, options->learners, 1)
                              ? pipeline_start(&r.pipeline, stream, &reading, reterr)
                              : error_memory(reterr);
    if (!status) {
        run_play(&r, threads);
        run_finish(&r, &results);
        status = r.status ? error_set(reterr, r.status, "%s", r.error.message) : HUNCH_OK;
        results.stopped = progressive_stopped(options);
        pipeline_stop(r.pipeline);
        if (status)
            progressive_free(&results);
        else
            *ret = results;
    }
    free(r.learner);
    free(r.ring);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/queue.h"
#include "base/error.h"
#include "stream_private.h"

#define QUEUED 4 /* rows that may wait, of about 256 KiB each */
#define SPARES 8

struct pipeline {
    struct stream *stream;
    struct pipeline_options options;
    pthread_t thread;
    struct queue queue;
    atomic_bool stop, ended; /* asked to end; has ended */
    pthread_mutex_t lock;    /* of what follows */
    bool settled;            /* stream_ahead has done its work */
    bool left_behind;        /* the thread; the stream is ours then */
    hunch_status status;
    hunch_error error;
    struct rows *spare[SPARES];
    size_t spares;
};

static struct rows *rows_get(struct pipeline *p)
{
    struct rows *rows = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->spares)
        rows = p->spare[--p->spares];
    pthread_mutex_unlock(&p->lock);
    return rows ? rows : calloc(1, sizeof *rows);
}

static void rows_drop(struct rows *rows)
{
    rows_free(rows);
    free(rows);
}

void pipeline_return(struct pipeline *p, struct rows *rows)
{
    pthread_mutex_lock(&p->lock);
    bool kept = p->spares < SPARES;
    if (kept)
        p->spare[p->spares++] = rows;
    pthread_mutex_unlock(&p->lock);
    if (!kept)
        rows_drop(rows);
}

/* The stream's next rows; NULL: there are none. Once asked to end, what has been read ahead is all there is. */
static hunch_status rows_read(struct pipeline *p, struct rows **ret, hunch_error *reterr)
{
    *ret = NULL;
    if (atomic_load(&p->stop) && !stream_has_ahead(p->stream))
        return HUNCH_OK;
    struct rows *rows = rows_get(p);
    hunch_status status = rows ? stream_next(p->stream, rows, reterr) : error_memory(reterr);
    if (!status && rows->n)
        *ret = rows;
    else if (rows)
        rows_drop(rows);
    return status;
}

static void *read_all(void *context)
{
    struct pipeline *p = context;
    struct rows *rows = NULL;
    hunch_error error = {{0}};
    hunch_status status = HUNCH_OK;
    if (p->options.ahead)
        status = stream_ahead(p->stream, p->options.classes, &p->stop, &error);
    p->settled = true;
    while (!status && !(status = rows_read(p, &rows, &error)) && rows)
        if (!queue_push(&p->queue, rows)) {
            rows_drop(rows);
            break;
        }
    p->status = status;
    p->error = error;
    atomic_store(&p->ended, true);
    queue_end(&p->queue);
    return NULL;
}

hunch_status pipeline_start(struct pipeline **ret, struct stream *s, const struct pipeline_options *options,
                            hunch_error *reterr)
{
    struct pipeline *p = calloc(1, sizeof *p);
    if (!p || !queue_init(&p->queue, QUEUED)) {
        free(p);
        return error_memory(reterr);
    }
    p->stream = s;
    p->options = *options;
    pthread_mutex_init(&p->lock, NULL);
    if (pthread_create(&p->thread, NULL, read_all, p)) {
        queue_destroy(&p->queue);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return error_memory(reterr);
    }
    *ret = p;
    return HUNCH_OK;
}

hunch_status pipeline_next(struct pipeline *p, struct rows **ret, hunch_error *reterr)
{
    *ret = queue_pop(&p->queue);
    if (*ret)
        return HUNCH_OK;
    pthread_mutex_lock(&p->lock);
    bool ours = p->left_behind;
    pthread_mutex_unlock(&p->lock);
    if (!ours)
        return p->status ? error_set(reterr, p->status, "%s", p->error.message) : HUNCH_OK;
    if (p->options.ahead && !p->settled) {
        p->settled = true;
        hunch_status status = stream_settle(p->stream, reterr);
        if (status)
            return status;
    }
    return rows_read(p, ret, reterr);
}

void pipeline_end(struct pipeline *p)
{
    atomic_store(&p->stop, true);
    pthread_mutex_lock(&p->lock);
    if (!p->left_behind && stream_abandon(p->stream)) {
        p->left_behind = true;
        queue_end(&p->queue);
    }
    pthread_mutex_unlock(&p->lock);
}

void pipeline_stop(struct pipeline *p)
{
    struct rows *rows;
    if (!p)
        return;
    queue_close(&p->queue);
    for (pipeline_end(p); !p->left_behind && !atomic_load(&p->ended); pipeline_end(p))
        clock_sleep_ms(1);
    if (p->left_behind)
        pthread_detach(p->thread);
    else
        pthread_join(p->thread, NULL);
    while ((rows = queue_drain(&p->queue)))
        rows_drop(rows);
    while (p->spares)
        rows_drop(p->spare[--p->spares]);
    queue_destroy(&p->queue);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

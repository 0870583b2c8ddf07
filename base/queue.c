/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/queue.h"

#include <assert.h>
#include <stdlib.h>

bool queue_init(struct queue *q, size_t limit)
{
    assert(limit >= 1);
    *q = (struct queue){.limit = limit, .item = calloc(limit, sizeof *q->item)};
    if (!q->item)
        return false;
    if (pthread_mutex_init(&q->lock, NULL))
        goto fail;
    if (!pthread_cond_init(&q->changed, NULL))
        return true;
    pthread_mutex_destroy(&q->lock);
fail:
    free(q->item);
    return false;
}

void queue_destroy(struct queue *q)
{
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->item);
}

bool queue_push(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (!q->ended && q->count == q->limit)
        pthread_cond_wait(&q->changed, &q->lock);
    bool open = !q->ended;
    if (open) {
        q->item[(q->first + q->count++) % q->limit] = item;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return open;
}

static void *take(struct queue *q)
{
    void *item = q->item[q->first];
    q->first = (q->first + 1) % q->limit;
    q->count--;
    pthread_cond_broadcast(&q->changed);
    return item;
}

void *queue_pop(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->ended && q->count == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    void *item = q->closed || q->count == 0 ? NULL : take(q);
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void finish(struct queue *q, bool closed)
{
    pthread_mutex_lock(&q->lock);
    q->ended = true;
    q->closed |= closed;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void queue_end(struct queue *q)
{
    finish(q, false);
}

void queue_close(struct queue *q)
{
    finish(q, true);
}

void *queue_drain(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    void *item = q->count > 0 ? take(q) : NULL;
    pthread_mutex_unlock(&q->lock);
    return item;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <assert.h>

bool queue_init(struct queue *q, size_t limit)
{
    assert(limit >= 1 && limit <= QUEUE_SLOTS);
    q->first = q->count = 0;
    q->limit = limit;
    q->closed = false;
    if (pthread_mutex_init(&q->lock, NULL))
        return false;
    if (pthread_cond_init(&q->changed, NULL)) {
        pthread_mutex_destroy(&q->lock);
        return false;
    }
    return true;
}

void queue_destroy(struct queue *q)
{
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
}

bool queue_push(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (!q->closed && q->count == q->limit)
        pthread_cond_wait(&q->changed, &q->lock);
    bool open = !q->closed;
    if (open) {
        q->item[(q->first + q->count++) % QUEUE_SLOTS] = item;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return open;
}

static void *take(struct queue *q)
{
    void *item = q->item[q->first];
    q->first = (q->first + 1) % QUEUE_SLOTS;
    q->count--;
    pthread_cond_broadcast(&q->changed);
    return item;
}

void *queue_pop(struct queue *q)
{
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    while (!q->closed && q->count == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    if (!q->closed)
        item = take(q);
    pthread_mutex_unlock(&q->lock);
    return item;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void *queue_drain(struct queue *q)
{
    void *item = NULL;
    pthread_mutex_lock(&q->lock);
    if (q->count > 0)
        item = take(q);
    pthread_mutex_unlock(&q->lock);
    return item;
}

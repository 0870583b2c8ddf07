/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded queue of pointers between two threads: a full queue holds the producer back. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define QUEUE_SLOTS 8

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *item[QUEUE_SLOTS];
    size_t first, count, limit;
    bool closed;
};

bool queue_init(struct queue *q, size_t limit); /* limit: 1 .. QUEUE_SLOTS */
void queue_destroy(struct queue *q);
bool queue_push(struct queue *q, void *item); /* waits for room; false: closed, item still the caller's */
void *queue_pop(struct queue *q);             /* waits for an item; NULL: closed */
void queue_close(struct queue *q);  /* wakes everybody; what is still inside stays poppable with queue_drain */
void *queue_drain(struct queue *q); /* an item left in a closed queue, or NULL */

#endif

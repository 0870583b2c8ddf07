/* SPDX-License-Identifier: BSD-3-Clause */
/* A bounded queue of pointers between threads, any number on either side: a push waits while the queue is full. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void **item;
    size_t first, count, limit;
    bool ended, closed;
};

bool queue_init(struct queue *q, size_t limit); /* limit: at least 1; false: no memory */
void queue_destroy(struct queue *q);

/* item: not NULL. Waits for room; false: ended or closed, and the item is still the caller's. */
bool queue_push(struct queue *q, void *item);
/* Waits for an item; NULL: closed, or ended and empty. */
void *queue_pop(struct queue *q);

/* Nothing more is pushed; what is inside is still popped. */
void queue_end(struct queue *q);
/* Nothing more is pushed or popped and everybody wakes; what is inside is left to queue_drain. */
void queue_close(struct queue *q);
/* An item that is there now, or NULL. */
void *queue_drain(struct queue *q);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of work with threads that all models share: one queue writes events to disk, another applies shared journals.
 * An item that has something to do is scheduled in one of the lists; an item is never run by two threads at a time. If
 * no thread is free, another one is started, up to a limit.
 */
#ifndef SERVE_WORK_QUEUE_H
#define SERVE_WORK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define WORK_THREADS 16

/* When an item is due: the order is that of the delays. */
enum work_time {
    WORK_NOW,
    WORK_SOON,  /* not urgent: a few more events may arrive first */
    WORK_RETRY, /* after a failure */
    WORK_NONE,
};

/* Part of the struct that has the work. Its members are read and written under the queue's lock. */
struct work_item {
    TAILQ_ENTRY(work_item) links;
    enum work_time list; /* WORK_NONE: it is not scheduled */
    int64_t due_ns;
    bool busy, left;      /* it is being run; it has been removed */
    enum work_time again; /* busy: when to run it again; WORK_NONE: not */
};

#define WORK_ITEM_NEW ((struct work_item){.list = WORK_NONE, .again = WORK_NONE})

TAILQ_HEAD(work_list, work_item);

struct work_queue {
    pthread_mutex_t lock;
    pthread_cond_t work, ended;
    struct work_list list[WORK_NONE];
    void (*run_one)(struct work_item *item);
    pthread_t thread[WORK_THREADS];
    unsigned threads, max, free; /* free: waiting for work */
    bool stop;
};

/* run_one does one step of an item's work. False: no thread could be started. */
bool work_queue_open(struct work_queue *t, unsigned max, void (*run_one)(struct work_item *item));
void work_queue_close(struct work_queue *t);
/* For simulations, which open the queue with max = 0 and so without threads: runs the item that is due first, at once.
 * False: none is scheduled. */
bool work_queue_step(struct work_queue *t);

/* Runs the item no later than that. May be called by any thread, also while the item is being run. */
void work_queue_schedule(struct work_queue *t, struct work_item *item, enum work_time when);
/* The item is never run again; waits until it is not being run. */
void work_queue_remove(struct work_queue *t, struct work_item *item);
/* Whether an item waits that is due now. */
bool work_queue_is_waiting(struct work_queue *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that all models share: those that put events on disk, and those that apply shared journals. Whoever has
 * something to do is called and waits for its turn in one of the lists; it has one turn at a time. A thread more is
 * made when none is free, up to a limit.
 */
#ifndef SERVE_WORK_QUEUE_H
#define SERVE_WORK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define WORK_THREADS 16

/* The sooner, the less. */
enum work_time {
    WORK_NOW,
    WORK_SOON,  /* nothing is urgent: a few more events may come */
    WORK_RETRY, /* after a failure */
    WORK_NONE,
};

/* One who has turns. All under the lock of the turns. */
struct work_item {
    TAILQ_ENTRY(work_item) links;
    enum work_time list; /* TURNS: in none */
    int64_t due_ns;
    bool busy, left;      /* it is its turn; it has none any more */
    enum work_time again; /* busy: called meanwhile for another one; TURNS: not */
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

/* give: one turn. False: no thread could be started. */
bool work_queue_open(struct work_queue *t, unsigned max, void (*run_one)(struct work_item *item));
void work_queue_close(struct work_queue *t);
/* For simulations, which open it with most = 0 and have no threads then: the caller gives one turn, the soonest that
 * someone waits for, at once. False: no one waits. */
bool work_queue_step(struct work_queue *t);

/* A turn no later than that; from any thread, during a turn too. */
void work_queue_schedule(struct work_queue *t, struct work_item *item, enum work_time when);
/* It has no turns any more; waits for the end of the present one. */
void work_queue_remove(struct work_queue *t, struct work_item *item);
/* Whether someone waits for a turn now. */
bool work_queue_is_waiting(struct work_queue *t);

#endif

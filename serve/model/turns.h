/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that all models share: those that put events on disk, and those that apply shared journals. Whoever has
 * something to do is called and waits for its turn in one of the lists; it has one turn at a time. A thread more is
 * made when none is free, up to a limit.
 */
#ifndef SERVE_TURNS_H
#define SERVE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define TURNS_THREADS 16

/* The sooner, the less. */
enum turn {
    TURN_NOW,
    TURN_SOON,  /* nothing is urgent: a few more events may come */
    TURN_AGAIN, /* after a failure */
    TURNS,
};

/* One who has turns. All under the lock of the turns. */
struct turn_taker {
    TAILQ_ENTRY(turn_taker) neighbours;
    enum turn list; /* TURNS: in none */
    int64_t due_ns;
    bool busy, left; /* it is its turn; it has none any more */
    enum turn again; /* busy: called meanwhile for another one; TURNS: not */
};

#define TURN_TAKER_NEW ((struct turn_taker){.list = TURNS, .again = TURNS})

TAILQ_HEAD(turn_list, turn_taker);

struct turns {
    pthread_mutex_t lock;
    pthread_cond_t work, ended;
    struct turn_list list[TURNS];
    void (*give)(struct turn_taker *who);
    pthread_t thread[TURNS_THREADS];
    unsigned threads, most, free; /* free: waiting for work */
    bool stop;
};

/* give: one turn. False: no thread could be started. */
bool turns_open(struct turns *t, unsigned most, void (*give)(struct turn_taker *who));
void turns_close(struct turns *t);
/* For simulations, which open it with most = 0 and have no threads then: the caller gives one turn, the soonest that
 * someone waits for, at once. False: no one waits. */
bool turns_step(struct turns *t);

/* A turn no later than that; from any thread, during a turn too. */
void turns_call(struct turns *t, struct turn_taker *who, enum turn when);
/* It has no turns any more; waits for the end of the present one. */
void turns_leave(struct turns *t, struct turn_taker *who);
/* Whether someone waits for a turn now. */
bool turns_pressed(struct turns *t);

#endif

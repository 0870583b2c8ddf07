/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that put models' events on disk, shared by all models. A model that has something to be written waits for
 * its turn in one of the lists; a model has one turn at a time. A thread more is made when none is free, up to a limit.
 */
#ifndef SERVE_WRITERS_H
#define SERVE_WRITERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct model;

#define WRITERS_MOST 16 /* more than processors: they wait for disks */

enum turn {
    TURN_NOW,
    TURN_SOON,  /* no one waits for it: a few more events may come */
    TURN_AGAIN, /* the disk has failed */
    TURNS,
};

TAILQ_HEAD(turn_list, model);

struct writers {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct turn_list list[TURNS];
    pthread_t thread[WRITERS_MOST];
    unsigned threads, free; /* free: waiting for work */
    bool stop;
};

bool writers_open(struct writers *w); /* false: no thread could be started */
void writers_close(struct writers *w);

/* Under the model's lock, for one that is in no list and has no turn. */
void writers_enlist(struct model *m, enum turn when);
/* A turn that is to come comes at once. */
void writers_hurry(struct model *m);
/* Whether another model waits for a turn now. */
bool writers_pressed(struct writers *w);

#endif

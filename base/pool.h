/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that share the tasks of a job. Tasks are numbers 0 .. tasks-1, taken in order by whichever thread is free;
 * the calling thread watches until all are done. A service that runs for as long as the program does is no job: it has
 * a thread of its own.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pool_job {
    void *context;
    size_t tasks;
    unsigned threads; /* 0: as many as the machine has processors; never more than tasks */
    /* Does one task; thread counts from 0. The first failure ends the job: no further task begins. */
    hunch_status (*run)(void *context, size_t task, unsigned thread, hunch_error *reterr);
    /* Both may be NULL. stop is asked before each task: true ends the job without an error. */
    bool (*stop)(void *context);
    /* In the calling thread, about ten times a second and once at the end: to show progress. */
    void (*watch)(void *context);
};

/* HUNCH_OK also when stopped; otherwise what the first task that failed gave. */
hunch_status pool_run(const struct pool_job *job, hunch_error *reterr);

unsigned pool_processors(void);

#endif

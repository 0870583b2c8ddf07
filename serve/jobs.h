/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads for work that must not hold up requests: whatever reads or writes files, and requests that take long. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include <pthread.h>
#include <stdbool.h>

#include "http_error.h"

#define JOB_THREADS 64

/* First member of what the job works on; run frees it or gives it on. */
struct job {
    void (*run)(struct job *j);
    struct job *next;
};

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct job *first, **last;
    pthread_t thread[JOB_THREADS];
    unsigned threads;
    size_t waiting;
    bool stop;
};

bool jobs_start(struct jobs *j, unsigned threads, struct http_error *err);
/* Never waits. */
void jobs_push(struct jobs *j, struct job *job);
size_t jobs_waiting(struct jobs *j);
/* After what has been pushed is done. */
void jobs_stop(struct jobs *j);

#endif

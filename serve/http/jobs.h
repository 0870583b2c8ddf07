/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads for work that must not hold up requests: whatever reads or writes files, and requests that take long. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/queue.h"
#include "util/http_error.h"

#define JOB_THREADS 4 /* at most */
#define JOBS_WAITING 4096

/* First member of what the job works on; run frees it or gives it on. */
struct job {
    void (*run)(struct job *j);
};

struct jobs {
    struct queue queue;
    pthread_t thread[JOB_THREADS];
    unsigned threads;
};

bool jobs_start(struct jobs *j, unsigned threads, struct http_error *err);
/* False: too many jobs are waiting. */
bool jobs_push(struct jobs *j, struct job *job);
size_t jobs_waiting(struct jobs *j);
/* After what has been pushed is done; nothing more is taken. */
void jobs_stop(struct jobs *j);
void jobs_free(struct jobs *j);

#endif

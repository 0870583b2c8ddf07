/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define WATCH_NS 100000000

struct pool {
    const struct pool_job *job;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* under mutex */
    size_t next;
    unsigned started, working;
    hunch_status status;
    hunch_error error;
};

unsigned pool_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

static bool task_take(struct pool *p, size_t *ret)
{
    const struct pool_job *job = p->job;
    if (p->status || p->next >= job->tasks || (job->stop && job->stop(job->context)))
        return false;
    *ret = p->next++;
    return true;
}

static void *work(void *context)
{
    struct pool *p = context;
    hunch_error error = {""};
    size_t task;
    pthread_mutex_lock(&p->mutex);
    unsigned thread = p->started++;
    while (task_take(p, &task)) {
        pthread_mutex_unlock(&p->mutex);
        hunch_status status = p->job->run(p->job->context, task, thread, &error);
        pthread_mutex_lock(&p->mutex);
        if (status && !p->status) {
            p->status = status;
            p->error = error;
        }
    }
    assert(p->working > 0);
    p->working--;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

static void watch(struct pool *p)
{
    if (!p->job->watch)
        return;
    pthread_mutex_unlock(&p->mutex);
    p->job->watch(p->job->context);
    pthread_mutex_lock(&p->mutex);
}

static void wait_for_all(struct pool *p)
{
    while (p->working) {
        struct timespec until = clock_after(CLOCK_REALTIME, WATCH_NS);
        pthread_cond_timedwait(&p->changed, &p->mutex, &until);
        watch(p);
    }
}

hunch_status pool_run(const struct pool_job *job, hunch_error *reterr)
{
    struct pool p = {.job = job, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    unsigned wanted = job->threads ? job->threads : pool_processors(), n = 0;
    assert(job->run);
    if (wanted > job->tasks)
        wanted = (unsigned)job->tasks;
    pthread_t *thread = calloc((size_t)wanted + 1, sizeof *thread);
    if (!thread)
        return error_memory(reterr);
    pthread_mutex_lock(&p.mutex);
    while (n < wanted && !pthread_create(&thread[n], NULL, work, &p))
        n++;
    p.working = n;
    wait_for_all(&p);
    pthread_mutex_unlock(&p.mutex);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (wanted && !n)
        return error_set(reterr, HUNCH_ENOMEM, "no thread could be started");
    return p.status ? error_set(reterr, p.status, "%s", p.error.message) : HUNCH_OK;
}

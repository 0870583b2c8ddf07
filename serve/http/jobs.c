/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/jobs.h"

static void *run(void *jobs)
{
    struct jobs *j = jobs;
    for (struct job *job; (job = queue_pop(&j->queue));)
        job->run(job);
    return NULL;
}

bool jobs_start(struct jobs *j, unsigned threads, struct http_error *err)
{
    *j = (struct jobs){0};
    if (!queue_init(&j->queue, JOBS_WAITING * 2))
        return http_error_no_memory(err);
    while (j->threads < threads && pthread_create(&j->thread[j->threads], NULL, run, j) == 0)
        j->threads++;
    if (j->threads)
        return true;
    jobs_free(j);
    return http_error_set(err, 503, "thread", "no thread could be started");
}

size_t jobs_waiting(struct jobs *j)
{
    pthread_mutex_lock(&j->queue.lock);
    size_t n = j->queue.count;
    pthread_mutex_unlock(&j->queue.lock);
    return n;
}

bool jobs_push(struct jobs *j, struct job *job)
{
    return jobs_waiting(j) < JOBS_WAITING && queue_push(&j->queue, job);
}

void jobs_stop(struct jobs *j)
{
    queue_end(&j->queue);
    for (unsigned i = 0; i < j->threads; i++)
        pthread_join(j->thread[i], NULL);
    j->threads = 0;
}

void jobs_free(struct jobs *j)
{
    queue_destroy(&j->queue);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "jobs.h"

static void *run(void *jobs)
{
    struct jobs *j = jobs;
    pthread_mutex_lock(&j->lock);
    for (;;) {
        while (!j->first && !j->stop)
            pthread_cond_wait(&j->work, &j->lock);
        struct job *job = j->first;
        if (!job)
            break;
        j->first = job->next;
        if (!j->first)
            j->last = &j->first;
        j->waiting--;
        pthread_mutex_unlock(&j->lock);
        job->run(job);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

bool jobs_start(struct jobs *j, unsigned threads, struct http_error *err)
{
    *j = (struct jobs){0};
    j->last = &j->first;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->work, NULL);
    while (j->threads < threads && j->threads < JOB_THREADS &&
           pthread_create(&j->thread[j->threads], NULL, run, j) == 0)
        j->threads++;
    if (j->threads)
        return true;
    jobs_stop(j);
    return http_error_set(err, 503, "thread", "no thread could be started");
}

void jobs_push(struct jobs *j, struct job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&j->lock);
    *j->last = job;
    j->last = &job->next;
    j->waiting++;
    pthread_cond_signal(&j->work);
    pthread_mutex_unlock(&j->lock);
}

size_t jobs_waiting(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    size_t n = j->waiting;
    pthread_mutex_unlock(&j->lock);
    return n;
}

void jobs_stop(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->stop = true;
    pthread_cond_broadcast(&j->work);
    pthread_mutex_unlock(&j->lock);
    for (unsigned i = 0; i < j->threads; i++)
        pthread_join(j->thread[i], NULL);
    pthread_cond_destroy(&j->work);
    pthread_mutex_destroy(&j->lock);
}

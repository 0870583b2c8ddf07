/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/work_queue.h"

#include <assert.h>
#include <time.h>

#include "base/clock.h"

static const int64_t delay_ns[WORK_NONE] = {0, INT64_C(20000000), INT64_C(250000000)};

/* The first item that is due. *ret_until: when the next one will be; INT64_MAX: none is scheduled. */
static struct work_item *first_due(struct work_queue *t, int64_t *ret_until)
{
    int64_t now = clock_now();
    *ret_until = INT64_MAX;
    for (size_t i = 0; i < WORK_NONE; i++) {
        struct work_item *item = TAILQ_FIRST(&t->list[i]); /* delays are the same within a list */
        if (item && item->due_ns <= now)
            return item;
        if (item && item->due_ns < *ret_until)
            *ret_until = item->due_ns;
    }
    return NULL;
}

static bool any_listed(const struct work_queue *t)
{
    for (size_t i = 0; i < WORK_NONE; i++)
        if (!TAILQ_EMPTY(&t->list[i]))
            return true;
    return false;
}

static void *run(void *queue);

/* Under the lock: wakes a thread, or starts one, to look at the lists again. */
static void call_one(struct work_queue *t)
{
    if (t->free)
        pthread_cond_signal(&t->work);
    else if (t->threads < t->max && !t->stop && pthread_create(&t->thread[t->threads], NULL, run, t) == 0)
        t->threads++;
}

static void enlist(struct work_queue *t, struct work_item *item, enum work_time when)
{
    assert(when < WORK_NONE && item->list == WORK_NONE && !item->busy && !item->left);
    item->list = when;
    item->due_ns = clock_now() + delay_ns[when];
    TAILQ_INSERT_TAIL(&t->list[when], item, links);
}

static void delist(struct work_queue *t, struct work_item *item)
{
    if (item->list != WORK_NONE)
        TAILQ_REMOVE(&t->list[item->list], item, links);
    item->list = WORK_NONE;
}

/* Under the lock. The item to be run; NULL: the queue is being closed. */
static struct work_item *next(struct work_queue *t)
{
    struct work_item *item = NULL;
    int64_t until;
    while (!(item = first_due(t, &until)) && !t->stop) {
        struct timespec at = {until / 1000000000, until % 1000000000};
        t->free++;
        if (until == INT64_MAX)
            pthread_cond_wait(&t->work, &t->lock);
        else
            pthread_cond_timedwait(&t->work, &t->lock, &at);
        t->free--;
    }
    return item;
}

/* Under the lock, which it releases while the item is being run. Another thread is woken for the other items. */
static void run_item(struct work_queue *t, struct work_item *item)
{
    delist(t, item);
    item->busy = true;
    if (any_listed(t))
        call_one(t);
    pthread_mutex_unlock(&t->lock);
    t->run_one(item);
    pthread_mutex_lock(&t->lock);
    item->busy = false;
    if (item->left)
        pthread_cond_broadcast(&t->ended);
    else if (item->again != WORK_NONE)
        enlist(t, item, item->again);
    item->again = WORK_NONE;
}

static void *run(void *queue)
{
    struct work_queue *t = queue;
    pthread_mutex_lock(&t->lock);
    for (struct work_item *item; (item = next(t));)
        run_item(t, item);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void work_queue_schedule(struct work_queue *t, struct work_item *item, enum work_time when)
{
    pthread_mutex_lock(&t->lock);
    if (item->busy && when < item->again) {
        item->again = when;
    } else if (!item->busy && !item->left && when < item->list) {
        delist(t, item);
        enlist(t, item, when);
        call_one(t);
    }
    pthread_mutex_unlock(&t->lock);
}

void work_queue_remove(struct work_queue *t, struct work_item *item)
{
    pthread_mutex_lock(&t->lock);
    item->left = true;
    delist(t, item);
    while (item->busy)
        pthread_cond_wait(&t->ended, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

bool work_queue_is_waiting(struct work_queue *t)
{
    pthread_mutex_lock(&t->lock);
    bool waiting = !TAILQ_EMPTY(&t->list[WORK_NOW]);
    pthread_mutex_unlock(&t->lock);
    return waiting;
}

bool work_queue_open(struct work_queue *t, unsigned max, void (*run_one)(struct work_item *item))
{
    pthread_condattr_t attributes;
    *t = (struct work_queue){.run_one = run_one, .max = max < WORK_THREADS ? max : WORK_THREADS};
    for (size_t i = 0; i < WORK_NONE; i++)
        TAILQ_INIT(&t->list[i]);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, &attributes);
    pthread_cond_init(&t->ended, NULL);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_lock(&t->lock);
    call_one(t);
    pthread_mutex_unlock(&t->lock);
    return t->threads > 0 || max == 0;
}

bool work_queue_step(struct work_queue *t)
{
    struct work_item *item = NULL;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; !item && i < WORK_NONE; i++)
        item = TAILQ_FIRST(&t->list[i]);
    if (item)
        run_item(t, item);
    pthread_mutex_unlock(&t->lock);
    return item != NULL;
}

void work_queue_close(struct work_queue *t)
{
    if (!t->run_one)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->threads; i++)
        pthread_join(t->thread[i], NULL);
    pthread_cond_destroy(&t->work);
    pthread_cond_destroy(&t->ended);
    pthread_mutex_destroy(&t->lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "writers.h"

#include <time.h>

#include "base/clock.h"
#include "model.h"

static const int64_t delay_ns[TURNS] = {0, INT64_C(20000000), INT64_C(250000000)};

/* The first whose time has come. *ret_until: when that of another will; INT64_MAX: there is none. */
static struct model *first_due(struct writers *w, int64_t *ret_until)
{
    int64_t now = clock_now();
    *ret_until = INT64_MAX;
    for (size_t i = 0; i < TURNS; i++) {
        struct model *m = TAILQ_FIRST(&w->list[i]); /* delays are the same within a list */
        if (m && m->turn_ns <= now)
            return m;
        if (m && m->turn_ns < *ret_until)
            *ret_until = m->turn_ns;
    }
    return NULL;
}

static bool any_listed(const struct writers *w)
{
    for (size_t i = 0; i < TURNS; i++)
        if (!TAILQ_EMPTY(&w->list[i]))
            return true;
    return false;
}

static void *run(void *writers);

/* Under the lock: someone looks at the lists again. */
static void call_one(struct writers *w)
{
    if (w->free)
        pthread_cond_signal(&w->work);
    else if (w->threads < WRITERS_MOST && !w->stop && pthread_create(&w->thread[w->threads], NULL, run, w) == 0)
        w->threads++;
}

/* The model whose turn it is; NULL: the end. Whoever goes off to write has someone else watch the rest. */
static struct model *take(struct writers *w)
{
    struct model *m = NULL;
    int64_t until;
    pthread_mutex_lock(&w->lock);
    while (!(m = first_due(w, &until)) && !w->stop) {
        struct timespec at = {until / 1000000000, until % 1000000000};
        w->free++;
        if (until == INT64_MAX)
            pthread_cond_wait(&w->work, &w->lock);
        else
            pthread_cond_timedwait(&w->work, &w->lock, &at);
        w->free--;
    }
    if (m) {
        TAILQ_REMOVE(&w->list[m->turn], m, turns);
        m->turn = TURNS;
        if (any_listed(w))
            call_one(w);
    }
    pthread_mutex_unlock(&w->lock);
    return m;
}

static void *run(void *writers)
{
    struct writers *w = writers;
    struct event *batch[MODEL_BATCH];
    for (struct model *m; (m = take(w));)
        writer_turn(m, batch);
    return NULL;
}

void writers_enlist(struct model *m, enum turn when)
{
    struct writers *w = m->writers;
    pthread_mutex_lock(&w->lock);
    m->turn = when;
    m->turn_ns = clock_now() + delay_ns[when];
    TAILQ_INSERT_TAIL(&w->list[when], m, turns);
    call_one(w);
    pthread_mutex_unlock(&w->lock);
}

void writers_hurry(struct model *m)
{
    struct writers *w = m->writers;
    pthread_mutex_lock(&w->lock);
    if (m->turn != TURNS && m->turn != TURN_NOW) { /* not taken just now */
        TAILQ_REMOVE(&w->list[m->turn], m, turns);
        m->turn = TURN_NOW;
        m->turn_ns = 0;
        TAILQ_INSERT_TAIL(&w->list[TURN_NOW], m, turns);
        call_one(w);
    }
    pthread_mutex_unlock(&w->lock);
}

bool writers_pressed(struct writers *w)
{
    pthread_mutex_lock(&w->lock);
    bool pressed = !TAILQ_EMPTY(&w->list[TURN_NOW]);
    pthread_mutex_unlock(&w->lock);
    return pressed;
}

bool writers_open(struct writers *w)
{
    pthread_condattr_t attributes;
    *w = (struct writers){0};
    for (size_t i = 0; i < TURNS; i++)
        TAILQ_INIT(&w->list[i]);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_lock(&w->lock);
    call_one(w);
    pthread_mutex_unlock(&w->lock);
    return w->threads > 0;
}

void writers_close(struct writers *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->threads; i++)
        pthread_join(w->thread[i], NULL);
    pthread_cond_destroy(&w->work);
    pthread_mutex_destroy(&w->lock);
}

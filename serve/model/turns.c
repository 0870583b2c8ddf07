/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/turns.h"

#include <assert.h>
#include <time.h>

#include "base/clock.h"

static const int64_t delay_ns[TURNS] = {0, INT64_C(20000000), INT64_C(250000000)};

/* The first whose time has come. *ret_until: when that of another will; INT64_MAX: there is none. */
static struct turn_taker *first_due(struct turns *t, int64_t *ret_until)
{
    int64_t now = clock_now();
    *ret_until = INT64_MAX;
    for (size_t i = 0; i < TURNS; i++) {
        struct turn_taker *who = TAILQ_FIRST(&t->list[i]); /* delays are the same within a list */
        if (who && who->due_ns <= now)
            return who;
        if (who && who->due_ns < *ret_until)
            *ret_until = who->due_ns;
    }
    return NULL;
}

static bool any_listed(const struct turns *t)
{
    for (size_t i = 0; i < TURNS; i++)
        if (!TAILQ_EMPTY(&t->list[i]))
            return true;
    return false;
}

static void *run(void *turns);

/* Under the lock: someone looks at the lists again. */
static void call_one(struct turns *t)
{
    if (t->free)
        pthread_cond_signal(&t->work);
    else if (t->threads < t->most && !t->stop && pthread_create(&t->thread[t->threads], NULL, run, t) == 0)
        t->threads++;
}

static void enlist(struct turns *t, struct turn_taker *who, enum turn when)
{
    assert(when < TURNS && who->list == TURNS && !who->busy && !who->left);
    who->list = when;
    who->due_ns = clock_now() + delay_ns[when];
    TAILQ_INSERT_TAIL(&t->list[when], who, neighbours);
}

static void delist(struct turns *t, struct turn_taker *who)
{
    if (who->list != TURNS)
        TAILQ_REMOVE(&t->list[who->list], who, neighbours);
    who->list = TURNS;
}

/* Under the lock. Whose turn it is; NULL: the end. Whoever goes off to work has someone else watch the rest. */
static struct turn_taker *next(struct turns *t)
{
    struct turn_taker *who = NULL;
    int64_t until;
    while (!(who = first_due(t, &until)) && !t->stop) {
        struct timespec at = {until / 1000000000, until % 1000000000};
        t->free++;
        if (until == INT64_MAX)
            pthread_cond_wait(&t->work, &t->lock);
        else
            pthread_cond_timedwait(&t->work, &t->lock, &at);
        t->free--;
    }
    return who;
}

/* Under the lock, which it lets go of. */
static void give_turn(struct turns *t, struct turn_taker *who)
{
    delist(t, who);
    who->busy = true;
    if (any_listed(t))
        call_one(t);
    pthread_mutex_unlock(&t->lock);
    t->give(who);
    pthread_mutex_lock(&t->lock);
    who->busy = false;
    if (who->left)
        pthread_cond_broadcast(&t->ended);
    else if (who->again != TURNS)
        enlist(t, who, who->again);
    who->again = TURNS;
}

static void *run(void *turns)
{
    struct turns *t = turns;
    pthread_mutex_lock(&t->lock);
    for (struct turn_taker *who; (who = next(t));)
        give_turn(t, who);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void turns_call(struct turns *t, struct turn_taker *who, enum turn when)
{
    pthread_mutex_lock(&t->lock);
    if (who->busy && when < who->again) {
        who->again = when;
    } else if (!who->busy && !who->left && when < who->list) {
        delist(t, who);
        enlist(t, who, when);
        call_one(t);
    }
    pthread_mutex_unlock(&t->lock);
}

void turns_leave(struct turns *t, struct turn_taker *who)
{
    pthread_mutex_lock(&t->lock);
    who->left = true;
    delist(t, who);
    while (who->busy)
        pthread_cond_wait(&t->ended, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

bool turns_pressed(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    bool pressed = !TAILQ_EMPTY(&t->list[TURN_NOW]);
    pthread_mutex_unlock(&t->lock);
    return pressed;
}

bool turns_open(struct turns *t, unsigned most, void (*give)(struct turn_taker *who))
{
    pthread_condattr_t attributes;
    *t = (struct turns){.give = give, .most = most < TURNS_THREADS ? most : TURNS_THREADS};
    for (size_t i = 0; i < TURNS; i++)
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
    return t->threads > 0 || most == 0;
}

bool turns_step(struct turns *t)
{
    struct turn_taker *who = NULL;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; !who && i < TURNS; i++)
        who = TAILQ_FIRST(&t->list[i]);
    if (who)
        give_turn(t, who);
    pthread_mutex_unlock(&t->lock);
    return who != NULL;
}

void turns_close(struct turns *t)
{
    if (!t->give)
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

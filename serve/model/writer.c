/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model's turn at the disk: everything that has come in since the last commit goes into the next
 * one, so that one sync serves all who wait. When the disk does not take it, nothing is dropped: those who wait are
 * told so, new events are refused, and the same events are tried again until it does.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "model/model.h"
#include "util/log.h"

#define KEEP_NS INT64_C(1000000000)      /* between looks at what has expired or grown old ... */
#define KEEP_MAX_NS INT64_C(16000000000) /* ... of a model to which nothing happens */
#define PATIENCE_NS 2000000              /* at most, for those who are likely to come: see gather */

static bool many_wait(const struct model *m)
{
    return m->last - m->committed >= m->options->limits.queue / 4;
}

static bool gathered(const struct model *m)
{
    return m->waiting >= m->gather || many_wait(m) || m->stop;
}

void writer_wake(struct model *m)
{
    bool now = m->waiters || many_wait(m) || m->stop;
    switch (m->writer_state) {
    case WRITER_IDLE:
        if (m->last == m->committed && !m->stop)
            return;
        m->writer_state = now ? WRITER_QUEUED : WRITER_DELAYED;
        work_queue_schedule(m->writers, &m->writing, now ? WORK_NOW : WORK_SOON);
        return;
    case WRITER_DELAYED:
        if (!now)
            return;
        m->writer_state = WRITER_QUEUED;
        work_queue_schedule(m->writers, &m->writing, WORK_NOW);
        return;
    case WRITER_BATCHING:
        if (gathered(m)) {
            m->writer_state = WRITER_BUSY;
            pthread_cond_broadcast(&m->work);
        }
        return;
    default:
        return;
    }
}

/* Under the lock. Waits for as many as are worth it, that many nanoseconds at most; false: in vain. */
static bool await(struct model *m, int64_t ns)
{
    int64_t t = clock_now() + ns;
    struct timespec until = {t / 1000000000, t % 1000000000};
    bool ready = gathered(m), more = true;
    while (!ready && more) {
        m->writer_state = WRITER_BATCHING;
        more = pthread_cond_timedwait(&m->work, &m->lock, &until) != ETIMEDOUT;
        ready = gathered(m);
    }
    m->writer_state = WRITER_BUSY;
    return ready;
}

/* Under the lock. Clients that have just been answered are likely to be back in a moment, and a commit costs about the
 * same for one as for all of them. How long to wait for most of them is learned: longer while they do come in time, and
 * hardly at all when they don't, as with clients that think before they ask again. */
static void gather(struct model *m)
{
    int64_t max = m->commit_ns * 2 < PATIENCE_NS ? m->commit_ns * 2 : PATIENCE_NS, min = max / 16;
    if (m->gather > m->waiting) {
        m->patience_ns = await(m, m->patience_ns) ? m->patience_ns * 2 : m->patience_ns / 2;
        m->patience_ns = m->patience_ns > max ? max : m->patience_ns < min ? min : m->patience_ns;
    }
    m->gather = 0;
}

/* Under the lock. Gives the waiters that need wait no longer. */
static struct waiter *committed_upto(struct model *m, uint64_t to)
{
    struct waiter *done = NULL, **at = &m->waiters;
    size_t woken = 0;
    assert(to > m->committed && to <= m->last);
    for (uint64_t seq = m->committed + 1; seq <= to; seq++)
        m->waiting_bytes -= m->ring[seq & (m->ring_size - 1)]->bytes;
    m->committed = to;
    ring_trim(m);
    while (*at) {
        struct waiter *w = *at;
        if (w->seq <= to) {
            *at = w->next;
            w->next = done;
            done = w;
            woken++;
        } else {
            at = &w->next;
        }
    }
    assert(m->waiting >= woken);
    m->waiting -= woken;
    m->gather = m->waiting + woken * 7 / 8;
    return done;
}

static void wake(struct waiter *list, bool durable)
{
    while (list) {
        struct waiter *next = list->next; /* the waiter may be gone as soon as it is woken */
        list->wake(list, durable);
        list = next;
    }
}

/* Under the lock, which it lets go of to wake those who wait. */
static void failed(struct model *m, const struct http_error *err)
{
    struct waiter *all = m->waiters;
    bool given_up = strcmp(err->code, "refused") == 0 && m->replication->refused(m, err);
    if (!given_up && !m->failing)
        log_event("storage_failing", "{s:s,s:s}", "model", m->name, "reason", err->message);
    if (!given_up) {
        m->failing = true;
        m->failure = *err;
        atomic_fetch_add(&m->metrics->commit_failures, 1);
    }
    m->waiters = NULL;
    m->waiting = m->gather = 0;
    pthread_mutex_unlock(&m->lock);
    wake(all, false);
    pthread_mutex_lock(&m->lock);
}

static void write_events(struct model *m)
{
    struct event *batch[MODEL_BATCH];
    struct http_error err = {0};
    uint64_t from = m->committed + 1, to = m->last;
    if (to - from >= MODEL_BATCH)
        to = from + MODEL_BATCH - 1;
    /* In the ring until committed, and no one changes what is written of them. */
    for (uint64_t seq = from; seq <= to; seq++)
        batch[seq - from] = m->ring[seq & (m->ring_size - 1)];
    pthread_mutex_unlock(&m->lock);
    int64_t start = clock_now();
    bool ok = event_store_append(&m->store, batch, (size_t)(to - from + 1), &err);
    m->commit_ns = clock_now() - start;
    histogram_add(&m->metrics->commit, m->commit_ns);
    pthread_mutex_lock(&m->lock);
    if (!ok) {
        failed(m, &err);
        return;
    }
    assert(m->store.last_seq == to);
    atomic_fetch_add(&m->metrics->commits, 1);
    atomic_fetch_add(&m->metrics->committed_events, to - from + 1);
    struct waiter *done = committed_upto(m, to);
    if (m->replication->committed)
        m->replication->committed(m);
    if (m->failing) {
        m->failing = false;
        log_event("storage_recovered", "{s:s,s:I}", "model", m->name, "seq", (json_int_t)to);
    }
    pthread_mutex_unlock(&m->lock);
    wake(done, true);
    pthread_mutex_lock(&m->lock);
}

/* One step; gives whether more are due. now_ms: taken when everything accepted until then was on disk, so that an
 * answer given in time is seen. For expiry and trimming, events of this run are treated as those before it, whose age may
 * not be certain. */
static bool keep(struct model *m, int64_t now_ms, uint64_t safe_seq)
{
    struct http_error err = {0};
    bool expire = false, trim = false, silent = false;
    double keep_ms = m->options->keep_days * 86400e3;
    uint64_t before = m->store.trimmed;
    int64_t certain_ms = model_age(m, now_ms, 0);
    bool ok = event_store_expire(&m->store, certain_ms - m->state.settings.ttl_ms, &expire, &err);
    ok = ok && silence_answer(m, now_ms, &silent, &err);
    if (ok && keep_ms > 0)
        ok = event_store_trim(&m->store, certain_ms - (int64_t)keep_ms, safe_seq, m->options->vacuum, &trim, &err);
    if (!ok && !m->failing)
        log_event("housekeeping_failed", "{s:s,s:s}", "model", m->name, "reason", err.message);
    if (ok && m->store.trimmed != before && !trim)
        log_event("log_trimmed", "{s:s,s:I}", "model", m->name, "upto_seq", (json_int_t)m->store.trimmed);
    return ok && (expire || trim || silent);
}

/* Under the lock, which it lets go of. */
static void apply_retention(struct model *m, int64_t now_ms)
{
    uint64_t safe_seq = m->snapshot_older_seq;
    if (m->store.versions_n && safe_seq > m->shadows_safe)
        safe_seq = m->shadows_safe;
    pthread_mutex_unlock(&m->lock);
    bool more = keep(m, now_ms, safe_seq);
    if (!more)
        sqlite3_db_release_memory(m->store.db); /* most models have nothing to do for long */
    int64_t now = clock_now();
    pthread_mutex_lock(&m->lock);
    bool quiet = m->last == m->kept_seq && m->keep_wait_ns >= KEEP_NS && !m->state.settings.answer_after_ms;
    int64_t twice = m->keep_wait_ns * 2 < KEEP_MAX_NS ? m->keep_wait_ns * 2 : KEEP_MAX_NS;
    m->keep_wait_ns = more ? 0 : quiet ? twice : KEEP_NS;
    m->keep_ns = now + m->keep_wait_ns;
    m->kept_seq = m->last;
    m->expired = m->store.expired;
}

/* Under the lock. */
static bool keep_due(const struct model *m)
{
    return !m->failing && clock_now() >= m->keep_ns && !m->deleted && !*model_reason(m) && !m->degraded[0];
}

void writer_keep(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    if (m->writer_runs && m->writer_state == WRITER_IDLE && keep_due(m)) {
        m->writer_state = WRITER_QUEUED;
        work_queue_schedule(m->writers, &m->writing, WORK_NOW);
    }
    pthread_mutex_unlock(&m->lock);
}

/* Under the lock: when the next turn is to be. */
static void rest(struct model *m)
{
    m->writer_state = WRITER_IDLE;
    event_store_release(&m->store);
    if (m->stop && (m->failing || m->last == m->committed)) { /* failing: model_stop has waited long enough */
        m->writer_state = WRITER_STOPPED;
        pthread_cond_broadcast(&m->work);
    } else if (m->failing) {
        m->writer_state = WRITER_QUEUED;
        work_queue_schedule(m->writers, &m->writing, WORK_RETRY);
    } else {
        writer_wake(m);
    }
}

void writer_work(struct work_item *writing)
{
    struct model *m = (struct model *)((char *)writing - offsetof(struct model, writing));
    pthread_mutex_lock(&m->lock);
    m->writer_state = WRITER_BUSY;
    do {
        int64_t now_ms = m->replication->now_ms(m);
        uint64_t upto = m->last;
        if (m->last != m->committed)
            write_events(m);
        if (m->committed >= upto && keep_due(m))
            apply_retention(m, now_ms);
        if (work_queue_is_waiting(m->writers))
            m->gather = 0;
        else
            gather(m);
    } while (m->waiters && !m->failing && !work_queue_is_waiting(m->writers));
    rest(m);
    pthread_mutex_unlock(&m->lock);
}

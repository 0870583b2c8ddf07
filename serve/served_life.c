/* SPDX-License-Identifier: BSD-3-Clause */
/* A model's beginning and end, and its snapshots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files.h"
#include "served.h"
#include "note.h"
#include "snapshot.h"

#define HISTORY_ROWS 200000

bool served_create(const char *dir, const char *name, struct settings *settings, int64_t now_ms, struct problem *p)
{
    struct core core;
    struct text t = {0};
    void *bytes = NULL;
    size_t size;
    if (!core_new(&core, settings, p))
        return false;
    settings_write(&core.settings, &t);
    bool ok = !t.failed || problem_set(p, 503, "out_of_memory", "out of memory");
    ok = ok && dirs_make(dir, p) && journal_create(dir, name, t.data, core.settings.labels, now_ms, p) &&
         core_write(&core, &bytes, &size, p) && snapshot_save(dir, 0, bytes, size, p);
    if (bytes)
        hunch_free_bytes(bytes);
    text_free(&t);
    core_free(&core);
    return ok;
}

static int by_answer(const void *a, const void *b)
{
    const struct outline *x = a, *y = b;
    return (x->answer_ms > y->answer_ms) - (x->answer_ms < y->answer_ms);
}

static bool fill_history(struct served *m, struct problem *p)
{
    struct outline *rows = NULL;
    size_t n = 0;
    bool ok = journal_outline(&m->journal, HISTORY_ROWS, &rows, &n, p);
    for (size_t i = 0; ok && i < n; i++)
        history_decision(&m->history, rows[i].time_ms, rows[i].explored);
    if (ok && n)
        qsort(rows, n, sizeof *rows, by_answer);
    for (size_t i = 0; ok && i < n; i++)
        if (rows[i].answer_ms)
            history_answer(&m->history, rows[i].answer_ms, rows[i].answer_ms - rows[i].time_ms, rows[i].right);
    free(rows);
    return ok;
}

static bool revive(struct served *m, struct problem *p)
{
    struct recovery how;
    struct snapshot_list list;
    int64_t start = mono_ns();
    struct text created = {0};
    if (!journal_open(&m->journal, m->dir, p) ||
        !recover(&m->core, &how, &m->journal, m->dir, &m->options->limits, false, p) ||
        !journal_set_version(&m->journal, hunch_spec(m->core.learner), p) || !fill_history(m, p))
        return false;
    if (journal_about(&m->journal, "created_ms", &created))
        m->created_ms = strtoll(created.data, NULL, 10);
    text_free(&created);
    snapshot_find(m->dir, &list);
    m->snapshot_seq = list.n > 0 ? list.seq[0] : 0;
    m->snapshot_older_seq = list.n > 1 ? list.seq[1] : 0;
    m->snapshot_mono = mono_ns();
    m->last = m->committed = m->core.seq > m->journal.last_seq ? m->core.seq : m->journal.last_seq;
    m->first = m->last + 1;
    m->expired = m->journal.expired;
    wall_at_least(m->wall, m->journal.last_time_ms);
    note("model_open", "{s:s,s:I,s:I,s:I,s:I,s:I,s:f}", "model", m->name, "seq", (json_int_t)m->last, "snapshot_seq",
         (json_int_t)how.from, "replayed", (json_int_t)how.replayed, "mismatches", (json_int_t)how.mismatches,
         "damaged_snapshots", (json_int_t)how.damaged, "seconds", (double)(mono_ns() - start) * 1e-9);
    return true;
}

static size_t ring_size_for(size_t queue)
{
    size_t n = 1024;
    while (n < queue * 2)
        n *= 2;
    return n;
}

struct served *served_open(const char *dir, const char *name, const struct serve_options *options, struct wall *wall,
                           struct metrics *metrics)
{
    struct problem p = {0};
    pthread_condattr_t attributes;
    pthread_mutexattr_t kind;
    struct served *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    snprintf(m->name, sizeof m->name, "%s", name);
    m->options = options;
    m->wall = wall;
    m->metrics = metrics;
    m->references = 1;
    m->ring_size = ring_size_for(options->limits.queue);
    m->ring = calloc(m->ring_size, sizeof *m->ring);
    m->answers = calloc(m->ring_size / 4, sizeof *m->answers);
    m->dir = strdup(dir);
    if (!m->ring || !m->answers || !m->dir) {
        free(m->ring);
        free(m->answers);
        free(m->dir);
        free(m);
        return NULL;
    }
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP); /* held for microseconds: look again before sleeping */
    pthread_mutex_init(&m->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_mutex_init(&m->snapshot_lock, NULL);
    pthread_cond_init(&m->work, &attributes);
    pthread_condattr_destroy(&attributes);
    bool revived = revive(m, &p);
    pthread_mutex_lock(&m->lock);
    if (revived)
        m->writer_runs = pthread_create(&m->writer, NULL, writer_run, m) == 0;
    if (revived && !m->writer_runs)
        problem_set(&p, 503, "thread", "no thread could be started");
    if (!m->writer_runs) {
        snprintf(m->broken, sizeof m->broken, "%s", p.message);
        note("model_broken", "{s:s,s:s}", "model", name, "reason", p.message);
    }
    pthread_mutex_unlock(&m->lock);
    return m;
}

bool served_stop(struct served *m, unsigned patience_s)
{
    int64_t until = mono_ns() + patience_s * INT64_C(1000000000);
    pthread_mutex_lock(&m->lock);
    if (!m->writer_runs) {
        pthread_mutex_unlock(&m->lock);
        return true;
    }
    while (m->failing && m->last != m->committed && mono_ns() < until) {
        pthread_mutex_unlock(&m->lock);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        pthread_mutex_lock(&m->lock);
    }
    m->stop = true;
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->writer, NULL);
    pthread_mutex_lock(&m->lock);
    m->writer_runs = false;
    bool all = m->last == m->committed;
    pthread_mutex_unlock(&m->lock);
    if (!all)
        note("events_lost", "{s:s,s:I}", "model", m->name, "events", (json_int_t)(m->last - m->committed));
    return all;
}

void served_free(struct served *m)
{
    if (!m)
        return;
    for (uint64_t seq = m->first; m->first && seq <= m->last; seq++)
        event_free(m->ring[seq & (m->ring_size - 1)]);
    journal_close(&m->journal);
    core_free(&m->core);
    pthread_cond_destroy(&m->work);
    pthread_mutex_destroy(&m->snapshot_lock);
    pthread_mutex_destroy(&m->lock);
    free(m->ring);
    free(m->answers);
    free(m->dir);
    free(m);
}

/* --- snapshots --- */

struct patient {
    struct waiter waiter;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    int state; /* 0 waiting, 1 durable, -1 not */
};

static void patient_before(struct waiter *w)
{
    (void)w;
}

static void patient_wake(struct waiter *w, bool durable)
{
    struct patient *p = (struct patient *)w;
    pthread_mutex_lock(&p->lock);
    p->state = durable ? 1 : -1;
    pthread_cond_signal(&p->woken);
    pthread_mutex_unlock(&p->lock);
}

/* A snapshot must not be ahead of the log. */
static bool wait_durable(struct served *m, uint64_t seq)
{
    struct patient p = {.waiter = {.seq = seq, .wake = patient_wake}};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.woken, NULL);
    enum durable durable = served_wait(m, &p.waiter, patient_before);
    pthread_mutex_lock(&p.lock);
    while (durable == DURABLE_LATER && p.state == 0)
        pthread_cond_wait(&p.woken, &p.lock);
    pthread_mutex_unlock(&p.lock);
    pthread_cond_destroy(&p.woken);
    pthread_mutex_destroy(&p.lock);
    return durable == DURABLE_NOW || p.state == 1;
}

bool served_snapshot_due(struct served *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t events = m->core.seq - m->snapshot_seq;
    int64_t age = mono_ns() - m->snapshot_mono;
    bool due = !m->broken[0] && !m->core.broken && !m->deleted && !m->failing && events > 0 &&
               (events >= m->options->snapshot_events || age >= m->options->snapshot_s * INT64_C(1000000000));
    pthread_mutex_unlock(&m->lock);
    return due;
}

static bool take_snapshot(struct served *m, uint64_t *ret_seq, size_t *ret_size, struct problem *p)
{
    void *bytes;
    bool ok = served_bytes(m, &bytes, ret_size, ret_seq, p);
    if (!ok)
        return false;
    pthread_mutex_lock(&m->lock);
    bool there = *ret_seq == m->snapshot_seq;
    pthread_mutex_unlock(&m->lock);
    if (!there)
        ok = wait_durable(m, *ret_seq) ? snapshot_save(m->dir, *ret_seq, bytes, *ret_size, p)
                                       : problem_set(p, 503, "storage", "the log is not on disk");
    hunch_free_bytes(bytes);
    return ok;
}

bool served_snapshot(struct served *m, struct problem *p)
{
    uint64_t seq = 0;
    size_t size = 0;
    int64_t start = mono_ns();
    pthread_mutex_lock(&m->snapshot_lock);
    bool ok = take_snapshot(m, &seq, &size, p);
    pthread_mutex_lock(&m->lock);
    if (ok && seq != m->snapshot_seq) {
        m->snapshot_older_seq = m->snapshot_seq;
        m->snapshot_seq = seq;
        m->snapshot_bytes = size;
    }
    m->snapshot_mono = mono_ns(); /* after a failure too: not again at once */
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_unlock(&m->snapshot_lock);
    if (ok) {
        atomic_fetch_add(&m->metrics->snapshots, 1);
        note("snapshot", "{s:s,s:I,s:I,s:f}", "model", m->name, "seq", (json_int_t)seq, "bytes", (json_int_t)size,
             "seconds", (double)(mono_ns() - start) * 1e-9);
    } else {
        atomic_fetch_add(&m->metrics->snapshot_failures, 1);
        note("snapshot_failed", "{s:s,s:s}", "model", m->name, "reason", p->message);
    }
    return ok;
}

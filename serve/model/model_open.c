/* SPDX-License-Identifier: BSD-3-Clause */
/* A model's beginning and end, and its snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/files.h"
#include "model/model.h"
#include "util/log.h"
#include "storage/snapshot.h"
#include "model/versions.h"

#define HISTORY_ROWS 200000
#define RING_FIRST 64
#define LARGE_BYTES (32u << 20)

static bool create(const char *dir, const char *name, struct model_state *state, int64_t now_ms, struct http_error *err)
{
    struct text t = {0};
    void *bytes = NULL;
    size_t size;
    settings_write(&state->settings, &t);
    bool ok = !t.failed || http_error_no_memory(err);
    ok = ok && event_store_create(dir, name, t.data, state->settings.labels, now_ms, err) &&
         state_write(state, &bytes, &size, err) && snapshot_save(dir, 0, bytes, size, err);
    if (bytes)
        hunch_free_bytes(bytes);
    text_free(&t);
    state_free(state);
    return ok;
}

bool model_create(const char *dir, const char *name, const struct model_source *from, int64_t now_ms,
                  struct http_error *err)
{
    struct model_state state;
    if (!dirs_make(dir, err))
        return false;
    if (!from->file)
        return state_new(&state, from->settings, err) && create(dir, name, &state, now_ms, err);
    return state_import(&state, from->file, from->size, from->limits, err) && create(dir, name, &state, now_ms, err) &&
           file_write(dir, BASE_FILE, from->file, from->size, err);
}

static int by_answer(const void *a, const void *b)
{
    const struct summary *x = a, *y = b;
    return (x->answer_ms > y->answer_ms) - (x->answer_ms < y->answer_ms);
}

static bool fill_history(struct model *m, struct http_error *err)
{
    struct summary *rows = NULL;
    size_t n = 0;
    bool ok = event_store_summaries(&m->store, HISTORY_ROWS, &rows, &n, err);
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

/* How what happens to the model reaches its log. */
static bool join(struct model *m, const struct model_context *context, struct http_error *err)
{
    bool shared = m->store.shared.topic != NULL;
    if (shared && !context->cluster)
        return http_error_set(err, 503, "shared", "this model belongs to a group of nodes: start with --kafka");
    if (!shared && context->cluster)
        return http_error_set(err, 503, "not_shared",
                              "this model is not shared: it belongs to this machine; see hunch.adopt");
    if (shared)
        m->replication = context->cluster;
    return !m->replication->open || m->replication->open(m, context->cluster_context, err);
}

static bool open_log(struct model *m, const struct model_context *context, struct http_error *err)
{
    struct text created = {0};
    if (!event_store_open(&m->store, m->dir, false, err) || !join(m, context, err))
        return false;
    m->last = m->committed = m->opened_seq = m->store.last_seq;
    m->first = m->last + 1;
    m->expired = m->store.expired;
    if (event_store_about(&m->store, "created_ms", &created))
        m->created_ms = strtoll(created.data, NULL, 10);
    text_free(&created);
    if (!event_store_read_answered(&m->store, err))
        return false;
    if (!m->store.damage[0])
        wall_clock_seen(m->wall, m->store.last_time_ms);
    m->scrub_mono = clock_now();
    return true;
}

void model_set_reading(struct model *m)
{
    const struct settings *s = &m->state.settings;
    m->reading = (struct settings){.features = s->features, .max_features = s->max_features, .bounds = s->bounds};
}

struct reading model_reading(const struct model *m)
{
    return (struct reading){&m->reading, m->rows};
}

static bool revive(struct model *m, struct http_error *err)
{
    struct recovery how = {0};
    struct recover_options options = {.limits = &m->options->limits};
    struct snapshot_list list;
    int64_t start = clock_now();
    if (!event_store_settle_promotions(&m->store, err) || !recover(&m->state, &how, &m->store, &options, err) ||
        (m->state.settings.schema && !row_reader_new(&m->rows, m->state.settings.schema, err)) ||
        !event_store_set_version(&m->store, hunch_spec(m->state.learner), err) || !fill_history(m, err) ||
        !event_store_excluded_upto(&m->store, m->store.last_seq, err))
        return false;
    model_set_reading(m);
    snapshot_find(m->dir, &list);
    m->snapshot_seq = list.n > 0 ? list.seq[0] : 0;
    m->snapshot_older_seq = list.n > 1 ? list.seq[1] : 0;
    m->snapshot_mono = clock_now();
    snprintf(m->degraded, sizeof m->degraded, "%s", how.degraded);
    log_event("model_open", "{s:s,s:I,s:I,s:I,s:I,s:I,s:f}", "model", m->name, "seq", (json_int_t)m->last,
              "snapshot_seq", (json_int_t)how.from, "replayed", (json_int_t)how.replayed, "mismatches",
              (json_int_t)how.mismatches, "damaged_snapshots", (json_int_t)how.damaged, "seconds",
              (double)(clock_now() - start) * 1e-9);
    if (m->degraded[0])
        log_event("model_degraded", "{s:s,s:s}", "model", m->name, "reason", m->degraded);
    return true;
}

static size_t ring_size_for(size_t queue)
{
    size_t n = 1024;
    while (n < queue * 2)
        n *= 2;
    return n;
}

struct model *model_open(const char *dir, const char *name, const struct model_context *context)
{
    const struct serve_options *options = context->options;
    struct http_error err = {0};
    pthread_condattr_t attributes;
    pthread_mutexattr_t kind;
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    snprintf(m->name, sizeof m->name, "%s", name);
    m->options = options;
    m->wall = context->wall;
    m->metrics = context->metrics;
    m->writers = context->writers;
    m->replication = &replication_local;
    m->writing = WORK_ITEM_NEW;
    m->references = 1;
    m->ring_max = ring_size_for(options->limits.queue);
    m->ring_size = RING_FIRST;
    m->ring = calloc(m->ring_size, sizeof *m->ring);
    m->answers = calloc(m->ring_size, sizeof *m->answers);
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
    pthread_mutex_init(&m->versions_lock, NULL);
    pthread_cond_init(&m->work, &attributes);
    pthread_condattr_destroy(&attributes);
    bool opened = open_log(m, context, &err);
    bool revived = opened && revive(m, &err) && (!m->replication->start || m->replication->start(m, &err));
    if (opened)
        sqlite3_db_release_memory(m->store.db);
    pthread_mutex_lock(&m->lock);
    m->writer_runs = opened; /* one that can't be revived may be once an event is excluded */
    if (!revived) {
        snprintf(m->broken, sizeof m->broken, "%s", err.message);
        log_event("model_broken", "{s:s,s:s}", "model", name, "reason", err.message);
    }
    pthread_mutex_unlock(&m->lock);
    model_measure(m);
    return m;
}

bool model_stop(struct model *m, unsigned patience_s)
{
    if (!m)
        return true;
    int64_t until = clock_now() + patience_s * INT64_C(1000000000);
    if (m->replication->stop)
        m->replication->stop(m);
    pthread_mutex_lock(&m->lock);
    if (!m->writer_runs) {
        pthread_mutex_unlock(&m->lock);
        return true;
    }
    while (m->failing && m->last != m->committed && clock_now() < until) {
        pthread_mutex_unlock(&m->lock);
        clock_sleep_ms(20);
        pthread_mutex_lock(&m->lock);
    }
    m->stop = true;
    writer_wake(m);
    while (m->writer_state != WRITER_STOPPED)
        pthread_cond_wait(&m->work, &m->lock);
    m->writer_runs = false;
    bool all = m->last == m->committed;
    pthread_mutex_unlock(&m->lock);
    work_queue_remove(m->writers, &m->writing);
    if (!all)
        log_event("events_lost", "{s:s,s:I}", "model", m->name, "events", (json_int_t)(m->last - m->committed));
    return all;
}

void model_close(struct model *m)
{
    if (!m)
        return;
    for (uint64_t seq = m->first; m->first && seq <= m->last; seq++)
        event_free(m->ring[seq & (m->ring_size - 1)]);
    if (m->replication->close)
        m->replication->close(m);
    event_store_close(&m->store);
    row_reader_free(m->rows);
    state_free(&m->state);
    shadows_clear(m);
    pthread_cond_destroy(&m->work);
    pthread_mutex_destroy(&m->snapshot_lock);
    pthread_mutex_destroy(&m->versions_lock);
    pthread_mutex_destroy(&m->lock);
    free(m->ring);
    free(m->answers);
    free(m->handles);
    history_free(&m->history);
    free(m->dir);
    free(m);
}

bool model_open_log(struct model *m, struct event_store *ret, bool look_only, struct http_error *err)
{
    pthread_mutex_lock(&m->snapshot_lock);
    bool ok = event_store_open(ret, m->dir, look_only, err);
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok;
}

/* --- snapshots --- */

struct durable_wait {
    struct waiter waiter;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    int state; /* 0 waiting, 1 durable, -1 not */
};

static void wait_before(struct waiter *w)
{
}

static void wait_over(struct waiter *w, bool durable)
{
    struct durable_wait *d = (struct durable_wait *)w;
    pthread_mutex_lock(&d->lock);
    d->state = durable ? 1 : -1;
    pthread_cond_signal(&d->woken);
    pthread_mutex_unlock(&d->lock);
}

/* A snapshot must not be ahead of the log. */
bool wait_durable(struct model *m, uint64_t seq)
{
    struct durable_wait d = {.waiter = {.seq = seq, .wake = wait_over}};
    pthread_mutex_init(&d.lock, NULL);
    pthread_cond_init(&d.woken, NULL);
    enum durable durable = model_wait(m, &d.waiter, wait_before);
    pthread_mutex_lock(&d.lock);
    while (durable == DURABLE_LATER && d.state == 0)
        pthread_cond_wait(&d.woken, &d.lock);
    pthread_mutex_unlock(&d.lock);
    pthread_cond_destroy(&d.woken);
    pthread_mutex_destroy(&d.lock);
    return durable == DURABLE_NOW || d.state == 1;
}

/* A model of hashed features may have all of them after one event. */
void model_measure(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    if (!*model_reason(m)) {
        const struct settings *s = &m->state.settings;
        size_t hashed = s->features == FEATURES_HASHED ? s->max_features : 0;
        m->large = hunch_bytes(m->state.learner) > LARGE_BYTES ||
                   hashed * names_count(m->state.labels) * sizeof(float) > LARGE_BYTES;
    }
    pthread_mutex_unlock(&m->lock);
}

bool model_snapshot_due(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    uint64_t events = m->state.seq - m->snapshot_seq;
    int64_t age = clock_now() - m->snapshot_mono;
    bool due = !*model_reason(m) && !m->degraded[0] && !m->rebuild_wanted && !m->rebuilding && !m->deleted &&
               !m->failing && events > 0 &&
               (events >= m->options->snapshot_events || age >= m->options->snapshot_s * INT64_C(1000000000));
    pthread_mutex_unlock(&m->lock);
    return due;
}

bool model_at_rest(struct model *m, bool whole)
{
    pthread_mutex_lock(&m->lock);
    bool rests = !*model_reason(m) && !m->degraded[0] && !m->rebuild_wanted && !m->rebuilding && !m->deleted &&
                 !m->failing && !m->scrubbing && !m->versions_busy && !m->waiters && m->last == m->committed &&
                 m->writer_state == WRITER_IDLE && (!whole || m->state.seq == m->snapshot_seq);
    pthread_mutex_unlock(&m->lock);
    return rests;
}

static bool may_snapshot(struct model *m, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool waits = m->rebuild_wanted;
    pthread_mutex_unlock(&m->lock);
    return !waits ||
           http_error_set(err, 503, "rebuilding", "the model must first be rebuilt without an excluded event");
}

/* Written beside its place; renamed once the log is on disk that far. */
static bool take_snapshot(struct model *m, uint64_t *ret_seq, uint64_t *ret_size, struct http_error *err)
{
    char path[4096];
    struct stat st = {0};
    if (snprintf(path, sizeof path, "%s/.snapshot.new", m->dir) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path of %s is too long", m->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || http_error_set(err, 503, "storage", "cannot write %s: %s", path, strerror(errno));
    ok = ok && model_write(m, 0, fd, ret_seq, err) &&
         (fstat(fd, &st) == 0 || http_error_set(err, 503, "storage", "cannot read %s", path)) &&
         (wait_durable(m, *ret_seq) || http_error_set(err, 503, "storage", "the log is not on disk")) &&
         snapshot_put(m->dir, *ret_seq, path, err);
    *ret_size = (uint64_t)st.st_size;
    if (fd >= 0)
        close(fd);
    if (!ok)
        unlink(path);
    return ok;
}

bool model_snapshot(struct model *m, struct http_error *err)
{
    uint64_t seq = 0, size = 0;
    int64_t start = clock_now();
    pthread_mutex_lock(&m->snapshot_lock);
    /* Versions first: a snapshot may take the place of the last one of the version that decided before. */
    bool ok = may_snapshot(m, err) && versions_save(m, err) && take_snapshot(m, &seq, &size, err);
    pthread_mutex_lock(&m->lock);
    if (ok && seq != m->snapshot_seq) {
        m->snapshot_older_seq = m->snapshot_seq;
        m->snapshot_seq = seq;
        m->snapshot_bytes = size;
    }
    m->snapshot_mono = clock_now(); /* after a failure too: not again at once */
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_unlock(&m->snapshot_lock);
    if (ok) {
        atomic_fetch_add(&m->metrics->snapshots, 1);
        log_event("snapshot", "{s:s,s:I,s:I,s:f}", "model", m->name, "seq", (json_int_t)seq, "bytes", (json_int_t)size,
                  "seconds", (double)(clock_now() - start) * 1e-9);
    } else {
        atomic_fetch_add(&m->metrics->snapshot_failures, 1);
        log_event("snapshot_failed", "{s:s,s:s}", "model", m->name, "reason", err->message);
    }
    return ok;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rebuilds a model's state from its log while the old one serves, and then replaces that: after an event was excluded,
 * or when the state in memory can no longer be trusted. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "util/log.h"
#include "model/model.h"
#include "storage/snapshot.h"
#include "model/versions.h"

/* Events that are left for the end, when requests wait. */
#define LAST_EVENTS 256
#define AGAIN_NS INT64_C(5000000000) /* after a rebuild that failed */

bool model_rebuild_due(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    bool due = m->rebuild_wanted && !m->rebuilding && !m->deleted && clock_now() >= m->rebuild_ns;
    m->rebuilding = m->rebuilding || due;
    pthread_mutex_unlock(&m->lock);
    return due;
}

/* A copy of a decision: from the ring or, when it has left that, from the log. Under the lock. */
struct both {
    struct model *model;
    struct event_store *store;
};

static bool find_in_both(void *context, uint64_t seq, struct event **ret, struct http_error *err)
{
    const struct both *b = context;
    const struct event *d = ring_decision(b->model, seq);
    if (!d)
        return event_store_decision(b->store, seq, ret, err);
    *ret = event_copy(d, d->room);
    return *ret || http_error_no_memory(err);
}

bool model_redo_ring(struct model *m, struct model_state *state, struct event_store *store, struct recovery *how,
                     struct http_error *err)
{
    struct both both = {m, store};
    struct redo redo = {state, store, how, find_in_both, &both};
    for (uint64_t seq = state->seq + 1; seq <= m->last; seq++)
        if (!redo_event(&redo, m->ring[seq & (m->ring_size - 1)], err))
            return false;
    return true;
}

bool model_renumber_ring(struct model *m, struct http_error *err)
{
    ring_clear(m);
    for (uint64_t seq = m->first; seq <= m->last; seq++) {
        struct event *e = m->ring[seq & (m->ring_size - 1)];
        struct example x;
        if (e->kind != EVENT_DECISION)
            continue;
        if (!example_parse(&x, e->x, e->x_length, &m->state.settings, err))
            return false;
        bool ok = state_recall(&m->state, &x, e, err);
        example_free(&x);
        if (!ok)
            return false;
    }
    return true;
}

bool model_catch_up(struct model *m, struct model_state *state, struct event_store *store, struct recovery *how,
                    struct http_error *err)
{
    for (;;) {
        pthread_mutex_lock(&m->lock);
        bool near = m->last - state->seq <= LAST_EVENTS && m->first <= state->seq + 1;
        uint64_t committed = m->committed;
        bool wait = state->seq >= committed && !near;
        pthread_mutex_unlock(&m->lock);
        if (near)
            return true;
        if (wait && !wait_durable(m, committed + 1))
            return http_error_set(err, 503, "storage", "the log is not on disk");
        if (!redo_log(state, store, how, err))
            return false;
    }
}

static bool swap(struct model *m, struct model_state *state, struct event_store *store, struct recovery *how,
                 struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool ok = model_redo_ring(m, state, store, how, err);
    if (ok) {
        assert(state->seq == m->last);
        struct model_state old = m->state;
        m->state = *state;
        *state = old;
        if (m->reading.max_features == 0) /* it was broken until now: no request has read anything with it */
            model_set_reading(m);
        if (m->broken[0]) /* read without the lock by those who describe the model */
            m->broken[0] = 0;
        shadows_clear(m);                         /* these are rebuilt too */
        if (!m->rows && m->state.settings.schema) /* it could not be opened before */
            row_reader_new(&m->rows, m->state.settings.schema, err);
        ok = model_renumber_ring(m, err);
        store->last_seq = m->last;
    }
    if (!ok)
        snprintf(m->state.broken, sizeof m->state.broken, "it cannot be rebuilt from its log: %.100s", err->message);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static bool rebuild(struct model *m, struct recovery *how, struct http_error *err)
{
    struct event_store store;
    struct model_state state;
    struct recover_options options = {.limits = &m->options->limits};
    if (!event_store_open(&store, m->dir, false, err))
        return false;
    bool ok = recover(&state, how, &store, &options, err);
    if (ok && how->degraded[0])
        ok = http_error_set(err, 503, "damaged", "%s", how->degraded);
    if (ok) {
        ok = model_catch_up(m, &state, &store, how, err) && swap(m, &state, &store, how, err) &&
             event_store_excluded_upto(&store, store.last_seq, err);
        state_free(&state);
    }
    event_store_close(&store);
    return ok;
}

bool model_rebuild(struct model *m, struct http_error *err)
{
    struct recovery how = {0};
    int64_t start = clock_now();
    pthread_mutex_lock(&m->lock);
    m->rebuild_wanted = false;
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_lock(&m->snapshot_lock); /* no snapshot of the old state meanwhile */
    bool ok = rebuild(m, &how, err);
    pthread_mutex_unlock(&m->snapshot_lock);
    pthread_mutex_lock(&m->lock);
    m->rebuilding = false;
    if (!ok) { /* what was in the way may pass: no memory, a file that is locked */
        m->rebuild_wanted = true;
        m->rebuild_ns = clock_now() + AGAIN_NS;
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok) {
        log_event("rebuild_failed", "{s:s,s:s}", "model", m->name, "reason", err->message);
        return false;
    }
    log_event("model_rebuilt", "{s:s,s:I,s:I,s:f}", "model", m->name, "snapshot_seq", (json_int_t)how.from, "replayed",
              (json_int_t)how.replayed, "seconds", (double)(clock_now() - start) * 1e-9);
    struct http_error later; /* the log has it all */
    model_snapshot(m, &later);
    return true;
}

bool model_exclude(struct model *m, uint64_t seq, struct http_error *err)
{
    struct event_store store;
    if (m->store.shared.topic)
        return http_error_set(err, 409, "shared", "events of a group cannot be excluded");
    pthread_mutex_lock(&m->lock);
    uint64_t last = m->last, committed = m->committed;
    pthread_mutex_unlock(&m->lock);
    if (seq > committed && seq <= last && !wait_durable(m, seq))
        return http_error_set(err, 503, "storage", "the log is not on disk");
    pthread_mutex_lock(&m->snapshot_lock); /* from here until it is forgotten, the snapshot from before it stays */
    bool ok = event_store_open(&store, m->dir, false, err);
    if (ok) {
        ok = (recover_reaches(&store, &m->options->limits, seq) ||
              http_error_set(err, 409, "too_old", "the log and the snapshots begin after event %llu",
                             (unsigned long long)seq)) &&
             event_store_exclude(&store, seq, model_now(m), err);
        event_store_close(&store);
    }
    pthread_mutex_lock(&m->lock);
    m->rebuild_wanted = m->rebuild_wanted || ok;
    m->exclusions += ok;
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok;
}

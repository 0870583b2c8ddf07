/* SPDX-License-Identifier: BSD-3-Clause */
/* A model's turn at its shared journal: events are applied in their order, some at a time. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "util/log.h"
#include "cluster/shared.h"
#include "storage/store_shared.h"

#define HASH_MS 60000             /* between hashes, when there are events */
#define WORK_EVENTS 512           /* at most, before others have their turn */
#define LOOK_NS INT64_C(20000000) /* between looks at who has waited for too long */

static bool not_there(struct feedback *f)
{
    return http_error_set(&f->error, 404, "unknown_id", "no decision has this id");
}

/* --- one event of each kind; under the lock. Error status 0: it counted, unless it is `already` --- */

static bool plausible(const struct model *m, const struct event *d)
{
    const hunch_choice *c = &d->choice;
    uint32_t k = names_count(m->state.labels);
    return c->label < k && c->greedy < k && c->prob > 0 && c->prob <= 1 && d->chooser < CHOOSERS &&
           d->model_chance >= 0 && d->model_chance <= 1 && d->act_at >= 0 && d->act_at < 1;
}

static bool apply_decision(struct model *m, const struct example *x, struct event **e, struct feedback *verdict)
{
    struct event *d = *e;
    if (!(d->source.handle & HANDLE_BIT) || !plausible(m, d) || ring_by_handle(m, d->source.handle, d->key))
        return http_error_set(&verdict->error, 400, "bad_record", "not a decision of this model");
    d->seq = m->last + 1;
    if (!state_observe(&m->state, x, d, &verdict->error))
        return model_reject_nonfinite(m, &verdict->error);
    state_count(&m->state, d);
    history_decision(&m->history, d->time_ms, d->chooser == CHOSEN_BY_MODEL && d->choice.label != d->choice.greedy);
    verdict->wait = d->seq;
    model_append(m, d);
    *e = NULL;
    shared_unpark(m, d->source.handle);
    return true;
}

static bool apply_feedback(struct model *m, struct event *d, struct event **e, struct feedback *verdict)
{
    struct event *f = *e;
    size_t length = f->x_length;
    verdict->input = (struct feedback_input){.seq = f->source.handle,
                                             .key = f->key,
                                             .right = f->answer.right,
                                             .labelled = f->answer.label != NO_LABEL,
                                             .silent = f->answer.silent,
                                             .activate = f->answer.active != 0,
                                             .label = f->x,
                                             .label_length = length};
    f->x_length = 0; /* the log has the label's number, and its checksum is made of what it has */
    bool ok = d ? model_answer(m, verdict, d, e) : not_there(verdict);
    if (*e)
        f->x_length = length;
    return ok;
}

static bool apply_lesson(struct model *m, const struct example *x, struct event **e, struct feedback *verdict)
{
    struct event *l = *e;
    if (l->label >= names_count(m->state.labels))
        return http_error_set(&verdict->error, 400, "unknown_label", "this model has no such label");
    l->seq = m->last + 1;
    if (!state_lesson(&m->state, x, l, &verdict->error))
        return model_reject_nonfinite(m, &verdict->error);
    verdict->wait = l->seq;
    model_append(m, l);
    *e = NULL;
    return true;
}

static bool apply_label(struct model *m, struct event **e, struct feedback *verdict)
{
    struct event *l = *e;
    if (names_find(m->state.labels, l->x, l->x_length) != NAMES_NONE) {
        verdict->already = true;
        return true;
    }
    l->seq = m->last + 1;
    l->time_ms = m->shared->log_ms;
    if (!state_labels(&m->state, e, 1, &verdict->error))
        return false;
    verdict->wait = l->seq;
    model_append(m, l);
    *e = NULL;
    return true;
}

static bool apply_change(struct model *m, struct event **e, struct feedback *verdict)
{
    struct event *r = *e;
    bool retire = r->kind == EVENT_RETIRE;
    if (retire) {
        r->label = names_find(m->state.labels, r->x, r->x_length);
        if (r->label == NAMES_NONE)
            return http_error_set(&verdict->error, 400, "unknown_label", "this model has no such label");
        r->x_length = 0; /* the log has its number */
    }
    r->seq = m->last + 1;
    if (!(retire ? state_retire : state_policy)(&m->state, r, &verdict->error))
        return false;
    verdict->wait = r->seq;
    model_append(m, r);
    *e = NULL;
    return true;
}

/* --- hashes: what every node's model was at the same place --- */

static void take_hash(struct model *m)
{
    struct shared *s = m->shared;
    struct http_error err = {0};
    void *bytes;
    size_t size;
    if (!state_write(&m->state, &bytes, &size, &err))
        return;
    struct model_hash mine = {m->last, XXH3_64bits(bytes, size)};
    hunch_free_bytes(bytes);
    s->hashes[s->hashes_n++ % HASHES] = mine;
    struct event *e = event_new(EVENT_HASH, 0, "", 0);
    if (e) {
        e->seq = mine.seq;
        e->key = mine.hash;
        shared_propose(m, e, NULL, NULL, &err); /* when the journal is full, this one is left out */
    }
    event_free(e);
}

static void compare_hash(struct model *m, const struct event *e)
{
    struct shared *s = m->shared;
    for (size_t i = 0; i < HASHES && i < s->hashes_n; i++) {
        if (s->hashes[i].seq != e->seq || s->hashes[i].hash == e->key)
            continue;
        s->diverged++;
        log_event("model_diverged", "{s:s,s:I,s:I}", "model", m->name, "seq", (json_int_t)e->seq, "offset",
                  (json_int_t)e->source.offset);
    }
}

/* --- one event --- */

/* What can be done without the lock. */
static bool prepare(struct model *m, struct event *e, struct example *ret, struct http_error *err)
{
    if (e->kind == EVENT_LESSON) { /* the label's name is in front of the example */
        const char *name = e->x;
        size_t length = e->label;
        e->x += length;
        e->x_length -= length;
        pthread_mutex_lock(&m->lock);
        e->label = names_find(m->state.labels, name, length);
        pthread_mutex_unlock(&m->lock);
    }
    return (e->kind != EVENT_DECISION && e->kind != EVENT_LESSON) ||
           example_parse(ret, e->x, e->x_length, &m->state.settings, err);
}

/* Feedback to a decision that has left the ring. All under the lock: what was said about it is either in the ring or on
 * disk as long as nothing leaves the ring meanwhile. */
static bool apply_old(struct model *m, struct event **e, struct feedback *verdict)
{
    struct event *d = NULL;
    struct example x;
    if (!store_shared_decision(&m->store, (*e)->source.handle, (*e)->key, &d, &verdict->error))
        return false;
    if (!d)
        return not_there(verdict);
    bool ok =
        !model_lacks_answer(m, verdict, d) && example_parse(&x, d->x, d->x_length, &m->state.settings, &verdict->error);
    if (ok) {
        ok = state_recall(&m->state, &x, d, &verdict->error) && apply_feedback(m, d, e, verdict);
        example_free(&x);
    }
    event_free(d);
    return ok;
}

static bool apply(struct model *m, struct event **e, const struct example *x, struct feedback *verdict)
{
    struct event *d;
    switch ((*e)->kind) {
    case EVENT_DECISION:
        return apply_decision(m, x, e, verdict);
    case EVENT_FEEDBACK:
        d = ring_by_handle(m, (*e)->source.handle, (*e)->key);
        return d ? apply_feedback(m, d, e, verdict) : apply_old(m, e, verdict);
    case EVENT_LESSON:
        return apply_lesson(m, x, e, verdict);
    case EVENT_LABEL:
        return apply_label(m, e, verdict);
    case EVENT_RETIRE:
    case EVENT_POLICY:
        return apply_change(m, e, verdict);
    default:
        return true;
    }
}

/* Under the lock. The journal's time goes on with events that count, and never back. */
static void apply_in_order(struct model *m, struct event **e, const struct example *x, struct feedback *verdict)
{
    struct shared *s = m->shared;
    const struct event_source from = (*e)->source;
    int64_t time = (*e)->time_ms > s->log_ms ? (*e)->time_ms : s->log_ms;
    uint64_t before = m->last;
    bool minute = time / HASH_MS != s->log_ms / HASH_MS; /* of the journal's time: the same event for every node */
    (*e)->time_ms = time;
    bool label = (*e)->kind == EVENT_LABEL;
    bool ok = !verdict->error.status && apply(m, e, x, verdict);
    if (m->last != before) {
        s->log_ms = label ? s->log_ms : time;
        s->applied++;
        store_shared_count(&m->store, from.origin, from.counter);
        if (m->last % s->cluster->hash_events == 0 || (minute && !label))
            take_hash(m);
    } else {
        s->refused += !ok;
    }
}

/* Under the lock. False: it is not the event's fault that it was not applied, and it must not be passed over. */
static bool apply_next(struct model *m, struct event **e, const struct example *x, struct feedback *verdict)
{
    struct shared *s = m->shared;
    if ((*e)->kind == EVENT_HASH && (*e)->seq == UINT64_MAX)
        shared_asked(m, *e);
    else if ((*e)->kind == EVENT_HASH)
        compare_hash(m, *e);
    else if ((*e)->source.counter <= store_shared_counter(&m->store, (*e)->source.origin))
        s->repeated++;
    else if (verdict->error.status < 500)
        apply_in_order(m, e, x, verdict);
    return verdict->error.status < 500;
}

/* Under the lock. The disk is behind, and the ring must not overflow; there is no memory for a larger one; or an event
 * that had to be refused has damaged the state, which every node rebuilds from its log before it continues. */
static bool must_wait(struct model *m)
{
    const struct limits *l = &m->options->limits;
    m->shared->waits = m->last - m->committed >= l->queue || m->waiting_bytes > l->queue_bytes || !ring_grow(m, 1) ||
                       (m->state.broken[0] && (m->rebuild_wanted || m->rebuilding));
    return m->shared->waits;
}

static void stop_applying(struct model *m, const char *reason, bool gone)
{
    struct shared *s = m->shared;
    pthread_mutex_lock(&m->lock);
    bool changed = !s->stopped[0];
    if (changed)
        snprintf(s->stopped, sizeof s->stopped, "%s", reason);
    s->gone = s->gone || gone;
    pthread_mutex_unlock(&m->lock);
    s->over = true;
    if (changed)
        log_event("applying_stopped", "{s:s,s:s}", "model", m->name, "reason", s->stopped);
}

/* Gives when the next is to be read. */
static enum work_time apply_event(struct model *m, struct event *e)
{
    struct example x = {0};
    struct feedback verdict = {0};
    const struct event_source from = e->source;
    prepare(m, e, &x, &verdict.error);
    pthread_mutex_lock(&m->lock);
    assert(from.offset >= m->shared->next_offset); /* a journal is read once, in its order */
    bool ok = apply_next(m, &e, &x, &verdict), waits = must_wait(m);
    if (ok)
        m->shared->next_offset = from.offset + 1;
    struct ticket *done = ok ? shared_done(m, &from, &verdict) : NULL;
    pthread_mutex_unlock(&m->lock);
    tickets_wake(done);
    example_free(&x);
    if (!ok && e->kind == EVENT_FEEDBACK && strcmp(verdict.error.code, "storage") == 0) { /* a disk may come back */
        m->shared->held = e;
        return WORK_RETRY;
    }
    event_free(e);
    if (ok)
        return waits ? WORK_SOON : WORK_NOW;
    char reason[sizeof m->shared->stopped];
    snprintf(reason, sizeof reason, "at offset %llu: %.200s", (unsigned long long)from.offset, verdict.error.message);
    stop_applying(m, reason, strcmp(verdict.error.code, "damaged") == 0); /* another node has what is missing here */
    return WORK_NONE;
}

/* --- turns --- */

/* One event, if there is one. Gives when the next is to be read; TURNS: when the journal has something. */
static enum work_time step(struct model *m)
{
    struct shared *s = m->shared;
    struct http_error err = {0};
    struct event *e = s->held;
    s->held = NULL;
    if (e || s->journal->kind->next(s->journal, &e, &err))
        return e ? apply_event(m, e) : WORK_NONE;
    if (strcmp(err.code, "journal") == 0 || strcmp(err.code, "out_of_memory") == 0) /* these pass */
        return WORK_RETRY;
    stop_applying(m, err.message, strcmp(err.code, "gone") == 0);
    return WORK_NONE;
}

static enum work_time begin(struct model *m, int64_t now)
{
    struct shared *s = m->shared;
    uint64_t end;
    pthread_mutex_lock(&m->lock);
    if (!s->begun)
        take_hash(m); /* a node that starts tells where; and brokers' addresses are known before the first request */
    s->begun = true;
    if (s->journal->kind->end(s->journal, &end) && s->next_offset >= end)
        s->behind_since = now;
    bool waits = must_wait(m);
    pthread_mutex_unlock(&m->lock);
    return s->over ? WORK_NONE : waits ? WORK_SOON : WORK_NOW;
}

void apply_work(struct work_item *applying)
{
    struct shared *s = (struct shared *)((char *)applying - offsetof(struct shared, applying));
    struct model *m = s->model;
    int64_t now = clock_now();
    enum work_time next = begin(m, now);
    for (size_t n = 0; next == WORK_NOW && n < WORK_EVENTS && !s->stop; n++)
        next = step(m);
    struct ticket *due = NULL;
    pthread_mutex_lock(&m->lock);
    if (next != WORK_NOW || now - s->looked_ns > LOOK_NS) {
        due = shared_due(m, now);
        shared_ask(m);
        s->looked_ns = now;
    }
    if ((s->tickets || s->asked) && next > WORK_SOON) /* asked: others are likely to, and then its time has been set */
        next = WORK_SOON;
    s->asked = false;
    pthread_mutex_unlock(&m->lock);
    tickets_wake(due);
    if (next != WORK_NONE)
        work_queue_schedule(&s->cluster->appliers, applying, next);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to a model of this machine alone: apply, then log. See replication.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/store_shared.h"
#include "util/log.h"
#include "model/versions.h"

#define GROUP 100 /* answers under one lock */

static bool local_predict(struct model *m, const struct example *x, struct event **e, struct decision *ret,
                          struct http_error *err)
{
    struct event *d = *e;
    if (!model_may_append(m, 1, d->bytes, err) || !model_draw_key(m, &d->key, err) ||
        (ret->scores.value && !model_score(m, x, d, &ret->scores, err)))
        return false;
    d->seq = m->last + 1;
    d->time_ms = model_now(m);
    bool ok = d->chooser == CHOSEN_BY_MODEL ? state_predict(&m->state, x, d, err) && state_act(&m->state, d, err)
                                            : state_advise(&m->state, x, d, err) && state_observe(&m->state, x, d, err);
    if (!ok)
        return model_reject_nonfinite(m, err);
    state_count(&m->state, d);
    history_decision(&m->history, d->time_ms, d->chooser == CHOSEN_BY_MODEL && d->choice.label != d->choice.greedy);
    shadows_decision(m, x, d);
    model_append(m, d);
    *e = NULL;
    if (ret->ticket)
        ticket_need(ret->ticket, d->seq);
    return true;
}

/* --- feedback --- */

static bool unknown(struct http_error *err)
{
    return http_error_set(err, 404, "unknown_id", "no decision has this id");
}

/* A decision that has left the ring, read from the log. */
struct old {
    struct event *decision;
    struct example example;
};

static void fetch(struct model *m, struct reader *r, struct feedback *f, struct old *ret)
{
    struct http_error *err = &f->error;
    if (!reader_find(r, f->input.seq, &ret->decision, err))
        return;
    struct event *d = ret->decision;
    if (!d || d->key != f->input.key)
        unknown(err);
    else
        example_parse(&ret->example, d->x, d->x_length, &m->reading, err);
}

static void old_free(struct old *o)
{
    example_free(&o->example);
    event_free(o->decision);
}

/* Under the lock. */
static bool unanswered(struct model *m, struct feedback *f, const struct event *d)
{
    if (model_lacks_answer(m, f, d))
        return false;
    if (!ring_answer(m, d).seq && answered_find(&m->store.answered[ANSWERED_FEEDBACK], d->seq) == ANSWERED_EXPIRED)
        return http_error_set(&f->error, 404, "expired_id", "this decision has expired");
    return true;
}

/* Under the lock. The log was read when it had all events up to `read`: what was said after that is in the ring, unless
 * so much has happened since that some of it has left already; then the log is read again. */
static void answer_old(struct model *m, struct feedback *f, struct old *o, uint64_t read, struct event **e)
{
    struct event *again = NULL;
    if (m->first > read + 1) {
        if (!event_store_decision(&m->store, f->input.seq, &again, &f->error))
            return;
        if (!again) {
            unknown(&f->error);
            return;
        }
        o->decision->answer = again->answer;
        event_free(again);
    }
    if (unanswered(m, f, o->decision) && state_recall(&m->state, &o->example, o->decision, &f->error))
        model_answer(m, f, o->decision, e);
}

/* Under the lock. False: it has to be looked for in the log. */
static bool answer_recent(struct model *m, struct feedback *f, struct event **e)
{
    if (m->deleted || *model_reason(m)) {
        model_may_append(m, 1, 0, &f->error);
        return true;
    }
    if (f->input.seq < m->first)
        return false;
    struct event *d = ring_decision(m, f->input.seq);
    if (d && d->key == f->input.key)
        model_answer(m, f, d, e);
    else
        unknown(&f->error);
    return true;
}

/* The newest of the decisions that have to be looked for in the log; 0: there is none. Whatever the ring knows has been
 * done. */
static uint64_t answer_recent_all(struct model *m, struct feedback *items, size_t n, struct event **events)
{
    uint64_t newest = 0;
    int64_t now = model_now(m);
    for (size_t i = 0; i < n; i++) {
        events[i]->time_ms = now;
        bool look = !items[i].error.status && !answer_recent(m, &items[i], &events[i]);
        items[i].wait = look ? UINT64_MAX : items[i].wait;
        if (look && items[i].input.seq > newest)
            newest = items[i].input.seq;
    }
    return newest;
}

/* Gives up to where the log was read. */
static uint64_t fetch_all(struct model *m, struct feedback *items, size_t n, uint64_t need, uint64_t upto,
                          struct old *decisions)
{
    struct reader *r = event_store_reader_begin(&m->store, need, upto);
    uint64_t read = r->upto;
    for (size_t i = 0; i < n; i++)
        if (items[i].wait == UINT64_MAX)
            fetch(m, r, &items[i], &decisions[i]);
    event_store_reader_end(&m->store, r);
    return read;
}

/* The lock is taken once for all that the ring knows, and once more for the rest. */
static void answer_all(struct model *m, struct feedback *items, size_t n, struct event **events)
{
    struct old decisions[GROUP];
    memset(decisions, 0, n * sizeof *decisions);
    pthread_mutex_lock(&m->lock);
    uint64_t need = answer_recent_all(m, items, n, events), upto = m->committed;
    bool look = need > 0;
    if (need < m->first + GROUP) /* what was said since is in the ring, and will be for a while */
        need = m->first + GROUP;
    pthread_mutex_unlock(&m->lock);
    if (!look)
        return;
    uint64_t read = fetch_all(m, items, n, need < upto ? need : upto, upto, decisions);
    pthread_mutex_lock(&m->lock);
    int64_t now = model_now(m);
    for (size_t i = 0; i < n; i++) {
        if (items[i].wait != UINT64_MAX)
            continue;
        items[i].wait = 0;
        events[i]->time_ms = now;
        if (!items[i].error.status)
            answer_old(m, &items[i], &decisions[i], read, &events[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (items[i].error.status && strcmp(items[i].error.code, "damaged") == 0)
            model_note_damage(m, &items[i].error);
    bool idle = m->last == m->committed; /* else the writer will see to it */
    pthread_mutex_unlock(&m->lock);
    if (idle)
        event_store_release(&m->store);
    for (size_t i = 0; i < n; i++)
        old_free(&decisions[i]);
}

/* So many at once that others get their turn between groups. */
static void answer_group(struct model *m, struct feedback *items, size_t n, struct ticket *t)
{
    struct event *events[GROUP];
    bool room = true;
    for (size_t i = 0; i < n; i++)
        room = (events[i] = event_new(EVENT_FEEDBACK, 0, "", 0)) && room;
    for (size_t i = 0; !room && i < n; i++)
        http_error_no_memory(&items[i].error);
    if (room)
        answer_all(m, items, n, events);
    for (size_t i = 0; i < n; i++) {
        if (t)
            ticket_need(t, items[i].wait);
        event_free(events[i]); /* those that the ring has taken are NULL here */
    }
}

static void local_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t)
{
    for (size_t i = 0; i < n; i++) {
        struct feedback_input *input = &items[i].input;
        if (input->seq & HANDLE_BIT && !(input->seq = store_shared_seq(&m->store, input->seq, input->key)))
            unknown(&items[i].error); /* else shown when the model was a group's */
    }
    for (size_t i = 0; i < n; i += GROUP)
        answer_group(m, items + i, n - i < GROUP ? n - i : GROUP, t);
}

/* --- lessons and labels --- */

static bool local_teach(struct model *m, const struct example *x, const char *label, size_t label_length,
                        struct ticket *t, struct http_error *err)
{
    struct event *e = event_new(EVENT_LESSON, x->n, x->text, x->length);
    if (!e)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    bool ok = model_may_append(m, 1, e->bytes, err);
    if (ok) {
        e->label = names_find(m->state.labels, label, label_length);
        if (e->label == NAMES_NONE)
            ok =
                http_error_set(err, 400, "unknown_label", "this model has no label \"%.*s\"", (int)label_length, label);
    }
    if (ok) {
        e->seq = m->last + 1;
        e->time_ms = model_now(m);
        ok = state_lesson(&m->state, x, e, err) || model_reject_nonfinite(m, err);
    }
    if (ok) {
        shadows_lesson(m, x, e);
        model_append(m, e);
        ticket_need(t, e->seq);
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        event_free(e);
    return ok;
}

static bool local_add_labels(struct model *m, struct event **events, size_t n, struct ticket *t, struct http_error *err)
{
    for (size_t i = 0; i < n; i++) {
        events[i]->seq = m->last + 1 + i;
        events[i]->time_ms = model_now(m);
    }
    if (!state_labels(&m->state, events, n, err))
        return model_reject_nonfinite(m, err);
    shadows_labels(m, events, n);
    ticket_need(t, events[n - 1]->seq);
    for (size_t i = 0; i < n; i++) {
        model_append(m, events[i]);
        events[i] = NULL;
    }
    return true;
}

static bool local_change(struct model *m, struct event **e, struct ticket *t, struct http_error *err)
{
    struct event *r = *e;
    if (r->kind == EVENT_RETIRE)
        r->x_length = 0; /* the log has its number */
    r->seq = m->last + 1;
    r->time_ms = model_now(m);
    if (!(r->kind == EVENT_RETIRE ? state_retire : state_policy)(&m->state, r, err))
        return false;
    shadows_change(m, r);
    model_append(m, r);
    *e = NULL;
    ticket_need(t, r->seq);
    return true;
}

/* --- the log --- */

/* What has been acknowledged has been applied, so there is no place to wait for. */
static enum durable local_wait(struct model *m, struct ticket *t, uint64_t after, void (*before_wait)(struct waiter *w))
{
    return t->waiter.seq ? model_wait(m, &t->waiter, before_wait) : DURABLE_NOW;
}

static bool local_has_room(struct model *m, size_t events, size_t bytes, struct http_error *err)
{
    const struct limits *l = &m->options->limits;
    if (m->failing) {
        *err = m->failure;
        return false;
    }
    if (!ring_grow(m, events))
        return http_error_no_memory(err);
    if (m->last - m->committed + events > l->queue || m->waiting_bytes + bytes > l->queue_bytes)
        return http_error_set(err, 503, "busy", "the disk cannot keep up: %llu events are waiting to be written",
                              (unsigned long long)(m->last - m->committed));
    return true;
}

static int64_t local_age_ms(const struct model *m, int64_t now_ms, int64_t then_ms)
{
    return wall_clock_age_ms(m->wall, now_ms, then_ms);
}

static const char *local_stopped(const struct model *m)
{
    return "";
}

/* They are given up as in a crash, and the state is made again from the log. */
static bool local_refused(struct model *m, const struct http_error *err)
{
    log_event("events_refused", "{s:s,s:I,s:I,s:s}", "model", m->name, "from_seq", (json_int_t)(m->committed + 1),
              "to_seq", (json_int_t)m->last, "reason", err->message);
    snprintf(m->state.broken, sizeof m->state.broken, "one of the events %llu to %llu cannot be logged",
             (unsigned long long)m->committed + 1, (unsigned long long)m->last);
    ring_drop(m);
    m->rebuild_wanted = true;
    return true;
}

const struct replication replication_local = {
    .predict = local_predict,
    .feedback = local_feedback,
    .teach = local_teach,
    .add_labels = local_add_labels,
    .change = local_change,
    .wait = local_wait,
    .has_room = local_has_room,
    .now_ms = model_now,
    .age_ms = local_age_ms,
    .stopped = local_stopped,
    .refused = local_refused,
};

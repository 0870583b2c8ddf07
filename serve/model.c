/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests do to a model. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "shared.h"
#include "versions.h"

#define GROUP 100 /* answers under one lock */

const char *model_reason(const struct model *m)
{
    return m->state.broken[0] ? m->state.broken : m->broken;
}

static bool usable(const struct model *m, struct http_error *err)
{
    const char *why = model_reason(m);
    return !*why || http_error_set(err, 503, "model_broken", "%s", why);
}

bool model_usable(struct model *m, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool ok = usable(m, err);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

bool model_may_append(struct model *m, size_t events, size_t bytes, struct http_error *err)
{
    const struct limits *l = &m->options->limits;
    if (m->deleted && m->replaced)
        return http_error_set(err, 503, "joining", "this node's copy of the model is being replaced");
    if (m->deleted)
        return http_error_set(err, 404, "unknown_model", "model \"%s\" has been deleted", m->name);
    if (!usable(m, err))
        return false;
    if (m->degraded[0])
        return http_error_set(err, 503, "model_degraded", "read-only until hunch serve --repair: %.180s", m->degraded);
    if (m->stop)
        return http_error_set(err, 503, "stopping", "the server is stopping");
    if (m->shared) /* the journal has its own queue, and disks are not what is waited for */
        return true;
    if (m->failing) {
        *err = m->failure;
        return false;
    }
    if (!ring_grow(m, events))
        return http_error_no_memory(err);
    if (m->last - m->committed + events > l->queue || m->waiting_bytes + bytes > l->queue_bytes)
        return http_error_set(err, 503, "busy", "the disk can't keep up: %llu events are waiting to be written",
                              (unsigned long long)(m->last - m->committed));
    return true;
}

void model_append(struct model *m, struct event *e)
{
    ring_put(m, e);
    writer_wake(m);
}

/* Learning from it has spoiled the state in memory. It is not in the log, so the log makes a good one again. */
bool model_refuse_poison(struct model *m, struct http_error *err)
{
    /* Memory is this machine's own: the other nodes have applied it. */
    if (!m->state.broken[0] || (m->shared && strcmp(err->code, "out_of_memory") == 0))
        return false;
    m->rebuild_wanted = true;
    return http_error_set(err, 400, "poison", "refused: %s", m->state.broken);
}

bool model_draw_key(struct model *m, uint64_t *ret, struct http_error *err)
{
    if (m->keys_left == 0) {
        if (getrandom(m->keys, sizeof m->keys, 0) != sizeof m->keys)
            return http_error_set(err, 503, "no_randomness", "the system gives no random numbers");
        m->keys_left = sizeof m->keys / sizeof *m->keys;
    }
    *ret = m->keys[--m->keys_left];
    return true;
}

int64_t model_now(const struct model *m)
{
    return wall_ms(m->wall) + m->ahead_ms;
}

/* --- predictions --- */

static void label_copy(const struct model *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1])
{
    size_t length;
    const char *name = names_text(m->state.labels, i, &length);
    memcpy(ret, name, length + 1);
}

/* A score of each label for the example; e: where the learner's view of it goes. */
bool model_score(struct model *m, const struct example *x, struct event *e, struct scores *ret, struct http_error *err)
{
    if (ret->n < names_count(m->state.labels))
        return http_error_set(err, 503, "busy", "labels were added just now; try again");
    return state_scores(&m->state, x, e, ret->value, err);
}

size_t model_new_names(struct model *m, const struct example *x, bool always, struct names_room *ret)
{
    size_t n = 0;
    struct names_room room = {0};
    pthread_mutex_lock(&m->lock);
    room.most = m->state.settings.max_features;
    if (m->state.dictionary.names)
        room.free = room.most - names_count(m->state.dictionary.names);
    bool matters = m->state.dictionary.names && (always || names_scarce(&room, x->n));
    for (size_t i = 0; matters && i < x->n; i++)
        n += names_find(m->state.dictionary.names, x->features[i].name, x->features[i].length) == NAMES_NONE;
    pthread_mutex_unlock(&m->lock);
    *ret = room;
    return n;
}

bool model_refuse_names(struct model *m, struct example *x, size_t keep, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; m->state.dictionary.names && i < x->n; i++) {
        struct feature *f = &x->features[i];
        bool new = names_find(m->state.dictionary.names, f->name, f->length) == NAMES_NONE;
        if (new &&keep)
            keep--;
        else if (new)
            f->name = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    return example_reduce(x, &m->state.settings, err);
}

static bool predict(struct model *m, const struct example *x, struct event *e, struct scores *s, struct http_error *err)
{
    if (!model_may_append(m, 1, e->bytes, err) || !model_draw_key(m, &e->key, err) ||
        (s->value && !model_score(m, x, e, s, err)))
        return false;
    e->seq = m->last + 1;
    e->time_ms = model_now(m);
    if (!state_predict(&m->state, x, e, err))
        return false;
    history_decision(&m->history, e->time_ms, e->choice.label != e->choice.greedy);
    shadows_decision(m, x, e);
    model_append(m, e);
    return true;
}

bool model_predict(struct model *m, const struct example *x, struct decision *ret, struct http_error *err)
{
    struct event *e = event_new(EVENT_DECISION, x->n, x->text, x->length);
    if (!e)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    bool ok = m->shared ? shared_predict(m, x, e, ret, err) : predict(m, x, e, &ret->scores, err);
    if (ok) {
        ret->id = event_id(e);
        ret->key = e->key;
        ret->choice = e->choice;
        if (ret->ticket && !m->shared)
            ticket_need(ret->ticket, e->seq);
        label_copy(m, e->choice.label, ret->label);
        label_copy(m, e->choice.greedy, ret->greedy);
    }
    bool kept = ok && !m->shared; /* a shared journal has a copy, and gives it back when its turn has come */
    pthread_mutex_unlock(&m->lock);
    if (!kept)
        event_free(e);
    return ok;
}

bool model_scores(struct model *m, const struct example *x, uint32_t *ret_greedy, struct scores *ret,
                  struct http_error *err)
{
    struct event *e = event_new(EVENT_DECISION, x->n, "", 0);
    if (!e)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    bool ok = usable(m, err) && model_score(m, x, e, ret, err);
    if (ok) {
        hunch_vec v = event_vec(e);
        hunch_greedy(m->state.learner, &v, ret_greedy);
    }
    pthread_mutex_unlock(&m->lock);
    event_free(e);
    return ok;
}

/* --- feedback --- */

static bool read_answer(struct model *m, const struct said *f, const struct event *d, struct answer *ret,
                        struct http_error *err)
{
    ret->right = f->right;
    ret->label = NO_LABEL;
    if (!f->labelled)
        return true;
    ret->label = names_find(m->state.labels, f->label, f->label_length);
    if (ret->label == NAMES_NONE)
        return http_error_set(err, 400, "unknown_label", "this model has no label \"%.*s\"", (int)f->label_length,
                              f->label);
    ret->right = ret->label == d->choice.label;
    return true;
}

static bool unknown(struct http_error *err)
{
    return http_error_set(err, 404, "unknown_id", "no decision has this id");
}

enum answer_verdict model_judge(struct model *m, struct feedback *f, const struct event *d, int64_t now,
                                struct answer *ret)
{
    struct http_error *err = &f->error;
    struct answer before = ring_answer(m, d);
    if (!read_answer(m, &f->said, d, ret, err))
        return ANSWER_REFUSED;
    if (before.seq && !answer_same(&before, ret)) {
        http_error_set(err, 409, "conflict", "another answer to this decision is on record");
        return ANSWER_REFUSED;
    }
    if (before.seq) {
        f->already = true;
        f->wait = before.seq;
        return ANSWER_ALREADY;
    }
    if (now - d->time_ms > m->state.settings.ttl_ms) {
        http_error_set(err, 404, "expired_id", "this decision's time ran out: feedback is taken for %lld seconds",
                       (long long)(m->state.settings.ttl_ms / 1000));
        return ANSWER_REFUSED;
    }
    return ANSWER_NEW;
}

/* The decision's features have the numbers that they have now. */
static bool renumber(struct model *m, struct event *d, struct http_error *err)
{
    struct example x;
    if (d->reused == m->state.dictionary.reused)
        return true;
    if (!example_parse(&x, d->x, d->x_length, &m->state.settings, err))
        return false;
    bool ok = state_recall(&m->state, &x, d, err);
    example_free(&x);
    return ok;
}

bool model_answer(struct model *m, struct feedback *f, struct event *d, struct event **e)
{
    struct answer *a = &(*e)->answer;
    int64_t now = (*e)->time_ms;
    enum answer_verdict verdict = model_judge(m, f, d, now, a);
    if (verdict != ANSWER_NEW)
        return verdict == ANSWER_ALREADY;
    if (!model_may_append(m, 1, (*e)->bytes, &f->error) || !renumber(m, d, &f->error))
        return false;
    (*e)->seq = a->seq = f->wait = m->last + 1;
    a->time_ms = now;
    (*e)->decision = d->seq;
    bool foreign = m->store.promotions_n && event_store_version_at(&m->store, d->seq) != m->state.version;
    if (!state_answer(&m->state, d, *e, foreign, &f->error))
        return model_refuse_poison(m, &f->error);
    shadows_answer(m, d, *e);
    d->answer = *a;
    history_answer(&m->history, now, now - d->time_ms, a->right);
    model_append(m, *e);
    *e = NULL;
    return true;
}

/* A decision that has left the ring, read from the log. */
struct old {
    struct event *decision;
    struct example example;
};

static void fetch(struct model *m, struct reader *r, struct feedback *f, struct old *ret)
{
    struct http_error *err = &f->error;
    if (!reader_find(r, f->said.seq, &ret->decision, err))
        return;
    struct event *d = ret->decision;
    if (!d || d->key != f->said.key)
        unknown(err);
    else
        example_parse(&ret->example, d->x, d->x_length, &m->state.settings, err);
}

static void old_free(struct old *o)
{
    example_free(&o->example);
    event_free(o->decision);
}

/* Under the lock. The log was read when it had all events up to `read`: what was said after that is in the ring, unless
 * so much has happened since that some of it has left already; then the log is read again. */
static void answer_old(struct model *m, struct feedback *f, struct old *o, uint64_t read, struct event **e)
{
    struct event *again = NULL;
    if (m->first > read + 1) {
        if (!event_store_decision(&m->store, f->said.seq, &again, &f->error))
            return;
        if (!again) {
            unknown(&f->error);
            return;
        }
        o->decision->answer = again->answer;
        event_free(again);
    }
    if (state_recall(&m->state, &o->example, o->decision, &f->error))
        model_answer(m, f, o->decision, e);
}

/* Under the lock. False: it has to be looked for in the log. */
static bool answer_recent(struct model *m, struct feedback *f, struct event **e)
{
    if (m->deleted || !usable(m, &f->error)) {
        model_may_append(m, 1, 0, &f->error);
        return true;
    }
    if (f->said.seq < m->first)
        return false;
    struct event *d = ring_decision(m, f->said.seq);
    if (d && d->key == f->said.key)
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
        if (look && items[i].said.seq > newest)
            newest = items[i].said.seq;
    }
    return newest;
}

/* Gives up to where the log was read. */
static uint64_t fetch_all(struct model *m, struct feedback *items, size_t n, uint64_t need, uint64_t upto,
                          struct old *olds)
{
    struct reader *r = event_store_reader_begin(&m->store, need, upto);
    uint64_t read = r->upto;
    for (size_t i = 0; i < n; i++)
        if (items[i].wait == UINT64_MAX)
            fetch(m, r, &items[i], &olds[i]);
    event_store_reader_end(&m->store, r);
    return read;
}

/* The lock is taken once for all that the ring knows, and once more for the rest. */
static void answer_all(struct model *m, struct feedback *items, size_t n, struct event **events)
{
    struct old olds[GROUP];
    memset(olds, 0, n * sizeof *olds);
    pthread_mutex_lock(&m->lock);
    uint64_t need = answer_recent_all(m, items, n, events), upto = m->committed;
    bool look = need > 0;
    if (need < m->first + GROUP) /* what was said since is in the ring, and will be for a while */
        need = m->first + GROUP;
    pthread_mutex_unlock(&m->lock);
    if (!look)
        return;
    uint64_t read = fetch_all(m, items, n, need < upto ? need : upto, upto, olds);
    pthread_mutex_lock(&m->lock);
    int64_t now = model_now(m);
    for (size_t i = 0; i < n; i++) {
        if (items[i].wait != UINT64_MAX)
            continue;
        items[i].wait = 0;
        events[i]->time_ms = now;
        if (!items[i].error.status)
            answer_old(m, &items[i], &olds[i], read, &events[i]);
    }
    bool idle = m->last == m->committed; /* else the writer will see to it */
    pthread_mutex_unlock(&m->lock);
    if (idle)
        event_store_release(&m->store);
    for (size_t i = 0; i < n; i++)
        old_free(&olds[i]);
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
        if (!items[i].error.status)
            ticket_need(t, items[i].wait);
        event_free(events[i]); /* those that the ring has taken are NULL here */
    }
}

void model_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t)
{
    if (m->shared) {
        shared_feedback(m, items, n, t);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP)
        answer_group(m, items + i, n - i < GROUP ? n - i : GROUP, t);
}

/* --- lessons and labels --- */

bool model_teach(struct model *m, const struct example *x, const char *label, size_t label_length, struct ticket *t,
                 struct http_error *err)
{
    if (m->shared)
        return shared_teach(m, x, label, label_length, t, err);
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
        ok = state_lesson(&m->state, x, e, err) || model_refuse_poison(m, err);
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

bool model_add_label(struct model *m, const char *label, size_t length, bool *ret_already, struct ticket *t,
                     struct http_error *err)
{
    struct event *e = event_new(EVENT_LABEL, 0, label, length);
    if (!e)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    bool ok = model_may_append(m, 1, e->bytes, err), already = false;
    if (ok && names_find(m->state.labels, label, length) != NAMES_NONE) {
        already = true;
        if (!m->shared)
            ticket_need(t, m->last);
    } else if (ok && names_count(m->state.labels) >= m->options->limits.labels) {
        ok = http_error_set(err, 413, "too_many_labels", "a model has at most %zu labels", m->options->limits.labels);
    } else if (ok && m->shared) {
        ok = shared_propose(m, e, NULL, t, err);
    } else if (ok) {
        e->seq = m->last + 1;
        e->time_ms = model_now(m);
        ok = state_label(&m->state, e, err);
        if (ok) {
            shadows_label(m, e);
            model_append(m, e);
            ticket_need(t, e->seq);
        }
    }
    bool kept = ok && !already && !m->shared;
    pthread_mutex_unlock(&m->lock);
    if (!kept)
        event_free(e);
    *ret_already = already;
    return ok;
}

/* --- looking --- */

size_t model_labels(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    size_t n = m->state.labels ? names_count(m->state.labels) : 0;
    pthread_mutex_unlock(&m->lock);
    return n;
}

void model_label_name(struct model *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1])
{
    pthread_mutex_lock(&m->lock);
    ret[0] = 0;
    if (m->state.labels && i < names_count(m->state.labels))
        label_copy(m, i, ret);
    pthread_mutex_unlock(&m->lock);
}

void model_write_scores(struct model *m, const struct scores *s, struct text *t)
{
    text_puts(t, "{");
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < s->n && i < names_count(m->state.labels); i++) {
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        text_add(t, ",", i > 0);
        text_quote(t, name, length);
        text_puts(t, ":");
        text_number(t, s->value[i]);
    }
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

bool model_has_room(struct model *m, size_t events, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool ok = model_may_append(m, events, 0, err);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

enum durable model_wait(struct model *m, struct waiter *w, void (*before_wait)(struct waiter *w))
{
    enum durable answer = DURABLE_NOW;
    pthread_mutex_lock(&m->lock);
    if (m->committed < w->seq && (m->failing || !m->writer_runs)) {
        answer = DURABLE_NOT;
    } else if (m->committed < w->seq) {
        answer = DURABLE_LATER;
        before_wait(w);
        w->next = m->waiters;
        m->waiters = w;
        m->waiting++;
        writer_wake(m);
    }
    pthread_mutex_unlock(&m->lock);
    return answer;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests do to a model with a shared journal, and what they wait for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/arithmetic.h"
#include "base/clock.h"
#include "util/log.h"
#include "cluster/shared.h"
#include "storage/store_shared.h"

/* --- proposals and tickets; all of this under the lock --- */

static struct proposal **counter_chain(struct model *m, uint64_t counter)
{
    return &m->shared->proposals[counter & (PROPOSAL_CHAINS - 1)];
}

static struct proposal **parked_chain(struct model *m, uint64_t handle)
{
    return &m->shared->parked[handle & (PARKED - 1)];
}

static bool proposal_send(struct model *m, struct event *e, struct proposal *p, struct http_error *err)
{
    if (p && m->shared->proposals_n >= PROPOSALS)
        return http_error_set(err, 503, "busy", "too many proposed events have not been read back from the journal");
    int64_t ahead_ms = m->shared->cluster->ahead_ms;
    e->time_ms = ahead_ms ? clock_now() / 1000000 + ahead_ms : 0;
    if (!m->shared->journal->kind->propose(m->shared->journal, e, err))
        return false;
    m->shared->origin = e->source.origin;
    m->shared->counter = e->source.counter;
    if (p) {
        struct proposal **at = counter_chain(m, e->source.counter);
        p->counter = e->source.counter;
        p->next = *at;
        *at = p;
        m->shared->proposals_n++;
    }
    return true;
}

static struct proposal *proposal_new(struct feedback *item, struct ticket *t)
{
    struct proposal *p = calloc(1, sizeof *p);
    if (p) {
        p->item = item;
        p->ticket = t;
    }
    return p;
}

static bool room(struct model *m, struct http_error *err)
{
    if (!m->shared->stopped[0])
        return true;
    return http_error_set(err, 503, "stopped", "%.200s", m->shared->stopped);
}

static void ticket_more(struct ticket *t)
{
    t->left++;
    t->proposed = true;
}

bool shared_propose(struct model *m, struct event *e, struct feedback *item, struct ticket *t, struct http_error *err)
{
    struct proposal *p = t ? proposal_new(item, t) : NULL;
    if (t && !p)
        return http_error_no_memory(err);
    if (!room(m, err) || !proposal_send(m, e, p, err)) {
        free(p);
        return false;
    }
    if (t)
        ticket_more(t);
    return true;
}

/* The ticket has one thing less to wait for. */
static struct ticket *ticket_less(struct ticket *t)
{
    return --t->left == 0 && t->waits && t->waiter.seq == 0 ? t : NULL;
}

static void ticket_remove(struct model *m, const struct ticket *t)
{
    struct ticket **at = &m->shared->tickets;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

static void settle(struct proposal *p, const struct feedback *verdict)
{
    if (p->item) {
        p->item->error = verdict->error;
        p->item->already = verdict->already;
        p->item->activated = verdict->activated;
        p->item->late = verdict->late;
        p->item->replaced = verdict->replaced;
    } else if (verdict->error.status) {
        p->ticket->error = verdict->error;
    }
    if (verdict->wait > p->ticket->applied)
        p->ticket->applied = verdict->wait;
}

struct ticket *shared_done(struct model *m, const struct event_source *from, const struct feedback *verdict)
{
    struct proposal **at = counter_chain(m, from->counter), *p;
    while ((p = *at) && p->counter != from->counter)
        at = &p->next;
    if (from->origin != m->shared->origin || !p)
        return NULL;
    *at = p->next;
    m->shared->proposals_n--;
    settle(p, verdict);
    struct ticket *t = ticket_less(p->ticket);
    free(p);
    if (t) {
        ticket_remove(m, t);
        t->next = NULL;
    }
    return t;
}

/* The chain's first of that ticket, taken out; NULL: it has none. */
static struct proposal *take_own(struct proposal **at, const struct ticket *t)
{
    while (*at && (*at)->ticket != t)
        at = &(*at)->next;
    struct proposal *p = *at;
    if (p)
        *at = p->next;
    return p;
}

static uint64_t seen_behind(const struct shared *s, uint64_t origin)
{
    for (size_t i = 0; i < s->seen_n; i++)
        if (s->seen[i].origin == origin)
            return s->seen[i].behind;
    return 0;
}

/* Feedback whose decision has not come: why there may be one yet. A node that has just started, or that no broker
 * reaches, does not know; nor does anyone while a node that may have made it hangs. */
static void not_found(struct model *m, const struct proposal *p, struct http_error *err)
{
    struct shared *s = m->shared;
    struct peer peers[PEERS_MAX];
    size_t n = p->asked && s->cluster->peers ? s->cluster->peers(s->cluster->peers_context, m->name, peers) : 0;
    if (!p->asked) {
        http_error_set(err, 503, "not_durable",
                       "not certain to be in the journal: send it again, and it will be "
                       "acknowledged once it is");
        err->retry = 1;
        return;
    }
    if (s->cluster->departed_ns >= p->since_ns) {
        http_error_set(err, 503, "not_known_yet",
                       "no decision has this id yet, and a node has just left: send it again");
        err->retry = 1;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (peers[i].origin && (peers[i].origin == s->origin || seen_behind(s, peers[i].origin) >= p->asked))
            continue;
        http_error_set(err, 503, "not_known_yet",
                       "no decision has this id yet, and node %s, which may have made it, "
                       "does not answer: send it again",
                       peers[i].node);
        err->retry = 1;
        return;
    }
    http_error_set(err, 404, "unknown_id", "no decision has this id");
}

/* Nothing of the ticket is waited for any more: what has no verdict is uncertain. */
static void ticket_give_up(struct model *m, struct ticket *t)
{
    struct feedback uncertain = {0};
    http_error_set(&uncertain.error, 503, "not_durable",
                   "not certain to be in the journal: send it again, and it will be acknowledged once it is");
    uncertain.error.retry = 1;
    for (size_t i = 0; t->left && i < PROPOSAL_CHAINS; i++) {
        for (struct proposal *p; (p = take_own(&m->shared->proposals[i], t));) {
            m->shared->proposals_n--;
            settle(p, &uncertain);
            t->left--;
            free(p);
        }
    }
    for (size_t i = 0; t->left && i < PARKED; i++) {
        for (struct proposal *p; (p = take_own(&m->shared->parked[i], t));) {
            struct feedback verdict = {0};
            not_found(m, p, &verdict.error);
            settle(p, &verdict);
            t->left--;
            m->shared->parked_n--;
            event_free(p->parked);
            free(p);
        }
    }
}

struct ticket *shared_due(struct model *m, int64_t now_ns)
{
    struct ticket *due = NULL;
    for (struct ticket **at = &m->shared->tickets; *at;) {
        struct ticket *t = *at;
        bool late = now_ns >= t->deadline_ns, there = m->last >= t->waiter.seq && t->left == 0;
        if (!late && !there) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        if (t->left)
            m->shared->journal->kind->recheck(m->shared->journal);
        if (!there && t->waiter.seq > m->last)
            http_error_set(&t->error, 503, "not_yet", "this node has not reached event %llu yet",
                           (unsigned long long)t->waiter.seq);
        ticket_give_up(m, t);
        t->next = due;
        due = t;
    }
    return due;
}

void tickets_wake(struct ticket *list)
{
    while (list) {
        struct ticket *next = list->next; /* the ticket may be gone as soon as it is woken */
        list->waiter.wake(&list->waiter, true);
        list = next;
    }
}

static enum durable cluster_wait(struct model *m, struct ticket *t, uint64_t after,
                                 void (*before_wait)(struct waiter *w))
{
    pthread_mutex_lock(&m->lock);
    t->waiter.seq = after;
    bool now = t->left == 0 && m->last >= after, can = m->shared->applies && !m->shared->stop;
    if (!now && !can)
        ticket_give_up(m, t);
    if (!now && can) {
        before_wait(&t->waiter);
        t->deadline_ns = clock_now() + m->shared->cluster->wait_ns;
        t->waits = true;
        t->next = m->shared->tickets;
        m->shared->tickets = t;
        m->shared->asked = true;
        work_queue_schedule(&m->shared->cluster->appliers, &m->shared->applying, WORK_SOON); /* for its deadline */
    }
    pthread_mutex_unlock(&m->lock);
    return !now && can ? DURABLE_LATER : now || !after ? DURABLE_NOW : DURABLE_NOT;
}

/* --- requests --- */

/* The journal gets a copy of the event, and gives it back at its place. */
static bool cluster_predict(struct model *m, const struct example *x, struct event **d, struct decision *ret,
                            struct http_error *err)
{
    struct event *e = *d;
    uint64_t seed;
    if (!model_may_append(m, 1, e->bytes, err) || !model_draw_key(m, &e->source.handle, err) ||
        !model_draw_key(m, &e->key, err) || !model_draw_key(m, &seed, err) ||
        (ret->scores.value && !model_score(m, x, e, &ret->scores, err)) ||
        !(e->chooser == CHOSEN_BY_MODEL ? state_peek(&m->state, x, seed, e, err) && state_act(&m->state, e, err)
                                        : state_advise(&m->state, x, e, err)))
        return false;
    e->source.handle |= HANDLE_BIT;
    return shared_propose(m, e, NULL, ret->ticket, err);
}

static bool cluster_teach(struct model *m, const struct example *x, const char *label, size_t label_length,
                          struct ticket *t, struct http_error *err)
{
    struct text both = {0};
    text_add(&both, label, label_length);
    text_add(&both, x->text, x->length);
    struct event *e = both.failed ? NULL : event_new(EVENT_LESSON, 0, both.data, both.length);
    text_free(&both);
    if (!e)
        return http_error_no_memory(err);
    e->label = (uint32_t)label_length;
    pthread_mutex_lock(&m->lock);
    bool ok = model_may_append(m, 1, e->bytes, err);
    if (ok && names_find(m->state.labels, label, label_length) == NAMES_NONE)
        ok = http_error_set(err, 400, "unknown_label", "this model has no label \"%.*s\"", (int)label_length, label);
    ok = ok && shared_propose(m, e, NULL, t, err);
    pthread_mutex_unlock(&m->lock);
    event_free(e);
    return ok;
}

static bool cluster_add_labels(struct model *m, struct event **events, size_t n, struct ticket *t,
                               struct http_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!shared_propose(m, events[i], NULL, t, err))
            return false;
    return true;
}

static bool cluster_change(struct model *m, struct event **e, struct ticket *t, struct http_error *err)
{
    return shared_propose(m, *e, NULL, t, err);
}

/* --- feedback --- */

static struct event *feedback_event(const struct feedback_input *input, struct http_error *err)
{
    struct event *e =
        event_new(EVENT_FEEDBACK, 0, input->labelled ? input->label : "", input->labelled ? input->label_length : 0);
    if (!e) {
        http_error_no_memory(err);
        return NULL;
    }
    e->source.handle = input->seq;
    e->key = input->key;
    e->answer.right = input->right;
    e->answer.silent = input->silent;
    e->answer.active = input->activate;
    e->answer.label = input->labelled ? 0 : NO_LABEL;
    return e;
}

/* The decision is known here: what can be said at once is said, everything else goes to the journal. */
static void answer_known(struct model *m, struct feedback *f, const struct event *d, struct ticket *t)
{
    struct answer ignored;
    struct http_error err = {0};
    enum answer_verdict verdict = model_judge(m, f, d, m->shared->log_ms, &ignored);
    bool elsewhere = verdict == ANSWER_REFUSED && strcmp(f->error.code, "not_active") == 0; /* by now, perhaps */
    if (elsewhere)
        f->error = (struct http_error){0};
    if (!elsewhere && (verdict == ANSWER_ALREADY || verdict == ANSWER_REFUSED)) {
        if (t && f->already && f->wait > t->applied)
            t->applied = f->wait;
        return;
    }
    struct event *e = feedback_event(&f->input, &f->error);
    if (e && !shared_propose(m, e, f, t, &err)) {
        f->error = err;
        if (err.status == 503 && strcmp(err.code, "busy") == 0)
            f->error.code = "not_durable";
    }
    event_free(e);
}

/* It may have been shown by another node, or by this one a moment ago. */
static void park(struct model *m, struct feedback *f, struct ticket *t)
{
    struct shared *s = m->shared;
    struct proposal *p = s->parked_n < PROPOSALS ? proposal_new(f, t) : NULL;
    struct event *e = p ? feedback_event(&f->input, &f->error) : NULL;
    if (!e) {
        free(p);
        http_error_set(&f->error, 503, "busy", "too much feedback waits for unknown decisions");
        return;
    }
    struct proposal **at = parked_chain(m, f->input.seq);
    while (*at) /* behind the others: what was said first counts */
        at = &(*at)->next;
    p->parked = e;
    p->counter = s->counter;
    p->since_ns = clock_now();
    *at = p;
    s->parked_n++;
    s->ask_wanted = true;
    ticket_more(t);
}

/* Records of no place (no node compares them with a hash), whose key is twice the newest question that has been read;
 * one more: it is a question itself. */
void shared_ask(struct model *m)
{
    struct shared *s = m->shared;
    struct http_error ignored;
    struct event *e = s->ask_wanted || s->reply_wanted ? event_new(EVENT_HASH, 0, "", 0) : NULL;
    if (e) {
        e->seq = UINT64_MAX;
        e->key = s->question << 1 | s->ask_wanted;
        if (shared_propose(m, e, NULL, NULL, &ignored)) /* else at the next turn */
            s->ask_wanted = s->reply_wanted = false;
    }
    event_free(e);
}

static void note_reply(struct shared *s, uint64_t origin, uint64_t behind)
{
    size_t i = 0;
    while (i < s->seen_n && s->seen[i].origin != origin)
        i++;
    if (i < s->seen_n && s->seen[i].behind > behind) /* sent twice */
        behind = s->seen[i].behind;
    if (i == s->seen_n)
        s->seen_n < PEERS_MAX ? s->seen_n++ : i--;
    memmove(s->seen + 1, s->seen, i * sizeof *s->seen);
    s->seen[0] = (struct origin_seen){origin, behind};
}

void shared_asked(struct model *m, const struct event *e)
{
    struct shared *s = m->shared;
    bool own = e->source.origin == s->origin;
    note_reply(s, e->source.origin, e->key >> 1);
    if (!(e->key & 1))
        return;
    s->question = e->source.offset + 1;
    s->reply_wanted = s->reply_wanted || !own;
    for (size_t i = 0; s->parked_n && own && i < PARKED; i++)
        for (struct proposal *p = s->parked[i]; p; p = p->next)
            if (!p->asked && p->counter < e->source.counter)
                p->asked = e->source.offset + 1;
}

void shared_unpark(struct model *m, uint64_t handle)
{
    bool full = false;
    for (struct proposal **at = parked_chain(m, handle); *at;) {
        struct proposal *p = *at, *next = p->next;
        struct event *e = p->parked;
        struct http_error err = {0};
        if (e->source.handle != handle) {
            at = &p->next;
            continue;
        }
        p->parked = NULL;
        full = full || !proposal_send(m, e, p, &err);
        if (full) { /* the ticket's time will tell; behind the first that was not taken, the others wait too */
            p->parked = e;
            p->counter = UINT64_MAX; /* its decision is known */
            p->asked = 0;
            at = &p->next;
            continue;
        }
        *at = next;
        m->shared->parked_n--;
        event_free(e);
    }
}

/* Under the lock, which it lets go of to look on disk. */
static void answer_one(struct model *m, struct feedback *f, struct ticket *t)
{
    struct event *d = NULL;
    if (!model_may_append(m, 1, 0, &f->error) || !room(m, &f->error))
        return;
    if ((d = ring_by_handle(m, f->input.seq, f->input.key))) {
        answer_known(m, f, d, t);
        return;
    }
    pthread_mutex_unlock(&m->lock);
    bool ok = store_shared_decision(&m->store, f->input.seq, f->input.key, &d, &f->error);
    pthread_mutex_lock(&m->lock);
    struct event *lately = ring_by_handle(m, f->input.seq, f->input.key); /* it may have come meanwhile */
    if (ok && !lately && d && model_lacks_answer(m, f, d))
        ok = false;
    if (ok && (lately || d))
        answer_known(m, f, lately ? lately : d, t);
    else if (ok && f->input.seq & HANDLE_BIT)
        park(m, f, t);
    else if (ok)
        http_error_set(&f->error, 404, "unknown_id", "no decision has this id");
    event_free(d);
}

static void cluster_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < n; i++)
        if (!items[i].error.status)
            answer_one(m, &items[i], t);
    pthread_mutex_unlock(&m->lock);
}

/* --- how far behind --- */

bool shared_lag(struct model *m, uint64_t *ret_events, double *ret_seconds)
{
    uint64_t end;
    pthread_mutex_lock(&m->lock);
    bool known = m->shared->journal->kind->end(m->shared->journal, &end);
    uint64_t next = m->shared->next_offset;
    *ret_events = known && end > next ? end - next : 0;
    *ret_seconds = known && *ret_events == 0 ? 0 : (double)(clock_now() - m->shared->behind_since) * 1e-9;
    pthread_mutex_unlock(&m->lock);
    return known;
}

/* --- beginning and end --- */

static void journal_ready(void *shared)
{
    struct shared *s = shared;
    work_queue_schedule(&s->cluster->appliers, &s->applying, WORK_NOW);
}

/* The disk may have been what applying waits for. */
static void cluster_committed(struct model *m)
{
    if (m->shared->waits)
        journal_ready(m->shared);
}

static bool cluster_open(struct model *m, void *context, struct http_error *err)
{
    struct cluster *c = context;
    struct shared *s = calloc(1, sizeof *s);
    if (!s)
        return http_error_no_memory(err);
    *s = (struct shared){.model = m, .cluster = c, .applying = WORK_ITEM_NEW};
    m->shared = s;
    s->proposals = calloc(PROPOSAL_CHAINS, sizeof *s->proposals);
    if (!s->proposals || !ring_index(m))
        return http_error_no_memory(err);
    return c->kind->open(&s->journal, c->journal, m->store.shared.topic, m->store.shared.offset, err);
}

static bool cluster_start(struct model *m, struct http_error *err)
{
    struct shared *s = m->shared;
    s->log_ms = m->store.shared.log_ms;
    s->next_offset = m->store.shared.offset;
    s->behind_since = clock_now();
    uint64_t mine;
    if (!arithmetic_of(&m->state.settings, &mine, err))
        return false;
    if (mine != m->store.shared.arithmetic) {
        s->misfit = true;
        snprintf(s->stopped, sizeof s->stopped,
                 "this hunch (%s) computes other results than the nodes that started this journal", hunch_version());
        log_event("applying_stopped", "{s:s,s:s}", "model", m->name, "reason", s->stopped);
        return true;
    }
    if (m->degraded[0]) { /* another node has it whole */
        snprintf(s->stopped, sizeof s->stopped, "%s", m->degraded);
        s->gone = true;
        return true;
    }
    s->journal->ready = journal_ready;
    s->journal->context = s;
    s->applies = true;
    work_queue_schedule(&s->cluster->appliers, &s->applying, WORK_NOW);
    return true;
}

static void cluster_stop(struct model *m)
{
    struct shared *s = m->shared;
    if (!s || !s->applies)
        return;
    s->stop = true;
    work_queue_remove(&s->cluster->appliers, &s->applying);
    event_free(s->held);
    pthread_mutex_lock(&m->lock);
    s->applies = false;
    s->held = NULL;
    struct ticket *all = shared_due(m, INT64_MAX);
    pthread_mutex_unlock(&m->lock);
    tickets_wake(all);
}

static void cluster_close(struct model *m)
{
    struct shared *s = m->shared;
    if (!s)
        return;
    if (s->journal)
        s->journal->kind->close(s->journal);
    for (size_t i = 0; s->proposals && i < PROPOSAL_CHAINS; i++)
        for (struct proposal *p = s->proposals[i], *next; p; p = next) {
            next = p->next;
            free(p);
        }
    free(s->proposals);
    free(s);
    m->shared = NULL;
}

/* --- the log --- */

/* The journal has a queue of its own, and disks are not what is waited for. */
static bool cluster_has_room(struct model *m, size_t events, size_t bytes, struct http_error *err)
{
    return true;
}

static int64_t cluster_now_ms(const struct model *m)
{
    return m->shared->log_ms;
}

/* The journal's times are the same for all nodes. */
static int64_t cluster_age_ms(const struct model *m, int64_t now_ms, int64_t then_ms)
{
    return now_ms - then_ms;
}

static const char *cluster_stopped(const struct model *m)
{
    return m->shared ? m->shared->stopped : "";
}

/* The other nodes have logged it: this log is wrong. */
static bool cluster_refused(struct model *m, const struct http_error *err)
{
    snprintf(m->shared->stopped, sizeof m->shared->stopped, "%s", err->message);
    m->shared->gone = true;
    return false;
}

const struct replication replication_cluster = {
    .open = cluster_open,
    .start = cluster_start,
    .stop = cluster_stop,
    .close = cluster_close,
    .predict = cluster_predict,
    .feedback = cluster_feedback,
    .teach = cluster_teach,
    .add_labels = cluster_add_labels,
    .change = cluster_change,
    .wait = cluster_wait,
    .has_room = cluster_has_room,
    .now_ms = cluster_now_ms,
    .age_ms = cluster_age_ms,
    .stopped = cluster_stopped,
    .committed = cluster_committed,
    .refused = cluster_refused,
};

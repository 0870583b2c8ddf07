/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests do to a model. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "body.h"
#include "served.h"

/* --- the ring; all of this under the lock --- */

static struct event **slot(struct served *m, uint64_t seq)
{
    return &m->ring[seq & (m->ring_size - 1)];
}

/* Forgets the oldest events that are on disk as long as the ring is too full or too large. */
void ring_trim(struct served *m)
{
    while (m->first <= m->committed &&
           (m->last - m->first + 1 >= m->ring_size || m->ring_bytes > m->options->limits.recent_bytes)) {
        struct event **e = slot(m, m->first++);
        m->ring_bytes -= (*e)->bytes;
        event_free(*e);
        *e = NULL;
    }
}

static bool may_append(struct served *m, size_t events, size_t bytes, struct problem *p)
{
    const struct limits *l = &m->options->limits;
    if (m->deleted)
        return problem_set(p, 404, "unknown_model", "model \"%s\" has been deleted", m->name);
    if (m->broken[0])
        return problem_set(p, 503, "model_broken", "%s", m->broken);
    if (m->core.broken)
        return problem_set(p, 503, "model_broken", "memory ran out half-way; the server must be started again");
    if (m->stop)
        return problem_set(p, 503, "stopping", "the server is stopping");
    if (m->failing) {
        *p = m->failure;
        return false;
    }
    if (m->last - m->committed + events > l->queue || m->waiting_bytes + bytes > l->queue_bytes)
        return problem_set(p, 503, "busy", "the disk can't keep up: %llu events are waiting to be written",
                           (unsigned long long)(m->last - m->committed));
    return true;
}

static void append(struct served *m, struct event *e)
{
    m->last = e->seq;
    m->ring_bytes += e->bytes;
    m->waiting_bytes += e->bytes;
    *slot(m, e->seq) = e;
    ring_trim(m);
    if (m->writer_sleeps || m->last - m->committed == m->options->limits.queue / 4)
        pthread_cond_signal(&m->work);
}

static struct event *ring_find(struct served *m, uint64_t seq)
{
    if (seq < m->first || seq > m->last)
        return NULL;
    struct event *e = *slot(m, seq);
    return e->kind == EVENT_DECISION ? e : NULL;
}

static bool draw_key(struct served *m, uint64_t *ret, struct problem *p)
{
    if (m->keys_left == 0) {
        if (getrandom(m->keys, sizeof m->keys, 0) != sizeof m->keys)
            return problem_set(p, 503, "no_randomness", "the system gives no random numbers");
        m->keys_left = sizeof m->keys / sizeof *m->keys;
    }
    *ret = m->keys[--m->keys_left];
    return true;
}

/* --- predictions --- */

static void copy_label(const struct served *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1])
{
    size_t length;
    const char *name = names_text(m->core.labels, i, &length);
    memcpy(ret, name, length + 1);
}

static bool predict(struct served *m, const struct example *x, struct event *e, float *scores, size_t room,
                    struct problem *p)
{
    if (!may_append(m, 1, e->bytes, p) || !draw_key(m, &e->key, p))
        return false;
    if (scores && (room < names_count(m->core.labels) || !core_scores(&m->core, x, e, scores, p)))
        return p->status ? false : problem_set(p, 503, "busy", "labels were added just now; try again");
    e->seq = m->last + 1;
    e->time_ms = wall_ms(m->wall);
    if (!core_predict(&m->core, x, e, p))
        return false;
    history_decision(&m->history, e->time_ms, e->choice.label != e->choice.greedy);
    append(m, e);
    return true;
}

bool served_predict(struct served *m, const struct example *x, const char *text, size_t length, struct decision *ret,
                    float *scores, size_t scores_room, struct problem *p)
{
    struct event *e = event_new(EVENT_DECISION, x->n, text, length);
    if (!e)
        return problem_set(p, 503, "out_of_memory", "out of memory");
    pthread_mutex_lock(&m->lock);
    bool ok = predict(m, x, e, scores, scores_room, p);
    if (ok) {
        ret->seq = e->seq;
        ret->key = e->key;
        ret->choice = e->choice;
        copy_label(m, e->choice.label, ret->label);
        copy_label(m, e->choice.greedy, ret->greedy);
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        event_free(e);
    return ok;
}

bool served_scores(struct served *m, const struct example *x, uint32_t *ret_greedy, float *ret, size_t room,
                   struct problem *p)
{
    struct event *e = event_new(EVENT_DECISION, x->n, "", 0);
    if (!e)
        return problem_set(p, 503, "out_of_memory", "out of memory");
    pthread_mutex_lock(&m->lock);
    bool ok = true;
    if (m->broken[0] || m->core.broken)
        ok = problem_set(p, 503, "model_broken", "%s", m->broken);
    else if (room < names_count(m->core.labels))
        ok = problem_set(p, 503, "busy", "labels were added just now; try again");
    else if (core_scores(&m->core, x, e, ret, p)) {
        hunch_vec v = event_vec(e);
        hunch_greedy(m->core.learner, &v, ret_greedy);
    } else {
        ok = false;
    }
    pthread_mutex_unlock(&m->lock);
    event_free(e);
    return ok;
}

/* --- feedback --- */

static struct event **bucket(struct served *m, uint64_t decision)
{
    return &m->answers[decision & (ANSWER_BUCKETS - 1)];
}

/* What is known about a decision: in the ring, or said and on its way to the disk, or as read from the log. */
static struct answer answer_of(struct served *m, const struct event *decision)
{
    for (const struct event *e = *bucket(m, decision->seq); e; e = e->next)
        if (e->decision == decision->seq)
            return e->answer;
    return decision->answer;
}

static bool read_answer(struct served *m, const struct feedback *f, const struct event *d, struct answer *ret,
                        struct problem *p)
{
    ret->right = f->right;
    ret->label = NO_LABEL;
    if (!f->labelled)
        return true;
    ret->label = names_find(m->core.labels, f->label, f->label_length);
    if (ret->label == NAMES_NONE)
        return problem_set(p, 400, "unknown_label", "this model has no label \"%.*s\"", (int)f->label_length, f->label);
    ret->right = ret->label == d->choice.label;
    return true;
}

static bool unknown(struct problem *p)
{
    return problem_set(p, 404, "unknown_id", "no decision has this id");
}

/* d: the decision; e: the event to be filled and, unless it was said before, applied. */
static bool answer(struct served *m, const struct feedback *f, struct event *d, struct event *e, bool *ret_already,
                   uint64_t *ret_seq, struct problem *p)
{
    struct answer before = answer_of(m, d);
    int64_t now = wall_ms(m->wall);
    if (!read_answer(m, f, d, &e->answer, p))
        return false;
    if (before.seq) {
        if (!answer_same(&before, &e->answer))
            return problem_set(p, 409, "conflict", "another answer to this decision is on record");
        *ret_already = true;
        *ret_seq = before.seq;
        return true;
    }
    if (now - d->time_ms > m->core.settings.ttl_ms)
        return problem_set(p, 404, "expired_id", "this decision's time ran out: feedback is taken for %lld seconds",
                           (long long)(m->core.settings.ttl_ms / 1000));
    if (!may_append(m, 1, e->bytes, p))
        return false;
    e->seq = e->answer.seq = m->last + 1;
    e->time_ms = e->answer.time_ms = now;
    e->decision = d->seq;
    if (!core_answer(&m->core, d, e, p))
        return false;
    d->answer = e->answer;
    e->next = *bucket(m, d->seq);
    *bucket(m, d->seq) = e;
    history_answer(&m->history, now, now - d->time_ms, e->answer.right);
    append(m, e);
    *ret_already = false;
    *ret_seq = e->seq;
    return true;
}

/* An older decision, from the log. */
static bool fetch(struct served *m, const struct feedback *f, struct event **ret, json_t **ret_json,
                  struct example *ret_x, struct problem *p)
{
    struct event *d = NULL;
    if (!journal_find(&m->journal, f->seq, &d, p))
        return false;
    if (!d || d->key != f->key) {
        event_free(d);
        return unknown(p);
    }
    *ret_json = json_read(d->x, d->x_length, UINT32_MAX, p);
    if (*ret_json && example_read(ret_x, *ret_json, &m->core.settings, SIZE_MAX, p)) {
        *ret = d;
        return true;
    }
    json_decref(*ret_json);
    event_free(d);
    return false;
}

/* Called with the lock held, which it lets go of while it reads the log. */
static bool answer_old(struct served *m, const struct feedback *f, struct event *e, bool *ret_already,
                       uint64_t *ret_seq, struct problem *p)
{
    struct event *d = NULL, *again = NULL;
    struct example x = {0};
    json_t *json = NULL;
    uint64_t known = m->answers_committed;
    pthread_mutex_unlock(&m->lock);
    bool ok = fetch(m, f, &d, &json, &x, p);
    pthread_mutex_lock(&m->lock);
    if (!ok)
        return false;
    if (known != m->answers_committed) { /* the answer may have come and been written since it was read */
        ok = journal_find(&m->journal, f->seq, &again, p) && (again || unknown(p));
        if (ok)
            d->answer = again->answer;
        event_free(again);
    }
    ok = ok && core_recall(&m->core, &x, d, p) && answer(m, f, d, e, ret_already, ret_seq, p);
    example_free(&x);
    json_decref(json);
    event_free(d);
    return ok;
}

bool served_feedback(struct served *m, const struct feedback *f, bool *ret_already, uint64_t *ret_seq,
                     struct problem *p)
{
    struct event *e = event_new(EVENT_FEEDBACK, 0, "", 0);
    bool ok, already = true;
    if (!e)
        return problem_set(p, 503, "out_of_memory", "out of memory");
    pthread_mutex_lock(&m->lock);
    if (m->deleted || m->broken[0]) {
        ok = may_append(m, 1, 0, p);
    } else {
        struct event *d = ring_find(m, f->seq);
        if (d && d->key != f->key)
            ok = unknown(p);
        else if (d)
            ok = answer(m, f, d, e, &already, ret_seq, p);
        else if (f->seq < m->first)
            ok = answer_old(m, f, e, &already, ret_seq, p);
        else
            ok = unknown(p);
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok || already)
        event_free(e);
    *ret_already = already;
    return ok;
}

/* --- lessons and labels --- */

bool served_teach(struct served *m, const struct example *x, const char *text, size_t length, const char *label,
                  size_t label_length, uint64_t *ret_seq, struct problem *p)
{
    struct event *e = event_new(EVENT_LESSON, x->n, text, length);
    if (!e)
        return problem_set(p, 503, "out_of_memory", "out of memory");
    pthread_mutex_lock(&m->lock);
    bool ok = may_append(m, 1, e->bytes, p);
    if (ok) {
        e->label = names_find(m->core.labels, label, label_length);
        if (e->label == NAMES_NONE)
            ok = problem_set(p, 400, "unknown_label", "this model has no label \"%.*s\"", (int)label_length, label);
    }
    if (ok) {
        e->seq = m->last + 1;
        e->time_ms = wall_ms(m->wall);
        ok = core_lesson(&m->core, x, e, p);
    }
    if (ok) {
        append(m, e);
        *ret_seq = e->seq;
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        event_free(e);
    return ok;
}

bool served_add_label(struct served *m, const char *label, size_t length, bool *ret_already, uint64_t *ret_seq,
                      struct problem *p)
{
    struct event *e = event_new(EVENT_LABEL, 0, label, length);
    if (!e)
        return problem_set(p, 503, "out_of_memory", "out of memory");
    pthread_mutex_lock(&m->lock);
    bool ok = may_append(m, 1, e->bytes, p), already = false;
    if (ok && names_find(m->core.labels, label, length) != NAMES_NONE) {
        already = true;
        *ret_seq = m->last;
    } else if (ok && names_count(m->core.labels) >= m->options->limits.labels) {
        ok = problem_set(p, 413, "too_many_labels", "a model has at most %zu labels", m->options->limits.labels);
    } else if (ok) {
        e->seq = m->last + 1;
        e->time_ms = wall_ms(m->wall);
        ok = core_label(&m->core, e, p);
        if (ok) {
            append(m, e);
            *ret_seq = e->seq;
        }
    }
    pthread_mutex_unlock(&m->lock);
    if (!ok || already)
        event_free(e);
    *ret_already = already;
    return ok;
}

/* --- looking --- */

size_t served_labels(struct served *m)
{
    pthread_mutex_lock(&m->lock);
    size_t n = m->core.labels ? names_count(m->core.labels) : 0;
    pthread_mutex_unlock(&m->lock);
    return n;
}

void served_label(struct served *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1])
{
    pthread_mutex_lock(&m->lock);
    ret[0] = 0;
    if (m->core.labels && i < names_count(m->core.labels))
        copy_label(m, i, ret);
    pthread_mutex_unlock(&m->lock);
}

void served_write_scores(struct served *m, const float *scores, size_t n, struct text *t)
{
    text_puts(t, "{");
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < n && i < names_count(m->core.labels); i++) {
        size_t length;
        const char *name = names_text(m->core.labels, i, &length);
        text_add(t, ",", i > 0);
        text_quote(t, name, length);
        text_puts(t, ":");
        text_number(t, scores[i]);
    }
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

bool served_has_room(struct served *m, size_t events, struct problem *p)
{
    pthread_mutex_lock(&m->lock);
    bool ok = may_append(m, events, 0, p);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

bool served_bytes(struct served *m, void **ret_bytes, size_t *ret_size, uint64_t *ret_seq, struct problem *p)
{
    pthread_mutex_lock(&m->lock);
    bool ok = m->broken[0] ? problem_set(p, 503, "model_broken", "%s", m->broken)
              : m->core.broken
                  ? problem_set(p, 503, "model_broken", "memory ran out half-way; the server must be started again")
                  : core_write(&m->core, ret_bytes, ret_size, p);
    if (ok)
        *ret_seq = m->core.seq;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

enum durable served_wait(struct served *m, struct waiter *w, void (*before_wait)(struct waiter *w))
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
        pthread_cond_signal(&m->work);
    }
    pthread_mutex_unlock(&m->lock);
    return answer;
}

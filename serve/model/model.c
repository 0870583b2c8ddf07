/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests do to a model. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "model/model.h"
#include "storage/store_shared.h"

#define LONG_NOTICE_MS 2 /* in which event loops that have begun with the model are done with it */

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
    return m->replication->has_room(m, events, bytes, err);
}

void model_append(struct model *m, struct event *e)
{
    ring_put(m, e);
    writer_wake(m);
}

/* Learning from it has spoiled the state in memory. It is not in the log, so the log makes a good one again. That there
 * was no memory is not the event's fault: other nodes may have applied it. */
bool model_reject_nonfinite(struct model *m, struct http_error *err)
{
    if (!m->state.broken[0])
        return false;
    m->rebuild_wanted = true;
    return strcmp(err->code, "out_of_memory") != 0 &&
           http_error_set(err, 400, "poison", "refused: %s", m->state.broken);
}

bool model_draw_key(struct model *m, uint64_t *ret, struct http_error *err)
{
    if (m->keys_left == 0) {
        if (getrandom(m->keys, sizeof m->keys, 0) != sizeof m->keys)
            return http_error_set(err, 503, "no_randomness", "the system's random number generator failed");
        m->keys_left = sizeof m->keys / sizeof *m->keys;
    }
    *ret = m->keys[--m->keys_left];
    return true;
}

int64_t model_now(const struct model *m)
{
    return wall_clock_ms(m->wall);
}

int64_t model_age(const struct model *m, int64_t now_ms, int64_t then_ms)
{
    return m->replication->age_ms(m, now_ms, then_ms);
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
        return http_error_set(err, 503, "busy", "labels are being added; try again");
    return state_scores(&m->state, x, e, ret->value, err);
}

size_t model_new_names(struct model *m, const struct example *x, bool always, struct names_room *ret)
{
    size_t n = 0;
    struct names_room room = {0};
    pthread_mutex_lock(&m->lock);
    room.max = m->state.settings.max_features;
    if (m->state.dictionary.names)
        room.free = room.max - names_count(m->state.dictionary.names);
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
        bool unknown = names_find(m->state.dictionary.names, f->name, f->length) == NAMES_NONE;
        if (unknown && keep)
            keep--;
        else if (unknown)
            f->name = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    return example_reduce(x, &m->state.settings, err);
}

/* Under the lock. What has been decided and is not on disk yet: a copy of the first one for the client's id. */
static bool ring_given(struct model *m, const char *given_id, struct event **ret, struct http_error *err)
{
    const struct event *found = NULL;
    for (uint64_t s = m->last; s > m->committed; s--) {
        const struct event *d = ring_decision(m, s);
        found = d && d->given_id && strcmp(d->given_id, given_id) == 0 ? d : found;
    }
    if (!found)
        return true;
    *ret = event_copy(found, 0);
    return *ret || http_error_no_memory(err);
}

/* Under the lock. The first decision that was made for the client's id: copied, for what the log has is read. *ret NULL:
 * there is none. */
static bool decision_given(struct model *m, const char *given_id, struct event **ret, struct http_error *err)
{
    uint64_t seq = 0;
    *ret = NULL;
    if (!event_store_given(&m->store, given_id, &seq, err))
        return false;
    if (!seq)
        return ring_given(m, given_id, ret, err);
    bool ok = event_store_decision(&m->store, seq, ret, err);
    bool same = *ret && (*ret)->given_id && strcmp((*ret)->given_id, given_id) == 0;
    if (ok && (*ret ? !same : seq > m->store.chain_from)) /* else it has been deleted meanwhile */
        ok = http_error_set(err, 503, "damaged", "event %llu of the log is not the decision for this id",
                            (unsigned long long)seq);
    if (!ok && strcmp(err->code, "damaged") == 0)
        model_note_damage(m, err);
    if (ok && *ret)
        (*ret)->source.handle = store_shared_handle(&m->store, seq);
    return ok;
}

bool model_given_first(struct model *m, const char *given_id, uint64_t id, struct http_error *err)
{
    struct event *first = NULL;
    pthread_mutex_lock(&m->lock);
    bool ok = decision_given(m, given_id, &first, err);
    pthread_mutex_unlock(&m->lock);
    if (ok && (!first || event_id(first) != id)) {
        ok = http_error_set(err, 503, "decided_elsewhere",
                            "another node has just decided for this id; repeat the request");
        err->retry = 1;
    }
    event_free(first);
    return ok;
}

/* Under the lock. Made now, or before for the same id; *inout NULL: it is in the ring. */
static bool decide(struct model *m, const struct example *x, struct event **inout, struct decision *d,
                   struct event **ret_before, struct http_error *err)
{
    char *eligible = NULL, *given_id = NULL;
    if (!usable(m, err) || (d->given_id && !decision_given(m, d->given_id, ret_before, err)))
        return false;
    bool again = *ret_before && !d->chances; /* whatever has been retired since */
    if (!again && !model_eligible(m, d->eligible, d->exclude, &eligible, err))
        return false;
    event_set_eligible(*inout, eligible);
    if (d->chances && d->scores.n < names_count(m->state.labels))
        return http_error_set(err, 503, "busy", "labels are being added; try again");
    if (*ret_before) {
        if (d->ticket && !m->shared)
            ticket_need(d->ticket, (*ret_before)->seq);
        return (!d->scores.value || model_score(m, x, *inout, &d->scores, err)) &&
               (!d->chances || state_chances(&m->state, x, *inout, d->chances, err));
    }
    if (d->given_id && !(given_id = strdup(d->given_id)))
        return http_error_no_memory(err);
    event_set_given_id(*inout, given_id);
    if (!model_choose_side(m, d, *inout, err))
        return false;
    if ((*inout)->chooser != CHOSEN_BY_MODEL) /* its confidence is about the model's own choice */
        (*inout)->act_at = (*inout)->act = 0;
    return (!d->chances || state_chances(&m->state, x, *inout, d->chances, err)) &&
           m->replication->predict(m, x, inout, d, err);
}

bool model_predict(struct model *m, const struct example *x, struct decision *ret, struct http_error *err)
{
    struct event *e = event_new(EVENT_DECISION, x->n, x->text, x->length);
    if (!e)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    struct event *d = e, *before = NULL;
    bool ok = decide(m, x, &e, ret, &before, err);
    d = before ? before : d;
    if (ok) {
        ret->id = event_id(d);
        ret->key = d->key;
        ret->choice = d->choice;
        ret->chooser = d->chooser;
        ret->act_at = d->act_at;
        ret->act = d->act & HUNCH_ACT;
        label_copy(m, d->choice.label, ret->label);
        label_copy(m, d->choice.greedy, ret->greedy);
    }
    pthread_mutex_unlock(&m->lock);
    event_free(before);
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

/* --- feedback, lessons, labels --- */

void model_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t)
{
    m->replication->feedback(m, items, n, t);
}

bool model_teach(struct model *m, const struct example *x, const char *label, size_t label_length, struct ticket *t,
                 struct http_error *err)
{
    return m->replication->teach(m, x, label, label_length, t, err);
}

/* Events of those that the model does not have yet; false: out of memory. */
static bool new_labels(struct model *m, const struct label_text *labels, size_t n, struct event **events, size_t *ret_n)
{
    struct names *seen = names_new();
    bool ok = seen != NULL;
    *ret_n = 0;
    for (size_t i = 0; ok && i < n; i++) {
        const struct label_text *l = &labels[i];
        uint32_t before = names_count(seen);
        if (names_find(m->state.labels, l->text, l->length) != NAMES_NONE)
            continue;
        uint32_t number = names_add(seen, l->text, l->length);
        if (number < before) /* twice in one request */
            continue;
        ok = number != NAMES_NONE && (events[*ret_n] = event_new(EVENT_LABEL, 0, l->text, l->length));
        *ret_n += ok;
    }
    names_free(seen);
    return ok;
}

static bool add_new_labels(struct model *m, struct event **events, size_t n, struct ticket *t, struct http_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += events[i]->bytes;
    if (!model_may_append(m, n, bytes, err))
        return false;
    ticket_need(t, m->last);
    if (n == 0)
        return true;
    if (names_count(m->state.labels) + n > m->options->limits.labels)
        return http_error_set(err, 413, "too_many_labels", "a model has at most %zu labels", m->options->limits.labels);
    return m->replication->add_labels(m, events, n, t, err);
}

bool model_add_labels(struct model *m, const struct label_text *labels, size_t n, size_t *ret_added, struct ticket *t,
                      struct http_error *err)
{
    size_t added = 0;
    struct event **events = calloc(n + 1, sizeof *events);
    if (!events)
        return http_error_no_memory(err);
    model_lock_long(m);
    bool ok = usable(m, err) && (new_labels(m, labels, n, events, &added) || http_error_no_memory(err)) &&
              add_new_labels(m, events, added, t, err);
    model_unlock_long(m);
    for (size_t i = 0; i < added; i++)
        event_free(events[i]); /* NULL: in the ring */
    free(events);
    *ret_added = added;
    return ok;
}

void model_lock_long(struct model *m)
{
    atomic_fetch_add(&m->long_work, 1);
    clock_sleep_ms(LONG_NOTICE_MS);
    pthread_mutex_lock(&m->lock);
}

void model_unlock_long(struct model *m)
{
    pthread_mutex_unlock(&m->lock);
    atomic_fetch_sub(&m->long_work, 1);
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

size_t model_scores_bytes(struct model *m)
{
    enum { NUMBER = 26, ESCAPED = 6 };
    size_t bytes = 2;
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < names_count(m->state.labels); i++) {
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        for (size_t c = 0; c < length; c++)
            bytes += (unsigned char)name[c] < ' ' ? ESCAPED : 1 + (name[c] == '"' || name[c] == '\\');
        bytes += NUMBER;
    }
    pthread_mutex_unlock(&m->lock);
    return bytes;
}

/* {"label":number,...}: of whichever of the two is there. */
static void write_numbers(struct model *m, const float *scores, const double *chances, size_t n, struct text *t)
{
    text_puts(t, "{");
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; i < n && i < names_count(m->state.labels); i++) {
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        text_add(t, ",", i > 0);
        text_quote(t, name, length);
        text_puts(t, ":");
        text_number(t, scores ? (double)scores[i] : chances[i]);
    }
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

void model_write_scores(struct model *m, const struct scores *s, struct text *t)
{
    write_numbers(m, s->value, NULL, s->n, t);
}

void model_write_chances(struct model *m, const double *chances, size_t n, struct text *t)
{
    write_numbers(m, NULL, chances, n, t);
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
    if (m->committed < w->seq && (m->failing || !m->writer_runs || w->seq > m->last)) { /* beyond: given up */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* What feedback comes to: for the request that brings it, and for a journal's event. */
#include "model/versions.h"

static bool read_answer(struct model *m, const struct feedback_input *f, const struct event *d, struct answer *ret,
                        struct http_error *err)
{
    ret->right = f->right;
    ret->label = NO_LABEL;
    ret->silent = f->silent;
    ret->late = ret->active = 0;
    if (!f->labelled)
        return true;
    ret->label = names_find(m->state.labels, f->label, f->label_length);
    if (ret->label == NAMES_NONE)
        return http_error_set(err, 400, "unknown_label", "this model has no label \"%.*s\"", (int)f->label_length,
                              f->label);
    ret->right = ret->label == d->choice.label;
    return true;
}

static enum answer_verdict refuse(struct feedback *f, int status, const char *code, const char *why)
{
    http_error_set(&f->error, status, code, "%s", why);
    return ANSWER_REFUSED;
}

static enum answer_verdict judge_activation(struct feedback *f, const struct event *d, uint64_t active, bool expired)
{
    if (active || !d->deferred) {
        f->already = true;
        f->wait = active ? active : d->seq;
        return ANSWER_ALREADY;
    }
    if (expired)
        return refuse(f, 404, "expired_id", "this decision has expired before it was activated");
    f->activated = true;
    return ANSWER_ACTIVE;
}

enum answer_verdict model_judge(struct model *m, struct feedback *f, const struct event *d, int64_t now,
                                struct answer *ret)
{
    struct http_error *err = &f->error;
    struct answer before = ring_answer(m, d);
    bool expired = model_age(m, now, d->time_ms) > m->state.settings.ttl_ms;
    if (before.late > m->last || before.active > m->last) /* a request would wait for it without end */
        return refuse(f, 503, "damaged", "the log refers to an event about this decision that does not exist");
    if (!read_answer(m, &f->input, d, ret, err))
        return ANSWER_REFUSED;
    ret->active = before.active;
    if (f->input.activate)
        return judge_activation(f, d, before.active, expired);
    if (d->deferred && !before.active)
        return refuse(f, 409, "not_active", "this decision was deferred and has not been activated");
    bool late = before.seq && before.silent && !ret->silent;
    f->wait = before.seq;          /* who is refused because of it has seen it, too */
    if (before.seq && ret->silent) /* somebody said something in time */
        return refuse(f, 409, "conflict", "the decision has been answered");
    if (before.seq && !late && !answer_same(&before, ret))
        return refuse(f, 409, "conflict", "another answer to this decision is on record");
    if (before.seq && (!late || before.late)) {
        f->already = true;
        f->wait = late ? before.late : before.seq;
        return ANSWER_ALREADY;
    }
    if (expired) {
        http_error_set(err, 404, "expired_id", "this decision has expired: feedback is accepted for %lld seconds",
                       (long long)(m->state.settings.ttl_ms / 1000));
        return ANSWER_REFUSED;
    }
    f->late = late;
    f->replaced = late && m->state.settings.late_replaces;
    return late ? ANSWER_LATE : ANSWER_NEW;
}

bool model_lacks_answer(struct model *m, struct feedback *f, const struct event *d)
{
    struct answer a = ring_answer(m, d);
    const uint64_t known[ANSWERED_KINDS] = {a.seq, a.late, a.active};
    bool lacks = false;
    for (size_t i = 0; i < ANSWERED_KINDS; i++)
        lacks = lacks || (!known[i] && answered_find(&m->store.answered[i], d->seq) == ANSWERED_YES);
    if (!lacks)
        return false;
    http_error_set(&f->error, 503, "damaged", "feedback about this decision is missing from the log");
    model_note_damage(m, &f->error);
    return true;
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

/* What is left to do with an event that is new: e has its place. */
static bool apply(struct model *m, struct event *d, struct event *e, enum answer_verdict verdict,
                  struct http_error *err)
{
    bool foreign = m->store.promotions_n && event_store_version_at(&m->store, d->seq) != m->state.version;
    switch (verdict) {
    case ANSWER_ACTIVE:
        e->kind = EVENT_ACTIVATE;
        state_activate(&m->state, e);
        d->answer.active = e->seq;
        break;
    case ANSWER_LATE:
        e->kind = EVENT_LATE;
        if (!state_late(&m->state, d, e, foreign, err))
            return false;
        d->answer.late = e->seq;
        break;
    default:
        e->kind = EVENT_FEEDBACK;
        if (!state_answer(&m->state, d, e, foreign, err))
            return false;
        d->answer = e->answer;
        if (!e->answer.silent)
            history_answer(&m->history, e->time_ms, e->time_ms - d->time_ms, e->answer.right);
    }
    shadows_answer(m, d, e);
    return true;
}

bool model_answer(struct model *m, struct feedback *f, struct event *d, struct event **e)
{
    struct answer *a = &(*e)->answer;
    int64_t now = (*e)->time_ms;
    enum answer_verdict verdict = model_judge(m, f, d, now, a);
    if (verdict == ANSWER_ALREADY || verdict == ANSWER_REFUSED)
        return verdict == ANSWER_ALREADY;
    if (!model_may_append(m, 1, (*e)->bytes, &f->error) || !renumber(m, d, &f->error))
        return false;
    (*e)->seq = a->seq = m->last + 1;
    a->time_ms = now;
    (*e)->decision = d->seq;
    if (!apply(m, d, *e, verdict, &f->error))
        return model_reject_nonfinite(m, &f->error);
    f->wait = (*e)->seq;
    model_append(m, *e);
    *e = NULL;
    return true;
}

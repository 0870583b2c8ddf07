/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/files.h"
#include "util/log.h"
#include "storage/snapshot.h"
#include "model/versions.h"

/* --- what shadows live through; all of this under the lock --- */

static void shadow_remove(struct model *m, size_t i)
{
    state_free(&m->shadow[i]);
    m->shadow[i] = m->shadow[--m->shadows];
    m->shadow[m->shadows] = (struct model_state){0};
}

void shadows_clear(struct model *m)
{
    while (m->shadows)
        shadow_remove(m, 0);
}

static void shadow_failed(struct model *m, size_t i, const struct http_error *err)
{
    log_event("shadow_failed", "{s:s,s:i,s:s}", "model", m->name, "version", (int)m->shadow[i].version, "reason",
              err->message);
    m->shadow_failures++;
    shadow_remove(m, i);
}

void shadows_decision(struct model *m, const struct example *x, const struct event *e)
{
    for (size_t i = m->shadows; i-- > 0;) {
        struct http_error err = {0};
        struct event *own = event_new(EVENT_DECISION, x->n, "", 0);
        bool ok = own || http_error_no_memory(&err);
        if (ok) {
            own->seq = e->seq;
            own->chooser = e->chooser;
            own->deferred = e->deferred;
            char *eligible = e->eligible ? strdup(e->eligible) : NULL;
            ok = !e->eligible || eligible || http_error_no_memory(&err);
            event_set_eligible(own, eligible);
            ok = ok && state_predict(&m->shadow[i], x, own, &err);
        }
        ok = ok && state_compare(&m->shadow[i], e, m->state.version, &own->choice, &err);
        if (!ok)
            shadow_failed(m, i, &err);
        event_free(own);
    }
}

static bool shadow_answer(struct model *m, struct model_state *shadow, const struct event *decision,
                          const struct event *feedback, struct http_error *err)
{
    struct example x;
    bool foreign = event_store_version_at(&m->store, decision->seq) != shadow->version;
    if (!example_parse(&x, decision->x, decision->x_length, &shadow->settings, err))
        return false;
    struct event *own = event_copy(decision, x.n);
    bool ok = (own || http_error_no_memory(err)) && state_recall(shadow, &x, own, err) &&
              (feedback->kind == EVENT_LATE ? state_late : state_answer)(shadow, own, feedback, foreign, err);
    event_free(own);
    example_free(&x);
    return ok;
}

void shadows_answer(struct model *m, const struct event *decision, const struct event *feedback)
{
    for (size_t i = m->shadows; i-- > 0;) {
        struct http_error err = {0};
        if (feedback->kind == EVENT_ACTIVATE)
            state_activate(&m->shadow[i], feedback);
        else if (!shadow_answer(m, &m->shadow[i], decision, feedback, &err))
            shadow_failed(m, i, &err);
    }
}

void shadows_lesson(struct model *m, const struct example *x, const struct event *e)
{
    for (size_t i = m->shadows; i-- > 0;) {
        struct http_error err = {0};
        struct event *own = event_new(EVENT_LESSON, x->n, "", 0);
        bool ok = own || http_error_no_memory(&err);
        if (ok) {
            own->seq = e->seq;
            own->label = e->label;
            ok = state_lesson(&m->shadow[i], x, own, &err);
        }
        if (!ok)
            shadow_failed(m, i, &err);
        event_free(own);
    }
}

void shadows_labels(struct model *m, struct event *const *events, size_t n)
{
    for (size_t i = m->shadows; i-- > 0;) {
        struct http_error err = {0};
        if (!state_labels(&m->shadow[i], events, n, &err))
            shadow_failed(m, i, &err);
    }
}

void shadows_change(struct model *m, const struct event *e)
{
    for (size_t i = m->shadows; i-- > 0;) {
        struct http_error err = {0};
        if (!(e->kind == EVENT_RETIRE ? state_retire : state_policy)(&m->shadow[i], e, &err))
            shadow_failed(m, i, &err);
    }
}

static struct model_state *shadow_find(struct model *m, uint32_t number)
{
    for (size_t i = 0; i < m->shadows; i++)
        if (m->shadow[i].version == number)
            return &m->shadow[i];
    return NULL;
}

/* --- made from the log --- */

/* Under the lock: a version that should be in memory and is not; 0: none. */
static uint32_t missing(struct model *m)
{
    const struct event_store *s = &m->store;
    if (m->state.version != 1 && !shadow_find(m, 1))
        return 1;
    for (size_t i = 0; i < s->versions_n; i++) {
        uint32_t number = s->versions[i].number;
        if (!s->versions[i].dropped && number != m->state.version && !shadow_find(m, number))
            return number;
    }
    return 0;
}

/* Under the lock: a shadow that may take over by itself and is better than the version that decides; 0: none. */
static uint32_t better(const struct model *m)
{
    for (size_t i = 0; i < m->shadows; i++) {
        const struct version_row *v = event_store_version(&m->store, m->shadow[i].version);
        const struct shadow *s = &m->shadow[i].shadow;
        if (v && v->automatic && s->against == m->state.version && shadow_better(s))
            return v->number;
    }
    return 0;
}

bool versions_due(struct model *m)
{
    pthread_mutex_lock(&m->lock);
    bool lacking = m->shadows < SHADOWS_MAX && m->shadow_failures < 3 && missing(m);
    bool due =
        !m->versions_busy && !*model_reason(m) && !m->degraded[0] && !m->deleted && !m->stop && (lacking || better(m));
    m->versions_busy = m->versions_busy || due;
    pthread_mutex_unlock(&m->lock);
    return due;
}

static bool build(struct model *m, uint32_t number, struct http_error *err)
{
    struct event_store store;
    struct model_state state;
    struct recovery how;
    struct recover_options options = {.limits = &m->options->limits, .version = number};
    pthread_mutex_lock(&m->lock);
    uint64_t exclusions = m->exclusions;
    pthread_mutex_unlock(&m->lock);
    if (!model_open_log(m, &store, false, err))
        return false;
    bool ok = recover(&state, &how, &store, &options, err);
    if (ok) {
        ok = model_catch_up(m, &state, &store, &how, err);
        pthread_mutex_lock(&m->lock);
        ok = ok && model_redo_ring(m, &state, &store, &how, err);
        /* When something was excluded meanwhile it is made once more, without that. */
        if (ok && exclusions == m->exclusions && m->shadows < SHADOWS_MAX && number != m->state.version &&
            !shadow_find(m, number)) {
            m->shadow[m->shadows++] = state;
            state = (struct model_state){0};
        }
        pthread_mutex_unlock(&m->lock);
        state_free(&state);
    }
    event_store_close(&store);
    return ok;
}

static void build_all(struct model *m)
{
    for (;;) {
        struct http_error err = {0};
        int64_t start = clock_now();
        pthread_mutex_lock(&m->lock);
        uint32_t number = m->stop || m->deleted || m->shadows == SHADOWS_MAX ? 0 : missing(m);
        m->versions_busy = number != 0;
        pthread_mutex_unlock(&m->lock);
        if (!number)
            return;
        bool ok = build(m, number, &err);
        log_event(ok ? "version_ready" : "version_failed", "{s:s,s:i,s:s,s:f}", "model", m->name, "version",
                  (int)number, "reason", err.message, "seconds", (double)(clock_now() - start) * 1e-9);
        if (ok)
            continue;
        pthread_mutex_lock(&m->lock);
        m->shadow_failures++;
        m->versions_busy = false;
        pthread_mutex_unlock(&m->lock);
        return;
    }
}

/* --- kept --- */

static bool save_one(struct model *m, uint32_t number, uint64_t *ret_seq, struct http_error *err)
{
    char path[4096], final[4096], name[40];
    snapshot_shadow_name(name, number);
    if (snprintf(path, sizeof path, "%s/.shadow.new", m->dir) >= (int)sizeof path ||
        snprintf(final, sizeof final, "%s/%s", m->dir, name) >= (int)sizeof final)
        return http_error_set(err, 503, "storage", "the path of %s is too long", m->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || http_error_set(err, 503, "storage", "cannot write %s: %s", path, strerror(errno));
    ok = ok && model_write(m, number, fd, ret_seq, err) &&
         (wait_durable(m, *ret_seq) || http_error_set(err, 503, "storage", "the log is not on disk")) &&
         (rename(path, final) == 0 ||
          http_error_set(err, 503, "storage", "cannot rename %s: %s", path, strerror(errno))) &&
         dirs_sync(m->dir, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool versions_save(struct model *m, struct http_error *err)
{
    uint32_t numbers[SHADOWS_MAX];
    uint64_t safe = UINT64_MAX, seq = 0;
    pthread_mutex_lock(&m->lock);
    size_t n = m->shadows;
    bool lacking = missing(m) != 0;
    for (size_t i = 0; i < n; i++)
        numbers[i] = m->shadow[i].version;
    pthread_mutex_unlock(&m->lock);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        ok = save_one(m, numbers[i], &seq, err);
        safe = seq < safe ? seq : safe;
    }
    pthread_mutex_lock(&m->lock);
    if (ok && !lacking) /* what is still to be made needs the log as it is */
        m->shadows_safe = safe;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

/* --- changed --- */

static bool learner_ok(struct model *m, const char *learner, char full[512], struct http_error *err)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {{0}};
    hunch *h;
    pthread_mutex_lock(&m->lock);
    const struct settings size = {.memory = m->state.settings.memory, .max_features = m->state.settings.max_features};
    pthread_mutex_unlock(&m->lock);
    options.learner = learner;
    options.classes = (uint32_t)model_labels(m);
    options.memory = size.memory;
    options.max_features = size.max_features;
    if (!state_size_ok(&size, learner, options.classes, m->options->limits.model, err))
        return false;
    if (hunch_create(&h, &options, &error) != HUNCH_OK)
        return http_error_set(err, 400, "bad_learner", "%s", error.message);
    bool fits = snprintf(full, 512, "%s", hunch_spec(h)) < 512;
    hunch_free(h);
    return fits || http_error_set(err, 400, "bad_learner", "the learner's settings are too long");
}

/* Under the lock: what another connection has written. */
static void adopt(struct model *m, struct event_store *store)
{
    struct version_row *old = m->store.versions;
    m->store.versions = store->versions;
    store->versions = old; /* goes when that is closed */
    memcpy(m->store.promotions, store->promotions, sizeof store->promotions);
    memcpy(m->store.why, store->why, sizeof store->why);
    m->store.versions_n = store->versions_n;
    m->store.promotions_n = store->promotions_n;
}

/* The file's own lock is waited for here, without the model's; what is left to do under that is a commit. One who
 * changes versions at the same time has to wait, so they are read again. */
static bool begin_change(struct event_store *store, struct http_error *err)
{
    return event_store_begin(store, err) && event_store_refresh(store, err) && event_store_read_versions(store, err);
}

bool version_add(struct model *m, const char *learner, uint64_t seed, bool automatic, uint32_t *ret_number,
                 struct http_error *err)
{
    struct event_store store;
    struct version_row v = {.seed = seed, .created_ms = model_now(m), .automatic = automatic};
    if (m->store.shared.topic)
        return http_error_set(err, 409, "shared", "models of a group have one version");
    if (!model_usable(m, err) || !learner_ok(m, learner, v.learner, err) || !model_open_log(m, &store, false, err))
        return false;
    pthread_mutex_lock(&m->versions_lock);
    bool ok = begin_change(&store, err);
    v.number = store.versions_n ? store.versions[store.versions_n - 1].number + 1 : 2;
    v.from_seq = store.trimmed;
    ok = ok && (store.versions_n < VERSIONS_MAX ||
                http_error_set(err, 409, "too_many", "a model has at most %d versions", VERSIONS_MAX));
    ok = ok && event_store_put_version(&store, &v, err);
    pthread_mutex_lock(&m->lock);
    ok = ok && (m->shadows < SHADOWS_MAX ||
                http_error_set(err, 409, "too_many", "a model has at most %d shadows", SHADOWS_MAX));
    pthread_mutex_unlock(&m->lock);
    ok = ok && event_store_commit(&store, err);
    if (ok) {
        pthread_mutex_lock(&m->lock);
        adopt(m, &store);
        pthread_mutex_unlock(&m->lock);
    }
    event_store_rollback(&store);
    pthread_mutex_unlock(&m->versions_lock);
    event_store_close(&store);
    *ret_number = v.number;
    return ok;
}

bool version_drop(struct model *m, uint32_t number, struct http_error *err)
{
    struct event_store store;
    char path[4096], name[40];
    if (number == 1)
        return http_error_set(err, 409, "version", "version 1 cannot be deleted");
    if (!model_open_log(m, &store, false, err))
        return false;
    pthread_mutex_lock(&m->versions_lock);
    bool ok = begin_change(&store, err);
    const struct version_row *there = event_store_version(&store, number);
    struct version_row v = there ? *there : (struct version_row){0};
    ok = ok && ((there && !v.dropped) || http_error_set(err, 404, "unknown_version", "there is no version %u", number));
    v.dropped = true;
    ok = ok && event_store_put_version(&store, &v, err);
    pthread_mutex_lock(&m->lock);
    if (ok && m->state.version == number)
        ok = http_error_set(err, 409, "version", "version %u is active; promote another one first", number);
    pthread_mutex_unlock(&m->lock);
    ok = ok && event_store_commit(&store, err);
    pthread_mutex_lock(&m->lock);
    if (ok) {
        adopt(m, &store);
        for (size_t i = m->shadows; i-- > 0;)
            if (m->shadow[i].version == number)
                shadow_remove(m, i);
    }
    pthread_mutex_unlock(&m->lock);
    event_store_rollback(&store);
    pthread_mutex_unlock(&m->versions_lock);
    event_store_close(&store);
    snapshot_shadow_name(name, number);
    pthread_mutex_lock(&m->snapshot_lock);
    if (ok && snprintf(path, sizeof path, "%s/%s", m->dir, name) < (int)sizeof path)
        unlink(path);
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok;
}

/* Under the lock: which one decided before the one that does. */
static uint32_t previous(const struct model *m)
{
    const struct event_store *s = &m->store;
    return s->promotions_n == 0 ? 0 : s->promotions_n == 1 ? 1 : s->promotions[s->promotions_n - 2].number;
}

/* Under the lock. */
static bool not_ready(const struct model *m, uint32_t number, struct http_error *err)
{
    const struct version_row *v = event_store_version(&m->store, number);
    if (number != 1 && (!v || v->dropped))
        return http_error_set(err, 404, "unknown_version", "there is no version %u", number);
    http_error_set(err, 409, "version_not_ready",
                   "version %u is not ready: it is being made from %llu events of the log", number,
                   (unsigned long long)(m->last - m->store.trimmed));
    err->retry = 1;
    return false;
}

/* Why a version takes over by itself. */
static void give_reason(const struct model_state *shadow, const struct model *m, char ret[PROMOTION_WHY])
{
    double gain, low, high;
    shadow_gain(&shadow->shadow, &gain, &low, &high);
    snprintf(
        ret, PROMOTION_WHY,
        "automatic: %+.4f right answers a decision over version %u, at least %+.4f (95 %%, at any time) after %llu answers",
        gain, m->state.version, shadow_gain_least(&shadow->shadow), (unsigned long long)shadow->shadow.gain.n);
}

/* Under the lock. Events up to here are the old one's; the row is on disk before the new one decides. */
static bool promote(struct model *m, struct event_store *store, uint32_t number, bool automatic,
                    char why[PROMOTION_WHY], struct http_error *err)
{
    struct model_state *shadow = shadow_find(m, number);
    if (m->state.version == number)
        return http_error_set(err, 409, "version", "version %u is active already", number);
    if (!shadow)
        return not_ready(m, number, err);
    if (automatic && better(m) != number) /* an answer that came meanwhile */
        return http_error_set(err, 409, "version", "version %u is no longer certain to be better", number);
    if (automatic)
        give_reason(shadow, m, why);
    if (!event_store_promote(store, m->last, number, model_now(m), why, err) || !event_store_commit(store, err))
        return false;
    adopt(m, store);
    assert(shadow->seq == m->state.seq); /* both have seen the same events */
    struct model_state old = m->state;
    m->state = *shadow;
    *shadow = old;
    return model_renumber_ring(m, err);
}

static bool change_active(struct model *m, uint32_t number, bool automatic, struct http_error *err)
{
    struct event_store store;
    char why[PROMOTION_WHY] = "on request";
    struct http_error later;
    pthread_mutex_lock(&m->snapshot_lock);
    if (!event_store_open(&store, m->dir, false, err)) {
        pthread_mutex_unlock(&m->snapshot_lock);
        return false;
    }
    pthread_mutex_lock(&m->versions_lock);
    bool ok = begin_change(&store, err);
    model_lock_long(m);
    uint32_t from = m->state.version, to = number ? number : previous(m);
    ok = ok && (to || http_error_set(err, 409, "version", "no other version was active before")) &&
         promote(m, &store, to, automatic, why, err);
    char spec[512];
    snprintf(spec, sizeof spec, "%s", m->state.settings.learner);
    model_unlock_long(m);
    event_store_rollback(&store);
    pthread_mutex_unlock(&m->versions_lock);
    if (ok && event_store_set_version(&store, spec, &later)) /* what the rows of decisions say */
        m->store.version = store.version;
    pthread_mutex_unlock(&m->snapshot_lock);
    event_store_close(&store);
    if (!ok)
        return false;
    log_event("version_promoted", "{s:s,s:i,s:i,s:s}", "model", m->name, "from", (int)from, "to", (int)to, "why", why);
    model_snapshot(m, &later); /* the log has it all */
    return true;
}

bool version_promote(struct model *m, uint32_t number, struct http_error *err)
{
    return change_active(m, number, false, err);
}

void versions_work(struct model *m)
{
    struct http_error err = {0};
    build_all(m);
    pthread_mutex_lock(&m->lock);
    uint32_t number = m->stop || m->deleted ? 0 : better(m);
    pthread_mutex_unlock(&m->lock);
    if (number && !change_active(m, number, true, &err) && err.status != 409)
        log_event("promotion_failed", "{s:s,s:i,s:s}", "model", m->name, "version", (int)number, "reason", err.message);
}

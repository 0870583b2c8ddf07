/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/body.h"
#include "util/files.h"
#include "util/log.h"
#include "storage/recover.h"
#include "storage/snapshot.h"

static bool read_settings(struct event_store *store, const struct limits *limits, struct settings *ret,
                          struct http_error *err)
{
    struct text t = {0};
    if (!event_store_about(store, "settings", &t)) {
        text_free(&t);
        return http_error_set(err, 503, "damaged", "the log has no settings");
    }
    json_t *json = json_read(t.data, t.length, 8, err);
    bool ok = json && settings_read(ret, json, limits, err);
    json_decref(json);
    text_free(&t);
    return ok;
}

/* Versions differ in learner and seed. */
static bool settings_for(struct settings *s, const struct event_store *store, uint32_t version, struct http_error *err)
{
    const struct version_row *v = event_store_version(store, version);
    char *learner = v ? strdup(v->learner) : NULL;
    if (version == 1)
        return true;
    if (!v || !learner) {
        settings_free(s);
        return http_error_set(err, 503, "damaged", "there is no version %u", version);
    }
    free(s->learner);
    s->learner = learner;
    s->seed = v->seed;
    return true;
}

/* What was accepted once is accepted again, whatever this server's limits are now. */
static struct limits no_limits(const struct limits *limits)
{
    struct limits all = *limits;
    all.features = SIZE_MAX;
    all.labels = HUNCH_MAX_CLASSES;
    all.names = HUNCH_MAX_FEATURES;
    return all;
}

static void settings_take_back(struct settings *settings, struct model_state *state)
{
    *settings = state->settings;
    state->settings = (struct settings){0};
    state_free(state);
}

static bool load(struct model_state *ret, struct settings *settings, const char *dir, uint64_t seq, uint32_t version,
                 struct http_error *err)
{
    char name[40], path[4096];
    void *bytes;
    size_t size;
    if (seq == SNAPSHOT_SHADOW)
        snapshot_shadow_name(name, version);
    else
        snapshot_name(name, seq);
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path ||
        !file_read(path, SIZE_MAX / 2, &bytes, &size, err))
        return false;
    bool ok = state_read(ret, settings, bytes, size, err);
    free(bytes);
    if (ok && seq != SNAPSHOT_SHADOW && ret->seq != seq) {
        settings_take_back(settings, ret);
        ok = http_error_set(err, 500, "damaged", "the snapshot's name and content differ");
    }
    return ok;
}

/* A snapshot must have forgotten what is excluded by now. */
static bool same_exclusions(const struct model_state *state, const struct event_store *store)
{
    const struct version_row *v = event_store_version(store, state->version);
    uint64_t from = v ? v->from_seq : 0; /* it has not seen what came before */
    size_t n = 0;
    for (size_t i = 0; i < store->excluded_n && store->excluded[i].seq <= state->seq; i++) {
        if (store->excluded[i].seq <= from)
            continue;
        if (n >= state->excluded_n || state->excluded[n++] != store->excluded[i].seq)
            return false;
    }
    return n == state->excluded_n;
}

/* The newest sound snapshot. One that is further than the log is the newest truth there is: the log has lost its end.
 */
static bool load_newest(struct model_state *ret, struct settings *settings, const struct event_store *store,
                        const struct recover_options *options, struct recovery *how, struct http_error *ret_newer)
{
    struct snapshot_list list;
    snapshot_find(store->dir, &list);
    if (list.n < sizeof list.seq / sizeof *list.seq) /* any version may have been a shadow, the first one too */
        list.seq[list.n++] = SNAPSHOT_SHADOW;
    for (size_t i = 0; i < list.n; i++) {
        struct http_error err = {0};
        if (load(ret, settings, store->dir, list.seq[i], options->version, &err)) {
            how->from = ret->seq;
            if (same_exclusions(ret, store) && ret->version == options->version)
                return true;
            settings_take_back(settings, ret);
            continue;
        }
        if (list.seq[i] == SNAPSHOT_SHADOW || strcmp(err.code, "other") == 0) /* another version's, or none */
            continue;
        if (strcmp(err.code, "newer") == 0) {
            *ret_newer = err;
            return false;
        }
        how->damaged++;
        if (options->look_only)
            continue;
        log_event("snapshot_damaged", "{s:s,s:I,s:s}", "folder", store->dir, "seq", (json_int_t)list.seq[i], "reason",
                  err.message);
        if (strcmp(err.code, "damaged") == 0)
            snapshot_set_aside(store->dir, list.seq[i], "damaged");
    }
    how->from = 0;
    return false;
}

bool recover_reaches(const struct event_store *store, const struct limits *limits, uint64_t before)
{
    struct limits all = no_limits(limits);
    struct http_error err = {0};
    struct settings settings;
    struct snapshot_list list;
    uint32_t version = event_store_version_at(store, UINT64_MAX);
    bool there = store->trimmed == 0;
    if (there || !read_settings((struct event_store *)store, &all, &settings, &err) ||
        !settings_for(&settings, store, version, &err))
        return there;
    snapshot_find(store->dir, &list);
    for (size_t i = 0; i < list.n && !there; i++) {
        struct model_state state;
        if (list.seq[i] >= before || list.seq[i] < store->trimmed ||
            !load(&state, &settings, store->dir, list.seq[i], version, &err))
            continue;
        there = state.version == version && same_exclusions(&state, store);
        settings_take_back(&settings, &state);
    }
    settings_free(&settings);
    return there;
}

/* --- events, once more --- */

/* Whether a decision was made by a model that had since to forget something: then it need not come out the same. */
static bool made_otherwise(const struct event_store *store, uint64_t seq)
{
    for (size_t i = 0; i < store->excluded_n && store->excluded[i].seq < seq; i++)
        if (seq <= store->excluded[i].upto)
            return true;
    return false;
}

static bool redo_decision(const struct redo *r, const struct event *e, struct http_error *err)
{
    struct example x;
    const hunch_choice *then = &e->choice;
    bool own = event_store_version_at(r->store, e->seq) == r->state->version;
    if (!example_parse(&x, e->x, e->x_length, &r->state->settings, err))
        return false;
    struct event *again = event_new(EVENT_DECISION, x.n, "", 0);
    bool ok = again || http_error_no_memory(err);
    if (ok) {
        again->seq = e->seq;
        again->choice = *then;
        again->chooser = e->chooser;
        again->unknown_chance = e->unknown_chance;
        again->deferred = e->deferred;
        again->model_chance = e->model_chance;
        again->act_at = own ? e->act_at : 0; /* a threshold is its version's own */
        again->act = e->act;
        char *eligible = e->eligible ? strdup(e->eligible) : NULL;
        ok = !e->eligible || eligible || http_error_no_memory(err);
        event_set_eligible(again, eligible);
    }
    if (ok) {
        bool fact =
            e->seq <= r->store->shared.upto || (own && e->chooser != CHOSEN_BY_MODEL); /* not this state's choice */
        ok = (fact ? state_observe : state_predict)(r->state, &x, again, err);
        ok = ok && (fact || state_act(r->state, again, err));
        const hunch_choice *now = &again->choice;
        if (ok &&
            (then->label != now->label || then->greedy != now->greedy || then->prob != now->prob ||
             then->round != now->round || then->note != now->note || e->act != again->act) &&
            own && !made_otherwise(r->store, e->seq))
            ++*(e->other_program ? &r->how->otherwise : &r->how->mismatches);
        if (ok && own)
            state_count(r->state, again);
        else if (ok)
            ok = state_compare(r->state, e, event_store_version_at(r->store, e->seq), now, err);
    }
    event_free(again);
    example_free(&x);
    return ok;
}

static bool redo_feedback(const struct redo *r, const struct event *e, struct http_error *err)
{
    struct event *decision = NULL;
    struct example x;
    bool foreign = event_store_version_at(r->store, e->decision) != r->state->version;
    if (!r->find(r->context, e->decision, &decision, err))
        return false;
    if (!decision)
        return http_error_set(err, 503, "damaged", "feedback %llu is about a decision that is not in the log",
                              (unsigned long long)e->seq);
    bool ok = example_parse(&x, decision->x, decision->x_length, &r->state->settings, err);
    if (ok) {
        ok = state_recall(r->state, &x, decision, err) &&
             (e->kind == EVENT_LATE ? state_late(r->state, decision, e, foreign, err)
                                    : state_answer(r->state, decision, e, foreign, err));
        example_free(&x);
    }
    event_free(decision);
    return ok;
}

static bool redo_lesson(const struct redo *r, const struct event *e, struct http_error *err)
{
    struct example x;
    if (!example_parse(&x, e->x, e->x_length, &r->state->settings, err))
        return false;
    struct event *again = event_new(EVENT_LESSON, x.n, "", 0);
    bool ok = again || http_error_no_memory(err);
    if (ok) {
        again->seq = e->seq;
        again->label = e->label;
        ok = state_lesson(r->state, &x, again, err);
    }
    event_free(again);
    example_free(&x);
    return ok;
}

bool redo_event(const struct redo *r, const struct event *e, struct http_error *err)
{
    if (event_store_excluded(r->store, e->seq))
        return state_skip(r->state, e->seq, err);
    switch (e->kind) {
    case EVENT_DECISION:
        return redo_decision(r, e, err);
    case EVENT_RETIRE:
        return state_retire(r->state, e, err);
    case EVENT_POLICY:
        return state_policy(r->state, e, err);
    case EVENT_ACTIVATE:
        state_activate(r->state, e);
        return true;
    case EVENT_FEEDBACK:
    case EVENT_LATE:
        return redo_feedback(r, e, err);
    case EVENT_LESSON:
        return redo_lesson(r, e, err);
    default:
        return state_labels(r->state, &(struct event *){(struct event *)e}, 1, err);
    }
}

static bool find_in_store(void *store, uint64_t seq, struct event **ret, struct http_error *err)
{
    return event_store_decision(store, seq, ret, err);
}

#define LABEL_RUN 1024

/* Labels that follow one another. */
struct label_run {
    struct event *event[LABEL_RUN];
    size_t n;
};

static void label_run_free(struct label_run *run)
{
    for (size_t i = 0; i < run->n; i++)
        event_free(run->event[i]);
    run->n = 0;
}

static bool redo_labels(struct model_state *state, struct label_run *run, struct http_error *err)
{
    bool ok = !run->n || state_labels(state, run->event, run->n, err);
    label_run_free(run);
    return ok;
}

bool redo_log(struct model_state *state, struct event_store *store, struct recovery *how, struct http_error *err)
{
    struct redo redo = {state, store, how, find_in_store, store};
    struct event_store_replay r;
    struct event *e;
    if (!event_store_replay_open(&r, store, state->seq, err))
        return false;
    struct label_run labels = {0};
    bool ok;
    while ((ok = event_store_replay_next(&r, &e, err)) && e) {
        how->replayed++;
        if (e->kind == EVENT_LABEL) {
            labels.event[labels.n++] = e;
            ok = labels.n < LABEL_RUN || redo_labels(state, &labels, err);
        } else {
            ok = redo_labels(state, &labels, err) && redo_event(&redo, e, err);
            event_free(e);
        }
        if (!ok)
            break;
    }
    ok = ok && redo_labels(state, &labels, err);
    label_run_free(&labels);
    event_store_replay_close(&r);
    return ok;
}

/* A version that came later: it begins without what the log no longer had. */
static bool begin_version(struct model_state *ret, struct settings *settings, struct event_store *store,
                          const struct version_row *v, struct http_error *err)
{
    if (v->from_seq) {
        names_free(settings->labels);
        settings->labels = names_new();
    }
    if (!settings->labels || (v->from_seq && !event_store_labels(store, v->from_seq, settings->labels, err))) {
        settings_free(settings);
        return false;
    }
    if (!state_new(ret, settings, err))
        return false;
    ret->version = v->number;
    ret->seq = v->from_seq;
    return true;
}

/* The state before the first event. */
static bool begin(struct model_state *ret, struct settings *settings, struct event_store *store, uint32_t version,
                  struct http_error *err)
{
    char path[4096];
    void *bytes;
    size_t size;
    const char *dir = store->dir;
    const struct version_row *v = event_store_version(store, version);
    if (v)
        return begin_version(ret, settings, store, v, err);
    if (snprintf(path, sizeof path, "%s/" BASE_FILE, dir) >= (int)sizeof path || access(path, F_OK) != 0)
        return state_new(ret, settings, err);
    bool ok = file_read(path, SIZE_MAX / 2, &bytes, &size, err);
    if (ok) {
        ok = state_read_base(ret, settings, bytes, size, err);
        free(bytes);
    }
    if (!ok)
        settings_free(settings);
    return ok;
}

/* --- all of it --- */

static void degrade(struct recovery *how, const char *why)
{
    if (!how->degraded[0])
        snprintf(how->degraded, sizeof how->degraded, "%.255s", why);
}

/* From the snapshot to the end of the log. Damage on the way leaves what is sound. */
static bool go_on(struct model_state *state, struct event_store *store, struct recovery *how, struct http_error *err)
{
    if (state->seq > store->last_seq) {
        char why[200];
        snprintf(why, sizeof why, "the snapshot at event %llu is ahead of the log, which ends at %llu",
                 (unsigned long long)state->seq, (unsigned long long)store->last_seq);
        degrade(how, why);
        return true;
    }
    if (state->seq < store->trimmed)
        return http_error_set(err, 503, "damaged", "the log no longer goes back to the snapshot");
    if (redo_log(state, store, how, err))
        return true;
    if (strcmp(err->code, "damaged") != 0 || state->broken[0])
        return false;
    degrade(how, err->message);
    return true;
}

bool recover(struct model_state *ret, struct recovery *how, struct event_store *store,
             const struct recover_options *wanted, struct http_error *err)
{
    struct recover_options options = *wanted;
    struct limits all = no_limits(options.limits);
    struct settings settings;
    struct model_state state;
    struct http_error newer = {0};
    *how = (struct recovery){0};
    if (!options.version)
        options.version = event_store_version_at(store, UINT64_MAX);
    if (!read_settings(store, &all, &settings, err) || !settings_for(&settings, store, options.version, err))
        return false;
    if (options.scratch || !load_newest(&state, &settings, store, &options, how, &newer)) {
        if (newer.status) { /* what a newer version has learned is not for this one to replace */
            settings_free(&settings);
            *err = newer;
            return false;
        }
        const struct version_row *v = event_store_version(store, options.version);
        if (store->trimmed > (v ? v->from_seq : 0) || options.snapshot_only) {
            settings_free(&settings);
            return http_error_set(err, 503, "damaged",
                                  "no sound snapshot, and the log no longer goes back to the start");
        }
        if (!begin(&state, &settings, store, options.version, err))
            return false;
    }
    if (!options.snapshot_only && !go_on(&state, store, how, err)) {
        state_free(&state);
        return false;
    }
    if (store->damage[0])
        degrade(how, store->damage);
    *ret = state;
    return true;
}

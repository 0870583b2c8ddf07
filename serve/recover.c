/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "files.h"
#include "log.h"
#include "recover.h"
#include "snapshot.h"

static bool read_settings(struct event_store *store, const struct limits *limits, struct settings *ret,
                          struct http_error *err)
{
    struct text t = {0};
    if (!event_store_about(store, "settings", &t)) {
        text_free(&t);
        return http_error_set(err, 503, "damaged", "the log has no settings");
    }
    json_t *json = json_read(t.data, t.length, 8, err);
    if (json && !json_object_get(json, "memory")) /* older than this setting: the library's own limit */
        json_object_set_new(json, "memory", json_integer(0));
    if (json && !json_object_get(json, "bounds")) /* older than these: whatever a float can be */
        json_object_set_new(json, "bounds", json_pack("{s:f}", "value", (double)FLT_MAX));
    bool ok = json && settings_read(ret, json, limits, err);
    json_decref(json);
    text_free(&t);
    return ok;
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

static bool load(struct model_state *ret, struct settings *settings, const char *dir, uint64_t seq,
                 struct http_error *err)
{
    char name[40], path[4096];
    void *bytes;
    size_t size;
    snapshot_name(name, seq);
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path ||
        !file_read(path, SIZE_MAX / 2, &bytes, &size, err))
        return false;
    bool ok = state_read(ret, settings, bytes, size, err);
    free(bytes);
    if (ok && ret->seq != seq) {
        settings_take_back(settings, ret);
        ok = http_error_set(err, 500, "damaged", "the snapshot's name and content differ");
    }
    return ok;
}

/* A snapshot must have forgotten what is excluded by now. */
static bool same_exclusions(const struct model_state *state, const struct event_store *store)
{
    size_t n = 0;
    for (size_t i = 0; i < store->excluded_n && store->excluded[i].seq <= state->seq; i++, n++)
        if (n >= state->excluded_n || state->excluded[n] != store->excluded[i].seq)
            return false;
    return n == state->excluded_n;
}

/* The newest sound snapshot. One that is further than the log is the newest truth there is: the log has lost its end.
 */
static bool load_newest(struct model_state *ret, struct settings *settings, const struct event_store *store,
                        const struct recover_options *options, struct recovery *how)
{
    struct snapshot_list list;
    snapshot_find(store->dir, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct http_error err = {0};
        if (load(ret, settings, store->dir, list.seq[i], &err)) {
            how->from = list.seq[i];
            if (same_exclusions(ret, store))
                return true;
            settings_take_back(settings, ret);
            continue;
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
    if (!example_parse(&x, e->x, e->x_length, &r->state->settings, err))
        return false;
    struct event *again = event_new(EVENT_DECISION, x.n, "", 0);
    bool ok = again || http_error_set(err, 503, "out_of_memory", "out of memory");
    if (ok) {
        again->seq = e->seq;
        again->choice = *then;
        ok = r->store->shared.topic ? state_observe(r->state, &x, again, err) /* some node's choice: a fact */
                                    : state_predict(r->state, &x, again, err);
        const hunch_choice *now = &again->choice;
        if (ok &&
            (then->label != now->label || then->greedy != now->greedy || then->prob != now->prob ||
             then->round != now->round || then->note != now->note) &&
            !made_otherwise(r->store, e->seq))
            r->how->mismatches++;
    }
    event_free(again);
    example_free(&x);
    return ok;
}

static bool redo_feedback(const struct redo *r, const struct event *e, struct http_error *err)
{
    struct event *decision = NULL;
    struct example x;
    if (!r->find(r->context, e->decision, &decision, err))
        return false;
    if (!decision)
        return http_error_set(err, 503, "damaged", "feedback %llu is about a decision that is not in the log",
                              (unsigned long long)e->seq);
    bool ok = example_parse(&x, decision->x, decision->x_length, &r->state->settings, err);
    if (ok) {
        ok = state_recall(r->state, &x, decision, err) && state_answer(r->state, decision, e, err);
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
    bool ok = again || http_error_set(err, 503, "out_of_memory", "out of memory");
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
    case EVENT_FEEDBACK:
        return redo_feedback(r, e, err);
    case EVENT_LESSON:
        return redo_lesson(r, e, err);
    default:
        return state_label(r->state, e, err);
    }
}

static bool find_in_store(void *store, uint64_t seq, struct event **ret, struct http_error *err)
{
    return event_store_decision(store, seq, ret, err);
}

bool redo_log(struct model_state *state, struct event_store *store, struct recovery *how, struct http_error *err)
{
    struct redo redo = {state, store, how, find_in_store, store};
    struct event_store_replay r;
    struct event *e;
    if (!event_store_replay_open(&r, store, state->seq, err))
        return false;
    bool ok;
    while ((ok = event_store_replay_next(&r, &e, err)) && e) {
        ok = redo_event(&redo, e, err);
        event_free(e);
        if (!ok)
            break;
        how->replayed++;
    }
    event_store_replay_close(&r);
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
             const struct recover_options *options, struct http_error *err)
{
    struct limits all = no_limits(options->limits);
    struct settings settings;
    struct model_state state;
    *how = (struct recovery){0};
    if (!read_settings(store, &all, &settings, err))
        return false;
    if (options->scratch || !load_newest(&state, &settings, store, options, how)) {
        if (store->trimmed > 0 || options->snapshot_only) {
            settings_free(&settings);
            return http_error_set(err, 503, "damaged",
                                  "no sound snapshot, and the log no longer goes back to the start");
        }
        if (!state_new(&state, &settings, err))
            return false;
    }
    if (!options->snapshot_only && !go_on(&state, store, how, err)) {
        state_free(&state);
        return false;
    }
    if (store->damage[0])
        degrade(how, store->damage);
    *ret = state;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
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
        *settings = ret->settings;
        ret->settings = (struct settings){0};
        state_free(ret);
        ok = http_error_set(err, 500, "damaged", "the snapshot's name and content differ");
    }
    return ok;
}

/* The newest sound snapshot that is no further than the log: the log is the truth. */
static bool load_newest(struct model_state *ret, struct settings *settings, const struct event_store *store,
                        struct recovery *how)
{
    const char *dir = store->dir;
    struct snapshot_list list;
    snapshot_find(dir, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct http_error err = {0};
        if (list.seq[i] > store->last_seq) {
            log_event("snapshot_ahead_of_log", "{s:s,s:I,s:I}", "folder", dir, "seq", (json_int_t)list.seq[i],
                      "log_seq", (json_int_t)store->last_seq);
            snapshot_set_aside(dir, list.seq[i], "ahead");
            continue;
        }
        if (load(ret, settings, dir, list.seq[i], &err)) {
            how->from = list.seq[i];
            return true;
        }
        how->damaged++;
        log_event("snapshot_damaged", "{s:s,s:I,s:s}", "folder", dir, "seq", (json_int_t)list.seq[i], "reason",
                  err.message);
        if (strcmp(err.code, "damaged") == 0)
            snapshot_set_aside(dir, list.seq[i], "damaged");
    }
    return false;
}

static bool redo_decision(struct model_state *c, struct event *e, struct recovery *how, struct http_error *err)
{
    struct example x;
    hunch_choice then = e->choice;
    if (!example_parse(&x, e->x, e->x_length, &c->settings, err))
        return false;
    bool ok = state_predict(c, &x, e, err);
    if (ok && (then.label != e->choice.label || then.greedy != e->choice.greedy || then.prob != e->choice.prob ||
               then.round != e->choice.round || then.note != e->choice.note))
        how->mismatches++;
    example_free(&x);
    return ok;
}

static bool redo_feedback(struct model_state *c, struct event_store *store, const struct event *e,
                          struct http_error *err)
{
    struct event *decision = NULL;
    struct example x;
    if (!event_store_decision(store, e->decision, &decision, err))
        return false;
    if (!decision)
        return http_error_set(err, 503, "damaged", "feedback %llu is about a decision that is not in the log",
                              (unsigned long long)e->seq);
    bool ok = example_parse(&x, decision->x, decision->x_length, &c->settings, err);
    if (ok) {
        ok = state_recall(c, &x, decision, err) && state_answer(c, decision, e, err);
        example_free(&x);
    }
    event_free(decision);
    return ok;
}

static bool redo_lesson(struct model_state *c, struct event *e, struct http_error *err)
{
    struct example x;
    if (!example_parse(&x, e->x, e->x_length, &c->settings, err))
        return false;
    bool ok = state_lesson(c, &x, e, err);
    example_free(&x);
    return ok;
}

static bool redo(struct model_state *c, struct event_store *store, struct event *e, struct recovery *how,
                 struct http_error *err)
{
    switch (e->kind) {
    case EVENT_DECISION:
        return redo_decision(c, e, how, err);
    case EVENT_FEEDBACK:
        return redo_feedback(c, store, e, err);
    case EVENT_LESSON:
        return redo_lesson(c, e, err);
    default:
        return state_label(c, e, err);
    }
}

static bool replay(struct model_state *c, struct event_store *store, struct recovery *how, struct http_error *err)
{
    struct event_store_replay r;
    struct event *e;
    if (!event_store_replay_open(&r, store, c->seq, err))
        return false;
    bool ok;
    while ((ok = event_store_replay_next(&r, &e, err)) && e) {
        ok = redo(c, store, e, how, err);
        event_free(e);
        if (!ok)
            break;
        how->replayed++;
    }
    event_store_replay_close(&r);
    return ok;
}

bool recover(struct model_state *ret, struct recovery *how, struct event_store *store, const struct limits *limits,
             bool scratch, struct http_error *err)
{
    struct limits all = no_limits(limits);
    struct settings settings;
    struct model_state c;
    *how = (struct recovery){0};
    if (!read_settings(store, &all, &settings, err))
        return false;
    if (scratch || !load_newest(&c, &settings, store, how)) {
        if (store->trimmed > 0) {
            settings_free(&settings);
            return http_error_set(err, 503, "damaged",
                                  "no sound snapshot, and the log no longer goes back to the start");
        }
        if (!state_new(&c, &settings, err))
            return false;
    }
    if (c.seq < store->trimmed || !replay(&c, store, how, err)) {
        if (c.seq < store->trimmed)
            http_error_set(err, 503, "damaged", "the log no longer goes back to the snapshot");
        state_free(&c);
        return false;
    }
    *ret = c;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "files.h"
#include "note.h"
#include "quick.h"
#include "recover.h"
#include "snapshot.h"

static bool read_settings(struct journal *journal, const struct limits *limits, struct settings *ret, struct problem *p)
{
    struct text t = {0};
    if (!journal_about(journal, "settings", &t)) {
        text_free(&t);
        return problem_set(p, 503, "damaged", "the log has no settings");
    }
    json_t *json = json_read(t.data, t.length, 8, p);
    if (json && !json_object_get(json, "memory")) /* older than this setting: the library's own limit */
        json_object_set_new(json, "memory", json_integer(0));
    bool ok = json && settings_read(ret, json, limits, p);
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

static bool load(struct core *ret, struct settings *settings, const char *dir, uint64_t seq, struct problem *p)
{
    char name[40], path[4096];
    void *bytes;
    size_t size;
    snapshot_name(name, seq);
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path ||
        !file_read(path, SIZE_MAX / 2, &bytes, &size, p))
        return false;
    bool ok = core_read(ret, settings, bytes, size, p);
    free(bytes);
    if (ok && ret->seq != seq) {
        *settings = ret->settings;
        ret->settings = (struct settings){0};
        core_free(ret);
        ok = problem_set(p, 500, "damaged", "the snapshot's name and content differ");
    }
    return ok;
}

/* The newest sound snapshot that is no further than the log: the log is the truth. */
static bool load_newest(struct core *ret, struct settings *settings, struct journal *journal, const char *dir,
                        struct recovery *how)
{
    struct snapshot_list list;
    snapshot_find(dir, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct problem p = {0};
        if (list.seq[i] > journal->last_seq) {
            note("snapshot_ahead_of_log", "{s:s,s:I,s:I}", "folder", dir, "seq", (json_int_t)list.seq[i], "log_seq",
                 (json_int_t)journal->last_seq);
            snapshot_set_aside(dir, list.seq[i], "ahead");
            continue;
        }
        if (load(ret, settings, dir, list.seq[i], &p)) {
            how->from = list.seq[i];
            return true;
        }
        how->damaged++;
        note("snapshot_damaged", "{s:s,s:I,s:s}", "folder", dir, "seq", (json_int_t)list.seq[i], "reason", p.message);
        if (strcmp(p.code, "damaged") == 0)
            snapshot_set_aside(dir, list.seq[i], "damaged");
    }
    return false;
}

static bool redo_decision(struct core *c, struct event *e, struct recovery *how, struct problem *p)
{
    struct logged l;
    hunch_choice then = e->choice;
    if (!logged_read(&l, e->x, e->x_length, &c->settings, p))
        return false;
    bool ok = core_predict(c, &l.x, e, p);
    if (ok && (then.label != e->choice.label || then.greedy != e->choice.greedy || then.prob != e->choice.prob ||
               then.round != e->choice.round || then.note != e->choice.note))
        how->mismatches++;
    logged_free(&l);
    return ok;
}

static bool redo_feedback(struct core *c, struct journal *journal, const struct event *e, struct problem *p)
{
    struct event *decision = NULL;
    struct logged l;
    if (!journal_find(journal, e->decision, &decision, p))
        return false;
    if (!decision)
        return problem_set(p, 503, "damaged", "feedback %llu is about a decision that is not in the log",
                           (unsigned long long)e->seq);
    bool ok = logged_read(&l, decision->x, decision->x_length, &c->settings, p);
    if (ok) {
        ok = core_recall(c, &l.x, decision, p) && core_answer(c, decision, e, p);
        logged_free(&l);
    }
    event_free(decision);
    return ok;
}

static bool redo_lesson(struct core *c, struct event *e, struct problem *p)
{
    struct logged l;
    if (!logged_read(&l, e->x, e->x_length, &c->settings, p))
        return false;
    bool ok = core_lesson(c, &l.x, e, p);
    logged_free(&l);
    return ok;
}

static bool redo(struct core *c, struct journal *journal, struct event *e, struct recovery *how, struct problem *p)
{
    switch (e->kind) {
    case EVENT_DECISION:
        return redo_decision(c, e, how, p);
    case EVENT_FEEDBACK:
        return redo_feedback(c, journal, e, p);
    case EVENT_LESSON:
        return redo_lesson(c, e, p);
    default:
        return core_label(c, e, p);
    }
}

static bool replay(struct core *c, struct journal *journal, struct recovery *how, struct problem *p)
{
    struct journal_replay r;
    struct event *e;
    if (!journal_replay_open(&r, journal, c->seq, p))
        return false;
    bool ok;
    while ((ok = journal_replay_next(&r, &e, p)) && e) {
        ok = redo(c, journal, e, how, p);
        event_free(e);
        if (!ok)
            break;
        how->replayed++;
    }
    journal_replay_close(&r);
    return ok;
}

bool recover(struct core *ret, struct recovery *ret_how, struct journal *journal, const char *dir,
             const struct limits *limits, bool scratch, struct problem *p)
{
    struct limits all = no_limits(limits);
    struct recovery how = {0};
    struct settings settings;
    struct core c;
    if (!read_settings(journal, &all, &settings, p))
        return false;
    if (scratch || !load_newest(&c, &settings, journal, dir, &how)) {
        if (journal->trimmed > 0) {
            settings_free(&settings);
            return problem_set(p, 503, "damaged", "no sound snapshot, and the log no longer goes back to the start");
        }
        if (!core_new(&c, &settings, p))
            return false;
    }
    if (c.seq < journal->trimmed || !replay(&c, journal, &how, p)) {
        if (c.seq < journal->trimmed)
            problem_set(p, 503, "damaged", "the log no longer goes back to the snapshot");
        core_free(&c);
        return false;
    }
    *ret = c;
    *ret_how = how;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "util/log.h"
#include "storage/recover.h"
#include "storage/snapshot.h"
#include "storage/verify.h"

struct result {
    void *bytes;
    size_t size;
    uint64_t seq;
    struct recovery how;
    struct counts counts;
};

static bool rebuild(struct event_store *store, const struct recover_options *options, struct result *ret,
                    struct http_error *err)
{
    struct model_state state;
    if (!recover(&state, &ret->how, store, options, err))
        return false;
    ret->seq = state.seq;
    ret->counts = state.counts;
    bool ok = state_write(&state, &ret->bytes, &ret->size, err);
    state_free(&state);
    return ok;
}

static void print(const char *name, const struct result *a, bool equal, bool trimmed, const struct recovery *how)
{
    struct text reason = {0};
    text_quote(&reason, a->how.degraded, strlen(a->how.degraded));
    printf(
        "{\"model\":\"%s\",\"equal\":%s,\"trimmed\":%s,\"seq\":%llu,\"snapshot_seq\":%llu,\"replayed\":%llu,"
        "\"mismatches\":%llu,\"made_by_another_version\":%llu,\"damaged_snapshots\":%u,\"decisions\":%llu,\"feedback\":%llu,\"bytes\":%zu,"
        "\"hash\":\"%016llx\",\"damage\":%s}\n",
        name, equal ? "true" : "false", trimmed ? "true" : "false", (unsigned long long)a->seq,
        (unsigned long long)a->how.from, (unsigned long long)how->replayed, (unsigned long long)how->mismatches,
        (unsigned long long)how->otherwise, a->how.damaged, (unsigned long long)a->counts.decisions,
        (unsigned long long)a->counts.answers, a->size, (unsigned long long)XXH3_64bits(a->bytes, a->size),
        a->how.degraded[0] ? reason.data : "null");
    text_free(&reason);
}

/* With the newest snapshot and without any: the same bytes? And is the log whole? */
static bool compare(const char *dir, const char *name, const struct limits *limits, struct http_error *err)
{
    struct event_store store;
    struct result a = {0}, b = {0};
    struct recover_options with = {.limits = limits, .look_only = true}, without = with;
    without.scratch = true;
    if (!event_store_open(&store, dir, true, err))
        return false;
    bool trimmed = store.trimmed > 0;
    uint64_t at = store.trimmed;
    bool ok = event_store_check_file(&store, err) && event_store_scrub(&store, &at, SIZE_MAX, err) &&
              rebuild(&store, &with, &a, err) && (trimmed || rebuild(&store, &without, &b, err));
    if (ok) {
        /* Replayed from its start, a log that another version began need not come to the same state. */
        bool equal = trimmed || b.how.otherwise || (a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
        const struct recovery *how = trimmed ? &a.how : &b.how;
        print(name, &a, equal, trimmed, how);
        if (a.how.degraded[0])
            ok = http_error_set(err, 500, "damaged", "%s", a.how.degraded);
        else if (!equal || how->mismatches)
            ok = http_error_set(err, 500, "unequal", "snapshot and replay differ");
        else if (a.how.damaged)
            ok = http_error_set(err, 500, "damaged", "a snapshot is damaged; the log replaces it");
    }
    if (a.bytes)
        hunch_free_bytes(a.bytes);
    if (b.bytes)
        hunch_free_bytes(b.bytes);
    event_store_close(&store);
    return ok;
}

/* --- can it be restored? --- */

static bool version_restorable(struct event_store *store, const struct recover_options *options, struct http_error *err)
{
    struct recovery how = {0};
    struct model_state state;
    if (!recover(&state, &how, store, options, err))
        return false;
    state_free(&state);
    if (how.degraded[0])
        return http_error_set(err, 503, "damaged", "%s", how.degraded);
    return how.damaged == 0 || http_error_set(err, 503, "damaged", "a snapshot is damaged");
}

bool verify_restorable(const char *dir, const struct limits *limits, const uint32_t *numbers, size_t n,
                       struct http_error *err)
{
    static const uint32_t deciding = 0;
    struct event_store store;
    bool ok = true;
    if (!event_store_open(&store, dir, true, err))
        return false;
    if (n == 0) {
        numbers = &deciding;
        n = 1;
    }
    for (size_t i = 0; ok && i < n; i++) {
        struct recover_options options = {.limits = limits, .look_only = true, .version = numbers[i]};
        ok = version_restorable(&store, &options, err);
    }
    event_store_close(&store);
    return ok;
}

bool verify_folder(const char *models, const struct limits *limits, struct http_error *err)
{
    char dir[4096];
    struct dirent *entry;
    DIR *d = opendir(models);
    bool ok = true;
    while (ok && d && (entry = readdir(d))) {
        struct http_error why = {0};
        if (!model_name_ok(entry->d_name) ||
            snprintf(dir, sizeof dir, "%s/%s", models, entry->d_name) >= (int)sizeof dir)
            continue;
        ok = verify_restorable(dir, limits, NULL, 0, &why) ||
             http_error_set(err, 409, "damaged", "model %.64s: %.150s", entry->d_name, why.message);
    }
    if (d)
        closedir(d);
    return ok;
}

/* --- repair --- */

/* A state can be made from the log once it is taken for the truth. */
static bool log_suffices(struct event_store *store, const struct limits *limits, struct http_error *err)
{
    struct recovery how;
    struct model_state state;
    struct recover_options options = {.limits = limits, .look_only = true, .snapshot_only = true};
    if (store->trimmed == 0)
        return true;
    bool ok = recover(&state, &how, store, &options, err);
    if (ok) {
        ok = state.seq >= store->trimmed && state.seq <= store->last_seq;
        state_free(&state);
    }
    return ok || http_error_set(err, 409, "damaged",
                                "the log begins after event %llu, and there is no snapshot to go on from: restore a "
                                "backup",
                                (unsigned long long)store->trimmed);
}

static bool keep_log(struct event_store *store, const struct limits *limits, struct http_error *err)
{
    struct snapshot_list list;
    if (!log_suffices(store, limits, err))
        return false;
    snapshot_find(store->dir, &list);
    for (size_t i = 0; i < list.n; i++)
        if (list.seq[i] > store->last_seq)
            snapshot_set_aside(store->dir, list.seq[i], "ahead");
    return event_store_accept(store, err);
}

static bool keep_snapshot(struct event_store *store, const struct limits *limits, struct http_error *err)
{
    struct recovery how;
    struct model_state state;
    struct recover_options options = {.limits = limits, .snapshot_only = true};
    if (!recover(&state, &how, store, &options, err))
        return false;
    bool ok = event_store_cut(store, state.seq, err);
    state_free(&state);
    return ok;
}

/* Only models that need it are touched; *ret_was: why, "" for those that do not. */
static bool repair_store(const char *dir, const struct serve_options *options, char ret_was[256],
                         struct http_error *err)
{
    struct event_store store;
    struct recovery how = {0};
    struct model_state state;
    struct http_error why = {0};
    struct recover_options all = {.limits = &options->limits};
    bool keeps_log = strcmp(options->repair, "log") == 0;
    ret_was[0] = 0;
    if (!event_store_open(&store, dir, false, err))
        return false;
    bool ok = recover(&state, &how, &store, &all, &why);
    snprintf(ret_was, 256, "%s", ok ? how.degraded : why.message);
    if (ok)
        state_free(&state);
    ok = !ret_was[0] || (keeps_log ? keep_log : keep_snapshot)(&store, &options->limits, err);
    event_store_close(&store);
    return ok;
}

static bool repair(const char *dir, const char *name, const struct serve_options *options, struct http_error *err)
{
    struct http_error why = {0};
    char was[256];
    if (!repair_store(dir, options, was, err))
        return false;
    if (!was[0])
        return true;
    if (!verify_restorable(dir, &options->limits, NULL, 0, &why))
        return http_error_set(err, 409, "damaged", "not repaired: %.200s", why.message);
    log_event("model_repaired", "{s:s,s:s,s:s}", "model", name, "kept", options->repair, "was", was);
    return true;
}

enum serve_result verify_models(const char *models, const struct serve_options *options, hunch_error *reterr)
{
    char dir[4096];
    enum serve_result result = SERVE_DONE;
    struct dirent *entry;
    DIR *d = opendir(models);
    while (d && (entry = readdir(d))) {
        struct http_error err = {0};
        if (!model_name_ok(entry->d_name) ||
            snprintf(dir, sizeof dir, "%s/%s", models, entry->d_name) >= (int)sizeof dir)
            continue;
        bool ok = !options->repair ? compare(dir, entry->d_name, &options->limits, &err)
                                   : repair(dir, entry->d_name, options, &err);
        if (!ok) {
            snprintf(reterr->message, sizeof reterr->message, "model %.64s: %.180s", entry->d_name, err.message);
            result = SERVE_BAD_STATE;
        }
    }
    if (d)
        closedir(d);
    return result;
}

enum serve_result verify_all(const struct serve_options *options, hunch_error *reterr)
{
    char models[4096];
    if (snprintf(models, sizeof models, "%s/models", options->dir) >= (int)sizeof models)
        return SERVE_BAD_OPTION;
    return verify_models(models, options, reterr);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "log.h"
#include "recover.h"
#include "snapshot.h"
#include "verify.h"

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
    printf("{\"model\":\"%s\",\"equal\":%s,\"trimmed\":%s,\"seq\":%llu,\"snapshot_seq\":%llu,\"replayed\":%llu,"
           "\"mismatches\":%llu,\"damaged_snapshots\":%u,\"decisions\":%llu,\"feedback\":%llu,\"bytes\":%zu,"
           "\"hash\":\"%016llx\",\"damage\":%s}\n",
           name, equal ? "true" : "false", trimmed ? "true" : "false", (unsigned long long)a->seq,
           (unsigned long long)a->how.from, (unsigned long long)how->replayed, (unsigned long long)how->mismatches,
           a->how.damaged, (unsigned long long)a->counts.decisions, (unsigned long long)a->counts.answers, a->size,
           (unsigned long long)XXH3_64bits(a->bytes, a->size), a->how.degraded[0] ? reason.data : "null");
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
        bool equal = trimmed || (a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
        const struct recovery *how = trimmed ? &a.how : &b.how;
        print(name, &a, equal, trimmed, how);
        if (a.how.degraded[0])
            ok = http_error_set(err, 500, "damaged", "%s", a.how.degraded);
        else if (!equal || how->mismatches)
            ok = http_error_set(err, 500, "unequal", "snapshot and replay differ");
        else if (a.how.damaged)
            ok = http_error_set(err, 500, "damaged", "a snapshot is damaged; the log makes up for it");
    }
    if (a.bytes)
        hunch_free_bytes(a.bytes);
    if (b.bytes)
        hunch_free_bytes(b.bytes);
    event_store_close(&store);
    return ok;
}

/* --- repair --- */

static bool keep_log(struct event_store *store, const struct limits *limits, struct http_error *err)
{
    struct snapshot_list list;
    (void)limits;
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

/* Only models that need it are touched. */
static bool repair(const char *dir, const char *name, const struct serve_options *options, struct http_error *err)
{
    struct event_store store;
    struct recovery how = {0};
    struct model_state state;
    struct recover_options all = {.limits = &options->limits};
    bool keeps_log = strcmp(options->repair, "log") == 0;
    if (!event_store_open(&store, dir, false, err))
        return false;
    bool ok = recover(&state, &how, &store, &all, err), needed = !ok || how.degraded[0];
    if (ok)
        state_free(&state);
    if (needed)
        ok = (keeps_log ? keep_log : keep_snapshot)(&store, &options->limits, err);
    if (ok && needed)
        log_event("model_repaired", "{s:s,s:s,s:I,s:s}", "model", name, "kept", options->repair, "seq",
                  (json_int_t)store.last_seq, "was", how.degraded);
    event_store_close(&store);
    return ok;
}

enum serve_result verify_all(const struct serve_options *options, hunch_error *reterr)
{
    char models[4096], dir[4096];
    enum serve_result result = SERVE_DONE;
    struct dirent *entry;
    if (snprintf(models, sizeof models, "%s/models", options->dir) >= (int)sizeof models)
        return SERVE_BAD_OPTION;
    DIR *d = opendir(models);
    while (d && (entry = readdir(d))) {
        struct http_error err = {0};
        if (!model_name_ok(entry->d_name) ||
            snprintf(dir, sizeof dir, "%s/%s", models, entry->d_name) >= (int)sizeof dir)
            continue;
        bool ok = options->verify ? compare(dir, entry->d_name, &options->limits, &err)
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

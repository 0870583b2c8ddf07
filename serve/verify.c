/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "recover.h"
#include "verify.h"

struct state {
    void *bytes;
    size_t size;
    uint64_t seq;
    struct recovery how;
    struct counts counts;
};

static bool rebuild(struct event_store *store, const struct limits *limits, bool scratch, struct state *ret,
                    struct http_error *err)
{
    struct model_state c;
    if (!recover(&c, &ret->how, store, limits, scratch, err))
        return false;
    ret->seq = c.seq;
    ret->counts = c.counts;
    bool ok = state_write(&c, &ret->bytes, &ret->size, err);
    state_free(&c);
    return ok;
}

/* With the newest snapshot and without any: the same bytes? */
static bool compare(const char *dir, const char *name, const struct limits *limits, struct http_error *err)
{
    struct event_store store;
    struct state a = {0}, b = {0};
    if (!event_store_open(&store, dir, err))
        return false;
    bool trimmed = store.trimmed > 0;
    bool ok = rebuild(&store, limits, false, &a, err) && (trimmed || rebuild(&store, limits, true, &b, err));
    if (ok) {
        bool equal = trimmed || (a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
        const struct recovery *how = trimmed ? &a.how : &b.how;
        printf("{\"model\":\"%s\",\"equal\":%s,\"trimmed\":%s,\"seq\":%llu,\"snapshot_seq\":%llu,\"replayed\":%llu,"
               "\"mismatches\":%llu,\"decisions\":%llu,\"feedback\":%llu,\"bytes\":%zu,\"hash\":\"%016llx\"}\n",
               name, equal ? "true" : "false", trimmed ? "true" : "false", (unsigned long long)a.seq,
               (unsigned long long)a.how.from, (unsigned long long)how->replayed, (unsigned long long)how->mismatches,
               (unsigned long long)a.counts.decisions, (unsigned long long)a.counts.answers, a.size,
               (unsigned long long)XXH3_64bits(a.bytes, a.size));
        if (!equal || how->mismatches)
            ok = http_error_set(err, 500, "unequal", "snapshot and replay differ");
    }
    if (a.bytes)
        hunch_free_bytes(a.bytes);
    if (b.bytes)
        hunch_free_bytes(b.bytes);
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
        if (!compare(dir, entry->d_name, &options->limits, &err)) {
            snprintf(reterr->message, sizeof reterr->message, "model %.64s: %.180s", entry->d_name, err.message);
            result = SERVE_BAD_STATE;
        }
    }
    if (d)
        closedir(d);
    return result;
}

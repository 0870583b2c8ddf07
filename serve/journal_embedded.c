/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a single machine is the store itself: one transaction, synced, per call of propose. */
#include <stdlib.h>

#include "journal.h"

struct embedded {
    struct journal journal;
    struct http_error failure; /* status 0: the last commit went well */
};

static bool embedded_open(struct journal **ret, struct event_store *store, void *context, struct http_error *err)
{
    struct embedded *e = calloc(1, sizeof *e);
    (void)context;
    if (!e)
        return http_error_set(err, 503, "out_of_memory", "out of memory");
    e->journal = (struct journal){.kind = &journal_embedded, .store = store};
    *ret = &e->journal;
    return true;
}

static bool embedded_propose(struct journal *j, struct event *const *events, size_t n, struct http_error *err)
{
    struct embedded *e = (struct embedded *)j;
    bool ok = event_store_append(j->store, events, n, err);
    e->failure = ok ? (struct http_error){0} : *err;
    return ok;
}

/* Everything that comes has been applied already. */
static bool embedded_next(struct journal *j, struct event **ret, struct http_error *err)
{
    (void)j;
    (void)err;
    *ret = NULL;
    return true;
}

static bool embedded_ends(struct journal *j, uint64_t *ret_first, uint64_t *ret_last, struct http_error *err)
{
    (void)err;
    *ret_first = j->store->trimmed + 1;
    *ret_last = j->store->last_seq;
    return true;
}

static bool embedded_health(struct journal *j, struct http_error *err)
{
    const struct embedded *e = (const struct embedded *)j;
    if (e->failure.status)
        *err = e->failure;
    return !e->failure.status;
}

/* There are no others to ask. */
static void embedded_doubt(struct journal *j)
{
    (void)j;
}

static void embedded_close(struct journal *j)
{
    free(j);
}

const struct journal_kind journal_embedded = {
    .name = "embedded",
    .shared = false,
    .open = embedded_open,
    .propose = embedded_propose,
    .next = embedded_next,
    .ends = embedded_ends,
    .health = embedded_health,
    .doubt = embedded_doubt,
    .close = embedded_close,
};

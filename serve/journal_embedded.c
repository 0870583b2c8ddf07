/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a single machine is the store itself: one transaction, synced, per call of propose. */
#include <stdlib.h>

#include "journal.h"

static bool embedded_open(struct journal **ret, struct event_store *store, void *context, struct http_error *err)
{
    struct journal *j = calloc(1, sizeof *j);
    (void)context;
    if (!j)
        return http_error_no_memory(err);
    *j = (struct journal){.kind = &journal_embedded, .store = store};
    *ret = j;
    return true;
}

static bool embedded_propose(struct journal *j, struct event *const *events, size_t n, struct http_error *err)
{
    return event_store_append(j->store, events, n, err);
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
    .doubt = embedded_doubt,
    .close = embedded_close,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order and durability of a model's events. The store (event_store.h) is what a node can look up; the journal says in
 * which order events happened and when they are safe. Another kind of journal is another file with another table.
 *
 * A local journal (journal_embedded.c) has one writer, this process. The order is that in which the model takes events,
 * under its lock: apply, then propose. An event is safe once propose returns, and next has nothing to give.
 *
 * A shared journal has many writers and gives the order itself: propose, then apply what next gives. What has been
 * applied goes to the store together with its place in the journal (event_store_append).
 */
#ifndef SERVE_JOURNAL_H
#define SERVE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "http_error.h"
#include "event_store.h"

/* First member of every kind's own struct. */
struct journal {
    const struct journal_kind *kind;
    struct event_store *store;
    /* Set by whoever reads a shared journal: called by another thread when next, which had nothing, has something. It
     * must not take long, and must not ask the journal. */
    void (*ready)(void *context);
    void *context;
};

struct journal_kind {
    const char *name;
    bool shared;
    /* The store is open, and outlives the journal. context: what the kind needs besides, or NULL. */
    bool (*open)(struct journal **ret, struct event_store *store, void *context, struct http_error *err);
    /* Hands events over in this order; one thread at a time. False: none of them was taken, and they may be proposed
     * again. A shared journal sets their source, takes one event at a time, and does not wait. */
    bool (*propose)(struct journal *j, struct event *const *events, size_t n, struct http_error *err);
    /* The next event after what the store has applied, to be freed by the caller; *ret NULL: there is none now. */
    bool (*next)(struct journal *j, struct event **ret, struct http_error *err);
    /* The first and the last place that can still be read, as far as is known without waiting; last < first: empty. */
    bool (*ends)(struct journal *j, uint64_t *ret_first, uint64_t *ret_last, struct http_error *err);
    /* Someone has waited in vain for what was proposed. */
    void (*doubt)(struct journal *j);
    void (*close)(struct journal *j);
};

extern const struct journal_kind journal_embedded;
extern const struct journal_kind *const journal_shared; /* context: struct kafka *; NULL: not built in */

#endif

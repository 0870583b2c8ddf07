/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A journal that several nodes write and read: it gives the order of a model's events. An event is proposed; once it is
 * safe, the journal gives it to every node at the same place. The journal may give an event more than once, but never
 * before one that the same node proposed earlier; the source of an event tells.
 *
 * Kafka's (journal_kafka.c) is the one that servers use.
 */
#ifndef SERVE_JOURNAL_H
#define SERVE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "util/http_error.h"

/* First member of every kind's own struct. */
struct journal {
    const struct journal_kind *kind;
    /* Set by the reader: called by another thread when next, which had nothing, has something. It must not take long,
     * and must not call the journal. */
    void (*ready)(void *context);
    void *context;
};

struct journal_kind {
    /* topic: its name; offset: of the first event to be read; context: what the kind needs besides. */
    bool (*open)(struct journal **ret, void *context, const char *topic, uint64_t offset, struct http_error *err);
    /* Hands an event over and sets its source; does not wait. One thread at a time. False: it was not taken, and may be
     * proposed again. */
    bool (*propose)(struct journal *j, struct event *e, struct http_error *err);
    /* The next event, to be freed by the caller; *ret NULL: there is none now. Errors "journal": try again; "gone": the
     * journal no longer has what comes next; any other: it can't be read on. */
    bool (*next)(struct journal *j, struct event **ret, struct http_error *err);
    /* The offset behind the last event, as far as is known without waiting; false: it is not known. */
    bool (*end)(struct journal *j, uint64_t *ret);
    /* A request has waited in vain for what was proposed. */
    void (*recheck)(struct journal *j);
    void (*close)(struct journal *j);
};

extern const struct journal_kind journal_kafka; /* context: struct kafka * */

#endif

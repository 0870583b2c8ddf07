/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How what happens to a model reaches its log. There are two implementations, and nothing else in the server differs
 * between a model of one machine and a model that several nodes serve.
 *
 * Local (local.c): an event is applied to the state, gets the next sequence number and enters the ring in one go; the
 * writer then commits it to the log. The order is that in which this process takes events. A request waits for the
 * commit.
 *
 * Cluster (shared.h): a request proposes an event to a journal that all nodes read. The events that the journal gives
 * back, those of all nodes, are applied in its order, enter the ring and are committed together with their place in the
 * journal. A request waits until what it proposed has been applied here.
 *
 * A function pointer that may be NULL says so: there is nothing to do then.
 */
#ifndef SERVE_REPLICATION_H
#define SERVE_REPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "util/http_error.h"

struct decision;
struct feedback;
struct model;
struct ticket;
struct waiter;

enum durable { DURABLE_NOW, DURABLE_LATER, DURABLE_NOT };

struct replication {
    /* Of a model whose log has just been opened. context: see struct model_context. May be NULL. */
    bool (*open)(struct model *m, void *context, struct http_error *err);
    /* The state has been made from the log. May be NULL. */
    bool (*start)(struct model *m, struct http_error *err);
    /* Requests that wait are answered: they are not certain to have been done. May be NULL. */
    void (*stop)(struct model *m);
    /* Frees what open has made. May be NULL. */
    void (*close)(struct model *m);

    /* Requests. Under the lock. e: an event for the decision; *e NULL afterwards: it is in the ring. */
    bool (*predict)(struct model *m, const struct example *x, struct event **e, struct decision *ret,
                    struct http_error *err);
    /* Takes the lock, like teach. Verdicts are in the items when the ticket is done; t
     * NULL: no request waits for them. */
    void (*feedback)(struct model *m, struct feedback *items, size_t n, struct ticket *t);
    bool (*teach)(struct model *m, const struct example *x, const char *label, size_t label_length, struct ticket *t,
                  struct http_error *err);
    /* Under the lock: labels that the model does not have yet. events[i] as for predict. */
    bool (*add_labels)(struct model *m, struct event **events, size_t n, struct ticket *t, struct http_error *err);
    /* Under the lock: a label of the model, by number and name, is retired or restored, or the policy is another one. *e
     * as for predict. */
    bool (*change)(struct model *m, struct event **e, struct ticket *t, struct http_error *err);
    /* Waits until what the ticket stands for is done and the model has applied every event up to `after`.
     * DURABLE_LATER: before_wait has been called under the lock, and the ticket's waiter will be woken. DURABLE_NOT: it
     * can't be done for now. */
    enum durable (*wait)(struct model *m, struct ticket *t, uint64_t after, void (*before_wait)(struct waiter *w));

    /* All under the lock. Whether that many more events can be taken. */
    bool (*has_room)(struct model *m, size_t events, size_t bytes, struct http_error *err);
    /* The time by which decisions expire. */
    int64_t (*now_ms)(const struct model *m);
    /* How much time has surely passed between two times of the log. */
    int64_t (*age_ms)(const struct model *m, int64_t now_ms, int64_t then_ms);
    /* Why no event is applied any more; "": they are. */
    const char *(*stopped)(const struct model *m);
    /* Events have been committed. May be NULL. */
    void (*committed)(struct model *m);
    /* The log will never take one of the events that are not committed, whatever the disk does. True: they have been
     * given up. */
    bool (*refused)(struct model *m, const struct http_error *err);
};

extern const struct replication replication_local;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the store of a model with a shared journal keeps besides: the topic, the offset up to which it has been applied
 * (in the same transaction as the events), each node's last event, and the decisions by the handles in their ids. */
#ifndef SERVE_STORE_SHARED_H
#define SERVE_STORE_SHARED_H

#include "storage/event_store.h"

/* Gives the log in folder dir to a shared journal, from its beginning. arithmetic: of all who apply it, see
 * arithmetic.h */
bool store_share(const char *dir, const char *topic, uint64_t arithmetic, struct http_error *err);

/* The log in folder dir is a single machine's from here on; ids that were given go on being valid. */
bool store_unshare(const char *dir, struct http_error *err);

/* The last counter applied of an origin; 0: none. For the thread that applies. */
uint64_t store_shared_counter(struct event_store *s, uint64_t origin);
void store_shared_count(struct event_store *s, uint64_t origin, uint64_t counter);

/* A decision by its id. *ret NULL: there is none. Safe from any thread. */
bool store_shared_decision(struct event_store *s, uint64_t handle, uint64_t key, struct event **ret,
                           struct http_error *err);
/* The handle of the decision at seq; 0: none. Safe from any thread. */
uint64_t store_shared_handle(struct event_store *s, uint64_t seq);
/* The place of the decision of that id; 0: there is none. Safe from any thread. */
uint64_t store_shared_seq(struct event_store *s, uint64_t handle, uint64_t key);
/* A copy of the log as it is on disk now, in a file. Safe from any thread. */
bool store_shared_copy(struct event_store *s, const char *path, struct http_error *err);

#endif

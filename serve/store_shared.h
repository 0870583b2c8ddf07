/* SPDX-License-Identifier: BSD-3-Clause */
/* What the store of a model with a shared journal keeps besides: the topic, the offset up to which it has been applied
 * (in the same transaction as the events), who proposed what last, and the decisions by the handles in their ids. */
#ifndef SERVE_STORE_SHARED_H
#define SERVE_STORE_SHARED_H

#include "event_store.h"

/* Gives the log in folder dir to a shared journal, from its beginning. arithmetic: of all who apply it, see
 * arithmetic.h */
bool store_share(const char *dir, const char *topic, uint64_t arithmetic, struct http_error *err);
/* For event_store.c: after opening, while appending, before closing. */
bool store_shared_open(struct event_store *s, struct http_error *err);
bool store_shared_append(struct event_store *s, struct event *const *events, size_t n, struct http_error *err);
void store_shared_close(struct event_store *s);

/* The last counter applied of an origin; 0: none. For the thread that applies. */
uint64_t store_shared_counter(struct event_store *s, uint64_t origin);
void store_shared_count(struct event_store *s, uint64_t origin, uint64_t counter);

/* A decision by its id. *ret NULL: there is none. Safe from any thread. */
bool store_shared_decision(struct event_store *s, uint64_t handle, uint64_t key, struct event **ret,
                           struct http_error *err);
/* The handle of the decision at seq; 0: none. Safe from any thread. */
uint64_t store_shared_handle(struct event_store *s, uint64_t seq);
/* A copy of the log as it is on disk now, in a file. Safe from any thread. */
bool store_shared_copy(struct event_store *s, const char *path, struct http_error *err);

#endif

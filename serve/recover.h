/* SPDX-License-Identifier: BSD-3-Clause */
/* A model from its folder: the newest snapshot that is sound, then the events after it. */
#ifndef SERVE_RECOVER_H
#define SERVE_RECOVER_H

#include "model_state.h"
#include "event_store.h"

struct recovery {
    uint64_t from;       /* the snapshot's place; 0: from the beginning */
    uint64_t replayed;   /* events */
    uint64_t mismatches; /* decisions that came out differently than the log says: another version, or damage */
    unsigned damaged;    /* snapshots passed over */
};

/* scratch: use no snapshot. */
bool recover(struct model_state *ret, struct recovery *ret_how, struct event_store *store, const struct limits *limits,
             bool scratch, struct http_error *err);

#endif

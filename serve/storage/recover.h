/* SPDX-License-Identifier: BSD-3-Clause */
/* A model from its folder: the newest snapshot that is sound, then the events after it. */
#ifndef SERVE_RECOVER_H
#define SERVE_RECOVER_H

#include "event/model_state.h"
#include "storage/event_store.h"

/* How a model was read, and what was found. */
struct recovery {
    uint64_t from;       /* the snapshot's place; 0: from the beginning */
    uint64_t replayed;   /* events */
    uint64_t mismatches; /* decisions that came out differently than the log says: damage */
    uint64_t otherwise;  /* the same, made by another version of this program: it may have computed otherwise */
    unsigned damaged;    /* snapshots passed over */
    char degraded[256];  /* why the state is not all that was acknowledged; empty: it is */
};

struct recover_options {
    const struct limits *limits;
    bool scratch;       /* use no snapshot */
    bool look_only;     /* leave damaged snapshots where they are */
    bool snapshot_only; /* and nothing of the log after it */
    uint32_t version;   /* which of the model's learners; 0: the one that decides */
};

bool recover(struct model_state *ret, struct recovery *ret_how, struct event_store *store,
             const struct recover_options *options, struct http_error *err);

/* Whether the version that decides could be rebuilt without an event: the log, or a snapshot of it and the log, go
 * back to before that. */
bool recover_reaches(const struct event_store *store, const struct limits *limits, uint64_t before);

/* One event of the log done again. find: a decision by its place, to be freed by the caller. */
struct redo {
    struct model_state *state;
    const struct event_store *store; /* knows what is excluded */
    struct recovery *how;
    bool (*find)(void *context, uint64_t seq, struct event **ret, struct http_error *err);
    void *context;
};
bool redo_event(const struct redo *r, const struct event *e, struct http_error *err);
/* The events after the state's. */
bool redo_log(struct model_state *state, struct event_store *store, struct recovery *how, struct http_error *err);

#endif

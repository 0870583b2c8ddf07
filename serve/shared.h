/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model whose journal is shared with other nodes: log, then apply.
 *
 * What a request wants is proposed to the journal as an event; the model's turn (apply.c) takes the journal's events in
 * their order, those of all nodes, and applies them to the model. Whether an event counts is decided there and nowhere
 * else, from the model and the journal alone, so that every node decides the same: an event that is not newer than the
 * last of its origin was sent twice; feedback to a decision that has been answered is "already" or a conflict; times
 * are the journal's. A prediction is made from the model as it is here and now, and its event says what was shown.
 */
#ifndef SERVE_SHARED_H
#define SERVE_SHARED_H

#include "model.h"

#define HANDLE_EVENTS 4      /* of the ring for each chain of decisions by handle */
#define PROPOSALS 65536      /* that requests wait for at the same time */
#define PROPOSAL_CHAINS 4096 /* a power of two */
#define PARKED 256           /* chains of feedback whose decision has not come yet */
#define HASHES 64            /* of this model that are remembered */

/* Something that a request waits for. */
struct proposal {
    uint64_t counter;      /* its own; of parked ones: the last that had been proposed before */
    struct feedback *item; /* where the verdict goes; NULL: to the ticket */
    struct ticket *ticket;
    struct event *parked; /* feedback that waits for its decision; NULL: it has been proposed */
    struct proposal *next;
};

struct shared {
    struct event **handles;      /* the ring's decisions by handle: ring_size / HANDLE_EVENTS chains */
    struct proposal **proposals; /* by counter: chains */
    size_t proposals_n;
    struct proposal *parked[PARKED];
    size_t parked_n;
    struct ticket *tickets;              /* those that wait */
    uint64_t origin, counter;            /* of what this node has proposed last; 0: nothing yet */
    uint64_t returned;                   /* of what this node has proposed, the last that the journal has given back */
    bool barrier_wanted;                 /* feedback has been parked since something was proposed */
    int64_t log_ms;                      /* the journal's time: the latest of an event that counted */
    uint64_t next_offset;                /* what is read next */
    uint64_t applied, repeated, refused; /* events of the journal: that counted, that had been there before, others */
    struct model_hash {
        uint64_t seq, hash;
    } hashes[HASHES];
    size_t hashes_n;
    uint64_t hash_events, diverged;
    int64_t wait_ns;
    char stopped[256];    /* why nothing is applied any more; empty: it is */
    bool gone;            /* the journal no longer has what comes next: another node's copy is needed */
    int64_t behind_since; /* when it was last known to have applied everything; monotonic */
    struct model *model;
    struct turns *appliers;
    struct turn_taker applying;
    bool applies;       /* it has turns */
    bool begun;         /* it has had one */
    bool over;          /* nothing is read any more; stopped says why */
    bool waits;         /* for the disk, or for the state to be made anew */
    bool asked;         /* someone has begun to wait since the last turn */
    int64_t looked_ns;  /* when it was last looked for those who have waited for long enough */
    struct event *held; /* has been read and could not be applied yet */
    _Atomic bool stop;
};

bool shared_start(struct model *m, struct http_error *err);
/* Whoever waits is told that it is not certain. */
void shared_stop(struct model *m);
void shared_free(struct model *m);

/* What requests do; under the lock, unless it says so. */
bool shared_predict(struct model *m, const struct example *x, struct event *e, struct decision *ret,
                    struct http_error *err);
/* Takes the lock. Verdicts are in the items when the ticket is done. */
void shared_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t);
/* Takes the lock. */
bool shared_teach(struct model *m, const struct example *x, const char *label, size_t label_length, struct ticket *t,
                  struct http_error *err);
/* item and t NULL: no one waits. */
bool shared_propose(struct model *m, struct event *e, struct feedback *item, struct ticket *t, struct http_error *err);

/* Waits until what the ticket stands for has been applied and the model has applied everything up to `after`. Like
 * model_wait. */
enum durable ticket_wait(struct model *m, struct ticket *t, uint64_t after, void (*before_wait)(struct waiter *w));

/* How far behind the journal's end it is, in events and seconds; false: the end is not known yet. */
bool shared_lag(struct model *m, uint64_t *ret_events, double *ret_seconds);

/* For shared.c and apply.c, under the lock. */
struct event **shared_chain(struct model *m, uint64_t handle);
struct event *shared_find(struct model *m, uint64_t handle, uint64_t key);
/* The proposal's verdict is known; gives the ticket when that was the last it waited for. */
struct ticket *shared_done(struct model *m, const struct event_source *from, const struct feedback *verdict);
/* When feedback waits for its decision, a record goes to the journal; once it is back, everything that had been
 * acknowledged anywhere when the feedback came has been applied here. */
void shared_barrier(struct model *m);
/* A decision has come: feedback that waited for it is proposed. */
void shared_unpark(struct model *m, uint64_t handle);
/* Tickets that have waited for long enough, or for a place that has been reached. */
struct ticket *shared_due(struct model *m, int64_t now_ns);
void tickets_wake(struct ticket *list);

/* Under the lock: what it may have waited for is done. */
void shared_go_on(struct model *m);
/* One turn at the journal. */
void apply_turn(struct turn_taker *applying);

#endif

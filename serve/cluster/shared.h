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

#include "cluster/journal.h"
#include "model/model.h"

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
    int64_t since_ns;     /* parked: since when */
    uint64_t asked;       /* parked: behind the place of this node's question to the others, see shared_ask; 0: none */
    struct proposal *next;
};

#define PEERS_MAX 64

/* Another node that may have made decisions. */
struct peer {
    uint64_t origin; /* of what it proposes; 0: it has not said so yet */
    char node[NAME_MAX_BYTES + 1];
};

/* What the models of a cluster have in common: the context of their replication. */
struct cluster {
    /* The other nodes that serve a model, as far as is known; gives how many, PEERS_MAX at most. */
    size_t (*peers)(void *context, const char *model, struct peer *ret);
    void *peers_context;
    _Atomic int64_t ahead_ms;    /* the clocks of most nodes less this machine's monotonic clock; 0: not known */
    _Atomic int64_t departed_ns; /* when one of them was last given up; what it had proposed may not be read here yet */
    const struct journal_kind *kind;
    void *journal;        /* context of its open */
    uint64_t hash_events; /* events between two hashes of a model */
    int64_t wait_ns;      /* how long a request waits for the journal */
    struct work_queue appliers;
};

extern const struct replication replication_cluster;

struct shared {
    struct journal *journal;
    struct proposal **proposals; /* by counter: chains */
    size_t proposals_n;
    struct proposal *parked[PARKED];
    size_t parked_n;
    struct ticket *tickets;        /* those that wait */
    uint64_t origin, counter;      /* of what this node has proposed last; 0: nothing yet */
    bool ask_wanted, reply_wanted; /* see shared_ask */
    uint64_t question;             /* behind the place of the newest question that has been read */
    struct origin_seen {
        uint64_t origin, behind; /* behind: the newest question that it had read when it replied */
    } seen[PEERS_MAX];           /* the latest in front */
    size_t seen_n;
    int64_t log_ms;                      /* the journal's time: the latest of an event that counted */
    uint64_t next_offset;                /* what is read next */
    uint64_t applied, repeated, refused; /* events of the journal: that counted, that had been there before, others */
    struct model_hash {
        uint64_t seq, hash;
    } hashes[HASHES];
    size_t hashes_n;
    uint64_t diverged;
    bool misfit;          /* this program would compute otherwise than the nodes that began the journal */
    char stopped[256];    /* why nothing is applied any more; empty: it is */
    bool gone;            /* the journal no longer has what comes next: another node's copy is needed */
    int64_t behind_since; /* when it was last known to have applied everything; monotonic */
    struct model *model;
    struct cluster *cluster;
    struct work_item applying;
    bool applies;       /* it is scheduled */
    bool begun;         /* it has been run once */
    bool over;          /* nothing is read any more; stopped says why */
    bool waits;         /* for the disk, or until the state is rebuilt */
    bool asked;         /* a request has begun to wait since the last step */
    int64_t looked_ns;  /* when waiting requests were last checked for their deadlines */
    struct event *held; /* has been read and could not be applied yet */
    _Atomic bool stop;
};

/* Under the lock. Proposes an event; item and t NULL: no request waits for it. */
bool shared_propose(struct model *m, struct event *e, struct feedback *item, struct ticket *t, struct http_error *err);

/* How far behind the journal's end it is, in events and seconds; false: the end is not known yet. */
bool shared_lag(struct model *m, uint64_t *ret_events, double *ret_seconds);

/* For shared.c and apply.c, under the lock. */
/* The proposal's verdict is known; gives the ticket when that was the last it waited for. */
struct ticket *shared_done(struct model *m, const struct event_source *from, const struct feedback *verdict);
/* Feedback waits for a decision that has not come: a question goes to the journal, and every node that reads it proposes
 * a reply. A node's records come in its order, so when the replies of all others have come, no decision that one of them
 * had made before is still on its way, and one that has not come is unknown for good. */
void shared_ask(struct model *m);
/* A record of the journal that is such a question or a reply. */
void shared_asked(struct model *m, const struct event *e);
/* A decision has come: feedback that waited for it is proposed. */
void shared_unpark(struct model *m, uint64_t handle);
/* Tickets that have waited for long enough, or for a place that has been reached. */
struct ticket *shared_due(struct model *m, int64_t now_ns);
void tickets_wake(struct ticket *list);

/* One turn at the journal. */
void apply_work(struct work_item *applying);

#endif

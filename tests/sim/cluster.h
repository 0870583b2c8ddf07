/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated nodes of cluster.c, and their journal (cluster_journal.c), which loses, repeats and delays records. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "base/clock.h"
#include "cluster/shared.h"
#include "event/body.h"
#include "event/record.h"
#include "world.h"

#define NODES 3
#define RECORDS 8192
#define ROUNDS 512
#define GIVEN 20

struct sent {
    struct text bytes;
    struct sent *next;
};

/* A node's end of the journal. */
struct sim_journal {
    struct journal journal;
    struct node *node;
    uint64_t origin, counter, next;
    struct sent *first, **last; /* not acknowledged */
};

struct node {
    char folder[3000];
    struct model *model; /* NULL: it is down */
    struct sim_journal *journal;
    struct work_queue writers;
    struct cluster cluster;
    size_t visible; /* records that it can read so far */
    bool hangs;     /* nothing that it proposes is delivered */
    bool misfit;    /* it computes otherwise than the others */
    int64_t minute; /* of the log's time at the last check */
    size_t hashes;  /* that it had made then */
};

struct round {
    uint64_t id, key;
    bool durable;         /* acknowledged */
    bool unknown;         /* some node has said so, for good */
    bool answered, right; /* acknowledged */
    bool learned;         /* the verdict was "learned", not "already" */
    bool active;          /* its activation was acknowledged */
    int64_t shown_ms;     /* */
};

struct request {
    struct ticket ticket; /* first */
    struct feedback item; /* of feedback */
    struct round *round;
    struct node *node; /* of a prediction with the client's own id: number `given` */
    size_t given;
    bool is_feedback, is_activation, right, waits;
    struct request *next;
};

struct simulation {
    struct world world;
    struct node nodes[NODES];
    struct {
        struct text bytes;
        int64_t time_ms;
    } records[RECORDS];
    size_t records_n;
    struct round rounds[ROUNDS];
    size_t rounds_n;
    uint64_t given[GIVEN]; /* the decision that was acknowledged for each id of the clients' own; 0: none */
    struct request *requests;
    uint64_t hashes[RECORDS];
    int64_t broker_ahead_ms;
    size_t learned, expired, unknown, killed, misfits, refused;
};
extern struct simulation sim;

static inline uint64_t draw(uint64_t n)
{
    return rng_below(&sim.world.rng, n);
}

static inline int64_t true_ms(void)
{
    return clock_wall() / 1000000;
}

extern const struct journal_kind journal_sim;

/* Some of what the node has proposed gets its place; when the acknowledgement is lost, it is sent again later. */
void deliver(struct node *n, size_t max);
/* The node can read that many more records. */
void read_on(struct node *n, size_t records);
/* Of processes that live; what others had proposed is in the journal or nowhere. */
size_t peers(void *context, const char *model, struct peer *ret);

#endif

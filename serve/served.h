/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A served model: the core, its log, and what makes them safe to use from many threads.
 *
 * One lock orders everything that happens to a model. An event is applied to the core, gets the next place in the order
 * and enters the ring in one go, so the order of the log is the order in which the model changed. The writer thread
 * takes events from the ring in order, as many as there are, and commits them together. Events stay in the ring after
 * that for a while: it is also the memory of the latest decisions.
 */
#ifndef SERVE_SERVED_H
#define SERVE_SERVED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "clock.h"
#include "core.h"
#include "history.h"
#include "metrics.h"
#include "quick.h"
#include "recover.h"
#include "serve.h"
#include "journal.h"

/* Someone who waits until the log is on disk up to seq; called without the lock, once. */
struct waiter {
    uint64_t seq;
    void (*wake)(struct waiter *w, bool durable);
    struct waiter *next;
};

/* What the writer waits for; whoever brings it wakes the writer, once. */
enum writer_state {
    WRITER_BUSY,    /* nothing */
    WRITER_IDLE,    /* an event */
    WRITER_LINGERS, /* someone who waits for an event's commit, or many events */
    WRITER_GATHERS, /* as many who wait as `gather` says, or many events */
};

struct served {
    char name[NAME_MAX_BYTES + 1];
    char *dir;
    const struct serve_options *options;
    struct wall *wall;
    struct metrics *metrics;
    atomic_int references;
    int64_t created_ms;
    char broken[256]; /* why it can't be used; empty: it can */

    pthread_mutex_t lock;
    pthread_cond_t work; /* for the writer */
    struct core core;
    struct history history;
    struct event **ring;              /* slot seq % ring_size */
    size_t ring_size;                 /* a power of two */
    uint64_t first;                   /* oldest in the ring */
    uint64_t last;                    /* newest applied */
    uint64_t committed;               /* newest on disk */
    size_t ring_bytes, waiting_bytes; /* of all in the ring; of those not yet on disk */
    struct event **answers;           /* the ring's feedback by decision: ring_size / 4 chains */
    struct waiter *waiters;
    size_t waiting, gather; /* how many wait; how many are worth a moment's patience before the next commit */
    enum writer_state writer_state;
    bool stop, failing, deleted;
    struct problem failure; /* when failing */
    uint64_t expired;

    uint64_t snapshot_seq, snapshot_older_seq; /* the two newest snapshots on disk */
    int64_t snapshot_mono;                     /* when the newest was made */
    uint64_t snapshot_bytes;
    bool snapshot_wanted;
    pthread_mutex_t snapshot_lock;

    uint64_t keys[128]; /* random numbers in store */
    size_t keys_left;
    struct journal journal;
    pthread_t writer;
    int64_t commit_ns, patience_ns; /* the writer's own: how long a commit takes, how long it waits before one */
    bool writer_runs;
};

/* Makes folder dir and everything in it. */
bool served_create(const char *dir, const char *name, struct settings *settings, int64_t now_ms, struct problem *p);
/* Opens a model; one that can't be recovered is returned with broken set. NULL: out of memory. */
struct served *served_open(const char *dir, const char *name, const struct serve_options *options, struct wall *wall,
                           struct metrics *metrics);
/* Commits what is left, within so many seconds; true: all of it. */
bool served_stop(struct served *m, unsigned patience_s);
void served_free(struct served *m);

/* What a prediction gives back. */
struct decision {
    uint64_t seq, key;
    hunch_choice choice;
    char label[LABEL_MAX_BYTES + 1], greedy[LABEL_MAX_BYTES + 1];
};
/* All of these take the lock themselves. text: the example as the client wrote it. scores: room for
 * served_labels(m) numbers, or NULL. */
bool served_predict(struct served *m, const struct example *x, const char *text, size_t length, struct decision *ret,
                    float *scores, size_t scores_room, struct problem *p);
/* One answer to one decision, and what came of it. */
struct feedback {
    struct said said;
    struct problem problem; /* status other than 0: not done (when set before: not to be done) */
    bool already;           /* it had been said before */
    uint64_t wait;          /* must be on disk before this is acknowledged */
};
void served_feedback(struct served *m, struct feedback *items, size_t n);
bool served_teach(struct served *m, const struct example *x, const char *text, size_t length, const char *label,
                  size_t label_length, uint64_t *ret_seq, struct problem *p);
/* ret_already: there is such a label. */
bool served_add_label(struct served *m, const char *label, size_t length, bool *ret_already, uint64_t *ret_seq,
                      struct problem *p);
bool served_scores(struct served *m, const struct example *x, uint32_t *ret_greedy, float *ret, size_t room,
                   struct problem *p);
size_t served_labels(struct served *m);
/* A copy of label number i's name. */
void served_label(struct served *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1]);
/* {"label":score,...} of the first n labels. */
void served_write_scores(struct served *m, const float *scores, size_t n, struct text *t);
/* Whether so many more events could be taken now. */
bool served_has_room(struct served *m, size_t events, struct problem *p);
bool served_bytes(struct served *m, void **ret_bytes, size_t *ret_size, uint64_t *ret_seq, struct problem *p);
enum durable { DURABLE_NOW, DURABLE_LATER, DURABLE_NOT };
/* DURABLE_LATER: before_wait has been called under the lock, and the waiter will be woken. DURABLE_NOT: the disk does
 * not take it for now. */
enum durable served_wait(struct served *m, struct waiter *w, void (*before_wait)(struct waiter *w));

bool served_snapshot(struct served *m, struct problem *p);
bool served_snapshot_due(struct served *m);

/* For served.c and writer.c. */
void *writer_run(void *model);
void ring_trim(struct served *m);
/* Under the lock: whether what the writer waits for is there. */
bool writer_ready(const struct served *m);

#endif

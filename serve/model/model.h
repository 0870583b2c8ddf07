/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A served model: its state, its log, and what makes them safe to use from many threads.
 *
 * One lock orders everything that happens to a model. An event is applied to the state, gets the next place in the
 * order and enters the ring in one go, so the order of the log is the order in which the model changed. The writer
 * takes events from the ring in order, as many as there are, and commits them together. Events stay in the ring
 * after that for a while: it is also the memory of the latest decisions.
 */
#ifndef SERVE_MODEL_H
#define SERVE_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/wall_clock.h"
#include "util/history.h"
#include "storage/event_store.h"
#include "event/items.h"
#include "event/json_fast.h"
#include "util/metrics.h"
#include "event/model_state.h"
#include "util/quota.h"
#include "storage/recover.h"
#include "model/replication.h"
#include "event/row_reader.h"
#include "util/serve_options.h"
#include "model/work_queue.h"

#define SHADOWS_MAX 4
#define MODEL_BATCH 8192 /* events of one commit */

/* A request that waits until the log is on disk up to seq; wake is called without the lock, once. */
struct waiter {
    uint64_t seq;
    void (*wake)(struct waiter *w, bool durable);
    struct waiter *next;
};

/* What a request waits for before it is answered. A model of this machine alone: that its log is on disk up to
 * waiter.seq. A model of a cluster: that what the request proposed has been applied here. */
struct ticket {
    struct waiter waiter;
    size_t left;             /* proposals not yet applied */
    uint64_t applied;        /* the place of the newest of them */
    struct http_error error; /* why one of them was refused */
    int64_t deadline_ns;
    struct ticket *next; /* among those that wait */
    bool waits;
    bool proposed; /* something; written by the request's own thread alone: what came of it, replication.wait tells */
};

static inline void ticket_need(struct ticket *t, uint64_t seq)
{
    if (seq > t->waiter.seq)
        t->waiter.seq = seq;
}

/* What the model's writer does. */
enum writer_state {
    WRITER_IDLE,     /* nothing is to be written */
    WRITER_DELAYED,  /* scheduled soon; at once if a request waits for an event's commit, or for many events */
    WRITER_QUEUED,   /* scheduled now */
    WRITER_BUSY,     /* a thread commits events */
    WRITER_BATCHING, /* a thread waits for `gather` requests to wait, or for many events, before it commits */
    WRITER_STOPPED,  /* for good */
};

struct model {
    /* --- set before the first request, then read without a lock --- */
    char name[NAME_MAX_BYTES + 1];
    char *dir; /* changes when the model is deleted: read under snapshot_lock */
    const struct serve_options *options;
    struct wall_clock *wall;
    struct metrics *metrics;
    int64_t created_ms;
    char degraded[256];      /* why it is read-only: not all that was acknowledged is there; empty: it is */
    struct settings reading; /* the settings that reading an example needs */
    struct row_reader *rows; /* of the schema; NULL: it has none */
    const struct replication *replication;
    struct shared *shared; /* what a cluster's replication keeps; NULL: a model of this machine alone */
    struct work_queue *writers;

    /* --- atomic --- */
    atomic_int references;
    atomic_int long_work;    /* the lock is held, or will be, for longer than an event loop can wait */
    atomic_bool large;       /* so it may be at any event: the learner grows by copying what it has */
    _Atomic int64_t used_ns; /* time of the last request */

    /* --- under the lock --- */
    pthread_mutex_t lock;
    pthread_cond_t work;                    /* what a batching writer, or model_stop, waits for */
    char broken[256];                       /* why it could not be opened; empty: it could */
    struct model_state state;               /* of the version that decides */
    struct model_state shadow[SHADOWS_MAX]; /* of the others; see versions.h */
    size_t shadows;
    unsigned shadow_failures;
    uint64_t exclusions;   /* how often events have been excluded since the start */
    bool versions_busy;    /* one is being made from the log */
    uint64_t shadows_safe; /* events up to here are in the shadows' files */
    struct history history;
    struct event **ring;              /* slot seq % ring_size */
    size_t ring_size, ring_max;       /* powers of two; it grows */
    uint64_t first;                   /* oldest in the ring */
    uint64_t last;                    /* newest applied */
    uint64_t committed;               /* newest on disk */
    size_t ring_bytes, waiting_bytes; /* of all in the ring; of those not yet on disk */
    struct event **answers;           /* the ring's feedback by decision: ring_size chains */
    struct event **handles;           /* the ring's decisions by handle: chains, see ring_index; NULL: not indexed */
    struct waiter *waiters;
    size_t waiting, gather; /* how many wait; for how many the next commit is delayed */
    enum writer_state writer_state;
    struct work_item writing; /* under the work queue's own lock */
    bool writer_runs;
    bool stop, failing, deleted;
    bool replaced; /* deleted here, for another copy that is coming */
    bool scrubbing;
    int64_t scrub_mono;              /* when its log was last read through */
    char damage[256];                /* what was found wrong then; the state itself does not depend on it */
    bool rebuild_wanted, rebuilding; /* the state is to be rebuilt from the log, */
    int64_t rebuild_ns;              /* not before */
    struct http_error failure;       /* when failing */
    uint64_t expired;
    uint64_t opened_seq;                       /* the last event before this run */
    uint64_t snapshot_seq, snapshot_older_seq; /* the two newest snapshots on disk */
    int64_t snapshot_mono;                     /* when the newest was made */
    uint64_t snapshot_bytes;
    uint64_t keys[128]; /* random numbers in store */
    size_t keys_left;

    /* --- one long operation at a time; taken before `lock` --- */
    pthread_mutex_t snapshot_lock; /* snapshots */
    pthread_mutex_t versions_lock; /* changes of versions; after snapshot_lock */

    /* --- with rules of its own: see event_store.h --- */
    struct event_store store;

    /* --- the writer's own --- */
    int64_t commit_ns, patience_ns; /* how long a commit takes; how long the writer waits before one */
    int64_t keep_ns, keep_wait_ns;  /* when it next looks at what has expired or grown old; how long that is apart */
    uint64_t kept_seq;              /* newest event then */
    /* Decisions and activations up to here have been looked at; in the second row those of this run. */
    uint64_t silence_upto[2][2];

    /* --- the registry's own --- */
    int64_t leaves_ns; /* used_ns as it was at one moment */
};

/* What all models of a server have in common. */
struct model_context {
    const struct serve_options *options;
    struct wall_clock *wall;
    struct metrics *metrics;
    struct work_queue *writers;
    const struct replication *cluster; /* of the models that several nodes serve; NULL: this machine alone */
    void *cluster_context;             /* for its open */
};

/* What a new model is made of: settings (taken over), or a file as hunch saves it. */
struct model_source {
    struct settings *settings;
    const void *file; /* NULL: settings */
    size_t size;
    const struct limits *limits;
};
/* Makes folder dir and everything in it. */
bool model_create(const char *dir, const char *name, const struct model_source *from, int64_t now_ms,
                  struct http_error *err);
/* Another connection to the model's log. Takes snapshot_lock for a moment, under which the folder stays where it is. */
bool model_open_log(struct model *m, struct event_store *ret, bool look_only, struct http_error *err);
/* Opens a model; one that can't be recovered is returned with broken set. NULL: out of memory. */
struct model *model_open(const char *dir, const char *name, const struct model_context *context);
/* Commits what is left, within that many seconds; true: all of it. */
bool model_stop(struct model *m, unsigned patience_s);
void model_close(struct model *m);

/* One number per label; n: room for that many, value NULL: not wanted. */
struct scores {
    float *value;
    size_t n;
};
/* What a prediction gives back. */
struct decision {
    uint64_t id, key;
    struct ticket *ticket; /* given by the caller if the decision is to be durable */
    hunch_choice choice;
    char label[LABEL_MAX_BYTES + 1], greedy[LABEL_MAX_BYTES + 1];
    const char *given_id; /* by the caller: the client's own id, or NULL */
    bool logged;          /* by the caller: the label has been chosen, it is `baseline` */
    bool deferred;        /* by the caller: it waits for its activation */
    double act_at; /* by the caller: a promise other than the model's; 0: none. In the answer: that of the decision */
    bool act;      /* then: whether to act on it */
    const json_t *baseline; /* by the caller: the label that the application would show, or NULL */
    double baseline_chance; /* of that; 0: not known */
    enum chooser chooser;
    const json_t *eligible, *exclude; /* arrays of labels, given by the caller; NULL: all, none */
    double *chances;                  /* room for as many; NULL: not wanted */
    struct scores scores;             /* room, given by the caller, for as many as model_labels says */
};
/* All of these take the lock themselves. */
bool model_usable(struct model *m, struct http_error *err);
bool model_predict(struct model *m, const struct example *x, struct decision *ret, struct http_error *err);
/* In a group, once a decision has been applied: whether it is the first one for the client's id; 503: another is. */
bool model_given_first(struct model *m, const char *given_id, uint64_t id, struct http_error *err);
/* One answer to one decision, and what came of it. */
struct feedback {
    struct feedback_input input;
    struct http_error error; /* status other than 0: not done (when set before: not to be done) */
    bool already;            /* the same feedback was given before */
    bool activated;          /* a deferred decision */
    bool late, replaced;     /* it had been answered by default; and that answer no longer counts */
    uint64_t wait;           /* must be on disk before this is acknowledged */
};
void model_feedback(struct model *m, struct feedback *items, size_t n, struct ticket *t);
bool model_teach(struct model *m, const struct example *x, const char *label, size_t label_length, struct ticket *t,
                 struct http_error *err);
struct label_text {
    const char *text;
    size_t length;
};
/* All of them or none, and the learner grows once. *ret_added: those that it did not have. */
bool model_add_labels(struct model *m, const struct label_text *labels, size_t n, size_t *ret_added, struct ticket *t,
                      struct http_error *err);
/* Under the lock, before the first request may use the model. */
void model_set_reading(struct model *m);
/* How examples of a usable model are read. Needs no lock: it is set before the model becomes usable and stays as it is,
 * while the state may be replaced by one that was made again from the log. */
struct reading model_reading(const struct model *m);
/* The lock, for work that takes more than microseconds: requests of this model leave the event loops first. */
void model_lock_long(struct model *m);
void model_unlock_long(struct model *m);
/* The deciding side and the control: members of a request; see policy.h. */
bool model_set_policy(struct model *m, const json_t *json, struct ticket *t, struct http_error *err);
/* Under the lock: the number of a label that a request names. */
bool model_find_label(const struct model *m, const json_t *json, uint32_t *ret, struct http_error *err);
/* {"label":...,"explanation":[{"feature":...,"amount":...},...]}, without braces: how much the label's score would lose
 * without each of the features that say most about it. label NULL: number `known`, or the greedy one if that is NO_LABEL. */
bool model_explain(struct model *m, const struct example *x, const json_t *label, uint32_t known, struct text *t,
                   struct http_error *err);
/* Labels that are never shown any more (retired), or are again. */
bool model_retire(struct model *m, const json_t *labels, bool retired, struct ticket *t, struct http_error *err);
/* Under the lock: sets the chooser of a new decision, and its label and chance when that is not the model. */
bool model_choose_side(struct model *m, const struct decision *d, struct event *e, struct http_error *err);
/* Under the lock: the labels that a request names as the log has them; NULL: all. */
bool model_eligible(struct model *m, const json_t *eligible, const json_t *exclude, char **ret, struct http_error *err);
/* The next decisions whose time for an answer has passed. */
bool silence_answer(struct model *m, int64_t now_ms, bool *ret_more, struct http_error *err);
bool model_scores(struct model *m, const struct example *x, uint32_t *ret_greedy, struct scores *ret,
                  struct http_error *err);
/* How many of the example's names the model does not know, if it has a dictionary and that matters: always, or because
 * it is nearly full; */
size_t model_new_names(struct model *m, const struct example *x, bool always, struct names_room *ret);
/* of those, all but the first that many are taken out of the example. */
bool model_refuse_names(struct model *m, struct example *x, size_t keep, struct http_error *err);
int64_t model_now(const struct model *m); /* the log's time */
/* How much time has surely passed since then; see clock.h. */
int64_t model_age(const struct model *m, int64_t now_ms, int64_t then_ms);
size_t model_labels(struct model *m);
/* A copy of label number i's name. */
void model_label_name(struct model *m, uint32_t i, char ret[LABEL_MAX_BYTES + 1]);
/* How many bytes that takes at most; */
size_t model_scores_bytes(struct model *m);
/* {"label":score,...} */
void model_write_scores(struct model *m, const struct scores *s, struct text *t);
void model_write_chances(struct model *m, const double *chances, size_t n, struct text *t);
/* Whether that many more events could be taken now. */
bool model_has_room(struct model *m, size_t events, struct http_error *err);
/* The state of one moment, written to a file and synced. version 0: that which decides. */
bool model_write(struct model *m, uint32_t version, int fd, uint64_t *ret_seq, struct http_error *err);
/* The same to a file that has no name. */
bool model_copy(struct model *m, int *ret_fd, uint64_t *ret_seq, uint64_t *ret_size, struct http_error *err);
/* Waits until the log is on disk up to w->seq. DURABLE_LATER: before_wait has been called under the lock, and the
 * waiter will be woken. DURABLE_NOT: the disk does not take it for now. */
enum durable model_wait(struct model *m, struct waiter *w, void (*before_wait)(struct waiter *w));

/* Excludes an event and has the state rebuilt without it. */
bool model_exclude(struct model *m, uint64_t seq, struct http_error *err);
/* Rebuilds the state from the log and replaces the old one; requests are served meanwhile. */
bool model_rebuild(struct model *m, struct http_error *err);
bool model_rebuild_due(struct model *m); /* due: claims it */

/* Due: claims it. */
bool model_scrub_due(struct model *m);
void model_scrub(struct model *m, const _Atomic bool *stop);
/* Under the lock: the log is not as it was written. Reported once. */
void model_note_damage(struct model *m, const struct http_error *why);

bool model_snapshot(struct model *m, struct http_error *err);
bool model_snapshot_due(struct model *m);
void model_measure(struct model *m); /* sets m->large */
/* Everything that has happened is on disk and nothing is going on; whole: in a snapshot too. */
bool model_at_rest(struct model *m, bool whole);

/* Under the lock: why it can't be used, or "". */
const char *model_reason(const struct model *m);

/* For replication and writer.c, under the lock. */
bool model_may_append(struct model *m, size_t events, size_t bytes, struct http_error *err);
void model_append(struct model *m, struct event *e);
/* Learning from the event has made the state's numbers infinite or NaN: refuses it and has the state rebuilt. Always
 * false. */
bool model_reject_nonfinite(struct model *m, struct http_error *err);
bool model_draw_key(struct model *m, uint64_t *ret, struct http_error *err);
bool model_score(struct model *m, const struct example *x, struct event *e, struct scores *ret, struct http_error *err);
/* Under the lock. The decision has been answered or activated, and the log says nothing of it: not taken from an index
 * alone. */
bool model_lacks_answer(struct model *m, struct feedback *f, const struct event *d);
/* What feedback at time now would come to; refused: why is in f->error. ret: what it says. */
/* ANSWER_LATE: to a decision that silence had answered. */
enum answer_verdict { ANSWER_NEW, ANSWER_LATE, ANSWER_ACTIVE, ANSWER_ALREADY, ANSWER_REFUSED };
enum answer_verdict model_judge(struct model *m, struct feedback *f, const struct event *d, int64_t now,
                                struct answer *ret);
/* d: the decision. *e: the event, its time set, to be filled and, unless it was said before, applied: then it is the
 * ring's. */
bool model_answer(struct model *m, struct feedback *f, struct event *d, struct event **e);

/* One turn at the disk. */
void writer_work(struct work_item *writing);
/* Under the lock, after something that writing may have waited for. */
void writer_wake(struct model *m);
/* Looks at what has expired or grown old, if it is time. */
void writer_keep(struct model *m);
/* The ring (model_ring.c), all under the lock. Room for that many more, as long as it may grow; false: what is not on
 * disk yet would not fit. */
bool ring_grow(struct model *m, size_t events);
/* An event that follows the last one, for which there is room. */
void ring_put(struct model *m, struct event *e);
/* NULL: it has no decision of that number. */
struct event *ring_decision(struct model *m, uint64_t seq);
/* From now on the ring's decisions are found by their handles. False: out of memory. */
bool ring_index(struct model *m);
/* NULL: the ring has no such decision. */
struct event *ring_by_handle(struct model *m, uint64_t handle, uint64_t key);
/* What is known about a decision: said lately, or as the ring or the log has it. */
struct answer ring_answer(struct model *m, const struct event *decision);
/* Forgets the oldest events that are on disk as long as the ring is too full or too large. */
void ring_trim(struct model *m);
/* Forgets all that is on disk, as if it had been long ago. */
void ring_clear(struct model *m);
/* Forgets what is not on disk, as a crash would. */
void ring_drop(struct model *m);
/* Brings a state that was made from the log up to the log's end, nearly; without the lock. */
bool model_catch_up(struct model *m, struct model_state *state, struct event_store *store, struct recovery *how,
                    struct http_error *err);
/* Under the lock: the events that are not yet in the log, from the ring. */
bool model_redo_ring(struct model *m, struct model_state *state, struct event_store *store, struct recovery *how,
                     struct http_error *err);
/* Under the lock: decisions that stay in the ring are numbered as the present state numbers features. */
bool model_renumber_ring(struct model *m, struct http_error *err);
bool wait_durable(struct model *m, uint64_t seq);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trial: one learner playing one order of one data set. It is the unit of parallel work, of what Ctrl-C keeps, and
 * of what the cache holds.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include "play/player.h"
#include "play/store.h"

/* Which rows a trial learns from and what it is given; cross-validation needs it. Rows are numbers in the data set. */
struct part {
    const uint32_t *rows; /* to learn from */
    uint32_t n;
    const uint32_t
        *revealed;        /* for every row of the data set the label that decides the feedback; NULL: the true one */
    const uint32_t *test; /* to test the greedy label on afterwards */
    uint32_t tests;
    const uint32_t *test_label; /* for every row of the data set; NULL: the true one */
};

struct trial {
    /* what determines it */
    const struct corpus *corpus;
    const char *spec;
    const struct part *part; /* NULL: all rows, the true labels, no test */
    uint64_t seed;           /* of the learner and of the order (order.h) */
    uint32_t passes;
    bool shuffle;
    char key[CORPUS_SUM];
    /* what came out */
    bool done, cached;
    struct outcome *out; /* where it goes; the caller's */
};

/* What is known of its rows, if they are played in their order; else NULL. */
const struct truth *trial_truth(const struct trial *c);
hunch_status trial_key(struct trial *c, hunch_error *reterr);
json_t *trial_json(const struct trial *c); /* what came out */
/* false: it is not what trial_json writes, and nothing has changed. */
bool trial_read(struct trial *c, const json_t *json);

struct progress {
    bool reading;    /* still finding out what the input holds: rows and fraction are those read */
    double fraction; /* of the work that is done; below 0: not known */
    uint64_t
        rows; /* played so far, in all runs: by all trials, or by each learner on average where runs are reported */
};

struct trials_options {
    const struct store *store;                                        /* may be NULL */
    bool again;                                                       /* play also what the store has */
    unsigned threads;                                                 /* 0: one for each core */
    const atomic_bool *stop;                                          /* may be NULL */
    void (*progress)(void *context, const struct progress *progress); /* ten times a second at least; may be NULL */
    void *context;
    /* of runs that are not kept in a store */
    const hunch_options *learner; /* classes (at least that many), max_features and memory; NULL: those of the data */
    hunch *loaded;                /* plays the only trial */
    bool keep_learner;
    bool per_class;            /* count class by class; always where whole is not asked for */
    double act_at;             /* see tally.h; 0: none */
    bool whole;                /* every point of the curves; and trials that were stopped have what they played */
    size_t runs;               /* trial i is run i % runs of learner i / runs; 0: every trial is a learner */
    player_watch watch;        /* may be NULL */
    const struct rows *taught; /* to every learner before it plays; may be NULL */
};

/* Play all trials that the store does not have, several at a time; those of the same rows and order are fed together.
 * Each one is stored when it is done. *ret_stopped: *stop ended it early, and some trials are not done. */
hunch_status trials_play(struct trial *trials, size_t n, const struct trials_options *options, bool *ret_stopped,
                         hunch_error *reterr);

/* So many threads as were asked for, or as there are cores; no more than are useful. */
unsigned play_threads(unsigned wanted, size_t useful);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progressive evaluation: learners x runs over the same rows; each row is predicted, then one bit (the true label for
 * learners that need it) comes back, then comes the next.
 *
 * Two ways, with the same numbers for the same order of rows:
 *   - progressive_stream: one run in the order of the input, in constant memory. The first rows are read ahead to find
 *     the labels; labels that first appear later join then.
 *   - progressive_memory: any number of runs and passes over a data set in memory, shuffled or not.
 * Both use several threads, and the numbers do not depend on how many.
 *
 * Learner and order of run r depend on seed + r only (order.h).
 */
#ifndef PROGRESSIVE_H
#define PROGRESSIVE_H

#include "play/trial.h"

struct progressive_options {
    const char *const *specs; /* of the learners */
    size_t learners;
    hunch *loaded; /* goes on instead of specs[0] (then learners and runs are 1); not freed when the call fails */
    uint64_t seed;
    uint32_t runs, passes; /* progressive_memory; 0 is taken as 1 */
    bool shuffle;
    uint32_t classes; /* at least that many, whatever the input holds */
    uint32_t max_features;
    uint64_t memory;         /* as in hunch_options */
    unsigned threads;        /* 0: one for each core */
    bool per_class;          /* count class by class */
    bool keep;               /* leave the learners in the results */
    const atomic_bool *stop; /* set by anyone to stop soon with what there is; may be NULL */
    void (*progress)(void *context, const struct progress *progress); /* ten times a second at least; may be NULL */
    const struct rows *taught; /* to every learner before it plays; may be NULL */
    double act_at;             /* see tally.h; 0: none */
    bool eligible;             /* progressive_stream: the rows' first cells name the labels that may be shown */
    const struct truth *truth; /* of the rows, for regret; not with shuffle; may be NULL */
    player_watch watch;        /* may be NULL */
    void *context;
};

struct progressive {
    size_t learners, runs;
    struct outcome *results; /* of learner i in run r: results[i * runs + r]; no spec: never begun */
    bool stopped;            /* before the end, by *stop */
};

/* Bytes of input between the learner that is furthest ahead and the last one: what a cache should keep in memory behind
 * its reader (stream_options.behind_bytes). 0: few. */
size_t progressive_reach(const struct progressive_options *options);
hunch_status progressive_stream(struct progressive *ret, struct stream *stream,
                                const struct progressive_options *options, hunch_error *reterr);
hunch_status progressive_memory(struct progressive *ret, const struct dataset *data,
                                const struct progressive_options *options, hunch_error *reterr);
void progressive_free(struct progressive *p);

#endif

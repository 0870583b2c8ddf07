/* SPDX-License-Identifier: BSD-3-Clause */
/* Every setting of several learners over several shuffled orders, and the best of each. */
#ifndef SWEEP_H
#define SWEEP_H

#include "cell.h"
#include "grid.h"

struct sweep_options {
    uint32_t runs, passes; /* 0 is taken as 1 */
    uint64_t seed;         /* run r has seed + r, as in progressive.h */
    bool shuffle;
    struct cells_options cells;
};

/* One setting of one learner: its runs in a few numbers. Shares of the rounds. */
struct entry {
    size_t runs; /* that are done */
    double error, sd, greedy, explored;
    double rounds;  /* of a run */
    double seconds; /* of all runs, processor time */
    double *errors; /* of the runs that are done */
};

struct sweep {
    const struct grid *grids;
    size_t learners, runs;
    struct cell *cells;    /* of learner i, point p, run r: cells[(first[i] + p) * runs + r] */
    struct entry *entries; /* of learner i, point p: entries[first[i] + p] */
    size_t *first, *best;  /* for every learner; best: its point with the lowest mean error, SIZE_MAX: none is done */
    bool stopped;
};

/* Mean over the runs, round by round. */
struct curve {
    size_t n;
    double *round, *error, *greedy, *explored; /* shares of the rounds so far */
};

/* corpora: one for all runs, or one for each of them. What is given must outlive the sweep. */
hunch_status sweep_play(struct sweep *ret, const struct corpus *const *corpora, size_t n, const struct grid *grids,
                        size_t learners, const struct sweep_options *options, hunch_error *reterr);
void sweep_free(struct sweep *s);

/* false: out of memory, or no run is done. */
bool sweep_curve(const struct sweep *s, size_t learner, size_t point, struct curve *ret);
bool curve_mean(struct curve *ret, const struct cell *cells, size_t n, size_t apart);
void curve_free(struct curve *c);

#endif

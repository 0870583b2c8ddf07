/* SPDX-License-Identifier: BSD-3-Clause */
/* Every setting of several learners over several shuffled orders, and the best of each. */
#ifndef SWEEP_H
#define SWEEP_H

#include "play/trial.h"
#include "play/grid.h"
#include "play/summary.h"

struct sweep_options {
    uint32_t runs, passes; /* 0 is taken as 1 */
    uint64_t seed;         /* run r has seed + r, as in progressive.h */
    bool shuffle;
    struct trials_options trials;
};

struct sweep {
    const struct grid *grids;
    size_t learners, runs;
    struct outcome *outcomes; /* of learner i, point p, run r: outcomes[(first[i] + p) * runs + r] */
    struct trial *trials;     /* likewise */
    struct summary *entries;  /* of learner i, point p: entries[first[i] + p] */
    size_t *first, *best; /* for every learner; best: its point with the lowest mean error, SIZE_MAX: none is done */
    bool stopped;
};

/* What is played; it must outlive the sweep. */
struct sweep_input {
    const struct corpus *corpora; /* one for all runs, or one for each of them */
    size_t n;
    const struct grid *grids;
    size_t learners;
};
hunch_status sweep_play(struct sweep *ret, const struct sweep_input *input, const struct sweep_options *options,
                        hunch_error *reterr);
void sweep_free(struct sweep *s); /* {0} is fine */

/* false: out of memory, or no run is done. */
bool sweep_curve(const struct sweep *s, size_t learner, size_t point, struct curve *ret);

#endif

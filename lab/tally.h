/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted while a learner plays, and its learning curve. */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "synth.h"

/* Counts after this many rounds. */
struct tally_point {
    uint64_t round, mistakes, greedy_mistakes, explored;
    double regret;
};

/* Points lie at rounds 1 .. 43, then a 43rd further each time: a hundred to a decade. */
#define TALLY_POINTS 1000

struct tally {
    uint64_t rounds;
    uint64_t mistakes;         /* of the label that was shown */
    uint64_t greedy_mistakes;  /* of the label that the learner believed in */
    uint64_t explored;         /* the two differed */
    double regret;             /* with truth: by how much more often whoever knows the model would have been right */
    double seconds;            /* of the learning thread's time */
    const struct truth *truth; /* of the rows, which are played in their order, again and again; NULL: not known */
    struct tally_point *curve;
    size_t points;
    uint64_t next; /* the round of the next point */
};

bool tally_init(struct tally *t); /* false: out of memory */
void tally_count(struct tally *t, const hunch_choice *choices, const uint32_t *labels, size_t n);
/* The last round gets a point too. Call it once all rounds are counted. */
void tally_finish(struct tally *t);
/* Keeps every few points of the curve, enough to draw it. */
void tally_thin(struct tally *t);
void tally_free(struct tally *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is counted while a learner plays, and its learning curve. */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/* Counts after this many rounds. */
struct tally_point {
    uint64_t round, mistakes, greedy_mistakes, explored;
    double regret;
};

/* Points lie at rounds 1 .. 43, then a 43rd further each time: a hundred to a decade. */
#define TALLY_POINTS 1000

/* Of the rows of one class. */
struct tally_class {
    uint64_t rows, mistakes, greedy_mistakes;
    uint64_t found; /* the round of the first right answer; 0: none yet */
};

/* Rounds by their confidence, in bins of equal width. */
#define TALLY_BINS 60
struct tally_bin {
    uint64_t shown, right;
    double confidence; /* the sum */
};

struct tally {
    uint64_t rounds;
    uint64_t mistakes;                /* of the label that was shown */
    uint64_t greedy_mistakes;         /* of the label with the largest score */
    uint64_t explored;                /* the two differed */
    double regret;                    /* with truth: by how much more often the best label is right */
    bool repeated;                    /* what is played now was learned from before */
    uint64_t unseen, unseen_mistakes; /* rounds of rows that were not, and of these those that were wrong */
    double act_at;                    /* the promise of choices that are acted on; 0: none */
    uint64_t acted, acted_right;      /* with it, of unseen rows */
    double seconds;                   /* of the learning thread's time */
    const struct truth *truth; /* of the rows, which are played in their order, again and again; NULL: not known */
    struct tally_point *curve;
    size_t points;
    uint64_t next;          /* the round of the next point */
    struct tally_bin *bins; /* TALLY_BINS; NULL: not kept */
    /* with per_class, which costs a little; tally_finish makes the two numbers */
    bool per_class;
    struct tally_class *classes;
    size_t classes_n, classes_room;
    double balanced;  /* mean over the classes of the share of their rows that was wrong */
    double discovery; /* mean over the classes of the rounds until the first right answer, or of all rounds */
};

bool tally_init(struct tally *t); /* false: out of memory */
void tally_count(struct tally *t, const hunch_choice *choices, const uint32_t *labels, size_t n);
/* The last round gets a point too. Call it once all rounds are counted. */
void tally_finish(struct tally *t);
/* The expected calibration error, over 15 shares of confidence; 0 where it was not kept. */
double tally_calibration(const struct tally *t);
/* Keeps every few points of the curve, enough to draw it, and nothing of confidence and classes. */
void tally_thin(struct tally *t);
void tally_free(struct tally *t);

#endif

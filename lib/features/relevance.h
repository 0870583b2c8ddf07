/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much columns matter to the curves: the Fourier map takes column j times weight_j, so that columns which say
 * nothing do not blur those that do.
 *
 * A slope is how the lead of the label shown over its rival changes with a column, through the map and directly, at the
 * example at hand. g_j: the sum of its squares over rounds that are looked at.
 *
 * Of labels known to be right, class by class (class k counts as k mod 32): how often, and sums of z_j and z_j^2.
 * chi_j: squared differences of the classes' means of both from the mean of all, each over its variance, with f_j
 * degrees of freedom; c_j = max(0, (chi_j - f_j) / sqrt(2 f_j)); told_j = c_j^2 / (c_j^2 + 4): near 0 where classes do
 * not differ.
 *
 * At t = 128, 192, 288, ... rounds learned from, if 16 answers were wrong since the last time (who hardly errs is left
 * alone: each setting disturbs what was learned), v_j being the mean of z_j^2 and M the number of columns:
 *   silent = M sum_j v_j (1 - told_j) / sum_j v_j
 *   e_j = (1 + g_j / mean g) (1 - (1 - told_j) silent / (silent + 8))
 *   weight_j = sqrt(e_j V/E sqrt(V Q)/E), with the sums V of v_j, E of v_j e_j, Q of v_j e_j^2
 * and all sums are halved. Before weights are set in round n, every max(1, n/128)-th round is looked at for slopes and
 * every max(1, n/512)-th for labels. Columns of which nothing is known have the weight 1.
 *
 * So many columns that tell classes apart neither by mean nor by spread fade, a few do not: classes may differ in them
 * by how they go together. With V/E alone rows would stay as long as they are on average; V Q/E^2 >= 1 tells how few
 * columns count, and the fewer, the finer the curves may be.
 *
 * (A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin 2024: features are learned by the average gradient outer
 * product; g is its diagonal, half believed.)
 */
#ifndef RELEVANCE_H
#define RELEVANCE_H

#include "features/map.h"

#define RELEVANCE_CLASSES 32
#define RELEVANCE_SUMS (2 * RELEVANCE_CLASSES + 1)

struct linear_ops;
struct writer;
struct reader;

struct relevance {
    double *slope;                   /* g_j */
    double *sums;                    /* by column: of z and z^2 by class, then of z^4 */
    float *weight;                   /* in force */
    size_t room;                     /* columns that these are for */
    double right[RELEVANCE_CLASSES]; /* labels known to be right, by class */
    uint64_t rounds;                 /* learned from */
    uint64_t wrong;                  /* answers since weights were set */
    uint64_t next;                   /* when weights are recomputed */
};

void relevance_free(struct relevance *r);
uint64_t relevance_bytes(const struct relevance *r);
/* Room for that many columns. May fail, with nothing changed. */
hunch_status relevance_reserve(struct relevance *r, size_t columns);
/* Nothing is known any more. */
void relevance_begin(struct relevance *r);
/* The same, but weights stay in force until better ones are known. */
void relevance_restart(struct relevance *r);
/* Each of n entries by its column's weight; columns beyond those that there is room for have 1. */
void relevance_weigh(const struct relevance *r, const uint32_t *index, const float *value, size_t n, float *ret);

/* A round has been learned from, and the learner's answer was right or not; true: it is looked at for slopes. */
bool relevance_count(struct relevance *r, bool right);
/* After it: label is known to be right for x, which is as learners see it, columns beginning with the feature from. */
void relevance_note(struct relevance *r, const struct vec *x, uint32_t from, uint32_t label);
struct relevance_look {
    const struct linear_ops *ops;
    const struct map *map;
    const struct vec *x;    /* as learners see it, map first */
    const real *lead;       /* by feature, how the lead changes with it */
    const uint32_t *column; /* which feature behind the constant each column is; NULL: in order */
};
/* columns: those seen so far. */
void relevance_learn(struct relevance *r, const struct relevance_look *look, size_t columns);

/* columns: how many there are, 0 without Fourier. */
void relevance_put(struct writer *w, const struct relevance *r, size_t columns);
hunch_status relevance_take(struct reader *from, struct relevance *r, size_t columns, hunch_error *reterr);
/* Adds what other knows. May fail for want of memory, with nothing changed. */
hunch_status relevance_merge(struct relevance *r, const struct relevance *other, size_t columns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing labels: the largest score, the gamma-mix of Banditron, sampling, softmax. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "state/algo.h"

/* Everything here that chooses a label chooses among those that may be shown in this round (hunch_predict_among): it
 * gives the others no chance, and the chances that it reports are those under the restriction. */
static inline bool explore_may(const struct state *s, uint32_t label)
{
    return !s->eligible || s->eligible[label];
}

/* How many labels may be shown. */
static inline uint32_t explore_labels(const struct state *s)
{
    return s->eligible ? s->eligible_n : s->K;
}

/* The label with the largest score; ties as set (a random tie takes one draw). */
uint32_t explore_argmax(struct state *s, const real *scores);
/* The same, always the first of the largest; of a mask as state.eligible is. */
uint32_t explore_best_of(const real *scores, uint32_t K, const unsigned char *may);
uint32_t explore_best(const struct state *s, const real *scores);
/* The first of the largest of all: for const calls and for rivals. */
uint32_t explore_first(const real *scores, uint32_t K);
/* The first of the largest scores other than label's; label itself when K is 1. */
uint32_t explore_rival(const real *scores, uint32_t K, uint32_t label);
/* By how much label's score exceeds its rival's, as struct hunch_choice has it. */
float explore_margin(const real *scores, uint32_t K, uint32_t label);
/* One uniform: the first k with u < P_1 + ... + P_k. Chances of labels that may not be shown are taken away first, and
 * those of the others divided by what is left (if that is nothing, they are all the same). */
uint32_t explore_sample(struct state *s, double *inout_chances);
/* One of the labels with the same chance for each. */
uint32_t explore_uniform(struct state *s);
/* (1-gamma)[k = greedy] + gamma/K with one uniform, whatever gamma is. */
void explore_mix(struct state *s, uint32_t greedy, double gamma, hunch_choice *ret);
/* What a chance comes to when a share of the rounds (setting floor) shows a uniform label. */
static inline double explore_floor(const struct state *s, double chance)
{
    return (1 - s->floor) * chance + s->floor / explore_labels(s);
}
/* Show the greedy label for certain. */
void explore_none(uint32_t greedy, hunch_choice *ret);

/* s->scores by algo.scores, for predict: returns the label with the largest. For learn: unless predict just did that
 * (the answer may come later, when its scores are gone). */
uint32_t explore_greedy(struct state *s, const struct vec *x);
void explore_scores(struct state *s, const struct vec *x);
/* algo.predict of learners that do not explore. */
void explore_predict_greedy(struct state *s, const struct vec *x, hunch_choice *ret);

/* Inverse-gap weighting: o from P_k = base/(K base + greed gap_k) for k != greedy, the rest of the chance for greedy;
 * one uniform. The gaps (>= 0) stand in s->probabilities, where the chances are left. */
void explore_inverse_gap(struct state *s, uint32_t greedy, double base, double greed, hunch_choice *ret);
/* greed = gamma n^power after n rounds, 0 before the first */
double explore_greed(double gamma, double power, double n);
/* ret_k proportional to exp(scale * score_k), without overflow; 0 for labels that may not be shown. */
void explore_softmax(const struct state *s, const real *scores, double scale, double *ret);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is right more often where two learners disagree, and a ladder of such duels: what panel decides by. */
#ifndef DUEL_H
#define DUEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A duel's numbers: of side 0, the champion so far, and of side 1, the challenger. */
enum { WON_0, MET_0, WON_1, MET_1, DUEL_SIDES };

/* The chance that the challenger's label is taken. */
double duel_chance(const double *d);
/* The same where its being right is worth as many right answers. */
double duel_chance_worth(const double *d, double worth);
/* Right answers more, for each duel, if the challenger's label is always taken and it is so much better than it seems.
 */
double duel_gain(const double *d, double deviations);
/* Before the first round: 1 won of met[side]. */
void duel_begin(double *d, const double *met);
struct duel_round {
    int side; /* whose label was shown */
    bool right;
    bool two; /* there are two classes: one of the sides was right */
};
/* Both sides go towards what they began with, by a share of 1/window; then the round counts. */
void duel_learn(double *d, const double *met, double window, struct duel_round round);

#define LADDER_MOST 10

/* One label after the other: who was before, and with what chance. */
struct ladder {
    uint32_t label[LADDER_MOST];
    double chance[LADDER_MOST];
    size_t n;
};

void ladder_climb(struct ladder *l, uint32_t label, double chance);
double ladder_chance(const struct ladder *l, uint32_t label);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of two labels is right more often, where two learners propose different ones; and the distribution of the label
 * that a sequence of such comparisons chooses. */
#ifndef COMPARISON_H
#define COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Side 0 is the label chosen before the challenger was asked, side 1 the challenger's. A side's share of right answers
 * is taken as a Beta variable. Kept as a tensor of a state: numbers only. */
struct comparison {
    double right[2], shown[2]; /* discounted counts, with the prior */
    double rounds;             /* that were counted */
};
#define COMPARISON_NUMBERS (sizeof(struct comparison) / sizeof(double))

/* What a comparison starts from and how fast it forgets. */
struct comparison_rule {
    double prior;      /* side 1 starts as if shown this many times, once right; side 0 as if shown twice */
    double window;     /* both sides are discounted by 1 - 1/max(100, window * rounds) in a counted round */
    double window_max; /* the window's limit in rounds; 0: none */
};

void comparison_begin(struct comparison *c, const struct comparison_rule *rule);
/* The probability with which the challenger's label is chosen: that its share of right answers times `worth` is the
 * larger one, both taken as normal variables. */
double comparison_chance(const struct comparison *c, double worth);

struct comparison_round {
    int side; /* whose label was shown */
    bool right;
    bool two; /* there are two classes: one of the sides was right */
};
void comparison_learn(struct comparison *c, const struct comparison_rule *rule, struct comparison_round round);

#define DISTRIBUTION_MAX 8

/* The labels proposed in a round, and with what probability each of them is shown. */
struct distribution {
    uint32_t label[DISTRIBUTION_MAX];
    double chance[DISTRIBUTION_MAX];
    size_t n;
};

/* label takes the place of what was chosen before with this probability. */
void distribution_replace(struct distribution *d, uint32_t label, double chance);
double distribution_chance(const struct distribution *d, uint32_t label);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "ensemble/comparison.h"

#include <math.h>

#include "base/exact.h"

#define WINDOW 100       /* rounds that count in full, at least */
#define CHAMPION_SHOWN 2 /* of side 0, before the first round */

/* Phi(z), to 1e-7 (Abramowitz and Stegun 7.1.26). */
static double normal_below(double z)
{
    double t = 1 / (1 + 0.3275911 * fabs(z) * M_SQRT1_2);
    double series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    double tail = 0.5 * series * exact_exp(-z * z / 2);
    return z > 0 ? 1 - tail : tail;
}

void comparison_begin(struct comparison *c, const struct comparison_rule *rule)
{
    *c = (struct comparison){.right = {1, 1}, .shown = {CHAMPION_SHOWN, rule->prior}};
}

double comparison_chance(const struct comparison *c, double worth)
{
    double mean_0 = c->right[0] / c->shown[0], mean_1 = c->right[1] / c->shown[1];
    double variance_0 = mean_0 * (1 - mean_0) / (c->shown[0] + 1),
           variance_1 = mean_1 * (1 - mean_1) / (c->shown[1] + 1);
    double sd = sqrt(fmax(variance_0 + worth * worth * variance_1, 1e-12));
    return normal_below((worth * mean_1 - mean_0) / sd);
}

void comparison_learn(struct comparison *c, const struct comparison_rule *rule, struct comparison_round round)
{
    double window = fmax(WINDOW, rule->window * ++c->rounds);
    double keep = 1 - 1 / (rule->window_max > 0 ? fmin(window, rule->window_max) : window);
    const double shown[] = {CHAMPION_SHOWN, rule->prior};
    for (int side = 0; side < 2; side++) {
        c->right[side] = 1 + (c->right[side] - 1) * keep;
        c->shown[side] = shown[side] + (c->shown[side] - shown[side]) * keep;
    }
    c->right[round.side] += round.right;
    c->shown[round.side]++;
    if (round.two) {
        c->right[1 - round.side] += !round.right;
        c->shown[1 - round.side]++;
    }
}

void distribution_replace(struct distribution *d, uint32_t label, double chance)
{
    size_t at = 0;
    while (at < d->n && d->label[at] != label)
        at++;
    if (at == d->n) {
        d->label[d->n] = label;
        d->chance[d->n++] = 0;
    }
    for (size_t i = 0; i < d->n; i++)
        if (i != at) {
            double moved = d->chance[i] * chance;
            d->chance[i] -= moved;
            d->chance[at] += moved;
        }
}

double distribution_chance(const struct distribution *d, uint32_t label)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->label[i] == label)
            return d->chance[i];
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "duel.h"

#include <math.h>

#include "base/exact.h"

/* Phi(z), to 1e-7 (Abramowitz and Stegun 7.1.26). */
static double normal_below(double z)
{
    double t = 1 / (1 + 0.3275911 * fabs(z) * M_SQRT1_2);
    double series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    double tail = 0.5 * series * exact_exp(-z * z / 2);
    return z > 0 ? 1 - tail : tail;
}

/* How much the challenger is ahead, and the standard deviation of that. */
static double lead(const double *d, double worth, double *ret_sd)
{
    double mean_0 = d[WON_0] / d[MET_0], mean_1 = d[WON_1] / d[MET_1];
    double own = worth * worth * (mean_1 * (1 - mean_1) / (d[MET_1] + 1));
    *ret_sd = sqrt(fmax(mean_0 * (1 - mean_0) / (d[MET_0] + 1) + own, 1e-12));
    return worth * mean_1 - mean_0;
}

double duel_chance_worth(const double *d, double worth)
{
    double sd, ahead = lead(d, worth, &sd);
    return normal_below(ahead / sd);
}

double duel_chance(const double *d)
{
    return duel_chance_worth(d, 1);
}

double duel_gain(const double *d, double deviations)
{
    double sd, ahead = lead(d, 1, &sd);
    return fmax(0, ahead + deviations * sd);
}

void duel_begin(double *d, const double *met)
{
    d[WON_0] = d[WON_1] = 1;
    d[MET_0] = met[0];
    d[MET_1] = met[1];
}

static void count(double *d, int side, bool right)
{
    d[2 * side] += right;
    d[2 * side + 1]++;
}

void duel_learn(double *d, const double *met, double window, struct duel_round round)
{
    double keep = 1 - 1 / window;
    for (int j = 0; j < 2; j++) {
        d[2 * j] = 1 + (d[2 * j] - 1) * keep;
        d[2 * j + 1] = met[j] + (d[2 * j + 1] - met[j]) * keep;
    }
    count(d, round.side, round.right);
    if (round.two)
        count(d, 1 - round.side, !round.right);
}

void ladder_climb(struct ladder *l, uint32_t label, double chance)
{
    size_t at = 0;
    while (at < l->n && l->label[at] != label)
        at++;
    if (at == l->n) {
        l->label[l->n] = label;
        l->chance[l->n++] = 0;
    }
    for (size_t i = 0; i < l->n; i++)
        if (i != at) {
            double moved = l->chance[i] * chance;
            l->chance[i] -= moved;
            l->chance[at] += moved;
        }
}

double ladder_chance(const struct ladder *l, uint32_t label)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->label[i] == label)
            return l->chance[i];
    return 0;
}

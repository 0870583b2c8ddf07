/* SPDX-License-Identifier: BSD-3-Clause */
#include "streaks.h"

#include <math.h>
#include <string.h>

#define KEEP 0.999 /* of pairs of rounds, and of shares */
#define EXCESS 0.1
#define DEVIATIONS 5
#define WINDOW 100 /* rounds of a duel that count fully: at least, */
#define WINDOW_MOST 1000

static const double met[2] = {2, 4}; /* before the first round, with 1 of them right */

static double *duel_of(const struct streaks *r, int which)
{
    return r->numbers + which * STREAKS_DUEL;
}

void streaks_begin(const struct streaks *r)
{
    for (int i = 0; i < STREAKS_DUELS; i++)
        duel_begin(duel_of(r, i), met);
}

void streaks_forget(const struct streaks *r)
{
    r->numbers[STREAKS_GO_ON] = 0;
    memset(r->failed, 0, r->K * sizeof *r->failed);
}

int streaks_which(const struct streaks *r)
{
    return r->numbers[STREAKS_GO_ON] > 0 ? STREAKS_AGAIN : STREAKS_OTHER;
}

/* Of the round before; a model file may claim anything. */
static uint32_t label_before(const struct streaks *r)
{
    return (uint32_t)fmin(fmax(r->numbers[STREAKS_LABEL], 0), r->K - 1);
}

static bool labels_come_in_streaks(const struct streaks *r)
{
    const double *n = r->numbers;
    double more = n[STREAKS_SAME] - n[STREAKS_EXPECTED];
    return more > EXCESS * n[STREAKS_N] && more > DEVIATIONS * sqrt(n[STREAKS_VARIANCE]);
}

uint32_t streaks_label(const struct streaks *r, const real *scores)
{
    uint32_t best = r->K;
    if (!labels_come_in_streaks(r))
        return r->K;
    if (streaks_which(r) == STREAKS_AGAIN)
        return label_before(r);
    for (uint32_t k = 0; k < r->K; k++)
        if (!(r->failed[k] > 0) && (best == r->K || scores[k] > scores[best]))
            best = k;
    return best;
}

double streaks_chance(const struct streaks *r)
{
    return duel_chance(duel_of(r, streaks_which(r)));
}

/* The label of this round is known; maybe that of the one before is, too. */
static void pairs_learn(const struct streaks *r, uint32_t label)
{
    double *n = r->numbers;
    if (n[STREAKS_GO_ON] > 0 && n[STREAKS_KNOWN] > 0) {
        uint32_t before = label_before(r);
        double chance = r->share[before] / n[STREAKS_KNOWN];
        for (int i = STREAKS_N; i <= STREAKS_VARIANCE; i++)
            n[i] *= KEEP;
        n[STREAKS_N]++;
        n[STREAKS_SAME] += before == label;
        n[STREAKS_EXPECTED] += chance;
        n[STREAKS_VARIANCE] += fmax(chance * (1 - chance), 0.01);
    }
    for (uint32_t k = 0; k < r->K; k++)
        r->share[k] *= KEEP;
    r->share[label]++;
    n[STREAKS_KNOWN] = n[STREAKS_KNOWN] * KEEP + 1;
}

void streaks_learn(const struct streaks *r, uint32_t sides, uint32_t label, bool right)
{
    for (int i = 0; i < STREAKS_DUELS; i++) {
        uint32_t side = sides >> (2 * i) & 3;
        double *d = duel_of(r, i);
        if (side != 1 && side != 2)
            continue;
        double window = fmin(fmax(WINDOW, ++d[STREAKS_AGE] / 2), WINDOW_MOST);
        duel_learn(d, met, window, (struct duel_round){(int)side - 1, right, r->K == 2});
    }
    if (r->K == 2 && !right) {
        label = 1 - label;
        right = true;
    }
    if (right) {
        pairs_learn(r, label);
        memset(r->failed, 0, r->K * sizeof *r->failed);
    } else {
        r->failed[label] = 1;
    }
    r->numbers[STREAKS_LABEL] = label;
    r->numbers[STREAKS_GO_ON] = right;
}

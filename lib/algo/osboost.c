/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Online smooth boosting with full information (S.-T. Chen, H.-T. Lin, C.-J. Lu, "An online boosting algorithm with
 * theoretical justifications", ICML 2012), one-versus-all: the skyline of bandit boosting.
 *
 * f_k is the vote of class k's N weak learners, see boosting.h. Told the label y, class y takes a boosting step on
 * (x, +1) and every other class one on (x, -1).
 */
#include "parts/boosting.h"
#include "state/explore.h"

enum { ETA = BOOSTING_SETTINGS };

static const hunch_setting settings[] = {
    BOOSTING_SETTING_TABLE,
    SETTING_REAL("eta", "0.1", 0, 1e3, "learning rate of the votes"),
    SETTINGS_END,
};

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    explore_scores(s, x);
    for (uint32_t k = 0; k < s->K; k++)
        boosting_step(s, x, k, s->scores[k], (struct boosting_lesson){k == y ? 1 : -1, 1, setting_number(s, ETA)});
    weak_meet(s, x);
}

const struct algo algo_osboost = {
    .info = {"osboost", "boosting of weak binary learners, full labels", "Chen, Lin and Lu 2012", 1, settings},
    .tensors = boosting_tensors,
    .shape = boosting_shape,
    .predict = explore_predict_greedy,
    .teach = teach,
    .scores = boosting_scores,
    .derive = weak_derive,
    .extra = &weak_extra,
};

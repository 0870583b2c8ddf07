/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandit boosting (S.-T. Chen, H.-T. Lin, C.-J. Lu, "Boosting with online binary learners for the multiclass bandit
 * problem", ICML 2014).
 *
 * f_k is the vote of class k's N weak learners, see boosting.h; o is drawn from (1 - delta)[k = g] + delta/K. Only
 * class o learns, with y = +1 if right, else -1: a boosting step with votes at the rate eta/p, eta = delta^3/K in the
 * theory. The paper weighs the weak learners' examples by 1/p as well (importance=yes).
 */
#include "parts/boosting.h"
#include "state/explore.h"

enum { DELTA = BOOSTING_SETTINGS, ETA, IMPORTANCE };

static const char *const importance_choices[] = {"no", "yes", NULL};

static const hunch_setting settings[] = {
    BOOSTING_SETTING_TABLE,
    SETTING_REAL("delta", "0.05", 0, 1, "fraction of rounds that explore"),
    SETTING_REAL_OR_AUTO("eta", "auto", 0, 1e3, "learning rate of the votes; auto: delta^3/K"),
    SETTING_CHOICE("importance", "no", importance_choices, "weigh the weak learners' examples by 1/p"),
    SETTINGS_END,
};

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), setting_number(s, DELTA), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double delta = setting_number(s, DELTA), eta = setting_number(s, ETA);
    if (setting_auto(s, ETA))
        eta = delta * delta * delta / s->K;
    explore_scores(s, x);
    boosting_step(
        s, x, c->label, s->scores[c->label],
        (struct boosting_lesson){right ? 1 : -1, setting_choice(s, IMPORTANCE) ? 1 / c->prob : 1, eta / c->prob});
    weak_meet(s, x);
}

const struct algo algo_boost = {
    .info = {"boost", "boosting of weak binary learners", "Chen, Lin and Lu 2014", 0, settings},
    .tensors = boosting_tensors,
    .shape = boosting_shape,
    .predict = predict,
    .learn = learn,
    .scores = boosting_scores,
    .derive = weak_derive,
    .extra = &weak_extra,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Banditron whose exploration rate follows from what happened so far, after H. Valizadegan, R. Jin, S. Wang,
 * "Learning to trade off between exploration and exploitation in multiclass bandit prediction", KDD 2011. The rules
 * below are ours, see docs/reference/algorithms/banditron-adaptive.md.
 *
 * rule=error: gamma_t = gamma (m + 1)/(n + 2), with n and m the rounds that showed the greedy label and their
 *             mistakes, both fading by `memory` in each: the recent error of the greedy label.
 * rule=decay: gamma_t = gamma min(1, (K/t)^(1/3)), the rate of Banditron's analysis.
 * Everything else is Banditron.
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "state/linear.h"

enum { RULE, GAMMA, MEMORY };
enum { RULE_ERROR, RULE_DECAY };
enum { W, SHOWN, MISSED };

static const char *const rule_choices[] = {"error", "decay", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("rule", "error", rule_choices, "what the rate follows: the greedy label's recent error, or time"),
    SETTING_REAL("gamma", "0.5", 0, 1, "the largest fraction of rounds that explore"),
    SETTING_REAL("memory", "0.99", 0, 1, "weight of a round's mistakes one round later (rule=error)"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"shown", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"missed", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    TENSORS_END,
};

static double gamma_now(const struct state *s)
{
    double gamma = setting_number(s, GAMMA);
    if (setting_choice(s, RULE) == RULE_DECAY)
        return gamma * fmin(1, exact_cbrt(s->K / (double)s->round));
    return gamma * (model_numbers(s, MISSED)[0] + 1) / (model_numbers(s, SHOWN)[0] + 2);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), gamma_now(s), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (c->label == c->greedy) {
        double *n = model_numbers(s, SHOWN), *m = model_numbers(s, MISSED), memory = setting_number(s, MEMORY);
        *n = memory * *n + 1;
        *m = memory * *m + !right;
    }
    linear_add(s, W, c->greedy, -1, x);
    if (right)
        linear_add(s, W, c->label, 1 / c->prob, x);
}

const struct algo algo_banditron_adaptive = {
    .info = {"banditron-adaptive", "Banditron that explores as often as it errs", "Valizadegan, Jin and Wang 2011", 0,
             settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = linear_first_scores,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RegCB (D. Foster, A. Agarwal, M. Dudik, H. Luo, R. Schapire, "Practical contextual bandits with regression oracles",
 * ICML 2018), over one ridge regression of the reward per class as in ridge.h.
 *
 * The regressions whose squared loss is within Delta = c0 ln(K (n + 1)) of the best one's, after n rounds learned from,
 * predict f_k +- sqrt(Delta v_k) for label k, with f_k = w_k.x and v_k = x'A_k^-1 x.
 *   rule=optimistic    o = the label with the largest upper bound
 *   rule=elimination   o is drawn evenly from the labels whose upper bound reaches the largest lower bound
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "parts/ridge.h"

enum { RULE, C0, LAMBDA };
enum { OPTIMISTIC, ELIMINATION };

static const char *const rule_choices[] = {"optimistic", "elimination", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("rule", "optimistic", rule_choices,
                   "predict the label with the largest upper bound, or any label that may be best"),
    SETTING_REAL("c0", "0.1", 0, 1e6, "excess squared loss that a regression may have: c0 ln(K n)"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = RIDGE_COVARIANCE(LAMBDA);

/* One of the labels whose upper bound reaches `least`, which at least one does. */
static void draw(struct state *s, double min, hunch_choice *ret)
{
    double count = 0, *P = s->probabilities;
    for (uint32_t k = 0; k < s->K; k++)
        count += P[k] = explore_may(s, k) && s->bounds[k] >= min;
    for (uint32_t k = 0; k < s->K; k++)
        P[k] /= count;
    ret->label = explore_sample(s, P);
    ret->prob = P[ret->label];
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double delta = setting_number(s, C0) * exact_log(s->K * (model_numbers(s, RIDGE_LEARNED)[0] + 1)), min = -INFINITY;
    covariance_read(s, x, 1);
    for (uint32_t k = 0; k < s->K; k++) {
        double width = sqrt(delta * s->variances[k]);
        s->bounds[k] = (real)(s->scores[k] + width);
        min = explore_may(s, k) ? fmax(min, (real)(s->scores[k] - width)) : min;
    }
    if (setting_choice(s, RULE) == ELIMINATION)
        draw(s, min, ret);
    else
        explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

const struct algo algo_regcb = {
    .info = {"regcb", "confidence bounds from near-best regressions", "Foster et al. 2018", 0, settings},
    .tensors = ridge_counted_tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = ridge_learn_counted,
    .scores = covariance_scores,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GLB-OMD (Y.-J. Zhang, S.-A. Xu, P. Zhao, M. Sugiyama, "Generalized linear bandits: almost optimal regret with
 * one-pass update", NeurIPS 2025) for rewards of 0 and 1: upper confidence bounds on a logistic model of each class.
 *
 * mu(z) = 1/(1 + e^-z), s_k = w_k.x, v_k = x'H_k^-1 x; o = argmax s_k + alpha sqrt v_k. Class o takes one step of
 * online mirror descent on the second-order approximation of its loss, then gets the curvature at its new weights:
 *   w_o -= eta (H_o + eta mu'(s_o) x x')^-1 x (mu(s_o) - [right]),   H_o += mu'(w_o.x) x x'.
 * eta = 1 + S for weights of norm S. The paper projects w_o on that ball; here it is not bounded.
 */

#include "base/exact.h"
#include "state/explore.h"
#include "parts/ridge.h"

enum { ALPHA, ETA, LAMBDA };

static const hunch_setting settings[] = {
    SETTING_REAL("alpha", "1", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("eta", "2", 1e-6, 1e6, "size of the steps; in theory 1 + a bound on the norm of the weights"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = {
    .setting = LAMBDA + 1, .precision = ridge_precision, .rule = DIAGONAL_INVERT, .rank = LAMBDA + 2};

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double alpha = setting_number(s, ALPHA);
    covariance_read_scores(s, x, 1);
    covariance_bounds(s, (real)(alpha * alpha));
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

static double mean(double score)
{
    return 1 / (1 + exact_exp(-score));
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    uint32_t o = c->label;
    if (!s->scored)
        covariance_read_scores(s, x, 1);
    if (!x->n)
        return;
    double eta = setting_number(s, ETA), v = covariance_variance(s, o), m = mean(s->scores[o]);
    double gain = -eta * (m - right) / (1 + eta * m * (1 - m) * v);
    double after = mean(s->scores[o] + gain * v), curvature = after * (1 - after);
    covariance_load(s, x, 1);
    covariance_step(s, o, gain, curvature / (1 + curvature * v));
    covariance_flush(s);
}

const struct algo algo_glb_omd = {
    .info = {"glb-omd", "upper confidence bounds, logistic regression", "Zhang et al. 2025", 0, settings},
    .tensors = ridge_tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = learn,
    .scores = covariance_scores,
};

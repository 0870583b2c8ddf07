/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FastCB (D. Foster, A. Krishnamurthy, "Efficient first-order contextual bandits: prediction, allocation, and
 * triangular discrimination", NeurIPS 2021): inverse-gap weighting whose gaps count for more where the best label's
 * loss is small, over a regression with the logarithmic loss.
 *
 * Per class a logistic regression of "right": s_k = w_k.x, predicted loss f_k = 1/(1 + e^s_k). G = gamma n^power with n
 * the number of rounds learned from, g = argmin f_k:
 *   P_k = f_g/(K f_g + G (f_k - f_g)) for k != g, P_g the rest.
 * Class o learns by one Newton step on its Laplace approximation, with h = f_o (1 - f_o) and v = x'S_o x:
 *   S_o^-1 += h x x',  w_o += S_o x (f_o - [wrong]), which is S_o,old x (f_o - [wrong])/(1 + h v).
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "parts/ridge.h"

enum { GAMMA, POWER, LAMBDA };

#define SURE 500 /* scores beyond this count as this, so that no loss is 0 */

static const hunch_setting settings[] = {
    SETTING_REAL("gamma", "10", 0, 1e9, "greed: how fast the probability of labels falls with their loss"),
    SETTING_REAL("power", "0.5", 0, 1, "growth of the greed with rounds: gamma n^power"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = {
    .setting = LAMBDA + 1, .precision = ridge_precision, .rule = DIAGONAL_INVERT, .rank = LAMBDA + 2};

static double loss(double score)
{
    return 1 / (1 + exact_exp(fmin(fmax(score, -SURE), SURE)));
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double n = model_numbers(s, RIDGE_LEARNED)[0];
    covariance_read(s, x, 1);
    uint32_t g = explore_argmax(s, s->scores);
    double min = loss(s->scores[g]);
    for (uint32_t k = 0; k < s->K; k++)
        s->probabilities[k] = fmax(loss(s->scores[k]) - min, 0);
    explore_inverse_gap(s, g, min, explore_greed(setting_number(s, GAMMA), setting_number(s, POWER), n), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    uint32_t o = c->label;
    if (!s->scored)
        covariance_read(s, x, 1);
    double f = loss(s->scores[o]), h = f * (1 - f), shrink = 1 / (1 + h * s->variances[o]);
    model_numbers(s, RIDGE_LEARNED)[0]++;
    if (!x->n)
        return;
    covariance_load(s, x, 1);
    covariance_step(s, o, (f - !right) * shrink, h * shrink);
    covariance_flush(s);
}

const struct algo algo_fastcb = {
    .info = {"fastcb", "inverse-gap weighting, logistic regression", "Foster and Krishnamurthy 2021", 0, settings},
    .tensors = ridge_counted_tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = learn,
    .scores = covariance_scores,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SquareCB (D. Foster, A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits with regression oracles",
 * ICML 2020): inverse-gap weighting over a regression of the reward, one ridge regression per class as in ridge.h.
 *
 * G = gamma n^power with n the number of rounds learned from, g = argmax s_k:
 *   P_k = 1/(K + G (s_g - s_k)) for k != g, P_g the rest.
 */
#include "state/explore.h"
#include "parts/ridge.h"

enum { GAMMA, POWER, LAMBDA };

static const hunch_setting settings[] = {
    SETTING_REAL("gamma", "10", 0, 1e9,
                 "greed: how fast the probability of labels falls with their gap to the best score"),
    SETTING_REAL("power", "0.5", 0, 1, "growth of the greed with rounds: gamma n^power"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = RIDGE_COVARIANCE(LAMBDA);

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double n = model_numbers(s, RIDGE_LEARNED)[0];
    covariance_read(s, x, 1);
    uint32_t g = explore_argmax(s, s->scores);
    for (uint32_t k = 0; k < s->K; k++)
        s->probabilities[k] = (double)s->scores[g] - s->scores[k];
    explore_inverse_gap(s, g, 1, explore_greed(setting_number(s, GAMMA), setting_number(s, POWER), n), ret);
}

const struct algo algo_squarecb = {
    .info = {"squarecb", "inverse-gap weighting, ridge regression", "Foster and Rakhlin 2020", 0, settings},
    .tensors = ridge_counted_tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = ridge_learn_counted,
    .scores = covariance_scores,
};

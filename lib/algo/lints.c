/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thompson sampling with linear models (S. Agrawal, N. Goyal, "Thompson sampling for contextual bandits with linear
 * payoffs", ICML 2013), one ridge regression per class as in ridge.h.
 *
 * w~_k is drawn from N(w_k, spread A_k^-1) and o = argmax w~_k.x. Only w~_k.x decides, so only that number is drawn:
 * from N(w_k.x, sigma_k^2) with sigma_k^2 = spread x'A_k^-1 x, two uniforms per class (Box and Muller).
 * prob is the chance that o wins, by a fixed quadrature over its own draw z:
 *   sum_i weight_i prod_{k != o} Phi((s_o + sigma_o z_i - s_k)/sigma_k).
 * It is for the record: the update does not use it.
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "parts/ridge.h"

#define NODES 64
#define REACH 6.0 /* the quadrature covers [-REACH, REACH] standard deviations */
#define PROB_MIN 1e-6

enum { SPREAD, LAMBDA };

static const hunch_setting settings[] = {
    SETTING_REAL("spread", "0.1", 0, 1e6, "exploration: factor of the covariance from which weights are drawn"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = RIDGE_COVARIANCE(LAMBDA);

/* The chance that all other classes' draws stay below `value`. */
static double chance_below(const struct state *s, uint32_t o, double value)
{
    double product = 1;
    for (uint32_t k = 0; k < s->K && product > 0; k++) {
        double sigma = s->probabilities[k], gap = value - s->scores[k];
        if (k != o && explore_may(s, k))
            product *= sigma > 0 ? erfc(-gap / sigma * M_SQRT1_2) / 2 : gap >= 0;
    }
    return product;
}

/* s->probabilities holds the sigmas. */
static double win_chance(const struct state *s, uint32_t o)
{
    double sum = 0, total = 0;
    for (int i = 0; i < NODES; i++) {
        double z = -REACH + 2 * REACH * (i + 0.5) / NODES, weight = exact_exp(-z * z / 2);
        total += weight;
        sum += weight * chance_below(s, o, s->scores[o] + s->probabilities[o] * z);
    }
    return fmin(fmax(sum / total, PROB_MIN), 1);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double spread = setting_number(s, SPREAD);
    covariance_read(s, x, 1);
    for (uint32_t k = 0; k < s->K; k++) {
        s->probabilities[k] = sqrt(spread * s->variances[k]);
        s->bounds[k] = (real)(s->scores[k] + s->probabilities[k] * rng_normal(&s->rng));
    }
    ret->label = explore_argmax(s, s->bounds);
    ret->greedy = explore_argmax(s, s->scores);
    ret->prob = win_chance(s, ret->label);
}

const struct algo algo_lints = {
    .info = {"lints", "Thompson sampling, ridge regression", "Agrawal and Goyal 2013", 0, settings},
    .tensors = ridge_tensors,
    .covariance = &covariance,
    .predict = predict,
    .chance = win_chance,
    .learn = ridge_learn,
    .scores = covariance_scores,
};

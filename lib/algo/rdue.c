/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDUE: randomized decoding with uniform exploration (Y. Shibukawa, T. Tsuchiya, S. Sakaue, K. Yamanishi, "Bandit and
 * delayed feedback in online structured prediction", 2025), for multiclass labels and the logistic loss.
 *
 * pi = softmax(W x), g its largest label, rho = min(1, 2 (1 - pi_g)); o is drawn from
 *   P_k = q/K + (1 - q) ((1 - rho)[k = g] + rho pi_k).
 * Only when right: G = (pi - e_o) (x) x / p, H += |G|^2, W -= B / sqrt(2 (1e-8 + H)) G.
 */
#include <math.h>

#include "../explore.h"
#include "../linear.h"

enum { B, Q, ROUNDS };
enum { W, H };

static const hunch_setting settings[] = {
    SETTING_REAL("B", "10", 1e-6, 1e6, "size of the steps: a bound on the norm of the weights looked for"),
    SETTING_REAL_OR_AUTO("q", "0.01", 0, 1, "share of rounds that explore; auto: the theorem's B sqrt(K / rounds)"),
    SETTING_REAL("rounds", "0", 0, 1e18, "q=auto: how many rounds there will be; 0: as many as there have been"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"H", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static double q_now(const struct state *s)
{
    double T = setting_number(s, ROUNDS);
    if (!setting_auto(s, Q))
        return setting_number(s, Q);
    return fmin(1, setting_number(s, B) * sqrt(s->K / (T > 0 ? T : (double)s->round)));
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double q = q_now(s), *P = s->probabilities;
    uint32_t g = explore_greedy(s, x);
    explore_softmax(s->scores, s->K, 1, P);
    double rho = fmin(1, 2 * (1 - P[g]));
    for (uint32_t k = 0; k < s->K; k++)
        P[k] = q / s->K + (1 - q) * ((k == g ? 1 - rho : 0) + rho * P[k]);
    ret->label = explore_sample(s, P);
    ret->greedy = g;
    ret->prob = fmin(P[ret->label], 1);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!right)
        return;
    explore_scores(s, x);
    explore_softmax(s->scores, s->K, 1, s->probabilities);
    s->probabilities[c->label] -= 1;
    double rate = linear_adaptive_rate(s, model_numbers(s, H), setting_number(s, B), x, c->prob);
    linear_descend(s, W, rate / c->prob, x);
}

const struct algo algo_rdue = {
    .info = {"rdue", "logistic regression with randomized decoding and uniform exploration", "Shibukawa et al. 2025", 0,
             settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = linear_first_scores,
};

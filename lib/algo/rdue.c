/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDUE: randomized decoding with uniform exploration (Y. Shibukawa, T. Tsuchiya, S. Sakaue, K. Yamanishi, "Bandit and
 * delayed feedback in online structured prediction", 2025), for multiclass labels and the logistic loss.
 *
 * pi = softmax(W x), g its largest label, rho = min(1, 2 (1 - pi_g)); o is drawn from
 *   P_k = q/K + (1 - q) ((1 - rho)[k = g] + rho pi_k).
 * G = (pi - e_o) (x) x / p when right, else 0.
 *   update=ogd   H += |G|^2, W -= B / sqrt(2 (1e-8 + H)) G.
 *   update=ftrl  (section 5, for feedback that comes `delay` = D rounds late) follows the regularised leader with the
 * weights of AdaHedgeD (G. Flaspohler et al., "Online learning with optimism and delay", ICML 2021): W = -(sum of all
 * G)/lambda; with S the sum of the norms of the last D + 1 gradients, in place of the norm of their sum, and a = B^2/2,
 *   lambda += min(S^2/(2 lambda), |G| S/lambda, B |G|)/a.
 * Feedback is taken in the order in which it comes, and G is found at the weights of that moment.
 */
#include <math.h>

#include "state/explore.h"
#include "state/linear.h"

enum { B, Q, ROUNDS, UPDATE, DELAY };
enum { OGD, FTRL };
enum { W, H, LAMBDA, NORMS };

static const char *const update_choices[] = {"ogd", "ftrl", NULL};

static const hunch_setting settings[] = {
    SETTING_REAL("B", "10", 1e-6, 1e6, "size of the steps: a bound on the norm of the best weights"),
    SETTING_REAL_OR_AUTO("q", "0.01", 0, 1, "fraction of rounds that explore; auto: the theorem's B sqrt(K / rounds)"),
    SETTING_REAL("rounds", "0", 0, 1e18, "q=auto: total number of rounds; 0: as many as there have been"),
    SETTING_CHOICE("update", "ogd", update_choices,
                   "gradient steps, or the regularised leader, whose regularisation grows with the delay"),
    SETTING_INTEGER("delay", "0", 0, 10000, "update=ftrl: delay of the feedback in rounds"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"H", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"lambda", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"norms", PER_MODEL, 1, 0, 0, MERGE_MEAN}, /* of the last D + 1 gradients; before them, where the next one goes */
    TENSORS_END,
};

static bool is_ftrl(const struct state *s)
{
    return setting_choice(s, UPDATE) == FTRL;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor >= LAMBDA && !is_ftrl(s))
        inout->kind = ABSENT;
    if (tensor == NORMS)
        inout->lanes = (size_t)setting_number(s, DELAY) + 2;
}

/* update=ftrl: the tensor W holds -(sum of all G). */
static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, W, x, ret);
    if (!is_ftrl(s))
        return;
    double lambda = model_numbers(s, LAMBDA)[0];
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = (real)(lambda > 0 ? ret[k] / lambda : 0);
}

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
    explore_softmax(s, s->scores, 1, P);
    double rho = fmin(1, 2 * (1 - P[g]));
    for (uint32_t k = 0; k < s->K; k++)
        P[k] = explore_may(s, k) ? q / explore_labels(s) + (1 - q) * ((k == g ? 1 - rho : 0) + rho * P[k]) : 0;
    ret->label = explore_sample(s, P);
    ret->greedy = g;
    ret->prob = fmin(P[ret->label], 1);
}

/* A gradient of that norm has come: lambda grows. */
static void hedge(struct state *s, double norm)
{
    double *lambda = model_numbers(s, LAMBDA), *next = model_numbers(s, NORMS), *norms = next + 1, sum = 0;
    size_t n = (size_t)setting_number(s, DELAY) + 1;
    norms[(size_t)*next] = norm;
    *next = fmod(*next + 1, (double)n);
    for (size_t i = 0; i < n; i++)
        sum += norms[i];
    double cost = setting_number(s, B) * norm, a = setting_number(s, B) * setting_number(s, B) / 2;
    if (*lambda > 0)
        cost = fmin(cost, fmin(sum * sum / 2, norm * sum) / *lambda);
    *lambda += cost / a;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double sum = 0, rate = 1, *h = s->probabilities;
    if (!right) {
        if (is_ftrl(s))
            hedge(s, 0);
        return;
    }
    explore_scores(s, x);
    explore_softmax(s, s->scores, 1, h);
    h[c->label] -= 1;
    for (uint32_t k = 0; k < s->K; k++)
        sum += h[k] * h[k];
    if (is_ftrl(s))
        hedge(s, sqrt(sum * vec_norm2(x)) / c->prob);
    else
        rate = linear_adaptive_rate(s, model_numbers(s, H), setting_number(s, B), x, c->prob);
    linear_descend(s, W, rate / c->prob, x);
}

const struct algo algo_rdue = {
    .info = {"rdue", "logistic regression, randomized decoding", "Shibukawa et al. 2025", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
};

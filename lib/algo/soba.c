/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOBA, the second-order Banditron algorithm (A. Beygelzimer, F. Orabona, C. Zhang, "Efficient online bandit
 * multiclass learning with O(sqrt T) regret", ICML 2017).
 *
 * theta = 0, A = a, W = theta / A, entry by entry. o is drawn as Banditron draws it. Only when right, with r the best
 * label other than o, d = s_r - s_o, and v = z'A^-1 z for z = (e_r - e_o) (x) x / sqrt p:
 *   m = (d^2 + 2 d) / (p (1 + v));  if M + m >= 0 (M the sum of accepted m): accept:
 *   M += m;  theta_o += x/p, theta_r -= x/p;  both classes' A get x_j^2/p.
 * matrix=full has A over features times classes, A += z z', and W = A^-1 theta by a step of recursive least squares:
 * with g = A^-1 z: W += g (1/sqrt p - <z,W>) / (1 + v), A^-1 -= g g' / (1 + v), here for z = (e_o - e_r) (x) x / sqrt
 * p. matrix=kernel keeps the accepted rounds themselves (gram.h) instead of A. margin=author keeps the books of the
 * authors' code: rounds in which the greedy label was wrong are always accepted and never enter M. margin=always
 * accepts everything. gamma=auto (appendix A): gamma_t = min(1, sqrt(K (1 + L) / t)), L the sum of the accepted rounds'
 * z'A^-1 z with A as it is after the step; v/(1+v) for full matrices and kernels, and with adapt=rank-one for all. With
 * rounds = T that is known beforehand, gamma=auto is that of Theorem 4 (a = X^2, d features so far):
 * min(1, sqrt(d K^2 a ln T / T)), and min(1, (d K^2 a loss ln T / T^2)^(1/3)) where the best weights' hinge loss is
 * told.
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "covariance/gram.h"

enum { MATRIX_FORM, GAMMA, A0, MARGIN, ADAPT, ROUNDS, HINGE, KERNEL };
enum { FORM_DIAG };
enum { ADAPT_AFTER, ADAPT_RANK_ONE };
enum { MARGIN_PAPER, MARGIN_AUTHOR, MARGIN_ALWAYS };
enum { SUM_M = COVARIANCE_TENSORS, SUM_V, MARGIN_UPDATES, MISTAKE_UPDATES };

static const char *const matrix_choices[] = {"diag", "full", "kernel", NULL};
static const char *const margin_choices[] = {"paper", "author", "always", NULL};
static const char *const adapt_choices[] = {"paper", "rank-one", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "representation of the matrix A"),
    SETTING_REAL_OR_AUTO("gamma", "0.05", 0, 1,
                         "fraction of rounds that explore; auto: falls as the paper's appendix says"),
    SETTING_REAL("a", "1", 1e-9, 1e9, "what the diagonal of A starts from"),
    SETTING_CHOICE("margin", "paper", margin_choices,
                   "right answers to learn from: the paper's test, the "
                   "authors' code's, or all"),
    SETTING_CHOICE("adapt", "paper", adapt_choices,
                   "gamma=auto, matrix=diag: a round adds z'A^-1 z after its step, or v/(1+v)"),
    SETTING_REAL("rounds", "0", 0, 1e18, "gamma=auto: total number of rounds, for the theorems' gamma; 0: unknown"),
    SETTING_REAL("loss", "0", 0, 1e18,
                 "gamma=auto, rounds: the hinge loss of the best weights (Theorem 4); 0: unknown"),
    GRAM_SETTING_TABLE("500"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "theta", "A", "full_V"),      {"M", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"sum_v", PER_MODEL, 1, 1, 0, MERGE_SUM},           {"margin_updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"mistake_updates", PER_MODEL, 1, 1, 0, MERGE_SUM}, TENSORS_END,
};

static double precision(const struct state *s)
{
    return setting_number(s, A0);
}

static const struct covariance_use covariance = {
    .setting = MATRIX_FORM, .precision = precision, .rule = DIAGONAL_SUMS, .joint = true, .kernel = KERNEL};

static double gamma_now(const struct state *s)
{
    if (!setting_auto(s, GAMMA))
        return setting_number(s, GAMMA);
    double T = setting_number(s, ROUNDS), loss = setting_number(s, HINGE);
    double size = T > 1 ? (double)s->features * s->K * s->K * setting_number(s, A0) * exact_log(T) / T : 0;
    if (T > 1 && size > 0)
        return fmin(1, loss > 0 ? exact_pow(size * loss / T, 1.0 / 3) : sqrt(size));
    return fmin(1, sqrt(s->K * (1 + model_numbers(s, SUM_V)[0]) / (double)s->round));
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), gamma_now(s), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!right || s->K < 2 || !covariance_moves(s, x))
        return;
    explore_scores(s, x);
    int rule = setting_choice(s, MARGIN);
    uint32_t o = c->label, r = explore_rival(s->scores, s->K, o);
    double p = c->prob, d = (double)s->scores[r] - s->scores[o];
    const struct joint z = {NULL, o, r, p};
    covariance_joint_load(s, x, &z);
    double v = covariance_joint_variance(s), m = (d * d + 2 * d) / (p * (1 + v)), *M = model_numbers(s, SUM_M);
    bool greedy_wrong = c->greedy != o;
    if (rule == MARGIN_AUTHOR && greedy_wrong)
        m = 0;
    else if (rule != MARGIN_ALWAYS && *M + m < 0)
        return;
    *M += m;
    model_numbers(s, greedy_wrong ? MISTAKE_UPDATES : MARGIN_UPDATES)[0]++;
    covariance_joint_step(s, 1 / p, 1 / p, -d);
    bool exact = setting_auto(s, GAMMA) && setting_choice(s, MATRIX_FORM) == FORM_DIAG &&
                 setting_choice(s, ADAPT) == ADAPT_AFTER; /* of one matrix, v/(1+v) is that too */
    model_numbers(s, SUM_V)[0] += exact ? covariance_joint_after(s, x, &z) : v / (1 + v);
}

const struct algo algo_soba = {
    .info = {"soba", "second-order Banditron", "Beygelzimer, Orabona and Zhang 2017", 0, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = learn,
    .scores = covariance_scores,
};

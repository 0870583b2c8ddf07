/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confidit (K. Crammer, C. Gentile, "Multiclass classification with bandit feedback using adaptive regularization",
 * ICML 2011; Machine Learning 2013).
 *
 * Per class A_i = (1+alpha)^2 I and w_i = 0. With f_i = w_i.x and q_i = x'A_i^-1 x:
 *   1. project: w'_i = w_i + c_i A_i^-1 x, so that f'_i = f_i + c_i q_i (c_i = 0 without projection);
 *   2. o = argmax f'_i + e_i, where e_i^2 =
 *        eta q_i (width=eta), eta log(t+1) q_i (log),
 *        2 q_i ((1+alpha)^2/2 norm + (1+alpha)^2/2 T + 9 (1+alpha)^2 log((t+4)/delta)) (theory; T below),
 *        the same with (1+alpha)^2 Q_(t-1) added in the bracket (modified), Q_t = approx t^approx_power a bound on the
 *        sum of the approximation errors of rounds 1 to t, which the theorem wants to be sublinear;
 *   3. sign = +1 if right, else -1 (for alpha < 1: +1 all the same with probability (1-alpha)/2);
 *   4. A_o += x x', w_o = A_o^-1 (A_o,old w'_o + sign x), T += x'A_o^-1 x.
 * update=mistakes leaves out 4 and what 1 moved where sign f'_o > 0: the paper calls its learners "mistake driven (at
 * most)", and so its tables of text come out (docs/reference/algorithms/confidit.md).
 * matrix=kernel keeps the examples that each class was updated with (gram.h) instead of A, and those that 1 moved it
 * by. V holds A^-1, its diagonal or all of it. Nothing of the projection is kept until the feedback comes. The versions
 * of the paper's Table 2: 1 width=theory,project=yes,matrix=full; 2 matrix=full; 3 width=theory,matrix=full; 4
 * project=yes,matrix=full; 5 the defaults.
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "covariance/gram.h"

enum {
    MATRIX_FORM,
    ETA,
    ALPHA,
    WIDTH,
    PROJECT,
    DELTA,
    NORM,
    APPROX,
    UPDATE,
    KERNEL,
    RANK = KERNEL + GRAM_SETTINGS,
    APPROX_POWER
};
enum { WIDTH_ETA, WIDTH_LOG, WIDTH_THEORY, WIDTH_MODIFIED };
enum { PROJECT_NO, PROJECT_YES, PROJECT_CLIP };
enum { UPDATE_ALWAYS, UPDATE_MISTAKES };
enum { SUM_T = COVARIANCE_TENSORS };

static const char *const matrix_choices[] = {"diag", "full", "kernel", "span", NULL};
static const char *const width_choices[] = {"eta", "log", "theory", "modified", NULL};
static const char *const project_choices[] = {"no", "yes", "clip", NULL};
static const char *const update_choices[] = {"always", "mistakes", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "representation of the matrices A"),
    SETTING_REAL("eta", "0.1", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("alpha", "1", -0.99, 1, "the noise model's parameter; 1 in all of the paper's experiments"),
    SETTING_CHOICE("width", "eta", width_choices,
                   "the width: eta q, eta log(t+1) q, the bound that the paper proves, or that with approx"),
    SETTING_CHOICE("project", "no", project_choices,
                   "bring scores into their range before choosing: all together (yes) or each on its own (clip)"),
    SETTING_REAL("delta", "0.05", 1e-12, 1, "theory, modified: the probability that the bound fails"),
    SETTING_REAL("norm", "1", 0, 1e9, "theory, modified: a bound on the squared norm of the best weights"),
    SETTING_REAL("approx", "1", 0, 1e12,
                 "modified: a bound on the cumulative approximation error, where approx_power is 0"),
    SETTING_CHOICE("update", "always", update_choices,
                   "learn in every round (Algorithm 1), or when the sign of the predicted label's score is wrong"),
    GRAM_SETTING_TABLE("200"),
    COVARIANCE_SETTING_RANK,
    SETTING_REAL("approx_power", "0", 0, 1, "modified: the bound after t rounds is approx t^approx_power"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "b", "V", "full_V"),
    {"T", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static double precision(const struct state *s)
{
    double a = 1 + setting_number(s, ALPHA);
    return a * a;
}

static const struct covariance_use covariance = {
    .setting = MATRIX_FORM, .precision = precision, .rule = DIAGONAL_SOLVE, .kernel = KERNEL, .rank = RANK};

/* lambda of the exact projection on { f'_i >= -alpha, sum f'_i = 1 + alpha - K alpha }, which has the form
 * f'_i = max(-alpha, f_i + lambda q_i). Starting with every class free, those that fall below -alpha are bound and
 * lambda is solved again; this is Newton's method on a convex increasing function, so it ends after finitely many
 * turns and never frees a class that it bound. is_free: scratch. */
static double projection_lambda(const struct state *s, const real *f, const real *q, real *is_free)
{
    double alpha = setting_number(s, ALPHA), lambda = 0;
    uint32_t free_before = s->K + 1, free_now = s->K;
    for (uint32_t k = 0; k < s->K; k++)
        is_free[k] = 1;
    while (free_now < free_before && free_now > 0) {
        double sum_f = 0, sum_q = 0;
        for (uint32_t k = 0; k < s->K; k++)
            if (is_free[k] != 0) {
                sum_f += f[k];
                sum_q += q[k];
            }
        if (sum_q <= 0)
            break;
        /* The bound ones stand at -alpha and leave the rest to those that are free. */
        lambda = (1 + alpha - alpha * free_now - sum_f) / sum_q;
        free_before = free_now;
        for (uint32_t k = 0; k < s->K; k++)
            if (is_free[k] != 0 && f[k] + lambda * q[k] < -alpha) {
                is_free[k] = 0;
                free_now--;
            }
    }
    return lambda;
}

/* f' from f and q: all together, each score alone into [-alpha, 1], or as they are. */
static void project(const struct state *s, const real *f, const real *q, real *ret)
{
    double alpha = setting_number(s, ALPHA);
    int how = setting_choice(s, PROJECT);
    double lambda = how == PROJECT_YES ? projection_lambda(s, f, q, ret) : 0;
    for (uint32_t k = 0; k < s->K; k++) {
        ret[k] = f[k];
        if (q[k] > 0 && how == PROJECT_YES)
            ret[k] = (real)fmax(-alpha, f[k] + lambda * q[k]);
        else if (q[k] > 0 && how == PROJECT_CLIP)
            ret[k] = (real)fmin(fmax(f[k], -alpha), 1);
    }
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real *f = ret + s->lanes, *q = ret + 2 * s->lanes;
    if (setting_choice(s, PROJECT) == PROJECT_NO) {
        covariance_scores(s, x, ret);
        return;
    }
    covariance_peek(s, x, f, q);
    project(s, f, q, ret);
}

/* Scores, variances and (in bounds) projected scores of x; in steps, how far the projection moves: w'_i = w_i +
 * c_i A_i^-1 x. */
static void examine(struct state *s, const struct vec *x)
{
    covariance_read(s, x, 1);
    project(s, s->scores, s->variances, s->bounds);
    for (uint32_t k = 0; k < s->K; k++)
        s->steps[k] = s->variances[k] > 0 ? (s->bounds[k] - s->scores[k]) / s->variances[k] : 0;
}

/* e^2 / q of this round. */
static double width_factor(const struct state *s)
{
    double eta = setting_number(s, ETA), a = 1 + setting_number(s, ALPHA), t = (double)s->round;
    int width = setting_choice(s, WIDTH);
    if (width == WIDTH_ETA)
        return eta;
    if (width == WIDTH_LOG)
        return eta * exact_log(t + 1);
    double bracket = setting_number(s, NORM) / 2 + model_numbers(s, SUM_T)[0] / 2 +
                     9 * exact_log((t + 4) / setting_number(s, DELTA));
    if (width == WIDTH_MODIFIED)
        bracket += setting_number(s, APPROX) * exact_pow(fmax(t - 1, 0), setting_number(s, APPROX_POWER));
    return 2 * a * a * bracket;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    examine(s, x);
    double factor = width_factor(s);
    uint32_t greedy = explore_argmax(s, s->bounds);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] += (real)sqrt(factor * fmax(s->variances[k], 0));
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = greedy;
}

/* f'_k, after examine. */
static double projected_score(const struct state *s, uint32_t k)
{
    return s->scores[k] + s->steps[k] * s->variances[k];
}

static const real *scores_left(struct state *s)
{
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = (real)projected_score(s, k);
    return s->bounds;
}

static double sign_of(struct state *s, bool right)
{
    double alpha = setting_number(s, ALPHA);
    if (right)
        return 1;
    return alpha < 1 && rng_uniform(&s->rng) < (1 - alpha) / 2 ? 1 : -1;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    uint32_t o = c->label;
    if (!s->scored)
        examine(s, x);
    double sign = sign_of(s, right);
    if (setting_choice(s, UPDATE) == UPDATE_MISTAKES && sign * projected_score(s, o) > 0)
        return;
    if (!covariance_moves(s, x))
        return;
    covariance_load(s, x, 1);
    for (uint32_t k = 0; setting_choice(s, PROJECT) && k < s->K; k++) /* what the projection moved stays moved */
        if (k != o && s->steps[k] != 0)
            covariance_step(s, k, s->steps[k], 0);
    model_numbers(s, SUM_T)[0] += covariance_regress(s, o, s->steps[o], sign, projected_score(s, o));
    covariance_flush(s);
}

const struct algo algo_confidit = {
    .info = {"confidit", "upper confidence bounds, a matrix per class", "Crammer and Gentile 2011, 2013", 0, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .scores_left = scores_left,
};

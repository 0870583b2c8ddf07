/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Newtron (E. Hazan, S. Kale, "Newtron: an efficient bandit algorithm for online multiclass prediction", NIPS 2011);
 * matrix=diag is PNewtron.
 *
 * q = softmax(alpha W x), P = (1-gamma) q + gamma/K. Two draws in every round: explore or not; then a uniform label or
 * one from q. Gradient estimate G = h (x) x with
 *   right: h = (1-q_o)/P_o (1/K - [k = o]),   kappa = beta P_o        (estimator=paper; its expectation is the
 *   wrong: h =     -q_o/P_o (1/K - [k = o]),  kappa = beta             logistic gradient)
 * estimator=author has -1/K in place of 1/K - 1 for the predicted label, as the SOBA authors' code does.
 *   b += G (1 - kappa <G,W>)   (estimator=author: b += G in rounds that explored)
 *   A += kappa G^2,  U = -b / A;  matrix=full has A += kappa G G' over features times classes.
 * step=argmin, the paper's: W minimises <b,W> + 1/2 <W,A W> over the ball ||W|| <= D, see covariance_joint_ball; a
 * round passes over all weights. step=rescale, the SOBA authors': W = U D/||U||, where the squared norm of U is kept up
 * to date, so that a round touches the active features only.
 */
#include <math.h>

#include "covariance/covariance.h"
#include "state/explore.h"
#include "state/linear.h"

enum { MATRIX_FORM, GAMMA, ALPHA, BETA, D, ESTIMATOR, STEP };
enum { ESTIMATOR_PAPER, ESTIMATOR_AUTHOR };
enum { STEP_ARGMIN, STEP_RESCALE };
enum { U = COVARIANCE_W, W = COVARIANCE_TENSORS, MU, NORM2 };

#define NORM_REFRESH 1024 /* rounds between exact sums of the squared norm */

static const char *const matrix_choices[] = {"diag", "full", NULL};
static const char *const estimator_choices[] = {"paper", "author", NULL};
static const char *const step_choices[] = {"argmin", "rescale", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "representation of the matrix A"),
    SETTING_REAL("gamma", "0.05", 0, 1, "fraction of rounds that explore"),
    SETTING_REAL("alpha", "10", 1e-6, 1e6, "how sharply the softmax follows the scores"),
    SETTING_REAL("beta", "0.01", 0, 1e6, "weight of the second-order part"),
    SETTING_REAL("D", "1", 1e-9, 1e9, "largest norm of the weights; 1/D is what the diagonal of A starts from"),
    SETTING_CHOICE("estimator", "paper", estimator_choices, "the gradient estimate: the paper's or the SOBA authors'"),
    SETTING_CHOICE("step", "argmin", step_choices,
                   "weights: the minimiser over the ball of radius D (the paper's), or the unconstrained minimiser "
                   "rescaled to norm D (the SOBA authors')"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("U", "b", "A", "full_V"),
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_DERIVE},
    {"mu", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    {"norm2", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    TENSORS_END,
};

static double precision(const struct state *s)
{
    return 1 / setting_number(s, D);
}

static const struct covariance_use covariance = {
    .setting = MATRIX_FORM, .precision = precision, .rule = DIAGONAL_NEGATIVE, .joint = true};

static bool is_argmin(const struct state *s)
{
    return setting_choice(s, STEP) == STEP_ARGMIN;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == W && !is_argmin(s))
        inout->kind = ABSENT;
}

/* step=rescale: what turns U into W. */
static double scale(const struct state *s)
{
    double norm = sqrt(fmax(model_numbers(s, NORM2)[0], 0));
    return norm > 0 ? setting_number(s, D) / norm : 0;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    if (is_argmin(s)) {
        linear_scores(s, W, x, ret);
        return;
    }
    covariance_scores(s, x, ret);
    real c = (real)scale(s);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= c;
}

/* After q was computed, into s->probabilities. */
static double chance(const struct state *s, uint32_t label)
{
    double gamma = setting_number(s, GAMMA);
    return (1 - gamma) * s->probabilities[label] + gamma / explore_labels(s);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double gamma = setting_number(s, GAMMA), *q = s->probabilities;
    scores(s, x, s->scores);
    s->scored = true;
    explore_softmax(s, s->scores, setting_number(s, ALPHA), q);
    bool explore = rng_uniform(&s->rng) < gamma;
    ret->label = explore ? explore_uniform(s) : explore_sample(s, q);
    ret->greedy = explore_best(s, s->scores);
    ret->prob = chance(s, ret->label);
    ret->note = explore ? NOTE_EXPLORED : 0;
}

/* norm2 from U itself: now and then, against drift, and after a merge. */
static void derive(struct state *s)
{
    double sum = 0;
    for (size_t j = 0; j < s->features; j++) {
        const real *u = linear_row(s, U, (uint32_t)j);
        for (uint32_t k = 0; k < s->K; k++)
            sum += (double)u[k] * u[k];
    }
    model_numbers(s, NORM2)[0] = sum;
    if (is_argmin(s))
        covariance_joint_ball(s, W, setting_number(s, D), model_numbers(s, MU));
}

/* h, the gradient estimate's factors per class, into s->probabilities. */
static void estimate(struct state *s, uint32_t o, double p, bool right)
{
    double *h = s->probabilities, q = h[o], c = (right ? 1 - q : -q) / (s->K * p);
    for (uint32_t k = 0; k < s->K; k++)
        h[k] = c;
    h[o] = setting_choice(s, ESTIMATOR) == ESTIMATOR_AUTHOR ? -c : -c * (s->K - 1);
}

/* <h (x) x, U>: W is a multiple of U, or the scores of U are found for it. */
static double inner_of(struct state *s, const struct vec *x, double inner)
{
    const double *h = s->probabilities;
    double shrunk = is_argmin(s) ? 0 : scale(s), sum = 0;
    if (shrunk > 0)
        return inner / shrunk;
    covariance_scores(s, x, s->bounds);
    for (uint32_t k = 0; k < s->K; k++)
        sum += h[k] * s->bounds[k];
    return sum;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double *h = s->probabilities;
    if (!s->scored) {
        scores(s, x, s->scores);
        explore_softmax(s, s->scores, setting_number(s, ALPHA), h);
    }
    double kappa = setting_number(s, BETA) * (right ? c->prob : 1), inner = 0;
    estimate(s, c->label, c->prob, right);
    for (uint32_t k = 0; k < s->K; k++)
        inner += h[k] * s->scores[k];
    bool author = setting_choice(s, ESTIMATOR) == ESTIMATOR_AUTHOR;
    double first = author && c->note & NOTE_EXPLORED ? 1 : 1 - kappa * inner;
    if (!x->n)
        return;
    inner = inner_of(s, x, inner);
    const struct joint G = {h, 0, 0, 1};
    covariance_joint_load(s, x, &G);
    model_numbers(s, NORM2)[0] += covariance_joint_step(s, -first, kappa, inner);
    if (is_argmin(s))
        covariance_joint_ball(s, W, setting_number(s, D), model_numbers(s, MU));
    else if (s->round % NORM_REFRESH == 0)
        derive(s);
}

const struct algo algo_newtron = {
    .info = {"newtron", "online Newton steps on the logistic loss", "Hazan and Kale 2011", 0, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .shape = shape,
    .predict = predict,
    .chance = chance,
    .learn = learn,
    .scores = scores,
    .derive = derive,
};

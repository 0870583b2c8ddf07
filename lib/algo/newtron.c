/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Newtron (E. Hazan, S. Kale, "Newtron: an efficient bandit algorithm for online multiclass prediction", NIPS 2011);
 * matrix=diag is PNewtron.
 *
 * q = softmax(alpha W x), P = (1-gamma) q + gamma/K. Two draws in every round: explore or not; then a uniform label or
 * one from q. Gradient estimate G = h (x) x with
 *   right: h = (1-q_o)/P_o (1/K - [k = o]),   kappa = beta P_o        (estimator=paper; its expectation is the
 *   wrong: h =     -q_o/P_o (1/K - [k = o]),  kappa = beta             logistic gradient)
 * estimator=author has -1/K in place of 1/K - 1 for the shown label, as the SOBA authors' code does.
 *   b += G (1 - kappa <G,W>)   (rounds that explored: b += G)
 *   A += kappa G^2,  W' = -b / A,  W = W' D/||W'|| (step=rescale) or only if ||W'|| > D (step=project).
 * matrix=full has A += kappa G G' over features times classes. The paper minimises its quadratic over the ball; here,
 * as in the diagonal code of the SOBA authors, the unconstrained minimiser W' is scaled back to it. U holds W'; its
 * squared norm is kept up to date, so that a round touches the active features only.
 */
#include <math.h>

#include "../explore.h"
#include "../full.h"
#include "../linear.h"

enum { MATRIX_FORM, GAMMA, ALPHA, BETA, D, ESTIMATOR, STEP };
enum { FORM_DIAG, FORM_FULL };
enum { ESTIMATOR_PAPER, ESTIMATOR_AUTHOR };
enum { STEP_RESCALE, STEP_PROJECT };
enum { U, B, A, FULL_V, FULL_LOW, NORM2 };

#define EXPLORED 1        /* the choice's note */
#define NORM_REFRESH 1024 /* rounds between exact sums of the squared norm */

static const char *const matrix_choices[] = {"diag", "full", NULL};
static const char *const estimator_choices[] = {"paper", "author", NULL};
static const char *const step_choices[] = {"rescale", "project", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "what is kept of the matrix A"),
    SETTING_REAL("gamma", "0.05", 0, 1, "share of rounds that explore"),
    SETTING_REAL("alpha", "10", 1e-6, 1e6, "how sharply the softmax follows the scores"),
    SETTING_REAL("beta", "0.01", 0, 1e6, "weight of the second-order part"),
    SETTING_REAL("D", "1", 1e-9, 1e9, "norm of the weights"),
    SETTING_CHOICE("estimator", "paper", estimator_choices, "the gradient estimate: the paper's or the SOBA authors'"),
    SETTING_CHOICE("step", "project", step_choices, "weights: always rescaled to norm D, or projected on that ball"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"U", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"b", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"A", PER_FEATURE, 1, CLASSES, 1, MERGE_SUM},
    {"full_V", MATRIX, 1, CLASSES, 1, MERGE_MEAN},
    {"full_V_low", MATRIX, 1, CLASSES, 0, MERGE_MEAN},
    {"norm2", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool full = setting_choice(s, MATRIX_FORM) == FORM_FULL;
    if (tensor == A)
        inout->initial = 1 / setting_number(s, D);
    if (tensor == FULL_V)
        inout->initial = setting_number(s, D);
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == A || tensor == B : tensor == FULL_V || tensor == FULL_LOW)
        inout->kind = ABSENT;
}

/* What turns U into W. */
static double scale(const struct state *s)
{
    double norm = sqrt(fmax(model_numbers(s, NORM2)[0], 0)), radius = setting_number(s, D);
    if (norm <= 0 || (norm <= radius && setting_choice(s, STEP) == STEP_PROJECT))
        return norm > 0 ? 1 : 0;
    return radius / norm;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, U, x, ret);
    real c = (real)scale(s);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= c;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double gamma = setting_number(s, GAMMA), *q = s->chances;
    scores(s, x, s->scores);
    s->scored = true;
    explore_softmax(s->scores, s->K, setting_number(s, ALPHA), q);
    bool explore = rng_uniform(&s->rng) < gamma;
    ret->label = explore ? (uint32_t)rng_below(&s->rng, s->K) : explore_sample(s, q);
    ret->greedy = explore_first(s->scores, s->K);
    ret->prob = (1 - gamma) * q[ret->label] + gamma / s->K;
    ret->note = explore ? EXPLORED : 0;
}

static void norm_refresh(struct state *s)
{
    double sum = 0;
    for (size_t j = 0; j < s->features; j++) {
        const real *u = linear_row(s, U, (uint32_t)j);
        for (uint32_t k = 0; k < s->K; k++)
            sum += (double)u[k] * u[k];
    }
    model_numbers(s, NORM2)[0] = sum;
}

/* h, the gradient estimate's factors per class, into s->chances. */
static void estimate(struct state *s, uint32_t o, double p, bool right)
{
    double *h = s->chances, q = h[o], c = (right ? 1 - q : -q) / (s->K * p);
    for (uint32_t k = 0; k < s->K; k++)
        h[k] = c;
    h[o] = setting_choice(s, ESTIMATOR) == ESTIMATOR_AUTHOR ? -c : -c * (s->K - 1);
}

static void step(struct state *s, const struct vec *x, double first, double second)
{
    const double *h = s->chances;
    for (uint32_t k = 0; k < s->K; k++) {
        s->steps[k] = (real)(first * h[k]);
        s->bounds[k] = (real)(second * h[k] * h[k]);
    }
    model_numbers(s, NORM2)[0] += linear_newton(s, U, B, A, s->steps, s->bounds, s->widths, x);
}

/* U = -A^-1 b after b += first G and A += kappa G G', from U before: with g = A^-1 G and r = <G,g>,
 * U += g (-first + kappa (first r - <G,U>) / (1 + kappa r)). */
static void step_full(struct state *s, const struct vec *x, double first, double kappa, double inner_U)
{
    real *g = s->full->g;
    full_load_outer(s, x, s->chances);
    double r = full_mul(s, FULL_V, FULL_LOW, 0, g);
    double c = -first + kappa * (first * r - inner_U) / (1 + kappa * r);
    model_numbers(s, NORM2)[0] += full_add_outer(s, U, c, g);
    full_update(s, FULL_V, FULL_LOW, 0, -kappa / (1 + kappa * r), g);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!s->scored) {
        scores(s, x, s->scores);
        explore_softmax(s->scores, s->K, setting_number(s, ALPHA), s->chances);
    }
    double kappa = setting_number(s, BETA) * (right ? c->prob : 1), inner = 0;
    estimate(s, c->label, c->prob, right);
    for (uint32_t k = 0; k < s->K; k++)
        inner += s->chances[k] * s->scores[k];
    double first = c->note & EXPLORED ? 1 : 1 - kappa * inner, shrunk = scale(s);
    if (!x->n)
        return;
    if (setting_choice(s, MATRIX_FORM) == FORM_FULL)
        step_full(s, x, first, kappa, shrunk > 0 ? inner / shrunk : 0);
    else
        step(s, x, first, kappa);
    if (s->round % NORM_REFRESH == 0)
        norm_refresh(s);
}

const struct algo algo_newtron = {
    .info = {"newtron", "online Newton steps on the logistic loss", "Hazan and Kale 2011", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
};

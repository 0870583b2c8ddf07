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
 *        the same with (1+alpha)^2 approx added in the bracket (modified);
 *   3. sign = +1 if right, else -1 (for alpha < 1: +1 all the same with probability (1-alpha)/2);
 *   4. A_o += x x', w_o = A_o^-1 (A_o,old w'_o + sign x), T += x'A_o^-1 x.
 * update=mistakes leaves out 4 and what 1 moved where sign f'_o > 0: the paper calls its learners "mistake driven (at
 * most)", and so its tables of text come out (docs/algorithms/confidit.md).
 * matrix=kernel keeps the examples that each class was updated with (gram.h) instead of A; it does not project.
 * V holds A^-1, its diagonal or all of it. Nothing of the projection is kept until the feedback comes.
 * The versions of the paper's Table 2: 1 width=theory,project=yes,matrix=full; 2 matrix=full;
 * 3 width=theory,matrix=full; 4 project=yes,matrix=full; 5 the defaults.
 */
#include <math.h>

#include "../explore.h"
#include "../full.h"
#include "../gram.h"
#include "../linear.h"

enum { MATRIX_FORM, ETA, ALPHA, WIDTH, PROJECT, DELTA, NORM, APPROX, UPDATE, KERNEL };
enum { FORM_DIAG, FORM_FULL, FORM_KERNEL };
enum { WIDTH_ETA, WIDTH_LOG, WIDTH_THEORY, WIDTH_MODIFIED };
enum { PROJECT_NO, PROJECT_YES, PROJECT_CLIP };
enum { UPDATE_ALWAYS, UPDATE_MISTAKES };
enum { W, V, FULL_V, FULL_LOW, SUM_T };

static const char *const matrix_choices[] = {"diag", "full", "kernel", NULL};
static const char *const width_choices[] = {"eta", "log", "theory", "modified", NULL};
static const char *const project_choices[] = {"no", "yes", "clip", NULL};
static const char *const update_choices[] = {"always", "mistakes", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "what is kept of the matrices A"),
    SETTING_REAL("eta", "0.1", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("alpha", "1", -0.99, 1, "the noise model's parameter; 1 in all of the paper's experiments"),
    SETTING_CHOICE("width", "eta", width_choices,
                   "the width: eta q, eta log(t+1) q, the bound that the paper proves, or that with approx"),
    SETTING_CHOICE("project", "no", project_choices,
                   "bring scores into their range before choosing: all together (yes) or each on its own (clip)"),
    SETTING_REAL("delta", "0.05", 1e-12, 1, "theory, modified: the chance that the bound fails"),
    SETTING_REAL("norm", "1", 0, 1e9, "theory, modified: a bound on the squared norm of the best weights"),
    SETTING_REAL("approx", "1", 0, 1e12, "modified: a bound on the cumulative approximation error"),
    SETTING_CHOICE("update", "always", update_choices,
                   "learn in every round (Algorithm 1), or when the sign of the shown label's score is wrong"),
    GRAM_SETTING_TABLE("200"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"V", PER_FEATURE, 1, CLASSES, 0.25, MERGE_MEAN},
    {"full_V", MATRIX, CLASSES, 1, 0.25, MERGE_MEAN},
    {"full_V_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN},
    {"T", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool full = setting_choice(s, MATRIX_FORM) == FORM_FULL;
    double a = 1 + setting_number(s, ALPHA);
    if (tensor == V || tensor == FULL_V)
        inout->initial = 1 / (a * a);
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == V : tensor == FULL_V || tensor == FULL_LOW)
        inout->kind = ABSENT;
    if (setting_choice(s, MATRIX_FORM) == FORM_KERNEL && tensor != SUM_T)
        inout->kind = ABSENT;
}

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

static bool is_kernel(const struct state *s)
{
    return setting_choice(s, MATRIX_FORM) == FORM_KERNEL;
}

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    if (is_kernel(s) && setting_choice(s, PROJECT) != PROJECT_NO)
        return error_set(reterr, HUNCH_EINVAL, "matrix=kernel goes with project=no only");
    return HUNCH_OK;
}

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    double a = 1 + setting_number(s, ALPHA);
    return is_kernel(s) ? grams_attach(s, KERNEL, s->K, a * a, reterr) : HUNCH_OK;
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    (void)features;
    return is_kernel(s) ? grams_grow(s->extra, classes) : HUNCH_OK;
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    return is_kernel(s) ? grams_reserve(s->extra, x) : HUNCH_OK;
}

static void scores_kernel(const struct state *s, const struct vec *x, real *ret)
{
    for (uint32_t k = 0; k < s->K; k++) {
        ret[k] = 0;
        grams_scores(s->extra, k, x, ret);
    }
}

static void examine_kernel(struct state *s, const struct vec *x)
{
    struct grams *g = s->extra;
    scores_kernel(s, x, s->scores);
    for (uint32_t k = 0; k < s->K; k++) {
        double self = grams_column(g, k, x, k, GRAM_NONE, 1);
        s->widths[k] = (real)grams_quad(g, k, self);
    }
}

static void learn_kernel(struct state *s, const struct vec *x, uint32_t o, double sign)
{
    struct grams *g = s->extra;
    double self = grams_column(g, o, x, o, GRAM_NONE, 1);
    grams_append(g, o, x, o, GRAM_NONE, 1, sign, self);
    self = grams_column(g, o, x, o, GRAM_NONE, 1);
    model_numbers(s, SUM_T)[0] += grams_quad(g, o, self);
}

static bool is_full(const struct state *s)
{
    return setting_choice(s, MATRIX_FORM) == FORM_FULL;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real *f = ret + s->lanes, *q = ret + 2 * s->lanes;
    double a = 1 + setting_number(s, ALPHA), unseen = x->unseen / (a * a);
    if (is_kernel(s)) {
        scores_kernel(s, x, ret);
        return;
    }
    if (is_full(s)) {
        linear_scores(s, W, x, f);
        for (uint32_t k = 0; k < s->K && setting_choice(s, PROJECT) != PROJECT_NO; k++)
            q[k] = (real)full_quad(s, FULL_V, k, x);
    } else {
        linear_scores_widths(s, W, V, x, f, q);
    }
    if (setting_choice(s, PROJECT) != PROJECT_NO)
        for (uint32_t k = 0; k < s->K; k++)
            q[k] += (real)unseen;
    project(s, f, q, ret);
}

/* Scores, widths and (in bounds) projected scores of x, in the state's scratch. */
static void examine(struct state *s, const struct vec *x)
{
    if (is_kernel(s)) {
        examine_kernel(s, x);
    } else if (is_full(s) && x->n) {
        linear_scores(s, W, x, s->scores);
        full_load(s, x);
        full_quads(s, FULL_V, s->widths);
    } else if (is_full(s)) {
        for (size_t k = 0; k < s->lanes; k++)
            s->scores[k] = s->widths[k] = 0;
    } else {
        linear_scores_widths(s, W, V, x, s->scores, s->widths);
    }
    project(s, s->scores, s->widths, s->bounds);
    /* w'_i = w_i + c_i A_i^-1 x */
    for (uint32_t k = 0; k < s->K; k++)
        s->steps[k] = s->widths[k] > 0 ? (s->bounds[k] - s->scores[k]) / s->widths[k] : 0;
    s->scored = true;
}

/* e^2 / q of this round. */
static double width_factor(const struct state *s)
{
    double eta = setting_number(s, ETA), a = 1 + setting_number(s, ALPHA), t = (double)s->round;
    int width = setting_choice(s, WIDTH);
    if (width == WIDTH_ETA)
        return eta;
    if (width == WIDTH_LOG)
        return eta * log(t + 1);
    double bracket =
        setting_number(s, NORM) / 2 + model_numbers(s, SUM_T)[0] / 2 + 9 * log((t + 4) / setting_number(s, DELTA));
    if (width == WIDTH_MODIFIED)
        bracket += setting_number(s, APPROX);
    return 2 * a * a * bracket;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    examine(s, x);
    double factor = width_factor(s);
    uint32_t greedy = explore_argmax(s, s->bounds);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] += (real)sqrt(factor * fmax(s->widths[k], 0));
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = greedy;
}

static double sign_of(struct state *s, bool right)
{
    double alpha = setting_number(s, ALPHA);
    if (right)
        return 1;
    return alpha < 1 && rng_uniform(&s->rng) < (1 - alpha) / 2 ? 1 : -1;
}

/* f'_k, after examine. */
static double projected_score(const struct state *s, uint32_t k)
{
    return s->scores[k] + s->steps[k] * s->widths[k];
}

/* w_i += c_i V_i x for every class: what the projection moved stays moved. */
static void keep_projected_full(struct state *s)
{
    for (uint32_t k = 0; k < s->K; k++)
        if (s->steps[k] != 0) {
            full_mul(s, FULL_V, FULL_LOW, k, s->full->g);
            full_add(s, W, k, s->steps[k], s->full->g);
        }
}

static void learn_full(struct state *s, const struct vec *x, uint32_t o, double sign)
{
    real *g = s->full->g;
    full_load(s, x);
    keep_projected_full(s);
    double projected = projected_score(s, o);
    double q = full_mul(s, FULL_V, FULL_LOW, o, g);
    full_add(s, W, o, (sign - projected) / (1 + q), g);
    full_update(s, FULL_V, FULL_LOW, o, -1 / (1 + q), g);
    model_numbers(s, SUM_T)[0] += q / (1 + q);
}

static void learn_diag(struct state *s, const struct vec *x, uint32_t o, double sign)
{
    double step = s->steps[o] + sign;
    s->steps[o] = 0;
    if (setting_choice(s, PROJECT) != PROJECT_NO) {
        for (size_t k = 0; k < s->lanes; k++)
            s->widths[k] = 0;
        linear_arow_all(s, W, V, s->steps, s->widths, x); /* the other classes keep w'_i */
    }
    model_numbers(s, SUM_T)[0] += linear_regress(s, W, V, o, step, x);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!s->scored)
        examine(s, x);
    double sign = sign_of(s, right);
    if (setting_choice(s, UPDATE) == UPDATE_MISTAKES && sign * projected_score(s, c->label) > 0)
        return;
    if (is_kernel(s))
        learn_kernel(s, x, c->label, sign);
    else if (!x->n)
        return;
    else if (is_full(s))
        learn_full(s, x, c->label, sign);
    else
        learn_diag(s, x, c->label, sign);
}

const struct algo algo_confidit = {
    .info = {"confidit", "upper confidence bounds with per-class adaptive regularisation",
             "Crammer and Gentile 2011, 2013", 0, settings},
    .tensors = tensors,
    .check = check,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .attach = attach,
    .detach = grams_detach,
    .grow = grow,
    .reserve = reserve,
    .extra_size = grams_size,
    .extra_write = grams_write,
    .extra_read = grams_read,
};

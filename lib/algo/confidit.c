/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confidit (K. Crammer, C. Gentile, "Multiclass classification with bandit feedback using adaptive regularization",
 * ICML 2011; Machine Learning 2013), diagonal matrices.
 *
 * Per class A_i = (1+alpha)^2 I and w_i = 0. With f_i = w_i.x and q_i = x'A_i^-1 x:
 *   1. project: w'_i = w_i + c_i A_i^-1 x, so that f'_i = f_i + c_i q_i (c_i = 0 without projection);
 *   2. o = argmax f'_i + e_i, where e_i^2 = eta q_i (width=eta) or eta log(t+1) q_i (width=log);
 *   3. sign = +1 if right, else -1 (for alpha < 1: +1 all the same with probability (1-alpha)/2);
 *   4. A_o += x x', w_o = A_o^-1 (A_o,old w'_o + sign x).
 * V holds the diagonal of A^-1. Nothing of the projection is kept until the feedback comes.
 */
#include <math.h>
#include <stdlib.h>

#include "../explore.h"
#include "../linear.h"

enum { ETA, ALPHA, WIDTH, PROJECT };
enum { WIDTH_ETA, WIDTH_LOG };
enum { PROJECT_NO, PROJECT_YES, PROJECT_CLIP };
enum { W, V };

static const char *const width_choices[] = {"eta", "log", NULL};
static const char *const project_choices[] = {"no", "yes", "clip", NULL};

static const hunch_setting settings[] = {
    SETTING_REAL("eta", "0.1", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("alpha", "1", -0.99, 1, "the noise model's parameter; 1 in all of the paper's experiments"),
    SETTING_CHOICE("width", "eta", width_choices, "the width's growth with rounds: eta (none) or eta log(t+1)"),
    SETTING_CHOICE("project", "no", project_choices,
                   "bring scores into their range before choosing: all together (yes) or each on its own (clip)"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"V", PER_FEATURE, 1, CLASSES, 0.25, MERGE_MEAN},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    double a = 1 + setting_number(s, ALPHA);
    if (tensor == V)
        inout->initial = 1 / (a * a);
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, W, x, ret);
}

/* Sort the classes by their keys, largest first; equal keys by number. */
static void order_by_key(struct state *s, const double *key)
{
    for (uint32_t i = 0; i < s->K; i++) {
        uint32_t j = i;
        for (; j > 0 && key[s->order[j - 1]] < key[i]; j--)
            s->order[j] = s->order[j - 1];
        s->order[j] = i;
    }
}

/* c_i = beta_i + lambda of the exact projection on { f'_i >= -alpha, sum f'_i = 1 + alpha - K alpha }. Written to
 * s->steps. With the classes in decreasing order of (alpha + f_i)/q_i, those at the front are free (beta_i = 0). */
static void project_together(struct state *s)
{
    double alpha = setting_number(s, ALPHA), *key = s->chances, sum_f = 0, sum_q = 0, lambda = 0;
    for (uint32_t i = 0; i < s->K; i++)
        key[i] = s->widths[i] > 0 ? (alpha + s->scores[i]) / s->widths[i] : 0;
    order_by_key(s, key);
    for (uint32_t r = 1; r <= s->K; r++) {
        uint32_t i = s->order[r - 1];
        sum_f += s->scores[i];
        sum_q += s->widths[i];
        lambda = sum_q > 0 ? (1 + alpha - alpha * r - sum_f) / sum_q : 0;
        bool last_is_free = -key[i] - lambda <= 0;
        bool next_is_bound = r == s->K || -key[s->order[r]] - lambda > 0;
        if (last_is_free && next_is_bound)
            break;
    }
    for (uint32_t i = 0; i < s->K; i++)
        s->steps[i] = (real)(fmax(0, -key[i] - lambda) + lambda);
}

/* c_i that brings each score alone into [-alpha, 1]. */
static void project_each(struct state *s)
{
    double low = -setting_number(s, ALPHA);
    for (uint32_t i = 0; i < s->K; i++) {
        double f = s->scores[i], clipped = fmin(fmax(f, low), 1);
        s->steps[i] = s->widths[i] > 0 ? (real)((clipped - f) / s->widths[i]) : 0;
    }
}

/* Scores and widths of x, and the projection's c in s->steps. */
static void examine(struct state *s, const struct vec *x)
{
    linear_scores_widths(s, W, V, x, s->scores, s->widths);
    for (size_t k = 0; k < s->lanes; k++)
        s->steps[k] = 0;
    if (x->n && setting_choice(s, PROJECT) == PROJECT_YES)
        project_together(s);
    else if (x->n && setting_choice(s, PROJECT) == PROJECT_CLIP)
        project_each(s);
    s->scored = true;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    examine(s, x);
    double eta = setting_number(s, ETA);
    if (setting_choice(s, WIDTH) == WIDTH_LOG)
        eta *= log((double)s->round + 1);
    real *bound = s->bounds;
    for (uint32_t k = 0; k < s->K; k++)
        bound[k] = s->scores[k] + s->steps[k] * s->widths[k];
    uint32_t greedy = explore_argmax(s, bound);
    for (uint32_t k = 0; k < s->K; k++)
        bound[k] += (real)sqrt(eta * s->widths[k]);
    explore_none(explore_argmax(s, bound), ret);
    ret->greedy = greedy;
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
    if (!s->scored)
        examine(s, x);
    uint32_t o = c->label;
    real step = (real)(s->steps[o] + sign_of(s, right));
    s->steps[o] = 0;
    if (setting_choice(s, PROJECT) != PROJECT_NO) {
        for (size_t k = 0; k < s->lanes; k++)
            s->widths[k] = 0;
        linear_arow_all(s, W, V, s->steps, s->widths, x); /* the other classes keep w'_i */
    }
    for (size_t i = 0; i < x->n; i++) {
        real v = x->value[i];
        real *w = linear_row(s, W, vec_index(x, i)) + o, *u = linear_row(s, V, vec_index(x, i)) + o;
        real shrink = 1 / (1 + *u * v * v);
        *w = (*w + step * v * *u) * shrink;
        *u *= shrink;
    }
}

const struct algo algo_confidit = {
    .info = {"confidit", "upper confidence bounds with per-class adaptive regularisation",
             "Crammer and Gentile 2011, 2013", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
};

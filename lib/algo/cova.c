/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conservative one-versus-all (G. Chen, G. Chen, J. Zhang, S. Chen, C. Zhang, "Beyond banditron: a conservative and
 * efficient reduction for online multiclass prediction with bandit setting model", ICDM 2009).
 *
 * K binary learners f_k; o = g, the label that decoding picks (decoding=loss: the largest f_k; hamming: the largest
 * sign of f_k). Right: learner o gets (x,+1) and every other (x,-1). Wrong: only learner o gets (x,-1): a miss tells
 * nothing about the others, so nothing is invented.
 * Bases: passive-aggressive pa, pa1, pa2 with loss l = max(0, 1 - y f) and step l/|x|^2, min(C, l/|x|^2) or
 * l/(|x|^2 + 1/(2C)); perceptron, which moves when y f <= 0; arow with variances S.
 */
#include <math.h>

#include "../explore.h"
#include "../linear.h"

enum { BASE, C, R, DECODING };
enum { BASE_PA, BASE_PA1, BASE_PA2, BASE_PERCEPTRON, BASE_AROW };
enum { DECODING_LOSS, DECODING_HAMMING };
enum { W, S };

static const char *const base_choices[] = {"pa", "pa1", "pa2", "perceptron", "arow", NULL};
static const char *const decoding_choices[] = {"loss", "hamming", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("base", "pa1", base_choices, "the binary learner of each class"),
    SETTING_REAL("C", "1", 1e-9, 1e9, "largest step of pa1, inverse softness of pa2"),
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation of arow"),
    SETTING_CHOICE("decoding", "loss", decoding_choices, "how K binary answers become one label"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == S && setting_choice(s, BASE) != BASE_AROW)
        inout->kind = ABSENT;
}

static void decode(const struct state *s, const real *f, real *ret)
{
    bool hamming = setting_choice(s, DECODING) == DECODING_HAMMING;
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = hamming ? (real)((f[k] > 0) - (f[k] < 0)) : f[k];
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, W, x, ret);
    decode(s, ret, ret);
}

static void examine(struct state *s, const struct vec *x)
{
    if (setting_choice(s, BASE) == BASE_AROW)
        linear_scores_widths(s, W, S, x, s->scores, s->widths);
    else
        linear_scores(s, W, x, s->scores);
    s->scored = true;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    examine(s, x);
    decode(s, s->scores, s->bounds);
    explore_none(explore_argmax(s, s->bounds), ret);
}

/* The step of binary learner k on (x, y): w_k += step x, or, for arow, w_k += step S_k x with S shrunk by *shrink. */
static double base_step(const struct state *s, uint32_t k, double y, double norm2, double *shrink)
{
    double f = s->scores[k], loss = fmax(0, 1 - y * f), c = setting_number(s, C);
    *shrink = 0;
    switch (setting_choice(s, BASE)) {
    case BASE_PERCEPTRON:
        return y * f <= 0 ? y : 0;
    case BASE_AROW:
        if (loss <= 0)
            return 0;
        *shrink = 1 / (s->widths[k] + setting_number(s, R));
        return y * loss * *shrink;
    case BASE_PA2:
        return y * loss / (norm2 + 1 / (2 * c));
    case BASE_PA1:
        return norm2 > 0 ? y * fmin(c, loss / norm2) : 0;
    default:
        return norm2 > 0 ? y * loss / norm2 : 0;
    }
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double shrink, step;
    bool arow = setting_choice(s, BASE) == BASE_AROW;
    if (!s->scored)
        examine(s, x);
    if (!right) {
        step = base_step(s, c->label, -1, x->norm2, &shrink);
        if (arow)
            linear_arow(s, W, S, c->label, step, shrink, x);
        else
            linear_add(s, W, c->label, step, x);
        return;
    }
    bool any = false;
    for (uint32_t k = 0; k < s->K; k++) {
        s->steps[k] = (real)base_step(s, k, k == c->label ? 1 : -1, x->norm2, &shrink);
        s->bounds[k] = (real)shrink;
        any |= s->steps[k] != 0;
    }
    if (!any)
        return;
    if (arow)
        linear_arow_all(s, W, S, s->steps, s->bounds, x);
    else
        linear_add_all(s, W, s->steps, x);
}

const struct algo algo_cova = {
    .info = {"cova", "conservative one-versus-all: a miss teaches only the label shown", "Chen et al. 2009", 0,
             settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
};

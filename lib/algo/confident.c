/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confident: margins and confidence (the project's own; an answer to the open question that closes Crammer and
 * Gentile 2013, "developing a margin-based version" of Confidit).
 *
 * Per class a Gaussian N(w_i, S_i), S_i = I at first; o = argmax w_i.x + sqrt(eta x'S_i x).
 * update(i, y), only if y w_i.x < margin: beta = 1/(x'S_i x + r), w_i += (y - w_i.x) beta S_i x,
 * S_i -= beta S_i x x'S_i. Right: update(o,+1), and update(i,-1) for every other class whose score is positive.
 * Wrong: update(o,-1).
 */
#include <math.h>

#include "../explore.h"
#include "../linear.h"

enum { ETA, R };
enum { W, S };

static const hunch_setting settings[] = {
    SETTING_REAL("eta", "0.01", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation: larger is slower"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    TENSORS_END,
};

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, W, x, ret);
}

static void examine(struct state *s, const struct vec *x)
{
    linear_scores_widths(s, W, S, x, s->scores, s->widths);
    s->scored = true;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    examine(s, x);
    real eta = (real)setting_number(s, ETA);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = s->scores[k] + (real)sqrt(eta * s->widths[k]);
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

/* The step towards y for class k; *shrink is what its variances lose. */
static double step_towards(const struct state *s, uint32_t k, double y, double *shrink)
{
    *shrink = 1 / (s->widths[k] + setting_number(s, R));
    return (y - s->scores[k]) * *shrink;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double shrink, step;
    if (!s->scored)
        examine(s, x);
    for (uint32_t k = 0; right && k < s->K; k++)
        if (k != c->label && s->scores[k] > 0) {
            step = step_towards(s, k, -1, &shrink);
            linear_arow(s, W, S, k, step, shrink, x);
        }
    double y = right ? 1 : -1;
    if (y * s->scores[c->label] >= 1)
        return;
    step = step_towards(s, c->label, y, &shrink);
    linear_arow(s, W, S, c->label, step, shrink, x);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    hunch_choice c = {.label = label, .greedy = label, .prob = 1};
    learn(s, x, &c, true);
}

const struct algo algo_confident = {
    .info = {"confident", "margins and confidence: the default", "this project", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
};

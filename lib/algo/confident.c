/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confident: margins and confidence (the project's own; an answer to the open question that closes Crammer and
 * Gentile 2013, "developing a margin-based version" of Confidit). See docs/algorithms/confident.md.
 *
 * Per class a Gaussian N(w_i, S_i), S_i = I at first. Examples are put on a common scale: x~ = x / rho, where rho^2 is
 * the mean squared length of the examples predicted so far. With f_i = w_i.x~ and v_i = x~'S_i x~:
 *   o = argmax f_i + sqrt(eta v_i);  q = argmax_{i != o} f_i.
 * Right: if l = 1 - (f_o - f_q) > 0, a step of multiclass AROW on the pair: b = 1/(v_o + v_q + r),
 *   w_o += l b S_o x~, w_q -= l b S_q x~, S_c -= b S_c x~ x~'S_c for both.
 * Wrong: if l = 1 - (f_q - f_o) > 0, o steps back as if the runner-up were right, and the runner-up steps forward by
 *   its chance of being right, h = 1 / sum_{i != o} exp(sharp (f_i - f_q)), the hunch:
 *   w_o -= l b S_o x~, S_o -= b S_o x~ x~'S_o with b = 1/(v_o + caution v_q + r);
 *   w_q += h l c S_q x~, S_q -= h c S_q x~ x~'S_q with c = 1/(v_o + v_q + r).
 * matrix=full keeps the S_i, diag their diagonals, auto is full while all S_i fit the memory setting and diag beyond.
 */
#include <math.h>

#include "../explore.h"
#include "../full.h"
#include "../linear.h"
#include "../state.h"

enum { MATRIX_SET, ETA, R, CAUTION, SHARP };
enum { SET_AUTO, SET_FULL, SET_DIAG };
enum { FORM_FULL, FORM_DIAG }; /* state.form */
enum { W, S, FULL_S, FULL_LOW, NORMS, SEEN };

static const char *const matrix_choices[] = {"auto", "full", "diag", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "auto", matrix_choices,
                   "what is kept of the covariances; auto: full while they fit the memory limit, diag beyond"),
    SETTING_REAL("eta", "0.3", 0, 1e6, "exploration: how much of the width is added to a score"),
    SETTING_REAL("r", "0.3", 1e-9, 1e9, "regularisation: larger is slower"),
    SETTING_REAL("caution", "1.5", 0, 1e6, "how much the runner-up's doubt softens a step back"),
    SETTING_REAL("sharp", "3", 0, 1e6, "how sharply the runner-up is taken for the true label after a miss"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    {"full_S", MATRIX, CLASSES, 1, 1, MERGE_MEAN},
    {"full_S_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN},
    {"norms", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"seen", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static bool is_full(const struct state *s)
{
    int set = setting_choice(s, MATRIX_SET);
    return set == SET_FULL || (set == SET_AUTO && s->form == FORM_FULL);
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (is_full(s) ? tensor == S : tensor == FULL_S || tensor == FULL_LOW)
        inout->kind = ABSENT;
}

static const char *form(const struct state *s)
{
    return setting_choice(s, MATRIX_SET) == SET_AUTO ? is_full(s) ? "full" : "diag" : "";
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    if (setting_choice(s, MATRIX_SET) != SET_AUTO || s->form != FORM_FULL)
        return HUNCH_OK;
    double bytes = (double)matrix_size(features) * classes * sizeof(real) * (MATRIX_KEEPS_LOW ? 2 : 1);
    return bytes > (double)s->memory ? state_reform(s, FORM_DIAG) : HUNCH_OK;
}

/* Full matrices became diagonals. */
static void reformed(struct state *s, const struct state *before)
{
    const struct tensor_place *p = &before->tensor[FULL_S];
    if (s->form != FORM_DIAG || !p->matrices)
        return;
    for (uint32_t j = 0; j < s->features; j++)
        for (uint32_t k = 0; k < s->K; k++)
            linear_row(s, S, j)[k] = matrix_get(p->matrices + k * p->matrix_capacity, j, j);
}

static double scale_of(const struct state *s)
{
    double seen = model_numbers(s, SEEN)[0], norms = model_numbers(s, NORMS)[0];
    return norms > 0 ? sqrt(seen / norms) : 1;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real c = (real)scale_of(s);
    linear_scores(s, W, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= c;
}

static void examine(struct state *s, const struct vec *x)
{
    real c = (real)scale_of(s);
    s->scored = true;
    for (size_t k = 0; k < s->lanes && !x->n; k++)
        s->scores[k] = s->widths[k] = 0;
    if (!x->n)
        return;
    if (is_full(s)) {
        linear_scores(s, W, x, s->scores);
        full_load(s, x);
        full_quads(s, FULL_S, s->widths);
    } else {
        linear_scores_widths(s, W, S, x, s->scores, s->widths);
    }
    for (uint32_t k = 0; k < s->K; k++) {
        s->scores[k] *= c;
        s->widths[k] = s->widths[k] > 0 ? s->widths[k] * (c * c) : 0;
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    model_numbers(s, NORMS)[0] += vec_norm2(x);
    model_numbers(s, SEEN)[0]++;
    examine(s, x);
    real eta = (real)setting_number(s, ETA);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = s->scores[k] + (real)sqrt(eta * s->widths[k]);
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

/* w_k += step S_k x~, S_k -= shrink S_k x~ x~'S_k */
static void class_step(struct state *s, const struct vec *x, uint32_t k, double step, double shrink)
{
    double c = scale_of(s);
    if (!is_full(s)) {
        linear_arow(s, W, S, k, step * c, shrink * c * c, x);
        return;
    }
    full_mul(s, FULL_S, FULL_LOW, k, s->full->g);
    full_add(s, W, k, step * c, s->full->g);
    full_update(s, FULL_S, FULL_LOW, k, -shrink * c * c, s->full->g);
}

/* The chance of q being the true label when o is not. */
static double hunch_of(const struct state *s, uint32_t o, uint32_t q)
{
    double sharp = setting_number(s, SHARP), sum = 0;
    for (uint32_t k = 0; k < s->K; k++)
        if (k != o)
            sum += exp(sharp * ((double)s->scores[k] - s->scores[q]));
    return 1 / sum;
}

static void step_forward(struct state *s, const struct vec *x, uint32_t o, uint32_t q)
{
    double loss = 1 - ((double)s->scores[o] - s->scores[q]);
    double b = 1 / (s->widths[o] + s->widths[q] + setting_number(s, R));
    if (loss <= 0)
        return;
    class_step(s, x, o, loss * b, b);
    class_step(s, x, q, -loss * b, b);
}

static void step_back(struct state *s, const struct vec *x, uint32_t o, uint32_t q)
{
    double loss = 1 - ((double)s->scores[q] - s->scores[o]), r = setting_number(s, R);
    double b = 1 / (s->widths[o] + setting_number(s, CAUTION) * s->widths[q] + r);
    double c = hunch_of(s, o, q) / (s->widths[o] + s->widths[q] + r);
    if (loss <= 0)
        return;
    class_step(s, x, o, -loss * b, b);
    class_step(s, x, q, loss * c, c);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (s->K < 2 || !x->n)
        return;
    if (!s->scored)
        examine(s, x);
    uint32_t o = c->label, q = explore_rival(s->scores, s->K, o);
    if (right)
        step_forward(s, x, o, q);
    else
        step_back(s, x, o, q);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    hunch_choice c = {.label = label, .greedy = label, .prob = 1};
    learn(s, x, &c, true);
}

const struct algo algo_confident = {
    .info = {"confident", "margins and confidence: the default", "this project", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .form = form,
    .reformed = reformed,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .grow = grow,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second-order Perceptron, multiclass and diagonal (N. Cesa-Bianchi, A. Conconi, C. Gentile, SIAM J. Computing
 * 2005): full information.
 *
 * Per class b_i = 0, A_i = a I; score sum_j b_ij x_j / A_ij. On a mistake (g != y): b_y += x, b_g -= x, and A_y, A_g
 * get x_j^2 added. W holds b / A, so that a score needs no division.
 */
#include "../explore.h"
#include "../linear.h"

enum { A0 };
enum { W, B, A, UPDATES };

static const hunch_setting settings[] = {
    SETTING_REAL("a", "1", 1e-9, 1e9, "what the diagonal of A starts from"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"b", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"A", PER_FEATURE, 1, CLASSES, 1, MERGE_SUM},
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == A)
        inout->initial = setting_number(s, A0);
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, W, x, ret);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    scores(s, x, s->scores);
    s->scored = true;
    explore_none(explore_argmax(s, s->scores), ret);
}

static void class_update(struct state *s, const struct vec *x, uint32_t k, real sign)
{
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = vec_index(x, i);
        real v = x->value[i];
        real *b = linear_row(s, B, j) + k, *a = linear_row(s, A, j) + k;
        *b += sign * v;
        *a += v * v;
        linear_row(s, W, j)[k] = *b / *a;
    }
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    if (!s->scored)
        scores(s, x, s->scores);
    uint32_t g = explore_first(s->scores, s->K);
    if (g == y)
        return;
    class_update(s, x, y, 1);
    class_update(s, x, g, -1);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_perceptron2 = {
    .info = {"perceptron2", "second-order Perceptron, told the true label",
             "Cesa-Bianchi, Conconi and Gentile 2005", 1, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .teach = teach,
    .scores = scores,
};

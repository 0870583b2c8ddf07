/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second-order Perceptron, multiclass (N. Cesa-Bianchi, A. Conconi, C. Gentile, SIAM J. Computing
 * 2005): full information.
 *
 * Per class b_i = 0, A_i = a I; score s_i = sum_j b_ij x_j / A_ij. With r the best label other than y, if s_y <= s_r:
 * b_y += x, b_r -= x, and A_y, A_r get x_j^2 added. W holds b / A, so that a score needs no division.
 * matrix=full has A += x x' instead, and W = A^-1 b by w += A_old^-1 x (sign - w.x) / (1 + x'A_old^-1 x).
 */
#include "../explore.h"
#include "../full.h"
#include "../linear.h"

enum { A0, MATRIX_FORM };
enum { FORM_DIAG, FORM_FULL };
enum { W, B, A, FULL_V, FULL_LOW, UPDATES };

static const char *const matrix_choices[] = {"diag", "full", NULL};

static const hunch_setting settings[] = {
    SETTING_REAL("a", "1", 1e-9, 1e9, "what the diagonal of A starts from"),
    SETTING_CHOICE("matrix", "diag", matrix_choices, "what is kept of the matrices A"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"b", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"A", PER_FEATURE, 1, CLASSES, 1, MERGE_SUM},
    {"full_V", MATRIX, CLASSES, 1, 1, MERGE_MEAN},
    {"full_V_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN},
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool full = setting_choice(s, MATRIX_FORM) == FORM_FULL;
    if (tensor == A)
        inout->initial = setting_number(s, A0);
    if (tensor == FULL_V)
        inout->initial = 1 / setting_number(s, A0);
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == A || tensor == B : tensor == FULL_V || tensor == FULL_LOW)
        inout->kind = ABSENT;
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

static void class_update_full(struct state *s, const struct vec *x, uint32_t k, real sign)
{
    real *g = s->full->g;
    full_load(s, x);
    double q = full_mul(s, FULL_V, FULL_LOW, k, g);
    full_add(s, W, k, (sign - s->scores[k]) / (1 + q), g);
    full_update(s, FULL_V, FULL_LOW, k, -1 / (1 + q), g);
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    if (!s->scored)
        scores(s, x, s->scores);
    uint32_t r = explore_rival(s->scores, s->K, y);
    if (r == y || s->scores[y] > s->scores[r] || !x->n)
        return;
    if (setting_choice(s, MATRIX_FORM) == FORM_FULL) {
        class_update_full(s, x, y, 1);
        class_update_full(s, x, r, -1);
    } else {
        linear_quotient_pair(s, (const int[]){W, B, A}, y, r, 1, 1, x);
    }
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_perceptron2 = {
    .info = {"perceptron2", "second-order Perceptron, told the true label", "Cesa-Bianchi, Conconi and Gentile 2005", 1,
             settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .teach = teach,
    .scores = scores,
};

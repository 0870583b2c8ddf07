/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multiclass AROW (K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS
 * 2009): full information, the skyline of the learners with confidence.
 *
 * y the true label, q the best wrong one, m = s_y - s_q. If m < 1: v = x'(S_y + S_q)x, beta = 1/(v + r),
 * alpha = (1 - m) beta; w_y += alpha S_y x, w_q -= alpha S_q x, S_c -= beta S_c x x' S_c for both.
 * matrix=diag keeps the diagonals of S only.
 */
#include "../explore.h"
#include "../full.h"
#include "../linear.h"

enum { R, MATRIX_FORM };
enum { FORM_DIAG, FORM_FULL };
enum { W, S, FULL_S, FULL_LOW, UPDATES };

static const char *const matrix_choices[] = {"diag", "full", NULL};

static const hunch_setting settings[] = {
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation: larger is slower"),
    SETTING_CHOICE("matrix", "diag", matrix_choices, "what is kept of the covariances"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN}, {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    {"full_S", MATRIX, CLASSES, 1, 1, MERGE_MEAN}, {"full_S_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN},
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool full = setting_choice(s, MATRIX_FORM) == FORM_FULL;
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == S : tensor == FULL_S || tensor == FULL_LOW)
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

static void step_full(struct state *s, const struct vec *x, uint32_t y, uint32_t q, double loss)
{
    real *g = s->full->g, *h = s->full->h;
    full_load(s, x);
    double v = full_mul(s, FULL_S, FULL_LOW, y, g) + full_mul(s, FULL_S, FULL_LOW, q, h);
    double beta = 1 / (v + setting_number(s, R));
    full_add(s, W, y, loss * beta, g);
    full_add(s, W, q, -loss * beta, h);
    full_update(s, FULL_S, FULL_LOW, y, -beta, g);
    full_update(s, FULL_S, FULL_LOW, q, -beta, h);
}

static void step_diag(struct state *s, const struct vec *x, uint32_t y, uint32_t q, double loss)
{
    double beta = 1 / (linear_width_pair(s, S, y, q, x) + setting_number(s, R));
    linear_arow_pair(s, W, S, y, q, loss * beta, beta, x);
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    if (!s->scored)
        scores(s, x, s->scores);
    uint32_t q = explore_rival(s->scores, s->K, y);
    double m = (double)s->scores[y] - s->scores[q];
    if (q == y || m >= 1)
        return;
    if (!x->n)
        return;
    if (setting_choice(s, MATRIX_FORM) == FORM_FULL)
        step_full(s, x, y, q, 1 - m);
    else
        step_diag(s, x, y, q, 1 - m);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_arow = {
    .info = {"arow", "AROW: confidence-weighted margins, told the true label", "Crammer, Kulesza and Dredze 2009", 1,
             settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .teach = teach,
    .scores = scores,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multiclass AROW, diagonal (K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS
 * 2009): full information, the skyline of the learners with confidence.
 *
 * y the true label, q the best wrong one, m = s_y - s_q. If m < 1: v = x'(S_y + S_q)x, beta = 1/(v + r),
 * alpha = (1 - m) beta; w_y += alpha S_y x, w_q -= alpha S_q x, S_c -= beta S_c x x' S_c for both.
 */
#include "../explore.h"
#include "../linear.h"

enum { R };
enum { W, S, UPDATES };

static const hunch_setting settings[] = {
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation: larger is slower"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

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

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    if (!s->scored)
        scores(s, x, s->scores);
    uint32_t q = explore_rival(s->scores, s->K, y);
    double m = (double)s->scores[y] - s->scores[q];
    if (q == y || m >= 1)
        return;
    double v = linear_width(s, S, y, x) + linear_width(s, S, q, x);
    double beta = 1 / (v + setting_number(s, R)), alpha = (1 - m) * beta;
    linear_arow(s, W, S, y, alpha, beta, x);
    linear_arow(s, W, S, q, -alpha, beta, x);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_arow = {
    .info = {"arow", "AROW: confidence-weighted margins, told the true label", "Crammer, Kulesza and Dredze 2009", 1,
             settings},
    .tensors = tensors,
    .predict = predict,
    .teach = teach,
    .scores = scores,
};

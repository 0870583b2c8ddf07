/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multiclass AROW (K. Crammer, A. Kulesza, M. Dredze, "Adaptive regularization of weight vectors", NIPS
 * 2009): full information, the skyline of the learners with confidence.
 *
 * y the true label, q the best wrong one, m = s_y - s_q. If m < 1: v = x'(S_y + S_q)x, beta = 1/(v + r),
 * alpha = (1 - m) beta; w_y += alpha S_y x, w_q -= alpha S_q x, S_c -= beta S_c x x' S_c for both.
 * matrix says what is kept of S, see covariance.h.
 */
#include "covariance/covariance.h"
#include "state/explore.h"

enum { R, MATRIX_FORM, RANK };
enum { UPDATES = COVARIANCE_TENSORS };

static const hunch_setting settings[] = {
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation: larger is slower"),
    SETTING_CHOICE("matrix", "diag", covariance_choices, "representation of the covariances"),
    COVARIANCE_SETTING_RANK,
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "b", "S", "full_S"),
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static const struct covariance_use covariance = {.setting = MATRIX_FORM, .rule = DIAGONAL_SUBTRACT, .rank = RANK};

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    explore_scores(s, x);
    uint32_t q = explore_rival(s->scores, s->K, y);
    double m = (double)s->scores[y] - s->scores[q];
    if (q == y || m >= 1 || !x->n)
        return;
    covariance_load(s, x, 1);
    double v = covariance_variance_pair(s, y, q), beta = 1 / (v + setting_number(s, R)), alpha = (1 - m) * beta;
    covariance_step(s, y, alpha, beta);
    covariance_step(s, q, -alpha, beta);
    covariance_flush(s);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_arow = {
    .info = {"arow", "AROW, confidence-weighted margins, full labels", "Crammer, Kulesza and Dredze 2009", 1, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .predict = explore_predict_greedy,
    .teach = teach,
    .scores = covariance_scores,
};

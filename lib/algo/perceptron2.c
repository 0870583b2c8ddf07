/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second-order Perceptron, multiclass (N. Cesa-Bianchi, A. Conconi, C. Gentile, SIAM J. Computing
 * 2005): full information.
 *
 * Per class b_i = 0, A_i = a I; score s_i = sum_j b_ij x_j / A_ij. With r the best label other than y, if s_y <= s_r:
 * b_y += x, b_r -= x, and A_y, A_r get x_j^2 added. W holds b / A, so that a score needs no division.
 * matrix=full has A += x x' instead, and W = A^-1 b by w += A_old^-1 x (sign - w.x) / (1 + x'A_old^-1 x).
 */
#include "covariance/covariance.h"
#include "state/explore.h"

enum { A0, MATRIX_FORM, RANK };
enum { UPDATES = COVARIANCE_TENSORS };

static const hunch_setting settings[] = {
    SETTING_REAL("a", "1", 1e-9, 1e9, "what the diagonal of A starts from"),
    SETTING_CHOICE("matrix", "diag", covariance_choices, "representation of the matrices A"),
    COVARIANCE_SETTING_RANK,
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "b", "A", "full_V"),
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static double precision(const struct state *s)
{
    return setting_number(s, A0);
}

static const struct covariance_use covariance = {
    .setting = MATRIX_FORM, .precision = precision, .rule = DIAGONAL_SUMS, .rank = RANK};

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    explore_scores(s, x);
    uint32_t r = explore_rival(s->scores, s->K, y);
    if (r == y || s->scores[y] > s->scores[r] || !x->n)
        return;
    covariance_load(s, x, 1);
    covariance_regress(s, y, 0, 1, s->scores[y]);
    covariance_regress(s, r, 0, -1, s->scores[r]);
    covariance_flush(s);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_perceptron2 = {
    .info = {"perceptron2", "second-order Perceptron, full labels", "Cesa-Bianchi, Conconi and Gentile 2005", 1,
             settings},
    .tensors = tensors,
    .covariance = &covariance,
    .predict = explore_predict_greedy,
    .teach = teach,
    .scores = covariance_scores,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The multiclass Perceptron (Kesler's construction; K. Crammer, Y. Singer, "Ultraconservative online algorithms for
 * multiclass problems", JMLR 2003): full information, the baseline of every bandit paper.
 *
 * y the true label, r the best label other than y. If s_y <= s_r: w_y += x, w_r -= x. A tie counts as an error, as
 * in the code of the SOBA authors; tie=keep counts only what was really shown wrong.
 */
#include "state/explore.h"
#include "state/linear.h"

enum { TIE };
enum { TIE_UPDATE, TIE_KEEP };
enum { W, UPDATES };

static const char *const tie_choices[] = {"update", "keep", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("tie", "update", tie_choices, "treatment of a tie between the true label and others"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

static bool is_error(const struct state *s, uint32_t y, uint32_t r)
{
    if (y == r)
        return false;
    if (setting_choice(s, TIE) == TIE_UPDATE)
        return s->scores[y] <= s->scores[r];
    return s->scores[y] < s->scores[r] || (s->scores[y] == s->scores[r] && r < y);
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    explore_scores(s, x);
    uint32_t r = explore_rival(s->scores, s->K, y);
    if (!is_error(s, y, r))
        return;
    linear_add_pair(s, W, (struct linear_pair){y, 1, r, -1}, x);
    model_numbers(s, UPDATES)[0]++;
}

const struct algo algo_perceptron = {
    .info = {"perceptron", "multiclass Perceptron, full labels", "Rosenblatt 1958; Crammer and Singer 2003", 1,
             settings},
    .tensors = tensors,
    .predict = explore_predict_greedy,
    .teach = teach,
    .scores = linear_first_scores,
};

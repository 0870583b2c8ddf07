/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Banditron (S. Kakade, S. Shalev-Shwartz, A. Tewari, "Efficient bandit algorithms for online multiclass
 * prediction", ICML 2008).
 *
 * o is drawn from (1 - gamma)[k = g] + gamma/K. W_g -= x in every round; W_o += x/p when right. So the expected step
 * is the Perceptron's.
 */
#include "state/explore.h"
#include "state/linear.h"

enum { GAMMA };
enum { W };

static const hunch_setting settings[] = {
    SETTING_REAL("gamma", "0.05", 0, 1, "fraction of rounds that explore"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    TENSORS_END,
};

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), setting_number(s, GAMMA), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (right && c->label == c->greedy) {
        linear_add_twice(s, W, c->greedy, -1, 1 / c->prob, x);
        return;
    }
    if (right)
        linear_add_pair(s, W, (struct linear_pair){c->greedy, -1, c->label, 1 / c->prob}, x);
    else
        linear_add(s, W, c->greedy, -1, x);
}

const struct algo algo_banditron = {
    .info = {"banditron", "Perceptron with uniform exploration", "Kakade, Shalev-Shwartz and Tewari 2008", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = linear_first_scores,
};

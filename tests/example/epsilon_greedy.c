/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epsilon-greedy on a Perceptron: the example of CONTRIBUTING.md.
 *
 * With probability epsilon it predicts a uniform label, otherwise g, the label with the largest score s_k = w_k.x. If
 * the prediction o was right and the best other label r has s_r >= s_o, then w_o += x, w_r -= x.
 */
#include "state/explore.h"
#include "state/linear.h"

enum { EPSILON };
enum { W };

static const hunch_setting settings[] = {
    SETTING_REAL("epsilon", "0.1", 0, 1, "fraction of rounds that explore"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    TENSORS_END,
};

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), setting_number(s, EPSILON), ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!right)
        return;
    explore_scores(s, x);
    uint32_t o = c->label, r = explore_rival(s->scores, s->K, o);
    if (r != o && s->scores[r] >= s->scores[o])
        linear_add_pair(s, W, (struct linear_pair){o, 1, r, -1}, x);
}

const struct algo algo_epsilon_greedy = {
    .info = {"epsilon-greedy", "a Perceptron with uniform exploration", "the example of CONTRIBUTING.md", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = linear_first_scores,
};

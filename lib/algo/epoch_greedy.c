/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Epoch-greedy (J. Langford, T. Zhang, "The epoch-greedy algorithm for contextual multi-armed bandits", NIPS 2007),
 * with an online Perceptron in place of the batch learner.
 *
 * An epoch is one round that explores (a uniform label) and then rounds that exploit; the l-th epoch has
 * max(1, floor(rate sqrt(l/K))) of these. Only rounds that explored teach, and of these only the right ones, whose
 * label is then known: a Perceptron step on (x, o). They are recognised by their prob, 1/K.
 */
#include <math.h>

#include "state/explore.h"
#include "state/linear.h"

enum { RATE };
enum { W, EPOCH, LEFT };

static const hunch_setting settings[] = {
    SETTING_REAL("rate", "1", 1e-6, 1e6, "greed: the l-th epoch exploits for rate sqrt(l / K) rounds"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"epoch", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"left", PER_MODEL, 1, 1, 0, MERGE_SUM}, /* rounds of this epoch that are still to exploit */
    TENSORS_END,
};

static void note(struct state *s, const struct vec *x)
{
    double *epoch = model_numbers(s, EPOCH), *left = model_numbers(s, LEFT);
    s->explores = *left <= 0;
    if (s->explores)
        *left = fmax(1, floor(setting_number(s, RATE) * sqrt(++*epoch / s->K)));
    else
        --*left;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_predict_greedy(s, x, ret);
    if (!s->explores)
        return;
    ret->label = explore_uniform(s);
    ret->prob = 1.0 / explore_labels(s);
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    explore_scores(s, x);
    uint32_t r = explore_rival(s->scores, s->K, y);
    if (r == y || s->scores[y] > s->scores[r])
        return;
    linear_add(s, W, y, 1, x);
    linear_add(s, W, r, -1, x);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (right && c->prob < explore_floor(s, 1))
        teach(s, x, c->label);
}

const struct algo algo_epoch_greedy = {
    .info = {"epoch-greedy", "epochs of exploration, then exploitation", "Langford and Zhang 2007", 0, settings},
    .tensors = tensors,
    .note = note,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = linear_first_scores,
};

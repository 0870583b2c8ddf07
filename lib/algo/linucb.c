/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LinUCB with disjoint linear models (L. Li, W. Chu, J. Langford, R. Schapire, "A contextual-bandit approach to
 * personalized news article recommendation", WWW 2010).
 *
 * Per class a ridge regression of the reward, see ridge.h; o = argmax w_k.x + alpha sqrt(x'A_k^-1 x).
 */
#include "state/explore.h"
#include "parts/ridge.h"

enum { ALPHA, LAMBDA };

static const hunch_setting settings[] = {
    SETTING_REAL("alpha", "1", 0, 1e6, "exploration: how much of the width is added to a score"),
    RIDGE_SETTING_TABLE,
    SETTINGS_END,
};

static const struct covariance_use covariance = RIDGE_COVARIANCE(LAMBDA);

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double alpha = setting_number(s, ALPHA);
    covariance_read_scores(s, x, 1);
    covariance_bounds(s, (real)(alpha * alpha));
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

const struct algo algo_linucb = {
    .info = {"linucb", "upper confidence bounds, ridge regression", "Li, Chu, Langford and Schapire 2010", 0, settings},
    .tensors = ridge_tensors,
    .covariance = &covariance,
    .predict = predict,
    .learn = ridge_learn,
    .scores = covariance_scores,
};

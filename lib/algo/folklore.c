/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bandit reduction of FOLKLORE (N. Agarwal, S. Kale, J. Zimmert, "Efficient methods for online multiclass logistic
 * regression", ALT 2022): a full-information learner of the logistic loss that is taught by right guesses only.
 *
 * With the chance gamma a uniform label is shown and, if it is right, learned from as the true one; otherwise a label
 * from pi = softmax(W x) is shown and nothing is learned. (In theory gamma = sqrt(K R(T)/T), R the learner's regret.)
 * The learner follows the regularised leader of quadratic approximations: with g = (pi - e_y) (x) x, H = (diag pi -
 * pi pi') (x) x x' and c = B + ln(K)/2, B a bound on |w_k| |x|:
 *   A += H/c,  b += H W/c - g,  W = A^-1 b,  from A = lambda I.
 * H is the sum of pi_k h h' (x) x x' over k with h = e_k - pi, and -g = h (x) x for k = y: K steps of rank one.
 * matrix=diag keeps the diagonal of A only.
 */
#include <math.h>

#include "base/exact.h"
#include "covariance/covariance.h"
#include "state/explore.h"

enum { MATRIX_FORM, GAMMA, B, LAMBDA };

#define NOTE_EXPLOITED 2u /* of a choice; without a note, as in logs, the label counts as a guess */

static const char *const matrix_choices[] = {"diag", "full", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "representation of the matrix A"),
    SETTING_REAL("gamma", "0.1", 0, 1, "fraction of rounds that explore, the only ones to learn from"),
    SETTING_REAL("B", "1", 0, 1e6, "a bound on the scores"),
    SETTING_REAL("lambda", "0.1", 1e-9, 1e9, "regularisation: what the diagonal of A starts from"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "minus_b", "A", "full_V"),
    TENSORS_END,
};

static double precision(const struct state *s)
{
    return setting_number(s, LAMBDA);
}

static const struct covariance_use covariance = {
    .setting = MATRIX_FORM, .precision = precision, .rule = DIAGONAL_NEGATIVE, .joint = true};

/* s->probabilities has pi. */
static double chance(const struct state *s, uint32_t label)
{
    double gamma = setting_number(s, GAMMA);
    return fmin((1 - gamma) * s->probabilities[label] + gamma / explore_labels(s), 1);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double *pi = s->probabilities;
    covariance_scores(s, x, s->scores);
    s->scored = true;
    explore_softmax(s, s->scores, 1, pi);
    bool explore = rng_uniform(&s->rng) < setting_number(s, GAMMA);
    ret->label = explore ? explore_uniform(s) : explore_sample(s, pi);
    ret->greedy = explore_argmax(s, s->scores);
    ret->prob = chance(s, ret->label);
    ret->note = explore ? NOTE_EXPLORED : NOTE_EXPLOITED;
}

static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    double *h = s->probabilities, c = setting_number(s, B) + exact_log(s->K) / 2;
    real *pi = s->steps, *before = s->bounds;
    if (!x->n || s->K < 2)
        return;
    explore_scores(s, x);
    explore_softmax(s, s->scores, 1, h);
    for (uint32_t k = 0; k < s->K; k++) {
        pi[k] = (real)h[k];
        before[k] = s->scores[k];
    }
    for (uint32_t k = 0; k < s->K; k++) {
        double old = 0, now = 0;
        for (uint32_t i = 0; i < s->K; i++) {
            h[i] = (i == k) - (double)pi[i];
            old += h[i] * before[i];
            now += h[i] * s->scores[i];
        }
        const struct joint z = {h, 0, 0, 1};
        covariance_joint_load(s, x, &z);
        covariance_joint_step(s, pi[k] / c * old + (k == y), pi[k] / c, now);
        covariance_scores(s, x, s->scores);
    }
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (right && (c->note & NOTE_EXPLORED || !(c->note & NOTE_EXPLOITED)))
        teach(s, x, c->label);
}

const struct algo algo_folklore = {
    .info = {"folklore", "logistic regression, quadratic approximations", "Agarwal, Kale and Zimmert 2022", 0,
             settings},
    .tensors = tensors,
    .covariance = &covariance,
    .predict = predict,
    .chance = chance,
    .learn = learn,
    .teach = teach,
    .scores = covariance_scores,
};

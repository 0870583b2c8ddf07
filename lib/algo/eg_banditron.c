/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Banditron's gradient in an exponential potential: exponentiated gradient with positive and negative weights, after
 * S. Wang, R. Jin, H. Valizadegan, "A potential-based framework for online multi-class learning with partial
 * feedback", AISTATS 2010.
 *
 * Theta_g -= x in every round, Theta_o += x/p when right; weights w = sinh(eta Theta), entry by entry, up to one
 * common factor, which no decision depends on. top is the largest |Theta| so far and scores carry the factor
 * e^(-eta top), so they stay finite.
 * E holds sinh(eta Theta) e^(-eta base), where eta (top - base) stays below RANGE: only when top outgrows that are all
 * of E rescaled.
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "state/linear.h"

enum { GAMMA, ETA };
enum { THETA, E, TOP, BASE };

#define RANGE 40.0 /* e^RANGE, times the features of an example, is far from the largest float */

static const hunch_setting settings[] = {
    SETTING_REAL("gamma", "0.05", 0, 1, "fraction of rounds that explore"),
    SETTING_REAL("eta", "0.01", 1e-9, 1e3, "learning rate within the exponent"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"theta", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"E", PER_FEATURE, 1, CLASSES, 0, MERGE_DERIVE},
    {"top", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    {"base", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    TENSORS_END,
};

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    double beyond = model_numbers(s, TOP)[0] - model_numbers(s, BASE)[0];
    real factor = (real)exact_exp(-setting_number(s, ETA) * beyond);
    linear_scores(s, E, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= factor;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_mix(s, explore_greedy(s, x), setting_number(s, GAMMA), ret);
}

static real weight_of(const struct state *s, double theta)
{
    double eta = setting_number(s, ETA), base = model_numbers(s, BASE)[0];
    return (real)((exact_exp(eta * (theta - base)) - exact_exp(eta * (-theta - base))) / 2);
}

/* E of every entry that is not at zero, after base has moved. */
static void weights_renew(struct state *s)
{
    for (size_t j = 0; j < s->features; j++) {
        const real *theta = linear_row(s, THETA, (uint32_t)j);
        real *e = linear_row(s, E, (uint32_t)j);
        for (uint32_t k = 0; k < s->K; k++)
            e[k] = theta[k] != 0 ? weight_of(s, theta[k]) : 0;
    }
}

/* E, top and base follow from Theta. */
static void derive(struct state *s)
{
    real top = 0;
    for (size_t j = 0; j < s->features; j++)
        for (uint32_t k = 0; k < s->K; k++) {
            real theta = linear_row(s, THETA, (uint32_t)j)[k], size = theta < 0 ? -theta : theta;
            top = size > top ? size : top;
        }
    model_numbers(s, TOP)[0] = model_numbers(s, BASE)[0] = top;
    weights_renew(s);
}

/* Theta_k += step x. Returns the largest |Theta_k| that it made. */
static double theta_add(struct state *s, uint32_t k, double step, const struct vec *x)
{
    double largest = 0;
    for (size_t i = 0; i < x->n; i++) {
        real *theta = linear_row(s, THETA, vec_index(x, i)) + k;
        *theta += (real)(step * x->value[i]);
        largest = fmax(largest, fabs((double)*theta));
    }
    return largest;
}

static void weights_follow(struct state *s, uint32_t k, const struct vec *x)
{
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = vec_index(x, i);
        linear_row(s, E, j)[k] = weight_of(s, linear_row(s, THETA, j)[k]);
    }
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double *top = model_numbers(s, TOP), *base = model_numbers(s, BASE), largest;
    if (right && c->label == c->greedy) {
        largest = theta_add(s, c->label, 1 / c->prob - 1, x);
    } else {
        largest = theta_add(s, c->greedy, -1, x);
        if (right)
            largest = fmax(largest, theta_add(s, c->label, 1 / c->prob, x));
    }
    *top = fmax(*top, largest);
    if (setting_number(s, ETA) * (*top - *base) > RANGE) {
        *base = *top;
        weights_renew(s);
        return;
    }
    weights_follow(s, c->greedy, x);
    if (right && c->label != c->greedy)
        weights_follow(s, c->label, x);
}

const struct algo algo_eg_banditron = {
    .info = {"eg-banditron", "Banditron with multiplicative updates", "Wang, Jin and Valizadegan 2010", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .derive = derive,
};

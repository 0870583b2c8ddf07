/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exp4 (P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal
 * on Computing 2002): exponential weights over experts. Here the experts are learners of this library, which learn too.
 *
 * Expert i advises its greedy label g_i. Q_k = sum of the weights e^omega_i of the experts with g_i = k, over the sum
 * of all weights; o is drawn from P = (1 - gamma) Q + gamma/K. Right: omega_i += gamma/(K p) for the experts with
 * g_i = o. Then every expert learns from (x, o, p, right), with its own advice as the greedy label.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "../explore.h"
#include "../members.h"

enum { EXPERTS, GAMMA };
enum { OMEGA };

static const hunch_setting settings[] = {
    {"experts", HUNCH_TEXT, "[cova;confidit;banditron]", 0, 0, NULL,
     "the learners to choose among: [name:setting=value,...;name;...]"},
    SETTING_REAL("gamma", "0.1", 0, 1, "share of rounds that explore, and learning rate of the weights"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"omega", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    TENSORS_END,
};

struct panel {
    struct members experts;        /* first: see members.h */
    uint32_t advice[MEMBERS_MOST]; /* of the example that predict saw last */
};

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    return members_check("experts", s->set[EXPERTS].text, reterr);
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == OMEGA)
        inout->lanes = members_count(s->set[EXPERTS].text);
}

static void detach(struct state *s)
{
    struct panel *p = s->extra;
    members_free(&p->experts);
    free(p);
}

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    struct panel *p = s->extra = calloc(1, sizeof *p);
    if (!p)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    return members_make(&p->experts, s->set[EXPERTS].text, s, reterr);
}

/* --- rounds --- */

/* Advice of every expert, and Q. ret has room for SCORE_ROOM * lanes numbers, which each expert uses in its turn. */
static void examine(const struct state *s, const struct vec *x, uint32_t *ret_advice, real *ret)
{
    const struct panel *p = s->extra;
    const double *omega = model_numbers(s, OMEGA);
    double total = 0;
    for (size_t i = 0; i < p->experts.n; i++)
        ret_advice[i] = child_advice(p->experts.child[i], x, ret);
    memset(ret, 0, s->K * sizeof *ret);
    for (size_t i = 0; i < p->experts.n; i++)
        total += exact_exp(omega[i]);
    for (size_t i = 0; i < p->experts.n; i++)
        ret[ret_advice[i]] += (real)(exact_exp(omega[i]) / total);
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    uint32_t advice[MEMBERS_MOST];
    examine(s, x, advice, ret);
}

static void note(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->experts.n; i++) {
        struct state *expert = p->experts.child[i];
        expert->round = s->round;
        if (expert->algo->note)
            expert->algo->note(expert, x);
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = s->extra;
    double gamma = setting_number(s, GAMMA);
    examine(s, x, p->advice, s->scores);
    s->scored = true;
    for (uint32_t k = 0; k < s->K; k++)
        s->probabilities[k] = (1 - gamma) * s->scores[k] + gamma / s->K;
    ret->greedy = explore_argmax(s, s->scores);
    ret->label = explore_sample(s, s->probabilities);
    ret->prob = fmin(s->probabilities[ret->label], 1);
}

/* The experts that advised a label which was right with the chance p. */
static void reward(struct state *s, uint32_t label, double p)
{
    const struct panel *panel = s->extra;
    double *omega = model_numbers(s, OMEGA), largest = -INFINITY;
    for (size_t i = 0; i < panel->experts.n; i++) {
        if (panel->advice[i] == label)
            omega[i] += setting_number(s, GAMMA) / (s->K * p);
        largest = fmax(largest, omega[i]);
    }
    for (size_t i = 0; i < panel->experts.n; i++)
        omega[i] -= largest;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct panel *p = s->extra;
    if (!s->scored)
        examine(s, x, p->advice, s->scores);
    if (right)
        reward(s, c->label, c->prob);
    for (size_t i = 0; i < p->experts.n; i++) {
        hunch_choice own = *c;
        own.greedy = p->advice[i];
        round_learn(p->experts.child[i], x, &own, right);
    }
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    struct panel *p = s->extra;
    if (!s->scored)
        examine(s, x, p->advice, s->scores);
    reward(s, label, 1);
    for (size_t i = 0; i < p->experts.n; i++)
        round_teach(p->experts.child[i], x, label);
}

/* --- what is no tensor --- */

static hunch_status reserve(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    return members_reserve(&p->experts, x);
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    struct panel *p = s->extra;
    if (classes > s->K)
        return members_grow_classes(&p->experts, classes);
    for (size_t i = 0; i < p->experts.n; i++) { /* features that only some experts have room for do no harm */
        hunch_status status = state_grow_features(p->experts.child[i], features);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

static const struct extra experts = {
    .attach = attach,
    .detach = detach,
    .grow = grow,
    .reserve = reserve,
    .member = members_extra_member,
    .size = members_extra_size,
    .write = members_extra_write,
    .read = members_extra_read,
    .merge = members_extra_merge,
};

const struct algo algo_exp4 = {
    .info = {"exp4", "exponential weights over other learners", "Auer, Cesa-Bianchi, Freund and Schapire 2002", 0,
             settings},
    .tensors = tensors,
    .check = check,
    .shape = shape,
    .note = note,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .extra = &experts,
};

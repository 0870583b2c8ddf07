/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exp4 (P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal
 * on Computing 2002): exponential weights over experts. Here the experts are learners of this library, which learn too.
 *
 * Expert i advises its greedy label g_i. Q_k = sum of the weights e^omega_i of the experts with g_i = k, over the sum
 * of all weights; o is drawn from P = (1 - gamma) Q + gamma/K. Right: omega_i += gamma/(K p) for the experts with
 * g_i = o. Then every expert learns from (x, o, p, right), with its own advice as the greedy label.
 *
 * rule=log-barrier (L. Erez, A. Cohen, T. Koren, Y. Mansour, S. Moran, "The real price of bandit information in
 * multiclass classification", COLT 2024): the experts' shares are the w on the simplex that minimise
 *   - sum omega_i w_i + (1/eta) sum w_i ln w_i - nu sum ln w_i,
 * omega_i += 1/p, and o is drawn from Q itself: the barrier, not uniform guesses, keeps every expert heard.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "state/explore.h"
#include "ensemble/members.h"

enum { EXPERTS, GAMMA, RULE, ETA, NU };
enum { EXPONENTIAL, LOG_BARRIER };
enum { OMEGA, SHARE };

static const char *const rule_choices[] = {"exponential", "log-barrier", NULL};

static const hunch_setting settings[] = {
    {"experts", HUNCH_TEXT, "[cova;confidit;banditron]", 0, 0, NULL,
     "the learners to choose among: [name:setting=value,...;name;...]"},
    SETTING_REAL("gamma", "0.1", 0, 1,
                 "exponential: fraction of rounds that explore, and learning rate of the weights"),
    SETTING_CHOICE("rule", "exponential", rule_choices, "how the experts' shares follow from their rewards"),
    SETTING_REAL("eta", "0.05", 1e-6, 1e3, "log-barrier: learning rate of the shares"),
    SETTING_REAL("nu", "1", 1e-6, 1e3, "log-barrier: how strongly every expert is kept"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"omega", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"share", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    TENSORS_END,
};

struct panel {
    struct members experts;       /* first: see members.h */
    uint32_t advice[MEMBERS_MAX]; /* of the example that predict saw last */
};

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    return members_check("experts", s->set[EXPERTS].text, reterr);
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    inout->lanes = members_count(s->set[EXPERTS].text);
    if (tensor == SHARE && setting_choice(s, RULE) == EXPONENTIAL)
        inout->kind = ABSENT;
    else if (tensor == SHARE)
        inout->initial = 1 / (double)inout->lanes;
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

/* --- the experts' shares --- */

/* w with ln(w)/eta - nu/w = c, for c < 0: Newton's method on a concave function of ln w, from below. */
static double share_of(double eta, double nu, double c)
{
    double u = fmax(eta * c, exact_log(nu / -c));
    for (int i = 0; i < 50; i++) {
        double pull = nu * exact_exp(-u), step = (c - u / eta + pull) / (1 / eta + pull);
        u += step;
        if (fabs(step) < 1e-14)
            break;
    }
    return exact_exp(u);
}

/* The multiplier at which the shares add up to 1: their sum is convex and falling in it, and at least 1 at nu (omega's
 * largest is 0), so that Newton's method goes up to it. */
static void shares_renew(struct state *s)
{
    double *share = model_numbers(s, SHARE), eta = setting_number(s, ETA), nu = setting_number(s, NU), at = nu, sum = 2;
    const double *omega = model_numbers(s, OMEGA);
    size_t N = s->tensor[SHARE].lanes;
    for (int i = 0; i < 100 && sum - 1 > 1e-13; i++) {
        double slope = 0;
        sum = 0;
        for (size_t n = 0; n < N; n++) {
            sum += share[n] = share_of(eta, nu, omega[n] - at);
            slope += share[n] / (1 / eta + nu / share[n]);
        }
        at += (sum - 1) / slope;
    }
    for (size_t n = 0; n < N; n++)
        share[n] /= sum;
}

static void derive(struct state *s)
{
    if (setting_choice(s, RULE) == EXPONENTIAL)
        return;
    double *omega = model_numbers(s, OMEGA), largest = omega[0];
    for (size_t n = 1; n < s->tensor[OMEGA].lanes; n++)
        largest = fmax(largest, omega[n]);
    for (size_t n = 0; n < s->tensor[OMEGA].lanes; n++)
        omega[n] -= largest;
    shares_renew(s);
}

static double weight(const struct state *s, size_t i)
{
    return setting_choice(s, RULE) == EXPONENTIAL ? exact_exp(model_numbers(s, OMEGA)[i]) : model_numbers(s, SHARE)[i];
}

/* --- rounds --- */

/* Advice of every expert, and Q. ret has room for SCORE_ROOM * lanes numbers, which each expert uses in its turn. */
static void examine(const struct state *s, const struct vec *x, uint32_t *ret_advice, real *ret)
{
    const struct panel *p = s->extra;
    double total = 0;
    for (size_t i = 0; i < p->experts.n; i++)
        ret_advice[i] = child_advice(p->experts.child[i], x, ret);
    memset(ret, 0, s->K * sizeof *ret);
    for (size_t i = 0; i < p->experts.n; i++)
        total += weight(s, i);
    for (size_t i = 0; i < p->experts.n; i++)
        ret[ret_advice[i]] += (real)(weight(s, i) / total);
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    uint32_t advice[MEMBERS_MAX];
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
    double gamma = setting_choice(s, RULE) == EXPONENTIAL ? setting_number(s, GAMMA) : 0;
    examine(s, x, p->advice, s->scores);
    s->scored = true;
    for (uint32_t k = 0; k < s->K; k++)
        s->probabilities[k] = (1 - gamma) * s->scores[k] + gamma / explore_labels(s);
    ret->greedy = explore_argmax(s, s->scores);
    ret->label = explore_sample(s, s->probabilities);
    ret->prob = fmin(s->probabilities[ret->label], 1);
}

/* The experts that advised a label which was right with the chance p. */
static void reward(struct state *s, uint32_t label, double p)
{
    const struct panel *panel = s->extra;
    double *omega = model_numbers(s, OMEGA), largest = -INFINITY;
    double gain = setting_choice(s, RULE) == EXPONENTIAL ? setting_number(s, GAMMA) / (s->K * p) : 1 / p;
    for (size_t i = 0; i < panel->experts.n; i++) {
        if (panel->advice[i] == label)
            omega[i] += gain;
        largest = fmax(largest, omega[i]);
    }
    for (size_t i = 0; i < panel->experts.n; i++)
        omega[i] -= largest;
    if (setting_choice(s, RULE) == LOG_BARRIER)
        shares_renew(s);
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
    .info = {"exp4", "exponential weights over other learners",
             "Auer, Cesa-Bianchi, Freund and Schapire 2002; Erez et al. 2024", 0, settings},
    .tensors = tensors,
    .check = check,
    .shape = shape,
    .note = note,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .derive = derive,
    .extra = &experts,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feel-good Thompson sampling (T. Zhang, "Feel-good Thompson sampling for contextual bandits and reinforcement
 * learning", SIAM J. Math. Data Sci. 2022), sampled by Langevin Monte Carlo as E. Anand and S. Liaw do ("Feel-good
 * Thompson sampling for contextual bandits: a Markov chain Monte Carlo showdown", NeurIPS 2025).
 *
 * W is a sample from exp(-U(W)/temperature). Over the rounds (x, o, r = 1 if right else 0), f_k = w_k.x (model=linear)
 * or 1/(1 + e^(-w_k.x)) (model=logistic) and f* = max_k f_k,
 *   U(W) = prior |W|^2 + sum eta loss(f_o, r) - lambda feel(f*),
 * with the squared or the logarithmic loss and feel(f) = min(cap, f) or, smooth > 0, cap - ln(1 + e^(smooth (cap - f)))
 * / smooth. o = argmax w_k.x. Each learn call takes `steps` steps of the chain, from where it stands:
 *   W <- W - h grad U(W) + sqrt(2 h temperature) normal,   h = step/(2 prior + c sum |x|^2),
 * where c = 2 eta (linear) or eta/4 (logistic) bounds the curvature of a round's loss.
 *
 * The feel-good term has no finite summary: rounds are kept, up to `budget`; beyond it a uniform sample of all of them,
 * each of which counts for learned/budget.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/exact.h"
#include "covariance/kernel.h"
#include "state/explore.h"
#include "state/linear.h"

enum { MODEL, ETA, LAMBDA, CAP, SMOOTH, PRIOR, TEMPERATURE, STEP, STEPS, BUDGET };
enum { MODEL_LINEAR, MODEL_LOGISTIC };
enum { W, LEARNED, LENGTH2 };

static const char *const model_choices[] = {"linear", "logistic", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("model", "linear", model_choices, "model of the probability that a label is right"),
    SETTING_REAL("eta", "1", 1e-6, 1e6, "weight of the losses"),
    SETTING_REAL("lambda", "0.1", 0, 1e6, "weight of the feel-good term; 0: Thompson sampling"),
    SETTING_REAL("cap", "1", 0, 1e6, "largest prediction that the feel-good term rewards"),
    SETTING_REAL("smooth", "0", 0, 1e6, "sharpness of a smooth cap; 0: a hard one"),
    SETTING_REAL("prior", "0.01", 1e-9, 1e9, "regularisation: weight of the squared norm of the weights"),
    SETTING_REAL("temperature", "0.01", 0, 1e6, "exploration: spread of the samples"),
    SETTING_REAL("step", "0.5", 1e-6, 1, "length of the chain's steps, as a fraction of the longest stable step"),
    SETTING_INTEGER("steps", "5", 1, 10000, "steps of the chain in each round"),
    SETTING_INTEGER("budget", "1000", 1, 1e6, "rounds kept; then a uniform sample of all"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"learned", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"length2", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

/* What a kept round adds to the gradient: own x in the row of its label, star x in that of the best label. */
struct pull {
    uint32_t best;
    double own, star;
};

struct chain {
    struct store kept; /* first: see store_extra_size. Owner: the predicted label; weight: 1 if right, else 0 */
    struct pull *pull; /* scratch: one for each kept round */
    size_t pull_room;
};

static double sigmoid(double z)
{
    return 1 / (1 + exact_exp(-z));
}

/* d feel / d f */
static double feel_slope(const struct state *s, double f)
{
    double gap = setting_number(s, CAP) - f, sharpness = setting_number(s, SMOOTH);
    return sharpness > 0 ? sigmoid(sharpness * gap) : gap > 0;
}

/* s->probabilities = the scores of a kept round. */
static void kept_scores(struct state *s, const struct store *t, const struct store_example *e)
{
    double *score = s->probabilities;
    for (uint32_t k = 0; k < s->K; k++)
        score[k] = 0;
    for (size_t i = e->at; i < e->at + e->n; i++) {
        const real *row = linear_row(s, W, t->index[i]);
        for (uint32_t k = 0; k < s->K; k++)
            score[k] += (double)t->value[i] * row[k];
    }
}

static struct pull pull_of(struct state *s, const struct store *t, const struct store_entry *e)
{
    const double *score = s->probabilities;
    kept_scores(s, t, &t->example[e->example]);
    struct pull p = {0, score[e->owner], 0};
    for (uint32_t k = 1; k < s->K; k++)
        if (score[k] > score[p.best])
            p.best = k;
    double eta = setting_number(s, ETA), lambda = setting_number(s, LAMBDA), star = score[p.best];
    if (setting_choice(s, MODEL) == MODEL_LINEAR) {
        p.own = 2 * eta * (p.own - e->weight);
        p.star = -lambda * feel_slope(s, star);
    } else {
        star = sigmoid(star);
        p.own = eta * (sigmoid(p.own) - e->weight);
        p.star = -lambda * feel_slope(s, star) * star * (1 - star);
    }
    return p;
}

/* W += c x of a kept round in row k. */
static void kept_add(struct state *s, const struct store *t, const struct store_example *e, uint32_t k, double c)
{
    for (size_t i = e->at; i < e->at + e->n; i++) {
        real *row = linear_row(s, W, t->index[i]);
        row[k] = (real)(row[k] + c * t->value[i]);
    }
}

/* Features up to the largest of the kept rounds: zeros at the end of a row change nothing. */
static uint32_t kept_features(const struct store *t)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->entries; i++) {
        const struct store_example *e = &t->example[t->entry[i].example];
        if (e->n && t->index[e->at + e->n - 1] >= n)
            n = t->index[e->at + e->n - 1] + 1;
    }
    return n;
}

/* W <- (1 - 2 h prior) W + noise, which the first `features` have */
static void shrink_and_scatter(struct state *s, uint32_t features, double h)
{
    double keep = 1 - 2 * h * setting_number(s, PRIOR), scatter = sqrt(2 * h * setting_number(s, TEMPERATURE));
    for (uint32_t j = 0; j < s->features; j++) {
        real *row = linear_row(s, W, j);
        for (uint32_t k = 0; k < s->K; k++)
            row[k] = (real)(keep * row[k] + (j < features ? scatter * rng_normal(&s->rng) : 0));
    }
}

static void chain_step(struct state *s, struct chain *c)
{
    const struct store *t = &c->kept;
    double curvature = setting_number(s, ETA) * (setting_choice(s, MODEL) == MODEL_LINEAR ? 2 : 0.25);
    double h = setting_number(s, STEP) / (2 * setting_number(s, PRIOR) + curvature * *model_numbers(s, LENGTH2));
    double counts = *model_numbers(s, LEARNED) / (double)t->entries; /* rounds that a kept one stands for */
    for (size_t i = 0; i < t->entries; i++)
        c->pull[i] = pull_of(s, t, &t->entry[i]);
    shrink_and_scatter(s, kept_features(t), h);
    for (size_t i = 0; i < t->entries; i++) {
        const struct store_example *e = &t->example[t->entry[i].example];
        kept_add(s, t, e, t->entry[i].owner, -h * counts * c->pull[i].own);
        if (c->pull[i].star != 0)
            kept_add(s, t, e, c->pull[i].best, -h * counts * c->pull[i].star);
    }
}

/* Keep the round, or let it take a random one's place so that those kept stay a uniform sample. */
static void keep(struct state *s, struct store *t, const struct vec *x, uint32_t o, bool right)
{
    size_t budget = (size_t)setting_number(s, BUDGET);
    if (t->entries < budget) {
        store_add(t, store_example(t, x), o, right);
        return;
    }
    uint64_t place = rng_below(&s->rng, (uint64_t)*model_numbers(s, LEARNED));
    if (place < budget)
        store_replace(t, place, store_example(t, x), o, right);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *choice, bool right)
{
    struct chain *c = s->extra;
    double length2 = linear_norm2(s, x);
    if (length2 < LENGTH2_MIN)
        return;
    *model_numbers(s, LEARNED) += 1;
    *model_numbers(s, LENGTH2) += length2;
    keep(s, &c->kept, x, choice->label, right);
    for (int i = 0; i < (int)setting_number(s, STEPS); i++)
        chain_step(s, c);
}

/* --- the rounds kept --- */

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    s->extra = calloc(1, sizeof(struct chain));
    return s->extra ? HUNCH_OK : error_set(reterr, HUNCH_ENOMEM, "out of memory");
}

static void detach(struct state *s)
{
    struct chain *c = s->extra;
    if (!c)
        return;
    store_clear(&c->kept);
    free(c->pull);
    free(c);
}

static bool pulls_fit(struct chain *c)
{
    return array_reserve(&c->pull, &c->pull_room, c->kept.entries + 1, sizeof *c->pull);
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    struct chain *c = s->extra;
    hunch_status status = store_reserve(&c->kept, x, 1);
    return status != HUNCH_OK ? status : pulls_fit(c) ? HUNCH_OK : HUNCH_ENOMEM;
}

/* Both have their rounds; beyond the budget the oldest go. */
static hunch_status extra_merge(struct state *s, const struct state *other)
{
    struct store *t = &((struct chain *)s->extra)->kept;
    hunch_status status = store_append(t, &((const struct chain *)other->extra)->kept);
    while (status == HUNCH_OK && t->entries > (size_t)setting_number(s, BUDGET))
        store_remove(t, 0);
    return status;
}

static const struct extra kept_rounds = {
    .attach = attach,
    .detach = detach,
    .reserve = reserve,
    .size = store_extra_size,
    .write = store_extra_write,
    .read = store_extra_read,
    .merge = extra_merge,
};

const struct algo algo_fgts = {
    .info = {"fgts", "feel-good Thompson sampling, by Langevin steps", "Zhang 2022, Anand and Liaw 2025", 0, settings},
    .tensors = tensors,
    .predict = explore_predict_greedy,
    .learn = learn,
    .scores = linear_first_scores,
    .extra = &kept_rounds,
};

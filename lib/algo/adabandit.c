/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandit boosting of multiclass weak learners (D. Zhang, Y. Jung, A. Tewari, "Online multiclass boosting with bandit
 * feedback", AISTATS 2019): rule=adabandit and rule=banditbbm.
 *
 * Weak learner n proposes the label l_n whose binary learner (one per class, see weak.h) has the largest output. With
 * the votes s_k = sum of alpha_i over the learners i < n with l_i = k, expert n answers argmax_k of the votes with l_n
 * counted. y^ is the answer of an expert drawn with chances v_n proportional to e^-L_n (banditbbm: of the last one);
 * o = y^ with the chance 1 - rho, else one of the other labels. The loss of label i is estimated by
 *   lhat_i = [right][i != o][i != y^]/P(o) + [wrong][o = y^ = i]/P(y^).
 * Learner n then has the costs c = C (1 - lhat) for the labels, C[l,r] the cost of l when r is true, and learns
 * (x, argmin c) with the weight sum c - K min c.
 *   adabandit  C[l,r] = 1/(1 + e^(s_r - s_l)), less the column's sum on the diagonal; alpha_n, from 0, follows the
 *              gradient of the logistic loss of the votes, at the rate rho/(K^2 sqrt t), within [-2, 2];
 *              L_n += lhat of expert n's answer
 *   banditbbm  alpha = 1; C[l,r] = the chance that r does not win the votes s + e_l when the N - n learners to come
 *              vote at random, for r with a chance greater by gamma: the potential of boosting by majority
 */
#include <math.h>

#include "base/exact.h"
#include "state/explore.h"
#include "parts/naive_bayes.h"
#include "parts/weak.h"

enum { RULE = WEAK_SETTINGS, RHO, GAMMA };
enum { ADABANDIT, BANDITBBM };
enum { ALPHA = WEAK_TENSORS, LOSS, LEARNED };

#define SAMPLES 100 /* of the votes to come */
#define TIE 1e-9    /* costs that differ by less are the same */
#define ALPHA_MAX 2

static const char *const rule_choices[] = {"adabandit", "banditbbm", NULL};

static const hunch_setting settings[] = {
    WEAK_SETTING_TABLE("20"),
    SETTING_CHOICE("rule", "adabandit", rule_choices, "votes that adapt, or boosting by majority"),
    SETTING_REAL("rho", "0.05", 0, 1, "fraction of rounds that explore"),
    SETTING_REAL("gamma", "0.1", 0, 1, "banditbbm: the weak learners' assumed advantage"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    WEAK_TENSOR_TABLE,
    {"alpha", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"loss", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"learned", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

/* What a round tells of the labels' losses. */
struct lesson {
    uint32_t label, answer; /* o, y^ */
    bool right, told;       /* told: the true label is `label`, all losses are known */
    double inverse;         /* 1/P */
};

static double loss_of(const struct lesson *e, uint32_t i)
{
    if (e->told)
        return i != e->label;
    if (e->right)
        return i != e->label && i != e->answer ? e->inverse : 0;
    return e->label == e->answer && i == e->answer ? e->inverse : 0;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor < WEAK_TENSORS)
        weak_shape(s, tensor, inout);
    else if (tensor != LEARNED)
        inout->lanes = (size_t)setting_number(s, WEAK_N);
    if (tensor == ALPHA && setting_choice(s, RULE) == BANDITBBM)
        inout->initial = 1;
}

/* --- asking --- */

/* The labels that the block of learners from `first` on propose. */
static size_t propose(const struct state *s, const struct vec *x, size_t first, uint32_t *ret)
{
    struct weak_block b;
    real best[WEAK_BLOCK];
    size_t n = weak_block_size(s, first);
    for (size_t i = 0; i < WEAK_BLOCK; i++) {
        best[i] = -INFINITY;
        ret[i] = 0;
    }
    for (uint32_t k = 0; k < s->K; k++) {
        weak_ask(s, k, first, x, &b);
        for (size_t i = 0; i < n; i++)
            if (b.h[i] > best[i]) {
                best[i] = b.h[i];
                ret[i] = k;
            }
    }
    return n;
}

/* The votes of all learners, and the share of the experts' weight for each answer. */
static void ask(const struct state *s, const struct vec *x, real *ret_votes, real *ret_share)
{
    size_t N = s->tensor[LOSS].lanes;
    const double *L = model_numbers(s, LOSS), *alpha = model_numbers(s, ALPHA);
    double min = L[0], total = 0;
    uint32_t label[WEAK_BLOCK];
    for (size_t n = 1; n < N; n++)
        min = fmin(min, L[n]);
    for (size_t n = 0; n < N; n++)
        total += exact_exp(min - L[n]);
    for (uint32_t k = 0; k < s->K; k++)
        ret_votes[k] = ret_share[k] = 0;
    for (size_t first = 0; first < N; first += WEAK_BLOCK)
        for (size_t i = 0, n = propose(s, x, first, label); i < n; i++) {
            ret_votes[label[i]] += (real)alpha[first + i];
            ret_share[explore_best(s, ret_votes)] += (real)(exact_exp(min - L[first + i]) / total);
        }
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real *other = ret + s->lanes;
    bool majority = setting_choice(s, RULE) == BANDITBBM;
    ask(s, x, majority ? ret : other, majority ? other : ret);
}

/* The chance of label o when the answer is y. */
static double chance_given(const struct state *s, uint32_t o, uint32_t y)
{
    uint32_t labels = explore_labels(s);
    double rho = labels > 1 ? setting_number(s, RHO) : 0;
    return o == y ? 1 - rho : rho / (labels - 1);
}

/* Whatever the answer; s->bounds has the answers' chances. */
static double chance(const struct state *s, uint32_t o)
{
    uint32_t labels = explore_labels(s);
    double share = fmin(s->bounds[o], 1), others = labels > 1 ? (1 - share) * setting_number(s, RHO) / (labels - 1) : 0;
    return fmin(share * chance_given(s, o, o) + others, 1);
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    double *P = s->probabilities;
    scores(s, x, s->scores);
    s->scored = true;
    uint32_t answer = ret->greedy = explore_argmax(s, s->scores);
    bool majority = setting_choice(s, RULE) == BANDITBBM;
    for (uint32_t k = 0; k < s->K; k++)
        P[k] = majority ? k == answer : s->scores[k];
    if (!majority)
        answer = explore_sample(s, P);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = (real)P[k]; /* of the answers */
    for (uint32_t k = 0; k < s->K; k++)
        P[k] = chance_given(s, k, answer);
    ret->label = explore_sample(s, P);
    ret->prob = chance(s, ret->label);
    ret->note = s->eligible ? 0 : (answer + 1) << 1; /* learn knows the chances among all labels only */
}

/* --- learning --- */

static double logistic(double z)
{
    return 1 / (1 + exact_exp(fmin(z, 500)));
}

/* The slope of the votes' logistic loss in the alpha of a learner that proposes l; its votes s->bounds are those before
 * it. At alpha = 0 that is AdaBandit's cost of l. */
static double slope(const struct state *s, const struct lesson *e, uint32_t l, double alpha)
{
    double sum = 0, mine = s->bounds[l] + alpha, own = 1 - loss_of(e, l);
    for (uint32_t r = 0; r < s->K; r++)
        if (r != l) {
            double c = logistic(s->bounds[r] - mine);
            sum += (1 - loss_of(e, r)) * c - own * (1 - c);
        }
    return sum;
}

/* One sample of `left` votes to come, beside those given, into s->variances; returns how many went to the true label,
 * whichever it is. */
static double votes_draw(struct state *s, struct rng *rng, size_t left)
{
    double favoured = 0;
    for (uint32_t k = 0; k < s->K; k++)
        s->variances[k] = s->bounds[k];
    for (; left > 0; left--) {
        bool biased = rng_uniform(rng) < setting_number(s, GAMMA);
        uint64_t k = rng_below(rng, s->K);
        if (biased)
            favoured++;
        else
            s->variances[k] += 1;
    }
    return favoured;
}

/* BanditBBM's: over samples of the votes to come, the same in every round. A tie counts as lost. */
static void costs_majority(struct state *s, const struct lesson *e, size_t n)
{
    struct rng rng = {n};
    const real *b = s->variances;
    for (uint32_t l = 0; l < s->K; l++)
        s->probabilities[l] = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double favoured = votes_draw(s, &rng, s->tensor[LOSS].lanes - 1 - n);
        for (uint32_t r = 0; r < s->K; r++) {
            double share = (1 - loss_of(e, r)) / SAMPLES, mine = b[r] + favoured;
            double others = s->K > 1 ? b[explore_rival(b, s->K, r)] : -1;
            for (uint32_t l = 0; l < s->K; l++) {
                bool won = l == r ? mine + 1 > others : mine > others && mine > b[l] + 1;
                s->probabilities[l] += won ? 0 : share;
            }
        }
    }
}

/* The label of the least cost, the shown one if it was right and is among them; and the weight of the example. */
static uint32_t target(const struct state *s, const struct lesson *e, double *ret_weight)
{
    const double *c = s->probabilities;
    double sum = 0;
    uint32_t best = 0;
    for (uint32_t l = 0; l < s->K; l++) {
        sum += c[l];
        if (c[l] < c[best] - TIE)
            best = l;
    }
    sum -= s->K * c[best];
    *ret_weight = sum > TIE ? sum : 0;
    return e->right && c[e->label] < c[best] + TIE ? e->label : best;
}

/* Learner n proposed l: its example and weight, its alpha, and its expert's loss. */
static uint32_t step(struct state *s, const struct lesson *e, size_t n, uint32_t l, double *ret_weight)
{
    double *alpha = model_numbers(s, ALPHA) + n, old = *alpha, K = s->K;
    bool majority = setting_choice(s, RULE) == BANDITBBM;
    if (majority)
        costs_majority(s, e, n);
    for (uint32_t k = 0; !majority && k < s->K; k++)
        s->probabilities[k] = slope(s, e, k, 0);
    uint32_t y = target(s, e, ret_weight);
    if (!majority) {
        double rate = setting_number(s, RHO) / (K * K * sqrt(model_numbers(s, LEARNED)[0]));
        *alpha = fmin(fmax(old - rate * slope(s, e, l, old), -ALPHA_MAX), ALPHA_MAX);
    }
    s->bounds[l] += (real)old;
    model_numbers(s, LOSS)[n] += loss_of(e, explore_first(s->bounds, s->K));
    return y;
}

static void take(struct state *s, const struct vec *x, const struct lesson *e)
{
    struct weak_block b;
    uint32_t label[WEAK_BLOCK], wanted[WEAK_BLOCK];
    double weight[WEAK_BLOCK], signed_weight[WEAK_BLOCK];
    model_numbers(s, LEARNED)[0]++;
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = 0;
    for (size_t first = 0; first < s->tensor[LOSS].lanes; first += WEAK_BLOCK) {
        size_t n = propose(s, x, first, label);
        for (size_t i = 0; i < n; i++)
            wanted[i] = step(s, e, first + i, label[i], &weight[i]);
        for (uint32_t k = 0; k < s->K; k++) {
            weak_ask(s, k, first, x, &b);
            for (size_t i = 0; i < n; i++)
                signed_weight[i] = k == wanted[i] ? weight[i] : -weight[i];
            weak_teach(s, &b, x, signed_weight);
        }
    }
    weak_meet(s, x);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    uint32_t told = c->note >> 1, answer = told > 0 && told <= s->K ? told - 1 : c->greedy;
    double p = told ? explore_floor(s, chance_given(s, c->label, answer)) : c->prob;
    struct lesson e = {c->label, answer, right, false, 1 / fmax(p, 1e-9)};
    if (setting_choice(s, RULE) == BANDITBBM && !right && c->label != answer)
        return; /* nothing is known of any label's loss */
    take(s, x, &e);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    take(s, x, &(struct lesson){label, label, true, true, 1});
}

const struct algo algo_adabandit = {
    .info = {"adabandit", "boosting of multiclass weak learners", "Zhang, Jung and Tewari 2019", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .chance = chance,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .derive = weak_derive,
    .extra = &weak_extra,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conservative one-versus-all (G. Chen, G. Chen, J. Zhang, S. Chen, C. Zhang, "Beyond banditron: a conservative and
 * efficient reduction for online multiclass prediction with bandit setting model", ICDM 2009).
 *
 * K binary learners f_k; o = g, the label that decoding picks (decoding=loss: the largest f_k; hamming: the largest
 * sign of f_k). Right: learner o gets (x,+1) and every other (x,-1). Wrong: only learner o gets (x,-1): a miss tells
 * nothing about the others, so nothing is invented.
 * Bases: passive-aggressive pa, pa1, pa2 (passive.h); perceptron, which moves when y f <= 0; arow with variances S;
 * naive-bayes (naive_bayes.h).
 *
 * coding=all-pairs (section III-B) has a linear learner for every two classes, f_kj = -f_jk, and picks the label with
 * the least sum over j of max(0, 1 - f_kj) (hamming: the largest sum of signs). Right: o wins its pairs, every f_oj
 * gets (x,+1). Wrong: it loses them, (x,-1); the other pairs never learn from it.
 */
#include <math.h>
#include <string.h>

#include "covariance/covariance.h"
#include "state/explore.h"
#include "state/linear.h"
#include "parts/naive_bayes.h"
#include "parts/passive.h"

enum { BASE, C, R, SMOOTH, DECODING, CODING };
enum { BASE_PA = PASSIVE_PA, BASE_PA1, BASE_PA2, BASE_PERCEPTRON, BASE_AROW, BASE_NAIVE_BAYES };
enum { DECODING_LOSS, DECODING_HAMMING };
enum { ONE_VERSUS_ALL, ALL_PAIRS };
enum { W = COVARIANCE_W, NO = COVARIANCE_TENSORS, YES, ODDS, SEEN, TOTALS, VOCABULARY, PAIRS };

static const char *const base_choices[] = {"pa", "pa1", "pa2", "perceptron", "arow", "naive-bayes", NULL};
static const char *const decoding_choices[] = {"loss", "hamming", NULL};
static const char *const coding_choices[] = {"one-versus-all", "all-pairs", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("base", "pa1", base_choices, "the binary learner of each class"),
    SETTING_REAL("C", "1", 1e-9, 1e9, "largest step of pa1, inverse softness of pa2"),
    SETTING_REAL("r", "1", 1e-9, 1e9, "regularisation of arow"),
    NAIVE_BAYES_SETTING_SMOOTH,
    SETTING_CHOICE("decoding", "loss", decoding_choices, "how the binary answers become one label"),
    SETTING_CHOICE("coding", "one-versus-all", coding_choices, "what the binary learners distinguish"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "b", "S", "full_S"),
    {"no", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"yes", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"odds", PER_FEATURE, 1, CLASSES, 0, MERGE_DERIVE},
    {"seen", PER_FEATURE, 1, 1, 0, MERGE_SUM},
    {"totals", PER_MODEL, CLASSES, NAIVE_BAYES_TOTALS, 0, MERGE_SUM},
    {"vocabulary", PER_MODEL, 1, 1, 0, MERGE_DERIVE},
    {"pairs", PER_FEATURE, CLASSES, CLASSES, 0, MERGE_MEAN},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool pairs = setting_choice(s, CODING) == ALL_PAIRS, counts = setting_choice(s, BASE) == BASE_NAIVE_BAYES;
    if ((tensor == PAIRS) != pairs || (!pairs && (tensor >= NO) != counts))
        inout->kind = ABSENT;
}

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    if (setting_choice(s, CODING) == ALL_PAIRS && setting_choice(s, BASE) > BASE_PERCEPTRON)
        return error_set(reterr, HUNCH_EINVAL, "coding=all-pairs goes with base=pa, pa1, pa2 or perceptron");
    return HUNCH_OK;
}

static bool is_arow(const struct state *s)
{
    return setting_choice(s, BASE) == BASE_AROW;
}

static const struct covariance_use covariance = {.setting = -1, .rule = DIAGONAL_SUBTRACT, .wanted = is_arow};

static struct naive_bayes bayes(const struct state *s)
{
    return (struct naive_bayes){NO, YES, ODDS, SEEN, TOTALS, VOCABULARY, setting_number(s, SMOOTH)};
}

static void derive(struct state *s)
{
    struct naive_bayes b = bayes(s);
    if (setting_choice(s, BASE) == BASE_NAIVE_BAYES)
        naive_bayes_renew(s, &b);
}

/* f_k of every class. */
static void outputs(const struct state *s, const struct vec *x, real *ret)
{
    if (setting_choice(s, BASE) == BASE_NAIVE_BAYES) {
        struct naive_bayes b = bayes(s);
        naive_bayes_outputs(s, &b, (struct naive_bayes_block){0, 0, s->K}, x, ret);
    } else {
        linear_scores(s, W, x, ret);
    }
}

static void decode(const struct state *s, const real *f, real *ret)
{
    bool hamming = setting_choice(s, DECODING) == DECODING_HAMMING;
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = hamming ? (real)((f[k] > 0) - (f[k] < 0)) : f[k];
}

/* f_kj for all j; f_kk = 0. */
static void pair_outputs(const struct state *s, uint32_t k, const struct vec *x, real *ret)
{
    size_t lanes = s->tensor[PAIRS].padded;
    s->linear->scores(linear_row(s, PAIRS, 0) + k * lanes, s->stride, lanes, x, ret);
}

/* The sum over k's pairs of what its answers count; f: scratch. */
static double pair_sum(const struct state *s, uint32_t k, const struct vec *x, real *f)
{
    bool hamming = setting_choice(s, DECODING) == DECODING_HAMMING;
    double sum = 0;
    pair_outputs(s, k, x, f);
    for (uint32_t j = 0; j < s->K; j++)
        if (j != k)
            sum += hamming ? (f[j] > 0) - (f[j] < 0) : -fmax(0, 1 - (double)f[j]);
    return sum;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    if (setting_choice(s, CODING) == ALL_PAIRS) {
        for (uint32_t k = 0; k < s->K; k++)
            ret[k] = (real)pair_sum(s, k, x, ret + s->lanes);
        return;
    }
    outputs(s, x, ret);
    decode(s, ret, ret);
}

static void examine(struct state *s, const struct vec *x)
{
    if (is_arow(s))
        covariance_read(s, x, 1);
    else
        outputs(s, x, s->scores);
    s->scored = true;
}

static const real *scores_left(struct state *s)
{
    return s->bounds;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    if (setting_choice(s, CODING) == ALL_PAIRS) {
        scores(s, x, s->scores);
        explore_none(explore_argmax(s, s->scores), ret);
        return;
    }
    examine(s, x);
    decode(s, s->scores, s->bounds);
    explore_none(explore_argmax(s, s->bounds), ret);
}

/* The step of binary learner k on (x, y): w_k += step x, or, for arow, w_k += step S_k x with S shrunk by *shrink. */
static double base_step(const struct state *s, uint32_t k, double y, double norm2, double *shrink)
{
    double f = s->scores[k];
    int base = setting_choice(s, BASE);
    *shrink = 0;
    if (base == BASE_PERCEPTRON)
        return y * f <= 0 ? y : 0;
    if (base != BASE_AROW)
        return passive_step((enum passive_kind)base, setting_number(s, C), y, f, norm2);
    if (y * f >= 1)
        return 0;
    *shrink = 1 / (s->variances[k] + setting_number(s, R));
    return (y - f) * *shrink;
}

static void learn_bayes(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct naive_bayes b = bayes(s);
    for (uint32_t k = 0; k < s->K; k++)
        if (right || k == c->label)
            naive_bayes_update(s, &b, (struct naive_bayes_block){k, k, 1}, x, right && k == c->label ? 1 : -1);
    naive_bayes_meet(s, &b, x);
}

/* The binary learners of classes first .. last-1: the one of class yes (if any) gets (x,+1), the others (x,-1). */
static void learn_binary(struct state *s, const struct vec *x, uint32_t first, uint32_t last, uint32_t yes)
{
    double norm2 = linear_norm2(s, x), shrink = 0;
    bool any = false;
    memset(s->steps, 0, s->lanes * sizeof *s->steps);
    if (is_arow(s))
        covariance_load(s, x, 1);
    for (uint32_t k = first; k < last; k++) {
        double step = base_step(s, k, k == yes ? 1 : -1, norm2, &shrink);
        s->steps[k] = (real)step;
        any |= step != 0;
        if (is_arow(s) && step != 0)
            covariance_step(s, k, step, shrink);
    }
    if (is_arow(s))
        covariance_flush(s);
    else if (last - first == 1)
        linear_add(s, W, first, s->steps[first], x);
    else if (any)
        linear_add_all(s, W, s->steps, x);
}

static void learn_pairs(struct state *s, const struct vec *x, uint32_t o, bool right)
{
    const struct tensor_place *p = &s->tensor[PAIRS];
    double norm2 = linear_norm2(s, x), shrink;
    pair_outputs(s, o, x, s->scores);
    memset(s->steps, 0, s->lanes * sizeof *s->steps);
    for (uint32_t j = 0; j < s->K; j++) {
        if (j == o)
            continue;
        real *w = linear_row(s, PAIRS, 0) + j * p->padded + o,
             step = (real)base_step(s, j, right ? 1 : -1, norm2, &shrink);
        s->steps[j] = step;
        if (step != 0)
            FOR_EACH_ENTRY(w[row] -= step * v;);
    }
    s->linear->add_all(linear_row(s, PAIRS, 0) + o * p->padded, s->stride, p->padded, x, s->steps);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (setting_choice(s, CODING) == ALL_PAIRS) {
        learn_pairs(s, x, c->label, right);
        return;
    }
    if (setting_choice(s, BASE) == BASE_NAIVE_BAYES) {
        learn_bayes(s, x, c, right);
        return;
    }
    if (!s->scored)
        examine(s, x);
    if (right) /* the predicted label is it and no other is */
        learn_binary(s, x, 0, s->K, c->label);
    else /* it is not */
        learn_binary(s, x, c->label, c->label + 1, s->K);
}

const struct algo algo_cova = {
    .info = {"cova", "conservative one-versus-all", "Chen et al. 2009", 0, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .check = check,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .scores_left = scores_left,
    .derive = derive,
};

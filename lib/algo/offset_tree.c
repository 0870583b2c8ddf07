/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The offset tree (A. Beygelzimer, J. Langford, "The offset tree for learning with partial labels", KDD 2009).
 *
 * A balanced binary tree over the labels: the node of the labels [low, high) sends [low, mid) to the left and
 * [mid, high) to the right. mid is different at every node, so it numbers the node's binary learner, f_mid = w_mid.x;
 * x goes right where f_mid > 0; g is the leaf that it reaches.
 *   rule=realizable  as G. Chen et al. run it against conservative one-versus-all (ICDM 2009): o = g. Right: every node
 * on the path gets (x, the direction taken). Wrong: every node on the path gets (x, the other direction).
 *   rule=offset  the paper's, with offset 1/2: o is drawn as Banditron draws it. From o's parent up to the root, as
 * long as the nodes below send x to o, a node gets (x, towards o) when right, else (x, away from o), with the weight
 * (p_o + p_r)/(2 p_o), where r is the leaf that x reaches on the other side and p_r its chance of being shown. Where
 * another policy chose o, p_r is not known, and the weight is 1/(K p_o), which is that of a uniform policy's rounds.
 * importance=weight multiplies C by that; costing (B. Zadrozny, J. Langford, N. Abe, ICDM 2003) learns the example with
 * a chance of weight/(largest weight) instead, which costs a uniform for each node.
 * A label's score is the smallest margin on the way to its leaf: the leaf that x reaches is the only one above 0.
 */
#include <math.h>

#include "state/explore.h"
#include "state/linear.h"
#include "parts/passive.h"

enum { BASE, C, RULE, GAMMA, IMPORTANCE };
enum { REALIZABLE, OFFSET };
enum { WEIGHT, COSTING };
enum { W };

#define DEPTH_MAX 32 /* of a leaf */

static const char *const base_choices[] = {"pa", "pa1", "pa2", NULL};
static const char *const rule_choices[] = {"realizable", "offset", NULL};
static const char *const importance_choices[] = {"weight", "costing", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("base", "pa1", base_choices, "the binary learner of each node"),
    SETTING_REAL("C", "1", 1e-9, 1e9, "largest step of pa1, inverse softness of pa2"),
    SETTING_CHOICE("rule", "realizable", rule_choices,
                   "what nodes learn: as Chen et al. run it, or the paper's offset 1/2"),
    SETTING_REAL("gamma", "0.05", 0, 1, "rule=offset: fraction of rounds that explore"),
    SETTING_CHOICE("importance", "weight", importance_choices,
                   "rule=offset: examples count by their weight, or are drawn by it"),
    SETTINGS_END,
};

/* Column k is the node whose mid is k; there is none for 0. */
static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    TENSORS_END,
};

/* The labels below a node. */
struct span {
    uint32_t low, high;
};

/* Of an odd number of labels the larger half goes right. */
static uint32_t span_mid(struct span n)
{
    return n.low + (n.high - n.low) / 2;
}

static struct span span_child(struct span n, bool right)
{
    uint32_t mid = span_mid(n);
    return right ? (struct span){mid, n.high} : (struct span){n.low, mid};
}

static real leaf_score(const real *f, uint32_t K, uint32_t k)
{
    bool first = true;
    real min = 0;
    for (struct span n = {0, K}; n.high - n.low > 1;) {
        uint32_t mid = span_mid(n);
        real margin = k >= mid ? f[mid] : -f[mid];
        min = first || margin < min ? margin : min;
        first = false;
        n = span_child(n, k >= mid);
    }
    return min;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real *f = ret + s->lanes;
    linear_scores(s, W, x, f);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = leaf_score(f, s->K, k);
}

static const real *scores_left(struct state *s)
{
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = leaf_score(s->scores, s->K, k);
    return s->bounds;
}

static bool goes_right(const struct state *s, struct span n)
{
    return s->scores[span_mid(n)] > 0;
}

/* The leaf below n that x reaches, by s->scores. */
static uint32_t leaf_reached(const struct state *s, struct span n)
{
    while (n.high - n.low > 1)
        n = span_child(n, goes_right(s, n));
    return n.low;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    linear_scores(s, W, x, s->scores);
    s->scored = true;
    /* Among some labels only: the leaf whose path errs least; of all labels that is the one reached. */
    uint32_t g = s->eligible ? explore_best(s, scores_left(s)) : leaf_reached(s, (struct span){0, s->K});
    if (setting_choice(s, RULE) == OFFSET)
        explore_mix(s, g, setting_number(s, GAMMA), ret);
    else
        explore_none(g, ret);
}

static void node_learn(struct state *s, const struct vec *x, struct span n, bool to_right, double weight)
{
    uint32_t mid = span_mid(n);
    double step = passive_step((enum passive_kind)setting_choice(s, BASE), setting_number(s, C) * weight,
                               to_right ? 1 : -1, s->scores[mid], vec_norm2(x));
    if (step != 0)
        linear_add(s, W, mid, step, x);
}

static void learn_realizable(struct state *s, const struct vec *x, uint32_t o, bool right)
{
    for (struct span n = {0, s->K}; n.high - n.low > 1;) {
        bool went_right = o >= span_mid(n);
        node_learn(s, x, n, went_right == right, 1);
        n = span_child(n, went_right);
    }
}

/* Whether the probability is that of a label that rule=offset has drawn by itself. */
static bool is_own(const hunch_choice *c, double max, double min)
{
    return fabs(c->prob - (c->label == c->greedy ? max : min)) <= 1e-6 * c->prob;
}

static void learn_offset(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct span path[DEPTH_MAX];
    double gamma = setting_number(s, GAMMA), min = gamma / s->K, max = 1 - gamma + min;
    double largest = min > 0 ? (1 + max / min) / 2 : 0.5; /* weight */
    bool own = is_own(c, max, min);
    int depth = 0;
    for (struct span n = {0, s->K}; n.high - n.low > 1; n = span_child(n, c->label >= span_mid(n)))
        path[depth++] = n;
    while (depth-- > 0) {
        struct span n = path[depth];
        bool to_right = c->label >= span_mid(n);
        uint32_t rival = leaf_reached(s, span_child(n, !to_right));
        double weight = own ? (1 + (rival == c->greedy ? max : min) / c->prob) / 2 : 1 / (s->K * c->prob);
        bool drawn = setting_choice(s, IMPORTANCE) == COSTING;
        if (!drawn || rng_uniform(&s->rng) * largest < weight)
            node_learn(s, x, n, to_right == right, drawn ? 1 : weight);
        if (goes_right(s, n) != to_right)
            break;
    }
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!s->scored)
        linear_scores(s, W, x, s->scores);
    if (setting_choice(s, RULE) == OFFSET)
        learn_offset(s, x, c, right);
    else
        learn_realizable(s, x, c->label, right);
}

const struct algo algo_offset_tree = {
    .info = {"offset-tree", "a tree of binary learners over the labels", "Beygelzimer and Langford 2009", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .scores_left = scores_left,
};

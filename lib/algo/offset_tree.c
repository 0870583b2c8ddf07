/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The realizable offset tree (A. Beygelzimer, J. Langford, "The offset tree for learning with partial labels", KDD
 * 2009), as G. Chen et al. run it against conservative one-versus-all (ICDM 2009).
 *
 * A balanced binary tree over the labels: the node of the labels [low, high) sends [low, mid) to the left and
 * [mid, high) to the right. mid is different at every node, so it numbers the node's binary learner, f_mid = w_mid.x;
 * x goes right where f_mid > 0, and the leaf that it reaches is the label shown. Right: every node on the path gets
 * (x, the direction taken). Wrong: every node on the path gets (x, the other direction).
 * A label's score is the smallest margin on the way to its leaf: the leaf that x reaches is the only one above 0.
 */
#include "../explore.h"
#include "../linear.h"
#include "../passive.h"

enum { BASE, C };
enum { W };

static const char *const base_choices[] = {"pa", "pa1", "pa2", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("base", "pa1", base_choices, "the binary learner of each node"),
    SETTING_REAL("C", "1", 1e-9, 1e9, "largest step of pa1, inverse softness of pa2"),
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
    real least = 0;
    for (struct span n = {0, K}; n.high - n.low > 1;) {
        uint32_t mid = span_mid(n);
        real margin = k >= mid ? f[mid] : -f[mid];
        least = first || margin < least ? margin : least;
        first = false;
        n = span_child(n, k >= mid);
    }
    return least;
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

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    linear_scores(s, W, x, s->scores);
    s->scored = true;
    struct span n = {0, s->K};
    while (n.high - n.low > 1)
        n = span_child(n, s->scores[span_mid(n)] > 0);
    explore_none(n.low, ret);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!s->scored)
        linear_scores(s, W, x, s->scores);
    double norm2 = vec_norm2(x);
    for (struct span n = {0, s->K}; n.high - n.low > 1;) {
        uint32_t mid = span_mid(n);
        bool went_right = c->label >= mid;
        double step = passive_step((enum passive_kind)setting_choice(s, BASE), setting_number(s, C),
                                   went_right == right ? 1 : -1, s->scores[mid], norm2);
        if (step != 0)
            linear_add(s, W, mid, step, x);
        n = span_child(n, went_right);
    }
}

const struct algo algo_offset_tree = {
    .info = {"offset-tree", "a tree of binary learners over the labels", "Beygelzimer and Langford 2009", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .scores_left = scores_left,
};

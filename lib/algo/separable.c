/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandit multiclass learning of separable data (A. Beygelzimer, D. Pal, B. Szorenyi, D. Thiruvenkatachari, C.-Y. Wei,
 * C. Zhang, "Bandit multiclass linear classification: efficient algorithms for the separable case", ICML 2019).
 *
 * model=linear    one Perceptron per class, s_k = w_k.x (their Algorithm 1, for strongly separable data)
 * model=rational  the same with the kernel 1/(1 - nu <x,z>): per class a list of examples that were added to or taken
 *                 from w_k (weakly separable data)
 * model=nearest   remembers examples whose label is known, s_k = 1/(1 + distance to the nearest one of label k)
 *
 * linear, rational: o is the largest s_k if that is >= 0; else a uniform guess.
 *   rule=author (their code)  right: w_k -= x for all others with s_k >= 0, and w_o += x if s_o <= 0;
 *                             wrong: w_o -= x if s_o >= 0
 *   rule=paper                right: w_o += x if it was a guess; wrong: w_o -= x if it was not
 * nearest: o is the nearest example's label if that is within `radius`; else a uniform guess, remembered if right.
 *
 * A list that holds `budget` examples gets a new one in the place of a random one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state/explore.h"
#include "covariance/kernel.h"
#include "state/linear.h"

enum { MODEL, RULE, NU, RADIUS, BUDGET };
enum { MODEL_LINEAR, MODEL_RATIONAL, MODEL_NEAREST };
enum { RULE_AUTHOR, RULE_PAPER };
enum { W };

static const char *const model_choices[] = {"linear", "rational", "nearest", NULL};
static const char *const rule_choices[] = {"author", "paper", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("model", "linear", model_choices, "linear, with the rational kernel, or nearest neighbour"),
    SETTING_CHOICE("rule", "author", rule_choices,
                   "the update of linear and rational: the authors' code's or the paper's"),
    SETTING_REAL("nu", "0.5", 0, 0.999, "of the rational kernel 1/(1 - nu <x,z>)"),
    SETTING_REAL("radius", "0.1", 0, 1e9, "nearest: distance up to which a known example determines the label"),
    SETTING_INTEGER("budget", "0", 0, 1e7,
                    "most examples to keep, per class (rational) or in all (nearest); 0: no limit"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == W && setting_choice(s, MODEL) != MODEL_LINEAR)
        inout->kind = ABSENT;
}

static void nearest_scores(const struct store *t, uint32_t K, const struct vec *x, real *ret)
{
    double norm2 = vec_norm2(x);
    memset(ret, 0, K * sizeof *ret);
    for (size_t i = 0; i < t->entries; i++) {
        const struct store_entry *e = &t->entry[i];
        double distance2 = norm2 + t->example[e->example].norm2 - 2 * store_dot(t, e->example, x);
        real score = (real)(1 / (1 + sqrt(fmax(distance2, 0))));
        if (score > ret[e->owner])
            ret[e->owner] = score;
    }
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct kernel kernel = {KERNEL_RATIONAL, 0, 0, setting_number(s, NU)};
    switch (setting_choice(s, MODEL)) {
    case MODEL_LINEAR:
        linear_scores(s, W, x, ret);
        break;
    case MODEL_RATIONAL:
        memset(ret, 0, s->K * sizeof *ret);
        store_scores(s->extra, &kernel, x, ret);
        break;
    default:
        nearest_scores(s->extra, s->K, x, ret);
    }
}

/* The least score of a label that is shown for certain. */
static double threshold(const struct state *s)
{
    return setting_choice(s, MODEL) == MODEL_NEAREST ? (real)(1 / (1 + setting_number(s, RADIUS))) : 0;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_predict_greedy(s, x, ret);
    if (s->scores[ret->greedy] < threshold(s)) {
        ret->label = explore_uniform(s);
        ret->prob = 1.0 / explore_labels(s);
    }
}

/* --- learning --- */

/* Add x to an owner's list; *example is its number once it is in the store, or NOT_KEPT. */
#define NOT_KEPT UINT32_MAX

static void keep(struct state *s, const struct vec *x, uint32_t owner, double weight, uint32_t *example)
{
    struct store *t = s->extra;
    size_t budget = (size_t)setting_number(s, BUDGET);
    bool nearest = setting_choice(s, MODEL) == MODEL_NEAREST;
    size_t count = !budget ? 0 : nearest ? t->entries : store_count(t, owner);
    if (*example == NOT_KEPT)
        *example = store_example(t, x);
    if (!budget || count < budget) {
        store_add(t, *example, owner, weight);
        return;
    }
    size_t slot = rng_below(&s->rng, count);
    store_replace(t, nearest ? slot : store_find(t, owner, slot), *example, owner, weight);
}

/* w_k += sign x. */
static void move(struct state *s, const struct vec *x, uint32_t k, double sign, uint32_t *example)
{
    if (setting_choice(s, MODEL) == MODEL_LINEAR)
        linear_add(s, W, k, sign, x);
    else
        keep(s, x, k, sign, example);
}

static void learn_author(struct state *s, const struct vec *x, uint32_t o, bool right)
{
    uint32_t example = NOT_KEPT;
    if (!right) {
        if (s->scores[o] >= 0)
            move(s, x, o, -1, &example);
        return;
    }
    for (uint32_t k = 0; k < s->K; k++)
        if (k != o && s->scores[k] >= 0)
            move(s, x, k, -1, &example);
    if (s->scores[o] <= 0)
        move(s, x, o, 1, &example);
}

/* Said no: all labels did or, where the label was drawn by the floor, this one. */
static void learn_paper(struct state *s, const struct vec *x, uint32_t o, bool right, bool drawn)
{
    uint32_t example = NOT_KEPT;
    bool predicted_no = s->scores[drawn ? o : explore_first(s->scores, s->K)] < 0;
    if (right == predicted_no)
        move(s, x, o, right ? 1 : -1, &example);
}

static void learn_label(struct state *s, const struct vec *x, uint32_t o, bool right, bool drawn)
{
    explore_scores(s, x);
    if (setting_choice(s, RULE) == RULE_AUTHOR)
        learn_author(s, x, o, right);
    else
        learn_paper(s, x, o, right, drawn);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    uint32_t example = NOT_KEPT;
    if (setting_choice(s, MODEL) != MODEL_NEAREST)
        learn_label(s, x, c->label, right, c->note & NOTE_EXPLORED);
    else if (right && (c->prob < explore_floor(s, 1) || !((const struct store *)s->extra)->entries))
        keep(s, x, c->label, 1, &example);
}

/* The true label: remembered unless its own neighbours tell it already. */
static void teach(struct state *s, const struct vec *x, uint32_t y)
{
    uint32_t example = NOT_KEPT;
    if (setting_choice(s, MODEL) != MODEL_NEAREST) {
        learn_label(s, x, y, true, false);
        return;
    }
    explore_scores(s, x);
    uint32_t g = explore_first(s->scores, s->K);
    if (g != y || s->scores[g] < threshold(s))
        keep(s, x, y, 1, &example);
}

/* --- the store --- */

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    if (setting_choice(s, MODEL) == MODEL_LINEAR)
        return HUNCH_OK;
    s->extra = calloc(1, sizeof(struct store));
    return s->extra ? HUNCH_OK : error_set(reterr, HUNCH_ENOMEM, "out of memory");
}

static void detach(struct state *s)
{
    store_clear(s->extra);
    free(s->extra);
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    return store_reserve(s->extra, x, s->K);
}

/* Both have their examples; beyond the budget the oldest go. */
static hunch_status extra_merge(struct state *s, const struct state *other)
{
    struct store *t = s->extra;
    size_t budget = (size_t)setting_number(s, BUDGET);
    bool nearest = setting_choice(s, MODEL) == MODEL_NEAREST;
    hunch_status status = store_append(t, other->extra);
    if (status != HUNCH_OK || !budget)
        return status;
    for (uint32_t k = 0; k < s->K; k++)
        while ((nearest ? t->entries : store_count(t, k)) > budget)
            store_remove(t, nearest ? 0 : store_find(t, k, 0));
    return HUNCH_OK;
}

static const struct extra kept_examples = {
    .attach = attach,
    .detach = detach,
    .reserve = reserve,
    .size = store_extra_size,
    .write = store_extra_write,
    .read = store_extra_read,
    .merge = extra_merge,
};

const struct algo algo_separable = {
    .info = {"separable", "one Perceptron per class, for separable data", "Beygelzimer et al. 2019", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .extra = &kept_examples,
};

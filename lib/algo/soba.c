/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOBA, the second-order Banditron algorithm (A. Beygelzimer, F. Orabona, C. Zhang, "Efficient online bandit
 * multiclass learning with O(sqrt T) regret", ICML 2017).
 *
 * theta = 0, A = a, W = theta / A, entry by entry. o is drawn as Banditron draws it. Only when right, with r the best
 * label other than o, d = s_r - s_o, and v = z'A^-1 z for z = (e_r - e_o) (x) x / sqrt p:
 *   m = (d^2 + 2 d) / (p (1 + v));  if M + m >= 0 (M the sum of accepted m): accept:
 *   M += m;  theta_o += x/p, theta_r -= x/p;  both classes' A get x_j^2/p.
 * matrix=full has A over features times classes, A += z z', and W = A^-1 theta by a step of recursive least squares:
 * with g = A^-1 z: W += g (1/sqrt p - <z,W>) / (1 + v), A^-1 -= g g' / (1 + v), here for z = (e_o - e_r) (x) x / sqrt
 * p. matrix=kernel keeps the accepted rounds themselves (gram.h) instead of A. margin=author keeps the books of the
 * authors' code: rounds in which the greedy label was wrong are always accepted and never enter M. margin=always
 * accepts everything. gamma=auto (appendix A): gamma_t = min(1, sqrt(K (1 + sum of accepted v/(1+v)) / t)).
 */
#include <math.h>

#include "../explore.h"
#include "../full.h"
#include "../gram.h"
#include "../linear.h"

enum { MATRIX_FORM, GAMMA, A0, MARGIN, KERNEL };
enum { FORM_DIAG, FORM_FULL, FORM_KERNEL };
enum { MARGIN_PAPER, MARGIN_AUTHOR, MARGIN_ALWAYS };
enum { W, THETA, A, FULL_V, FULL_LOW, SUM_M, SUM_V, MARGIN_UPDATES, MISTAKE_UPDATES };

static const char *const matrix_choices[] = {"diag", "full", "kernel", NULL};
static const char *const margin_choices[] = {"paper", "author", "always", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "diag", matrix_choices, "what is kept of the matrix A"),
    SETTING_REAL_OR_AUTO("gamma", "0.05", 0, 1,
                         "share of rounds that explore; auto: falls as the paper's appendix says"),
    SETTING_REAL("a", "1", 1e-9, 1e9, "what the diagonal of A starts from"),
    SETTING_CHOICE("margin", "paper", margin_choices,
                   "which right answers to learn from: the paper's test, the "
                   "authors' code's, or all"),
    GRAM_SETTING_TABLE("500"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},      {"theta", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"A", PER_FEATURE, 1, CLASSES, 1, MERGE_SUM},       {"full_V", MATRIX, 1, CLASSES, 1, MERGE_MEAN},
    {"full_V_low", MATRIX, 1, CLASSES, 0, MERGE_MEAN},  {"M", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"sum_v", PER_MODEL, 1, 1, 0, MERGE_SUM},           {"margin_updates", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"mistake_updates", PER_MODEL, 1, 1, 0, MERGE_SUM}, TENSORS_END,
};

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool full = setting_choice(s, MATRIX_FORM) == FORM_FULL;
    if (tensor == A)
        inout->initial = setting_number(s, A0);
    if (tensor == FULL_V)
        inout->initial = 1 / setting_number(s, A0);
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == THETA || tensor == A : tensor == FULL_V || tensor == FULL_LOW)
        inout->kind = ABSENT;
    if (setting_choice(s, MATRIX_FORM) == FORM_KERNEL && (tensor == W || tensor == THETA || tensor == A))
        inout->kind = ABSENT;
}

static bool is_full(const struct state *s)
{
    return setting_choice(s, MATRIX_FORM) == FORM_FULL;
}

static bool is_kernel(const struct state *s)
{
    return setting_choice(s, MATRIX_FORM) == FORM_KERNEL;
}

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    return is_kernel(s) ? grams_attach(s, KERNEL, 1, setting_number(s, A0), reterr) : HUNCH_OK;
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    return is_kernel(s) ? grams_reserve(s->extra, x) : HUNCH_OK;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    if (!is_kernel(s)) {
        linear_scores(s, W, x, ret);
        return;
    }
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = 0;
    grams_scores(s->extra, 0, x, ret);
}

static double gamma_now(const struct state *s)
{
    if (!setting_auto(s, GAMMA))
        return setting_number(s, GAMMA);
    return fmin(1, sqrt(s->K * (1 + model_numbers(s, SUM_V)[0]) / (double)s->round));
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    scores(s, x, s->scores);
    s->scored = true;
    explore_mix(s, explore_argmax(s, s->scores), gamma_now(s), ret);
}

/* z'A^-1 z times p; the full form leaves A^-1 z sqrt p in full->g. */
static double inverse_width(struct state *s, uint32_t o, uint32_t r, const struct vec *x)
{
    double sum = 0;
    if (is_full(s)) {
        for (uint32_t k = 0; k < s->K; k++)
            s->chances[k] = (k == o) - (k == r);
        full_load_outer(s, x, s->chances);
        return full_mul(s, FULL_V, FULL_LOW, 0, s->full->g);
    }
    for (size_t i = 0; i < x->n; i++) {
        const real *a = linear_row(s, A, vec_index(x, i));
        sum += (double)x->value[i] * x->value[i] * (1 / (double)a[o] + 1 / (double)a[r]);
    }
    return sum;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!right || s->K < 2 || (!x->n && !is_kernel(s)))
        return;
    if (!s->scored)
        scores(s, x, s->scores);
    int rule = setting_choice(s, MARGIN);
    uint32_t o = c->label, r = explore_rival(s->scores, s->K, o);
    double p = c->prob, d = (double)s->scores[r] - s->scores[o];
    double self = 0, v;
    if (is_kernel(s)) {
        self = grams_column(s->extra, 0, x, o, r, 1 / sqrt(p));
        v = grams_quad(s->extra, 0, self);
    } else {
        v = inverse_width(s, o, r, x) / p;
    }
    double m = (d * d + 2 * d) / (p * (1 + v)), *M = model_numbers(s, SUM_M);
    bool greedy_wrong = c->greedy != o;
    if (rule == MARGIN_AUTHOR && greedy_wrong)
        m = 0;
    else if (rule != MARGIN_ALWAYS && *M + m < 0)
        return;
    *M += m;
    model_numbers(s, SUM_V)[0] += v / (1 + v);
    model_numbers(s, greedy_wrong ? MISTAKE_UPDATES : MARGIN_UPDATES)[0]++;
    if (is_kernel(s)) {
        grams_append(s->extra, 0, x, o, r, 1 / sqrt(p), 1 / sqrt(p), self);
        return;
    }
    if (is_full(s)) { /* g is A^-1 z sqrt p, so each use of it brings one 1/sqrt p */
        full_add_outer(s, W, (1 + d) / (p * (1 + v)), s->full->g);
        full_update(s, FULL_V, FULL_LOW, 0, -1 / (p * (1 + v)), s->full->g);
        return;
    }
    linear_quotient_pair(s, (const int[]){W, THETA, A}, o, r, 1 / p, 1 / p, x);
}

const struct algo algo_soba = {
    .info = {"soba", "second-order Banditron", "Beygelzimer, Orabona and Zhang 2017", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .scores = scores,
    .attach = attach,
    .detach = grams_detach,
    .reserve = reserve,
    .extra_size = grams_size,
    .extra_write = grams_write,
    .extra_read = grams_read,
};

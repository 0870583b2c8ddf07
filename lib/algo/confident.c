/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confident: margins and confidence (the project's own; an answer to the open question that closes Crammer and
 * Gentile 2013, "developing a margin-based version" of Confidit). See docs/algorithms/confident.md.
 *
 * Per class a Gaussian N(w_i, S_i), S_i = I at first. Examples are put on a common scale: x~ = x / rho, where rho^2 is
 * the mean squared length of the examples predicted so far. With f_i = w_i.x~, v_i = x~'S_i x~ and rate the running
 * share of wrong answers:
 *   o = argmax f_i + sqrt(eta rate v_i);  q = argmax_{i != o} f_i, the runner-up.
 * step(i, c, b): w_i += c S_i x~, then S_i -= b S_i x~ x~'S_i.
 * Right (hits_o += 1): if l = 1 - (f_o - f_q) > 0, a step of multiclass AROW on the pair: b = 1/(v_o + v_q + r),
 *   step(o, l b, b), step(q, -l b, b). Then every other class i that has been right before and still violates the
 *   margin, m = 1 - (f_o + l b v_o - f_i) > 0: c = hits_i/(hits_i + demote) / (v_i + v_o + r), step(i, -m c, c).
 *   So classes that were never seen right are not pushed away before they are discovered.
 * Wrong: if l = 1 - (f_q - f_o) > 0: h = 1 / sum_{i != o} exp(hunch (f_i - f_q)), the belief that the runner-up is the
 *   true label (1 when K = 2); b = 1/(v_o + (2 - h) v_q + r), step(o, -l b, b), step(q, h l b, h b). Both share b: with
 *   a larger one of its own the runner-up locks third classes out.
 * matrix: full keeps the S_i; diag their diagonals, which take the step as S_jj^-1 += b/(1 - b v) x_j^2; sketch keeps
 * S_i^-1 as a diagonal and a few directions (sketch.h); auto is full while that fits the memory setting, then sketch
 * for dense examples and diag for sparse ones.
 */
#include <math.h>

#include "../explore.h"
#include "../full.h"
#include "../linear.h"
#include "../sketch.h"
#include "../state.h"

enum { MATRIX_SET, ETA, R, HUNCH, DEMOTE, FORGET, SIZE };
enum { SET_AUTO, SET_FULL, SET_SKETCH, SET_DIAG };
enum { FORM_FULL, FORM_SKETCH, FORM_DIAG }; /* state.form */
enum { W, S, FULL_S, FULL_LOW, SKETCH, HITS = SKETCH + SKETCH_TENSORS, NORMS, SEEN, ENTRIES, RATE, STEPS };

#define DENSE_ENOUGH 0.1 /* share of features that an example has, for auto to prefer the sketch */

static const char *const matrix_choices[] = {"auto", "full", "sketch", "diag", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "auto", matrix_choices,
                   "what is kept of the covariances; auto: full while it fits the memory limit, then sketch or diag"),
    SETTING_REAL("eta", "3", 0, 1e6, "exploration: how much of the width is added to a score, times the error rate"),
    SETTING_REAL("r", "0.3", 1e-6, 1e6, "regularisation: larger is slower"),
    SETTING_REAL("hunch", "3", 0, 100, "how firmly the runner-up is taken for the true label after a miss"),
    SETTING_REAL("demote", "50", 0, 1e9, "right answers after which a class is demoted with half the weight"),
    SETTING_REAL("forget", "0.002", 0, 1, "how fast the running error rate forgets"),
    SETTING_INTEGER("size", "4", 1, SKETCH_MOST, "matrix=sketch: directions kept per class"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"S", PER_FEATURE, 1, CLASSES, 1, MERGE_MEAN},
    {"full_S", MATRIX, CLASSES, 1, 1, MERGE_MEAN},
    {"full_S_low", MATRIX, CLASSES, 1, 0, MERGE_MEAN},
    SKETCH_TENSOR_TABLE,
    {"hits", PER_MODEL, 1, CLASSES, 0, MERGE_SUM},
    {"norms", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"seen", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"entries", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"rate", PER_MODEL, 1, 1, 1, MERGE_MEAN},
    {"steps", PER_MODEL, 1, 1, 0, MERGE_SUM}, /* taken so far: what a run has cost (bench_full.c) */
    TENSORS_END,
};

/* --- the form of the covariances --- */

static int form_now(const struct state *s)
{
    int set = setting_choice(s, MATRIX_SET);
    return set == SET_AUTO ? s->form : set - SET_FULL + FORM_FULL;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    int form = form_now(s);
    if (tensor == FULL_LOW)
        full_shape_low(inout);
    if (tensor >= SKETCH && tensor < SKETCH + SKETCH_TENSORS)
        sketch_shape(tensor - SKETCH, (size_t)setting_number(s, SIZE), inout);
    bool absent = tensor == S                                            ? form != FORM_DIAG
                  : tensor == FULL_S || tensor == FULL_LOW               ? form != FORM_FULL
                  : tensor >= SKETCH && tensor < SKETCH + SKETCH_TENSORS ? form != FORM_SKETCH
                                                                         : false;
    if (absent)
        inout->kind = ABSENT;
}

static const char *form_name(const struct state *s)
{
    return setting_choice(s, MATRIX_SET) == SET_AUTO ? matrix_choices[SET_FULL + form_now(s)] : "";
}

/* The best form that fits; forms only ever get smaller. */
static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    if (setting_choice(s, MATRIX_SET) != SET_AUTO || s->form == FORM_DIAG)
        return HUNCH_OK;
    double full = (double)matrix_size(features) * classes * sizeof(real) * (MATRIX_KEEPS_LOW ? 2 : 1);
    double sketch = (2 * setting_number(s, SIZE) + 1) * features * classes * sizeof(real);
    double seen = model_numbers(s, SEEN)[0], density = model_numbers(s, ENTRIES)[0] / fmax(seen, 1) / features;
    int form = FORM_FULL;
    if (full > (double)s->memory || s->form == FORM_SKETCH)
        form = sketch <= (double)s->memory && density >= DENSE_ENOUGH ? FORM_SKETCH : FORM_DIAG;
    return form == s->form ? HUNCH_OK : state_reform(s, form);
}

/* What a smaller form takes over: the diagonal of S, or of its inverse. */
static void reformed(struct state *s, const struct state *before)
{
    const struct tensor_place *p = &before->tensor[FULL_S];
    for (uint32_t j = 0; j < s->features; j++)
        for (uint32_t k = 0; k < s->K; k++) {
            double variance = 1;
            if (p->matrices)
                variance = matrix_get(p->matrices + k * p->matrix_capacity, j, j);
            else if (before->tensor[SKETCH].kind == PER_FEATURE)
                variance = 1 / sketch_diagonal(before, SKETCH, j, k);
            if (s->form == FORM_DIAG)
                linear_row(s, S, j)[k] = (real)variance;
            else if (s->form == FORM_SKETCH)
                linear_row(s, SKETCH, j)[k] = (real)(1 / variance);
        }
}

/* --- scores --- */

static double scale_of(const struct state *s)
{
    double seen = model_numbers(s, SEEN)[0], norms = model_numbers(s, NORMS)[0];
    return norms > 0 ? sqrt(seen / norms) : 1;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real c = (real)scale_of(s);
    linear_scores(s, W, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= c;
}

static void examine(struct state *s, const struct vec *x)
{
    real c = (real)scale_of(s);
    int form = form_now(s);
    s->scored = true;
    if (form == FORM_DIAG) {
        linear_scores_widths(s, W, S, x, s->scores, s->widths);
    } else {
        linear_scores(s, W, x, s->scores);
        for (size_t k = 0; k < s->lanes; k++)
            s->widths[k] = 0;
        if (form == FORM_SKETCH) {
            sketch_quads(s, SKETCH, x, s->widths);
        } else if (x->n) {
            full_load(s, x);
            full_quads(s, FULL_S, s->widths);
        }
    }
    for (uint32_t k = 0; k < s->K; k++) {
        s->scores[k] *= c;
        s->widths[k] = s->widths[k] > 0 ? s->widths[k] * (c * c) : 0;
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    model_numbers(s, NORMS)[0] += linear_norm2(s, x);
    model_numbers(s, ENTRIES)[0] += (double)x->n;
    model_numbers(s, SEEN)[0]++;
    examine(s, x);
    real eta = (real)(setting_number(s, ETA) * model_numbers(s, RATE)[0]);
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = s->scores[k] + (real)sqrt(eta * s->widths[k]);
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

/* --- steps --- */

/* What a round's steps have in common. */
struct round {
    const struct vec *x;
    double scale; /* x~ = scale x */
};

/* The diagonal form takes all of a round's steps in one pass over the rows: step() notes them, steps_take does them. */
static struct round steps_begin(struct state *s, const struct vec *x)
{
    if (!s->scored)
        examine(s, x);
    for (size_t k = 0; k < s->lanes; k++)
        s->steps[k] = s->bounds[k] = 0;
    return (struct round){x, scale_of(s)};
}

static void steps_take(struct state *s, const struct vec *x)
{
    if (form_now(s) == FORM_DIAG)
        linear_sharpen(s, W, S, s->steps, s->bounds, x);
}

/* w_k += c S_k x~, S_k -= b S_k x~ x~'S_k */
static void step(struct state *s, const struct round *t, uint32_t k, double c, double b)
{
    double scale = t->scale, rho = b / fmax(1 - b * s->widths[k], 1e-3) * scale * scale;
    model_numbers(s, STEPS)[0]++;
    switch (form_now(s)) {
    case FORM_DIAG:
        s->steps[k] = (real)(c * scale);
        s->bounds[k] = (real)rho; /* S_jj^-1 += rho x_j^2 */
        break;
    case FORM_SKETCH:
        sketch_step(s, SKETCH, W, t->x, k, c * scale, rho);
        break;
    default:
        full_mul(s, FULL_S, FULL_LOW, k, s->full->g);
        full_add(s, W, k, c * scale, s->full->g);
        full_update(s, FULL_S, FULL_LOW, k, -b * scale * scale, s->full->g);
    }
}

static void learn_right(struct state *s, const struct round *t, uint32_t o)
{
    const real *f = s->scores, *v = s->widths;
    double r = setting_number(s, R), demote = setting_number(s, DEMOTE), *hits = model_numbers(s, HITS);
    hits[o]++;
    uint32_t q = explore_rival(f, s->K, o);
    double loss = 1 - ((double)f[o] - f[q]);
    if (q == o || loss <= 0)
        return;
    double b = 1 / (v[o] + v[q] + r), now = f[o] + loss * b * v[o];
    step(s, t, o, loss * b, b);
    step(s, t, q, -loss * b, b);
    for (uint32_t k = 0; k < s->K; k++) {
        double m = 1 - (now - f[k]);
        if (k == o || k == q || m <= 0 || hits[k] <= 0)
            continue;
        double c = hits[k] / (hits[k] + demote) / (v[k] + v[o] + r);
        step(s, t, k, -m * c, c);
    }
}

/* The belief that q is the true label, now that o is known not to be. */
static double hunch_of(const struct state *s, uint32_t o, uint32_t q)
{
    double sharp = setting_number(s, HUNCH), sum = 0;
    for (uint32_t k = 0; k < s->K; k++)
        if (k != o)
            sum += exp(sharp * ((double)s->scores[k] - s->scores[q]));
    return 1 / sum;
}

static void learn_wrong(struct state *s, const struct round *t, uint32_t o)
{
    uint32_t q = explore_rival(s->scores, s->K, o);
    double loss = 1 - ((double)s->scores[q] - s->scores[o]);
    if (q == o || loss <= 0)
        return;
    double h = hunch_of(s, o, q);
    double b = 1 / (s->widths[o] + (2 - h) * s->widths[q] + setting_number(s, R));
    step(s, t, o, -loss * b, b);
    step(s, t, q, h * loss * b, h * b);
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    double *rate = model_numbers(s, RATE), seen = model_numbers(s, SEEN)[0];
    *rate += (!right - *rate) * fmax(1 / (seen + 1), setting_number(s, FORGET));
    if (!x->n)
        return;
    struct round t = steps_begin(s, x);
    if (right)
        learn_right(s, &t, c->label);
    else
        learn_wrong(s, &t, c->label);
    steps_take(s, x);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    if (!x->n)
        return;
    struct round t = steps_begin(s, x);
    learn_right(s, &t, label);
    steps_take(s, x);
}

const struct algo algo_confident = {
    .info = {"confident", "margins and confidence: the default", "this project", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .form = form_name,
    .reformed = reformed,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .grow = grow,
};

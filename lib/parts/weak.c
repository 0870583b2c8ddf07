/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts/weak.h"

#include <math.h>
#include <string.h>

#include "state/linear.h"
#include "parts/naive_bayes.h"

#define SCALE_MIN 0x1p-20 /* below this a learner's scale is multiplied into its weights */

const char *const weak_choices[] = {"perceptron", "naive-bayes", "gd", NULL};
const char *const weak_outputs[] = {"score", "sign", NULL};

static struct naive_bayes bayes(const struct state *s)
{
    return (struct naive_bayes){
        WEAK_NO, WEAK_YES, WEAK_ODDS, WEAK_SEEN, WEAK_TOTALS, WEAK_VOCABULARY, setting_number(s, WEAK_SMOOTH)};
}

void weak_shape(const struct state *s, int tensor, struct tensor *inout)
{
    int kind = setting_choice(s, WEAK_KIND);
    size_t N = (size_t)setting_number(s, WEAK_N);
    bool wanted = tensor >= WEAK_NO ? kind == WEAK_NAIVE_BAYES : kind != WEAK_NAIVE_BAYES;
    if (tensor == WEAK_V)
        wanted = kind == WEAK_PERCEPTRON && setting_number(s, WEAK_INIT) > 0;
    else if (tensor == WEAK_SCALE || tensor == WEAK_COUNT)
        wanted = kind == WEAK_GD;
    if (!wanted)
        inout->kind = ABSENT;
    else if (inout->groups == CLASSES)
        inout->lanes = tensor == WEAK_TOTALS ? NAIVE_BAYES_TOTALS * N : N;
}

/* --- numbers that no tensor's initial value can say --- */

/* Entry j of the random direction that learner n of class k starts from. */
static real direction(const struct state *s, size_t k, size_t n, uint32_t j)
{
    struct rng r = {((uint64_t)(k * s->tensor[WEAK_V].lanes + n) << 32) + j};
    return (real)(setting_number(s, WEAK_INIT) * (2 * rng_uniform(&r) - 1));
}

static void fresh(struct state *s, uint32_t first, uint32_t last, uint32_t first_class)
{
    const struct tensor_place *p = &s->tensor[WEAK_V];
    if (p->kind == ABSENT)
        return;
    for (uint32_t j = first; j < last; j++)
        for (uint32_t k = first_class; k < s->K; k++) {
            real *v = linear_row(s, WEAK_V, j) + k * p->padded;
            for (size_t n = 0; n < p->lanes; n++)
                v[n] = direction(s, k, n, j);
        }
}

/* Learner (k, n): its column of U times a factor. Returns the new squared norm of that column. */
static double column_scale(struct state *s, uint32_t k, size_t n, double factor)
{
    double norm2 = 0;
    for (uint32_t j = 0; j < s->features; j++) {
        real *u = linear_row(s, WEAK_U, j) + k * s->tensor[WEAK_U].padded + n;
        *u *= (real)factor;
        norm2 += (double)*u * *u;
    }
    return norm2;
}

/* Averaging U needs the same scale on both sides. */
static void align(struct state *s, const struct state *other)
{
    const struct tensor_place *p = &s->tensor[WEAK_SCALE];
    for (size_t id = 0; p->kind != ABSENT && id < p->groups * p->lanes; id++) {
        double theirs = other->tensor[WEAK_SCALE].numbers[id];
        column_scale(s, (uint32_t)(id / p->lanes), id % p->lanes, p->numbers[id] / theirs);
        p->numbers[id] = theirs;
    }
}

void weak_derive(struct state *s)
{
    const struct tensor_place *p = &s->tensor[WEAK_NORM2], *scale = &s->tensor[WEAK_SCALE];
    if (setting_choice(s, WEAK_KIND) == WEAK_NAIVE_BAYES) {
        struct naive_bayes b = bayes(s);
        naive_bayes_renew(s, &b);
        return;
    }
    fresh(s, 0, s->capacity, 0);
    for (size_t id = 0; id < p->groups * p->lanes; id++) {
        double c = scale->kind == ABSENT ? 1 : scale->numbers[id];
        p->numbers[id] = c * c * column_scale(s, (uint32_t)(id / p->lanes), id % p->lanes, 1);
    }
}

const struct extra weak_extra = {.fresh = fresh, .align = align};

/* --- asking --- */

static double clip(double h)
{
    return fmin(fmax(h, -1), 1);
}

/* Sums over x of one block of a tensor; whole vectors, so up to WEAK_BLOCK numbers are written. */
static void block_sums(const struct state *s, int tensor, const struct weak_block *b, const struct vec *x, real *ret)
{
    const struct tensor_place *p = &s->tensor[tensor];
    size_t lanes = p->padded - b->first;
    s->linear->scores(linear_row(s, tensor, 0) + b->k * p->padded + b->first, s->stride,
                      lanes < WEAK_BLOCK ? lanes : WEAK_BLOCK, x, ret);
}

static double inverse_length(const struct vec *x)
{
    double norm2 = vec_norm2(x);
    return norm2 < LENGTH2_MIN ? 0 : 1 / sqrt(norm2);
}

/* v.x of one block, features that have no rows yet included. */
static void direction_sums(const struct state *s, const struct weak_block *b, const struct vec *x, real *ret)
{
    if (s->tensor[WEAK_V].kind == ABSENT)
        return;
    block_sums(s, WEAK_V, b, x, ret);
    for (size_t e = x->n; e < x->all; e++)
        for (size_t i = 0; i < b->n; i++)
            ret[i] += direction(s, b->k, b->first + i, vec_index(x, e)) * (real)x->value[e];
}

enum { OUTPUT_SCORE, OUTPUT_SIGN };

static void perceptron_ask(const struct state *s, const struct vec *x, struct weak_block *b)
{
    _Alignas(64) real v[WEAK_BLOCK] = {0};
    const double *norm2 = model_numbers(s, WEAK_NORM2) + b->k * s->tensor[WEAK_NORM2].lanes + b->first;
    double unit = inverse_length(x);
    bool signs = setting_choice(s, WEAK_OUTPUT) == OUTPUT_SIGN;
    block_sums(s, WEAK_U, b, x, b->u);
    direction_sums(s, b, x, v);
    for (size_t i = 0; i < b->n; i++) {
        b->u[i] *= (real)unit;
        double score = b->u[i] + v[i] * unit;
        b->h[i] = (real)(signs ? (score > 0) - (score < 0) : clip(score / fmax(1, sqrt(norm2[i]))));
    }
}

static void gd_ask(const struct state *s, const struct vec *x, struct weak_block *b)
{
    const double *scale = model_numbers(s, WEAK_SCALE) + b->k * s->tensor[WEAK_SCALE].lanes + b->first;
    double unit = inverse_length(x);
    block_sums(s, WEAK_U, b, x, b->u);
    for (size_t i = 0; i < b->n; i++) {
        b->u[i] = (real)(b->u[i] * unit * scale[i]);
        b->h[i] = (real)clip(b->u[i]);
    }
}

void weak_ask(const struct state *s, uint32_t k, size_t first, const struct vec *x, struct weak_block *ret)
{
    ret->k = k;
    ret->first = first;
    ret->n = weak_block_size(s, first);
    switch (setting_choice(s, WEAK_KIND)) {
    case WEAK_NAIVE_BAYES: {
        struct naive_bayes b = bayes(s);
        const struct tensor_place *p = &s->tensor[WEAK_ODDS];
        naive_bayes_outputs(s, &b, (struct naive_bayes_block){k * p->padded + first, k * p->lanes + first, ret->n}, x,
                            ret->h);
        break;
    }
    case WEAK_GD:
        gd_ask(s, x, ret);
        break;
    default:
        perceptron_ask(s, x, ret);
    }
}

/* --- teaching --- */

void weak_meet(struct state *s, const struct vec *x)
{
    if (setting_choice(s, WEAK_KIND) == WEAK_NAIVE_BAYES) {
        struct naive_bayes b = bayes(s);
        naive_bayes_meet(s, &b, x);
    }
}

/* u_i += step[i] x for the block; step has WEAK_BLOCK numbers, 0 beyond the block's learners. */
static void block_add(struct state *s, const struct weak_block *b, const struct vec *x, const real *step)
{
    const struct tensor_place *p = &s->tensor[WEAK_U];
    size_t lanes = p->padded - b->first;
    s->linear->add_all(linear_row(s, WEAK_U, 0) + b->k * p->padded + b->first, s->stride,
                       lanes < WEAK_BLOCK ? lanes : WEAK_BLOCK, x, step);
}

static void perceptron_teach(struct state *s, const struct weak_block *b, const struct vec *x, const double *weight)
{
    _Alignas(64) real step[WEAK_BLOCK] = {0};
    double *norm2 = model_numbers(s, WEAK_NORM2) + b->k * s->tensor[WEAK_NORM2].lanes + b->first;
    double unit = inverse_length(x);
    bool any = false;
    for (size_t i = 0; i < b->n && unit > 0; i++) {
        double w = weight[i];
        if (w == 0 || (w > 0 ? b->h[i] > 0 : b->h[i] < 0))
            continue;
        step[i] = (real)(w * unit);
        norm2[i] = fmax(norm2[i] + 2 * w * b->u[i] + w * w, 0);
        any = true;
    }
    if (any)
        block_add(s, b, x, step);
}

static void gd_teach(struct state *s, const struct weak_block *b, const struct vec *x, const double *weight)
{
    _Alignas(64) real step[WEAK_BLOCK] = {0};
    size_t at = b->k * s->tensor[WEAK_NORM2].lanes + b->first;
    double *norm2 = model_numbers(s, WEAK_NORM2) + at, *scale = model_numbers(s, WEAK_SCALE) + at;
    double *count = model_numbers(s, WEAK_COUNT) + at, unit = inverse_length(x);
    for (size_t i = 0; i < b->n; i++) {
        count[i] += weight[i] != 0;
        if (unit == 0 || weight[i] == 0)
            continue;
        double w = setting_number(s, WEAK_RATE) / sqrt(count[i]) * weight[i];
        step[i] = (real)(w * unit / scale[i]);
        norm2[i] = fmax(norm2[i] + 2 * w * b->u[i] + w * w, 0);
    }
    block_add(s, b, x, step);
    for (size_t i = 0; i < b->n; i++) {
        if (norm2[i] > 1) {
            scale[i] /= sqrt(norm2[i]);
            norm2[i] = 1;
        }
        if (scale[i] < SCALE_MIN) {
            column_scale(s, b->k, b->first + i, scale[i]);
            scale[i] = 1;
        }
    }
}

void weak_teach(struct state *s, const struct weak_block *b, const struct vec *x, const double *weight)
{
    int kind = setting_choice(s, WEAK_KIND);
    if (kind == WEAK_PERCEPTRON) {
        perceptron_teach(s, b, x, weight);
    } else if (kind == WEAK_GD) {
        gd_teach(s, b, x, weight);
    } else {
        struct naive_bayes nb = bayes(s);
        const struct tensor_place *p = &s->tensor[WEAK_ODDS];
        for (size_t i = 0; i < b->n; i++)
            naive_bayes_update(
                s, &nb, (struct naive_bayes_block){b->k * p->padded + b->first + i, b->k * p->lanes + b->first + i, 1},
                x, weight[i]);
    }
}

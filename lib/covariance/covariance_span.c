/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covariances in one basis that all classes share, S_k = U T_k U' + sigma_k (I - U U'): nearly the accuracy of full
 * matrices where few directions matter, at a cost per round that is linear in the features. The rule is described in
 * basis.h.
 */
#include <math.h>
#include <string.h>

#include "covariance/basis.h"
#include "covariance/covariance.h"
#include "state/linear.h"
#include "numeric/matrix.h"
#include "state/state.h"

struct span {
    struct basis basis;
    struct factor factor;
    real *pass;   /* pass_lanes: W'x, U'x, and what follows them */
    real *room;   /* lanes */
    bool is_read; /* the basis holds the example at hand */
};

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    size_t m = covariance_rank(s), padded = state_lanes(m);
    switch (tensor) {
    case COVARIANCE_SPAN_U:
    case COVARIANCE_SPAN_Y:
    case COVARIANCE_SPAN_LAST_Z:
        inout->lanes = m;
        break;
    case COVARIANCE_SPAN_A:
        inout->groups = m;
        break;
    case COVARIANCE_SPAN_T:
        inout->lanes = padded * padded;
        break;
    case COVARIANCE_SPAN_SIGMA:
        inout->initial = 1 / covariance_precision(s);
        break;
    default:
        break;
    }
    return tensor == COVARIANCE_W || tensor >= COVARIANCE_SPAN_U;
}

/* --- scratch --- */

/* Of a row, the weights and U, in whole cache lines: what then is read of the tensors behind them, Y at least, costs
 * nothing beside a second pass for a few lanes. */
static size_t pass_lanes(size_t lanes, size_t padded)
{
    const size_t line = 64 / sizeof(real);
    size_t whole = (lanes + padded + line - 1) / line * line;
    return whole <= lanes + 2 * padded ? whole : lanes + padded;
}

static size_t room_size(const struct state *s, uint32_t K, size_t capacity)
{
    size_t m = covariance_rank(s), lanes = state_lanes(K);
    return (sizeof(struct span) + 63) / 64 * 64 + basis_size(m, capacity) + factor_size(m, K) +
           (lanes + pass_lanes(lanes, state_lanes(m))) * sizeof(real);
}

static const struct basis basis_tensors = {.U = COVARIANCE_SPAN_U,
                                           .Y = COVARIANCE_SPAN_Y,
                                           .last = COVARIANCE_SPAN_LAST,
                                           .last_z = COVARIANCE_SPAN_LAST_Z,
                                           .counters = COVARIANCE_SPAN_COUNTERS};
static const struct factor factor_tensors = {
    .W = COVARIANCE_W, .A = COVARIANCE_SPAN_A, .T = COVARIANCE_SPAN_T, .sigma = COVARIANCE_SPAN_SIGMA};

static void room_init(const struct state *s, uint32_t K, size_t capacity, void *room)
{
    struct span *p = room;
    size_t m = covariance_rank(s);
    char *at = (char *)room + (sizeof(struct span) + 63) / 64 * 64;
    p->basis = basis_tensors;
    p->factor = factor_tensors;
    p->factor.max = 1 / covariance_precision(s);
    basis_init(&p->basis, m, at);
    at += basis_size(m, capacity);
    factor_init(&p->factor, m, K, at);
    at += factor_size(m, K);
    p->pass = (real *)(void *)at;
    p->room = p->pass + pass_lanes(state_lanes(K), state_lanes(m));
}

static void fresh(struct state *s, uint32_t first, uint32_t last, uint32_t first_class)
{
    if (first_class)
        factor_fresh(s, &basis_tensors, &factor_tensors, first_class, 1 / covariance_precision(s));
}

/* --- reading --- */

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    float z[BASIS_MAX];
    linear_scores(s, COVARIANCE_W, x, ret);
    basis_view(s, &basis_tensors, x, z);
    factor_view_scores(s, &factor_tensors, z, ret, ret + s->lanes);
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    float z[BASIS_MAX];
    double norm2 = vec_norm2(x) - x->unseen;
    scores(s, x, ret);
    basis_view(s, &basis_tensors, x, z);
    for (uint32_t k = 0; k < s->K; k++)
        ret_variances[k] = (real)factor_view_variance(s, &factor_tensors, k, z, norm2);
}

/* W + U A */
static void weights_between(const struct state *s, uint32_t k, uint32_t l, real *ret)
{
    const struct tensor_place *A = &s->tensor[COVARIANCE_SPAN_A];
    _Alignas(64) real a[BASIS_MAX];
    size_t used = basis_used(s, &basis_tensors);
    for (size_t i = 0; i < used; i++)
        a[i] = A->reals[i * A->padded + k] - A->reals[i * A->padded + l];
    s->linear->dots(linear_row(s, COVARIANCE_SPAN_U, 0), s->stride, used, s->features, a, ret);
    for (uint32_t j = 0; j < s->features; j++) {
        const real *w = linear_row(s, COVARIANCE_W, j);
        ret[j] += w[k] - w[l];
    }
}

static double unseen(const struct state *s, uint32_t k)
{
    return model_numbers(s, COVARIANCE_SPAN_SIGMA)[k];
}

static void read(struct state *s, const struct vec *x, double scale)
{
    struct span *p = s->covariance.room;
    size_t lanes = s->tensor[COVARIANCE_W].padded;
    if (!p) { /* no features yet, so there is nothing in x */
        memset(s->scores, 0, s->lanes * sizeof *s->scores);
        return;
    }
    s->linear->scores(linear_row(s, COVARIANCE_W, 0), s->stride, pass_lanes(lanes, p->basis.padded), x, p->pass);
    basis_read(s, &p->basis, x, scale, p->pass + lanes);
    memcpy(s->scores, p->pass, lanes * sizeof *s->scores);
    factor_scores(s, &p->basis, &p->factor, s->scores, p->room);
    p->is_read = true;
}

static double variance(struct state *s, uint32_t k)
{
    struct span *p = s->covariance.room;
    return p ? factor_variance(s, &p->basis, &p->factor, k) : 0;
}

static double reach(const struct state *s)
{
    const struct span *p = s->covariance.room;
    return p ? COVARIANCE_REACH * p->basis.norm2 / covariance_precision(s) : 0;
}

/* --- steps --- */

static void load(struct state *s)
{
    struct span *p = s->covariance.room;
    if (p && !p->is_read)
        read(s, s->covariance.x, s->covariance.scale);
    /* Where a step gives the basis a column, variances are the same to the last bit only when all are computed from
     * here on, whether the scores are those of the prediction or were read anew. */
    for (uint32_t k = 0; p && k < s->K && basis_may_grow(s, &p->basis); k++)
        p->factor.u[k] = -1;
}

static double variance_pair(struct state *s, uint32_t k, uint32_t l)
{
    return variance(s, k) + variance(s, l);
}

/* A step changes the score of its own example by c x'Sx, which is about 1. Far beyond that it follows roundings. */
#define CHANGE_MAX 1e6

/* No step where roundings are all that is left of S along x, and none that takes more than all of x'Sx: see
 * covariance_full.c. */
static void step(struct state *s, uint32_t k, double c, double b)
{
    struct span *p = s->covariance.room;
    double v = variance(s, k);
    if (v <= 0 || fabs(c) * v > CHANGE_MAX)
        return;
    b = b * v > 1 ? 1 / v : b;
    if (!p->factor.moved)
        factor_grow(s, &p->basis, &p->factor, basis_grow(s, &p->basis, s->covariance.x));
    factor_step(s, &p->basis, &p->factor, k, c, b);
}

static double regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    double v = variance(s, k);
    step(s, k, shift + (target - score) / (1 + v), 1 / (1 + v));
    return v / (1 + v);
}

/* After the step, before flush. */
static void decay(struct state *s, uint32_t k, double share)
{
    struct span *p = s->covariance.room;
    size_t padded = p->basis.padded, n = (size_t)model_numbers(s, COVARIANCE_SPAN_COUNTERS)[BASIS_USED];
    double prior = 1 / covariance_precision(s), *sigma = &model_numbers(s, COVARIANCE_SPAN_SIGMA)[k];
    real *T = state_reals(s, COVARIANCE_SPAN_T, k);
    p->basis.ops->decay(T, n * padded, (real)(1 - share));
    for (size_t i = 0; i < n; i++)
        T[i * (padded + 1)] += (real)(share * prior);
    *sigma += share * (prior - *sigma);
}

static void flush(struct state *s)
{
    struct span *p = s->covariance.room;
    const struct vec *x = s->covariance.x;
    if (!p)
        return;
    p->is_read = false;
    if (!p->factor.moved)
        return;
    factor_flush(s, &p->basis, &p->factor, x);
    basis_collect(s, &p->basis, x);
    if (!basis_is_due(s, &p->basis))
        return;
    factor_fold(s, &p->basis, &p->factor);
    basis_renew(s, &p->basis);
    factor_turn(s, &p->basis, &p->factor);
}

/* --- forms --- */

void covariance_span_begin(struct state *s, const struct state *before)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SPAN_U], *full = &before->tensor[COVARIANCE_FULL];
    uint32_t n = full->matrices ? before->features : 0;
    bool whole = n <= U->lanes;
    for (uint32_t k = 0; n && k < s->K; k++) {
        const real *S = full->matrices + k * full->matrix_capacity;
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            sum += matrix_get(S, j, j) / (real)n;
            if (whole)
                linear_row(s, COVARIANCE_SPAN_U, j)[j] = 1;
            for (uint32_t i = 0; whole && i < n; i++)
                state_reals(s, COVARIANCE_SPAN_T, k)[j * U->padded + i] = matrix_get(S, i, j);
        }
        if (!whole)
            model_numbers(s, COVARIANCE_SPAN_SIGMA)[k] = sum;
    }
    if (whole)
        model_numbers(s, COVARIANCE_SPAN_COUNTERS)[BASIS_USED] = n;
}

void covariance_span_narrow(struct state *s, const struct state *before)
{
    const struct tensor_place *A = &before->tensor[COVARIANCE_SPAN_A];
    for (uint32_t j = 0; j < before->features; j++) {
        const real *u = linear_row(before, COVARIANCE_SPAN_U, j);
        real *w = linear_row(s, COVARIANCE_W, j);
        for (size_t i = 0; i < A->groups; i++)
            for (uint32_t k = 0; u[i] != 0 && k < s->K; k++)
                w[k] += u[i] * A->reals[i * A->padded + k];
        for (size_t i = 0; i < 2; i++)
            if (linear_row(s, COVARIANCE_SPAN_LAST, j)[i] != 0) /* rows that were never touched take no memory */
                linear_row(s, COVARIANCE_SPAN_LAST, j)[i] = 0;
    }
    memset(model_numbers(s, COVARIANCE_SPAN_COUNTERS), 0, BASIS_COUNTERS * sizeof(double));
}

static hunch_status merge(struct state *s, const struct state *other)
{
    struct span *p = s->covariance.room;
    if (p)
        p->basis.live_columns = SIZE_MAX, p->basis.live_collected = -1;
    return basis_merge(s, other, &basis_tensors, &factor_tensors, 1, covariance_precision(s));
}

static const struct extra growth = {.fresh = fresh};

const struct covariance_form covariance_span = {
    .name = "span",
    .extra = &growth,
    .shape = shape,
    .room_size = room_size,
    .room_init = room_init,
    .scores = scores,
    .peek = peek,
    .unseen = unseen,
    .read = read,
    .variance = variance,
    .reach = reach,
    .load = load,
    .variance_pair = variance_pair,
    .step = step,
    .regress = regress,
    .flush = flush,
    .weights_between = weights_between,
    .decay = decay,
    .merge = merge,
};

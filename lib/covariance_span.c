/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covariances in one basis that all classes share, S_k = U T_k U' + sigma_k (I - U U'): nearly the accuracy of full
 * matrices where few directions matter, at a cost per round that is linear in the features. The rule is told in
 * basis.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis.h"
#include "cholesky.h"
#include "covariance.h"
#include "linear.h"
#include "matrix.h"
#include "state.h"

struct span {
    struct basis basis;
    struct factor factor;
    real *pass;   /* weights' lanes + padded m: W'x and U'x */
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

static size_t room_size(const struct state *s, uint32_t K, size_t capacity)
{
    size_t m = covariance_rank(s), lanes = state_lanes(K);
    (void)capacity;
    return (sizeof(struct span) + 63) / 64 * 64 + basis_size(m) + factor_size(m, K) +
           (2 * lanes + state_lanes(m)) * sizeof(real);
}

static void room_init(const struct state *s, uint32_t K, size_t capacity, void *room)
{
    struct span *p = room;
    size_t m = covariance_rank(s);
    char *at = (char *)room + (sizeof(struct span) + 63) / 64 * 64;
    (void)capacity;
    p->basis = (struct basis){.U = COVARIANCE_SPAN_U,
                              .Y = COVARIANCE_SPAN_Y,
                              .last = COVARIANCE_SPAN_LAST,
                              .last_z = COVARIANCE_SPAN_LAST_Z,
                              .counters = COVARIANCE_SPAN_COUNTERS};
    p->factor = (struct factor){
        .W = COVARIANCE_W, .A = COVARIANCE_SPAN_A, .T = COVARIANCE_SPAN_T, .sigma = COVARIANCE_SPAN_SIGMA};
    basis_init(&p->basis, m, at);
    at += basis_size(m);
    factor_init(&p->factor, m, K, at);
    at += factor_size(m, K);
    p->pass = (real *)(void *)at;
    p->room = p->pass + state_lanes(K) + state_lanes(m);
}

/* Classes that have just come: nothing is known about them in any direction. */
static void fresh(struct state *s, uint32_t first, uint32_t last, uint32_t first_class)
{
    size_t padded = s->tensor[COVARIANCE_SPAN_U].padded, n = (size_t)model_numbers(s, COVARIANCE_SPAN_COUNTERS)[0];
    (void)first, (void)last;
    for (uint32_t k = first_class; first_class && k < s->K; k++)
        for (size_t i = 0; i < n; i++)
            state_reals(s, COVARIANCE_SPAN_T, k)[i * (padded + 1)] = (real)(1 / covariance_precision(s));
}

/* --- reading --- */

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct tensor_place *A = &s->tensor[COVARIANCE_SPAN_A], *U = &s->tensor[COVARIANCE_SPAN_U];
    _Alignas(64) real product[BASIS_MOST] = {0};
    float z[BASIS_MOST];
    real *inside = ret + s->lanes;
    linear_scores(s, COVARIANCE_W, x, ret);
    linear_scores(s, COVARIANCE_SPAN_U, x, product);
    for (size_t i = 0; i < U->lanes; i++)
        z[i] = (float)product[i];
    const struct vec view = {NULL, z, U->lanes, U->lanes, 0};
    s->linear->scores(A->reals, A->padded, A->padded, &view, inside);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] += inside[k];
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SPAN_U];
    _Alignas(64) real product[BASIS_MOST] = {0};
    double norm2 = vec_norm2(x) - x->unseen, inside = 0;
    scores(s, x, ret);
    linear_scores(s, COVARIANCE_SPAN_U, x, product);
    for (size_t i = 0; i < U->lanes; i++)
        inside += (double)product[i] * product[i];
    for (uint32_t k = 0; k < s->K; k++) {
        const real *T = state_reals(s, COVARIANCE_SPAN_T, k);
        double sum = model_numbers(s, COVARIANCE_SPAN_SIGMA)[k] * fmax(0, norm2 - inside);
        for (size_t i = 0; i < U->lanes; i++)
            for (size_t j = 0; j < U->lanes; j++)
                sum += (double)product[i] * T[i * U->padded + j] * product[j];
        ret_variances[k] = (real)fmax(sum, 0);
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
    s->linear->scores(linear_row(s, COVARIANCE_W, 0), s->stride, lanes + p->basis.padded, x, p->pass);
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
    const struct span *p = s->covariance.room;
    if (p && !p->is_read)
        read(s, s->covariance.x, s->covariance.scale);
}

static double variance_pair(struct state *s, uint32_t k, uint32_t l)
{
    return variance(s, k) + variance(s, l);
}

static void step(struct state *s, uint32_t k, double c, double b)
{
    struct span *p = s->covariance.room;
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

static double diagonal(const struct state *s, uint32_t j, uint32_t k)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SPAN_U];
    const real *T = state_reals(s, COVARIANCE_SPAN_T, k), *u = linear_row(s, COVARIANCE_SPAN_U, j);
    double sum = 0, length = 0;
    for (size_t i = 0; i < U->lanes; i++) {
        length += (double)u[i] * u[i];
        for (size_t h = 0; h < U->lanes; h++)
            sum += (double)u[i] * T[i * U->padded + h] * u[h];
    }
    return sum + model_numbers(s, COVARIANCE_SPAN_SIGMA)[k] * fmax(0, 1 - length);
}

/* Few enough features become directions themselves, and nothing is lost; else what is left is how wide it was. */
static void begin(struct state *s, const struct state *before, const struct covariance_form *from)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SPAN_U], *full = &before->tensor[COVARIANCE_FULL];
    bool whole = from == &covariance_full && before->features <= U->lanes;
    for (uint32_t k = 0; k < s->K; k++) {
        double sum = 0;
        for (uint32_t j = 0; j < before->features; j++) {
            sum += from->diagonal(before, j, k) / before->features;
            if (whole && full->matrices)
                linear_row(s, COVARIANCE_SPAN_U, j)[j] = 1;
            for (uint32_t i = 0; whole && full->matrices && i < before->features; i++)
                state_reals(s, COVARIANCE_SPAN_T, k)[j * U->padded + i] =
                    matrix_get(full->matrices + k * full->matrix_capacity, i, j);
        }
        if (!whole && before->features)
            model_numbers(s, COVARIANCE_SPAN_SIGMA)[k] = sum;
    }
    if (whole && full->matrices)
        model_numbers(s, COVARIANCE_SPAN_COUNTERS)[BASIS_USED] = before->features;
}

/* --- merges: the one with fewer rounds is seen in the other's basis --- */

struct merging {
    struct state *s;
    const struct state *host, *guest;      /* s and the other; the host's basis stays */
    size_t m, padded;                      /* columns of both; rows of T */
    double *R, *turned;                    /* m x m: U_guest' U_host */
    double *mine, *theirs, *sum, *scratch; /* m x m: inverses of T_host and of T_guest in the host's basis; T */
    double *p, *q, *both;                  /* m: U_host'w of both; mine p + theirs q */
    double *own, *other;                   /* features: weights of both */
};

static size_t basis_used(const struct state *s)
{
    const struct tensor_place *U = &s->tensor[COVARIANCE_SPAN_U];
    double n = model_numbers(s, COVARIANCE_SPAN_COUNTERS)[BASIS_USED];
    return n >= 1 ? n < (double)U->lanes ? (size_t)n : U->lanes : 0;
}

/* w_k = W + U A of every feature, and U_host'w_k */
static void weights_gather(const struct merging *g, const struct state *from, uint32_t k, double *w, double *inside)
{
    const struct tensor_place *A = &from->tensor[COVARIANCE_SPAN_A];
    memset(inside, 0, g->m * sizeof *inside);
    for (uint32_t j = 0; j < g->s->features; j++) {
        w[j] = 0;
        if (j >= from->features)
            continue;
        const real *u = linear_row(from, COVARIANCE_SPAN_U, j);
        w[j] = linear_row(from, COVARIANCE_W, j)[k];
        for (size_t i = 0; i < g->m; i++)
            w[j] += (double)u[i] * A->reals[i * A->padded + k];
        for (size_t i = 0; j < g->host->features && i < g->m; i++)
            inside[i] += linear_row(g->host, COVARIANCE_SPAN_U, j)[i] * w[j];
    }
}

/* Of T_host, with sigma where the basis has no column yet, and of R'T_guest R + sigma (I - R'R). */
static void inverses_make(const struct merging *g, uint32_t k)
{
    const struct basis_ops *ops = basis_ops(NULL);
    size_t m = g->m, n = basis_used(g->host);
    const real *T = state_reals(g->host, COVARIANCE_SPAN_T, k), *other = state_reals(g->guest, COVARIANCE_SPAN_T, k);
    double sigma = model_numbers(g->guest, COVARIANCE_SPAN_SIGMA)[k];
    for (size_t i = 0; i < m * m; i++) {
        g->mine[i] = T[i / m * g->padded + i % m];
        g->scratch[i] = other[i / m * g->padded + i % m];
    }
    for (size_t i = n; i < m; i++)
        g->mine[i * (m + 1)] = model_numbers(g->host, COVARIANCE_SPAN_SIGMA)[k];
    ops->product(m, g->scratch, g->R, g->sum);
    ops->product(m, g->turned, g->sum, g->theirs);
    ops->product(m, g->turned, g->R, g->sum);
    for (size_t i = 0; i < m * m; i++)
        g->theirs[i] += sigma * ((i % (m + 1) == 0) - g->sum[i]);
    cholesky_invert(g->mine, m, g->both);
    cholesky_invert(g->theirs, m, g->both);
}

static void class_merge(const struct merging *g, uint32_t k)
{
    const struct tensor_place *A = &g->s->tensor[COVARIANCE_SPAN_A];
    double least = covariance_precision(g->s), mine = model_numbers(g->host, COVARIANCE_SPAN_SIGMA)[k];
    double theirs = model_numbers(g->guest, COVARIANCE_SPAN_SIGMA)[k];
    double sigma = 1 / fmax(1 / mine + 1 / theirs - least, least), first = sigma / mine, second = sigma / theirs;
    size_t m = g->m, n = basis_used(g->host);
    weights_gather(g, g->host, k, g->own, g->p);
    weights_gather(g, g->guest, k, g->other, g->q);
    inverses_make(g, k);
    for (size_t i = 0; i < m * m; i++)
        g->sum[i] = g->mine[i] + g->theirs[i] - (i % (m + 1) == 0 ? least : 0);
    cholesky_invert(g->sum, m, g->both);
    for (size_t i = 0; i < m; i++) {
        g->both[i] = 0;
        for (size_t j = 0; j < m; j++)
            g->both[i] += g->mine[i * m + j] * g->p[j] + g->theirs[i * m + j] * g->q[j];
    }
    for (size_t i = 0; i < n; i++) {
        double inside = 0;
        for (size_t j = 0; j < n; j++) {
            inside += g->sum[i * m + j] * g->both[j];
            state_reals(g->s, COVARIANCE_SPAN_T, k)[i * g->padded + j] = (real)g->sum[i * m + j];
        }
        A->reals[i * A->padded + k] = (real)(inside - first * g->p[i] - second * g->q[i]);
    }
    for (uint32_t j = 0; j < g->s->features; j++)
        linear_row(g->s, COVARIANCE_W, j)[k] = (real)(first * g->own[j] + second * g->other[j]);
    model_numbers(g->s, COVARIANCE_SPAN_SIGMA)[k] = sigma;
}

static void basis_copy(struct state *s, const struct state *from)
{
    static const int rows[] = {COVARIANCE_SPAN_U, COVARIANCE_SPAN_Y, COVARIANCE_SPAN_LAST};
    static const int numbers[] = {COVARIANCE_SPAN_LAST_Z, COVARIANCE_SPAN_COUNTERS};
    for (int t = 0; t < 3; t++) {
        size_t size = s->tensor[rows[t]].padded * sizeof(real);
        for (uint32_t j = 0; j < s->features; j++)
            if (j < from->features)
                memcpy(linear_row(s, rows[t], j), linear_row(from, rows[t], j), size);
            else
                memset(linear_row(s, rows[t], j), 0, size);
    }
    for (int t = 0; t < 2; t++)
        memcpy(model_numbers(s, numbers[t]), model_numbers(from, numbers[t]),
               s->tensor[numbers[t]].lanes * sizeof(double));
}

static void merge_with(struct merging *g, double *memory)
{
    size_t m = g->m, square = m * m;
    uint32_t features = g->guest->features < g->host->features ? g->guest->features : g->host->features;
    double **squares[] = {&g->R, &g->turned, &g->mine, &g->theirs, &g->sum, &g->scratch};
    for (int i = 0; i < 6; i++, memory += square)
        *squares[i] = memory;
    double **vectors[] = {&g->p, &g->q, &g->both};
    for (int i = 0; i < 3; i++, memory += m)
        *vectors[i] = memory;
    g->own = memory;
    g->other = memory + g->s->features;
    memset(g->R, 0, square * sizeof *g->R);
    for (uint32_t j = 0; j < features; j++)
        for (size_t i = 0; i < square; i++)
            g->R[i] += (double)linear_row(g->guest, COVARIANCE_SPAN_U, j)[i / m] *
                       linear_row(g->host, COVARIANCE_SPAN_U, j)[i % m];
    for (size_t i = 0; i < square; i++)
        g->turned[i % m * m + i / m] = g->R[i];
    for (uint32_t k = 0; k < g->s->K; k++)
        class_merge(g, k);
    if (g->host != g->s)
        basis_copy(g->s, g->host);
}

static hunch_status merge(struct state *s, const struct state *other)
{
    bool stays = s->round >= other->round;
    struct merging g = {.s = s, .host = stays ? s : other, .guest = stays ? other : s};
    g.m = s->tensor[COVARIANCE_SPAN_U].lanes;
    g.padded = s->tensor[COVARIANCE_SPAN_U].padded;
    if (!other->features)
        return HUNCH_OK;
    size_t count = size_add(size_mul(g.m * g.m, 6), size_add(3 * g.m, size_mul(s->features, 2)));
    double *memory = malloc(size_mul(count, sizeof *memory));
    if (!memory)
        return HUNCH_ENOMEM;
    merge_with(&g, memory);
    free(memory);
    return HUNCH_OK;
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
    .diagonal = diagonal,
    .begin = begin,
    .merge = merge,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two states into one whose covariances stand in a basis (basis.h). The basis of the one with more rounds stays; the
 * other's covariances are seen in it, R'T R + sigma (I - R'R) with R = U_other'U. Then information adds up, inside of
 * the basis by matrices and outside by the sigmas.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "covariance/basis.h"
#include "numeric/cholesky.h"
#include "state/linear.h"
#include "state/state.h"

#define SIGMA_MIN 1e-200

struct merging {
    struct state *s;
    const struct basis *b;
    const struct factor *f; /* whose turn it is */
    double precision;
    const struct state *host, *guest;      /* s and the other; the host's basis stays */
    size_t m, padded;                      /* columns of both; rows of T */
    double *R, *turned;                    /* m x m: U_guest' U_host */
    double *mine, *theirs, *sum, *scratch; /* m x m: inverses of T_host and of T_guest in the host's basis; T */
    double *p, *q, *both;                  /* m: U_host'w of both; mine p + theirs q */
    double *own, *other;                   /* features: weights of both */
};

/* w_k = W + U A of every feature, and U_host'w_k */
static void weights_gather(const struct merging *g, const struct state *from, uint32_t k, double *w, double *inside)
{
    const struct tensor_place *A = &from->tensor[g->f->A];
    memset(inside, 0, g->m * sizeof *inside);
    for (uint32_t j = 0; j < g->s->features; j++) {
        w[j] = 0;
        if (j >= from->features)
            continue;
        const real *u = linear_row(from, g->b->U, j);
        w[j] = linear_row(from, g->f->W, j)[k];
        for (size_t i = 0; i < g->m; i++)
            w[j] += (double)u[i] * A->reals[i * A->padded + k];
        for (size_t i = 0; j < g->host->features && i < g->m; i++)
            inside[i] += linear_row(g->host, g->b->U, j)[i] * w[j];
    }
}

/* Of T_host, with sigma where the basis has no column yet, and of R'T_guest R + sigma (I - R'R). */
static void inverses_make(const struct merging *g, uint32_t k)
{
    const struct basis_ops *ops = basis_ops(NULL);
    size_t m = g->m, n = basis_used(g->host, g->b);
    const real *T = state_reals(g->host, g->f->T, k), *other = state_reals(g->guest, g->f->T, k);
    double sigma = model_numbers(g->guest, g->f->sigma)[k];
    for (size_t i = 0; i < m * m; i++) {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the loop runs where m > 0
        g->mine[i] = T[i / m * g->padded + i % m];
        g->scratch[i] = other[i / m * g->padded + i % m];
    }
    for (size_t i = n; i < m; i++)
        g->mine[i * (m + 1)] = model_numbers(g->host, g->f->sigma)[k];
    ops->product(m, g->scratch, g->R, false, g->sum);
    ops->product(m, g->turned, g->sum, false, g->theirs);
    ops->product(m, g->turned, g->R, false, g->sum);
    for (size_t i = 0; i < m * m; i++)
        g->theirs[i] += sigma * ((i % (m + 1) == 0) - g->sum[i]);
    cholesky_invert(g->mine, m, g->both);
    cholesky_invert(g->theirs, m, g->both);
}

static void class_merge(const struct merging *g, uint32_t k)
{
    const struct tensor_place *A = &g->s->tensor[g->f->A];
    double min = g->precision, mine = fmax(model_numbers(g->host, g->f->sigma)[k], SIGMA_MIN);
    double theirs = fmax(model_numbers(g->guest, g->f->sigma)[k], SIGMA_MIN);
    double sigma = 1 / fmax(1 / mine + 1 / theirs - min, min), first = sigma / mine, second = sigma / theirs;
    size_t m = g->m, n = basis_used(g->host, g->b);
    weights_gather(g, g->host, k, g->own, g->p);
    weights_gather(g, g->guest, k, g->other, g->q);
    inverses_make(g, k);
    for (size_t i = 0; i < m * m; i++)
        g->sum[i] = g->mine[i] + g->theirs[i] - (i % (m + 1) == 0 ? min : 0);
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
            state_reals(g->s, g->f->T, k)[i * g->padded + j] = (real)g->sum[i * m + j];
        }
        A->reals[i * A->padded + k] = (real)(inside - first * g->p[i] - second * g->q[i]);
    }
    for (uint32_t j = 0; j < g->s->features; j++)
        linear_row(g->s, g->f->W, j)[k] = (real)(first * g->own[j] + second * g->other[j]);
    model_numbers(g->s, g->f->sigma)[k] = sigma;
}

static void basis_copy(struct state *s, const struct state *from, const struct basis *b)
{
    const int rows[] = {b->U, b->Y, b->last}, numbers[] = {b->last_z, b->counters};
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

static void merge_with(struct merging *g, size_t factors, double *memory)
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
            g->R[i] += (double)linear_row(g->guest, g->b->U, j)[i / m] * linear_row(g->host, g->b->U, j)[i % m];
    for (size_t i = 0; i < square; i++)
        g->turned[i % m * m + i / m] = g->R[i];
    for (const struct factor *end = g->f + factors; g->f < end; g->f++)
        for (uint32_t k = 0; k < g->s->K; k++)
            class_merge(g, k);
    if (g->host != g->s)
        basis_copy(g->s, g->host, g->b);
}

hunch_status basis_merge(struct state *s, const struct state *other, const struct basis *b, const struct factor *f,
                         size_t factors, double precision)
{
    bool stays = s->round >= other->round;
    struct merging g = {.s = s, .b = b, .f = f, .precision = precision};
    g.host = stays ? s : other;
    g.guest = stays ? other : s;
    g.m = s->tensor[b->U].lanes;
    g.padded = s->tensor[b->U].padded;
    if (!other->features)
        return HUNCH_OK;
    size_t count = size_add(size_mul(g.m * g.m, 6), size_add(3 * g.m, size_mul(s->features, 2)));
    double *memory = malloc(size_mul(count, sizeof *memory));
    if (!memory)
        return HUNCH_ENOMEM;
    merge_with(&g, factors, memory);
    free(memory);
    return HUNCH_OK;
}

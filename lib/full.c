/* SPDX-License-Identifier: BSD-3-Clause */
#include "full.h"

#include <stdlib.h>
#include <string.h>

#include "linear.h"
#include "state.h"

void full_shape_low(struct tensor *inout)
{
    if (!MATRIX_KEEPS_LOW)
        inout->kind = ABSENT;
}

hunch_status full_allocate(struct full *ret, size_t n)
{
    struct full f = {.ops = matrix_ops(NULL)};
    size_t bytes = size_mul(matrix_pad(n), sizeof(real)), wide = size_mul(matrix_pad(n), sizeof(double));
    if (bytes == SIZE_MAX || wide == SIZE_MAX)
        return HUNCH_ENOMEM;
    f.memory = malloc(matrix_vec_size(n));
    f.g = aligned_alloc(64, (bytes + 63) / 64 * 64);
    f.h = aligned_alloc(64, (bytes + 63) / 64 * 64);
    f.sums = malloc(wide);
    f.index = malloc(size_mul(n, sizeof *f.index));
    f.value = malloc(size_mul(n, sizeof *f.value));
    if (!f.memory || !f.g || !f.h || !f.sums || !f.index || !f.value) {
        full_free(&f);
        return HUNCH_ENOMEM;
    }
    memset(f.g, 0, bytes);
    memset(f.h, 0, bytes);
    matrix_vec_init(&f.x, n, f.memory);
    *ret = f;
    return HUNCH_OK;
}

void full_free(struct full *f)
{
    free(f->memory);
    free(f->g);
    free(f->h);
    free(f->sums);
    free(f->index);
    free(f->value);
    memset(f, 0, sizeof *f);
}

void full_load(struct state *s, const struct vec *x)
{
    s->full->x.d = s->features;
    matrix_vec_load(&s->full->x, x->index, x->value, x->n);
}

void full_load_outer(struct state *s, const struct vec *x, const double *h)
{
    struct full *f = s->full;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < s->K; k++) {
            if (h[k] == 0)
                continue;
            f->index[n] = vec_index(x, i) * s->K + k;
            f->value[n++] = 1;
        }
    f->x.d = (size_t)s->features * s->K;
    matrix_vec_load(&f->x, f->index, f->value, n);
    /* The places are known now; the numbers go in with the precision of real. */
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < s->K; k++)
            if (h[k] != 0)
                f->x.x[(size_t)vec_index(x, i) * s->K + k] = (real)(h[k] * x->value[i]);
}

void full_quads(struct state *s, int V, real *q)
{
    const struct tensor_place *p = &s->tensor[V];
    s->full->ops->quads(p->matrices, p->matrix_capacity, p->groups, &s->full->x, q);
}

static real *matrix_of(const struct state *s, int tensor, uint32_t k)
{
    const struct tensor_place *p = &s->tensor[tensor];
    return p->kind == MATRIX ? p->matrices + k * p->matrix_capacity : NULL;
}

double full_mul(struct state *s, int V, int low, uint32_t k, real *g)
{
    struct full *f = s->full;
    return f->ops->mul_exact(matrix_of(s, V, k), matrix_of(s, low, k), &f->x, g, f->sums);
}

void full_update(struct state *s, int V, int low, uint32_t k, double c, const real *g)
{
    real factor = (real)c;
    s->full->ops->update(matrix_of(s, V, k), matrix_of(s, low, k), s->full->x.d, 1, &factor, g, 0);
}

void full_add(struct state *s, int W, uint32_t k, double c, const real *g)
{
    real *w = linear_row(s, W, 0) + k, step = (real)c;
    for (size_t j = 0; j < s->features; j++)
        w[j * s->stride] += step * g[j];
}

double full_add_outer(struct state *s, int W, double c, const real *g)
{
    double change = 0;
    for (size_t j = 0; j < s->features; j++) {
        real *w = linear_row(s, W, (uint32_t)j);
        for (uint32_t k = 0; k < s->K; k++) {
            real fresh = w[k] + (real)(c * g[j * s->K + k]);
            change += (double)fresh * fresh - (double)w[k] * w[k];
            w[k] = fresh;
        }
    }
    return change;
}

double full_quad(const struct state *s, int V, uint32_t k, const struct vec *x)
{
    const real *m = matrix_of(s, V, k);
    double sum = 0;
    for (size_t a = 0; a < x->n; a++) {
        double row = 0;
        for (size_t b = 0; b < a; b++)
            row += (double)matrix_get(m, vec_index(x, a), vec_index(x, b)) * x->value[b];
        row = 2 * row + (double)matrix_get(m, vec_index(x, a), vec_index(x, a)) * x->value[a];
        sum += row * x->value[a];
    }
    return sum;
}

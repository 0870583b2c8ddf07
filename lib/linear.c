/* SPDX-License-Identifier: BSD-3-Clause */
#include "linear.h"

#include <string.h>

extern const struct linear_ops linear_ops_plain;
#ifdef HUNCH_X86
extern const struct linear_ops linear_ops_avx2, linear_ops_avx512;
#endif

const struct linear_ops *linear_ops_named(const char *name)
{
#ifdef HUNCH_X86
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512dq")
                   ? &linear_ops_avx512
                   : NULL;
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &linear_ops_avx2 : NULL;
#endif
    return strcmp(name, "plain") ? NULL : &linear_ops_plain;
}

const struct linear_ops *linear_ops(void)
{
    const struct linear_ops *ops = linear_ops_named("avx512");
    if (!ops)
        ops = linear_ops_named("avx2");
    return ops ? ops : &linear_ops_plain;
}

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret)
{
    s->linear->scores(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, ret);
}

void linear_scores_widths(const struct state *s, int W, int V, const struct vec *x, real *ret, real *ret_widths)
{
    s->linear->scores_widths(linear_row(s, W, 0), linear_row(s, V, 0), s->stride, s->tensor[W].padded, x, ret,
                             ret_widths);
}

void linear_add(const struct state *s, int W, uint32_t k, double c, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k;
    real step = (real)c;
    for (size_t i = 0; i < x->n; i++)
        w[(size_t)vec_index(x, i) * s->stride] += step * (real)x->value[i];
}

void linear_add_twice(const struct state *s, int W, uint32_t k, double a, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k;
    real first = (real)a, second = (real)b;
    for (size_t i = 0; i < x->n; i++) {
        real *at = w + (size_t)vec_index(x, i) * s->stride;
        *at = (*at + first * (real)x->value[i]) + second * (real)x->value[i];
    }
}

void linear_add_all(const struct state *s, int W, const real *c, const struct vec *x)
{
    s->linear->add_all(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, c);
}

void linear_arow_all(const struct state *s, int W, int V, const real *c, const real *b, const struct vec *x)
{
    s->linear->arow_all(linear_row(s, W, 0), linear_row(s, V, 0), s->stride, s->tensor[W].padded, x, c, b);
}

double linear_dot(const struct state *s, int W, uint32_t k, const struct vec *x)
{
    const real *w = linear_row(s, W, 0) + k;
    double sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += (double)w[(size_t)vec_index(x, i) * s->stride] * x->value[i];
    return sum;
}

double linear_width(const struct state *s, int V, uint32_t k, const struct vec *x)
{
    const real *v = linear_row(s, V, 0) + k;
    double sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += (double)v[(size_t)vec_index(x, i) * s->stride] * x->value[i] * x->value[i];
    return sum;
}

void linear_arow(const struct state *s, int W, int V, uint32_t k, double c, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, *v = linear_row(s, V, 0) + k;
    real step = (real)c, shrink = (real)b;
    for (size_t i = 0; i < x->n; i++) {
        size_t row = (size_t)vec_index(x, i) * s->stride;
        real vx = v[row] * (real)x->value[i];
        w[row] += step * vx;
        v[row] -= shrink * (vx * vx);
    }
}

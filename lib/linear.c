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

/* Runs body for every entry: row is the feature's place times the stride, v the value. Dense examples walk through the
 * rows, so that nothing is looked up or multiplied. */
#define FOR_EACH_ENTRY(body)                                                                                           \
    do {                                                                                                               \
        if (x->index) {                                                                                                \
            for (size_t i = 0; i < x->n; i++) {                                                                        \
                size_t row = (size_t)x->index[i] * s->stride;                                                          \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t i = 0, row = 0; i < x->n; i++, row += s->stride) {                                             \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

double vec_norm2(const struct vec *x)
{
    double sum[4] = {x->unseen};
    size_t i = 0;
    for (; i + 4 <= x->n; i += 4)
        for (int c = 0; c < 4; c++)
            sum[c] += (double)x->value[i + c] * x->value[i + c];
    for (; i < x->n; i++)
        sum[0] += (double)x->value[i] * x->value[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void linear_add(const struct state *s, int W, uint32_t k, double c, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, step = (real)c;
    FOR_EACH_ENTRY(w[row] += step * v;);
}

void linear_add_twice(const struct state *s, int W, uint32_t k, double a, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, first = (real)a, second = (real)b;
    FOR_EACH_ENTRY(w[row] = (w[row] + first * v) + second * v;);
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
    FOR_EACH_ENTRY(sum += (double)w[row] * v;);
    return sum;
}

double linear_width(const struct state *s, int V, uint32_t k, const struct vec *x)
{
    const real *u = linear_row(s, V, 0) + k;
    double sum = 0;
    FOR_EACH_ENTRY(sum += (double)u[row] * v * v;);
    return sum;
}

void linear_arow(const struct state *s, int W, int V, uint32_t k, double c, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, *u = linear_row(s, V, 0) + k;
    real step = (real)c, shrink = (real)b;
    FOR_EACH_ENTRY({
        real ux = u[row] * v;
        w[row] += step * ux;
        u[row] -= shrink * (ux * ux);
    });
}

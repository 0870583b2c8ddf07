/* SPDX-License-Identifier: BSD-3-Clause */
#include "linear.h"

#include <math.h>

#include "base/cpu.h"

extern const struct linear_ops linear_ops_plain, linear_ops_avx2, linear_ops_avx512;

const struct linear_ops *linear_ops(const char *name)
{
    static const struct linear_ops *const sets[] = {
        [CPU_PLAIN] = &linear_ops_plain,
#ifdef HUNCH_X86
        [CPU_AVX2] = &linear_ops_avx2,
        [CPU_AVX512] = &linear_ops_avx512,
#endif
    };
    int cpu = name ? cpu_named(name) : (int)cpu_best();
    return cpu < 0 ? NULL : sets[cpu];
}

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret)
{
    s->linear->scores(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, ret);
}

void linear_first_scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, 0, x, ret);
}

double vec_norm2(const struct vec *x)
{
    double sum[8] = {x->unseen};
    size_t i = 0;
    for (; i + 8 <= x->n; i += 8)
        for (int c = 0; c < 8; c++)
            sum[c] += (double)x->value[i + c] * x->value[i + c];
    for (; i < x->n; i++)
        sum[0] += (double)x->value[i] * x->value[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
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

void linear_add_pair(const struct state *s, int W, struct linear_pair p, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + p.k, *u = linear_row(s, W, 0) + p.l, first = (real)p.a, second = (real)p.b;
    FOR_EACH_ENTRY({
        w[row] += first * v;
        u[row] += second * v;
    });
}

void linear_add_all(const struct state *s, int W, const real *c, const struct vec *x)
{
    s->linear->add_all(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, c);
}

void linear_descend(struct state *s, int W, double rate, const struct vec *x)
{
    for (uint32_t k = 0; k < s->K; k++)
        s->steps[k] = (real)(-rate * s->probabilities[k]);
    linear_add_all(s, W, s->steps, x);
}

double linear_adaptive_rate(const struct state *s, double *H, double B, const struct vec *x, double p)
{
    double norm2 = 0;
    for (uint32_t k = 0; k < s->K; k++)
        norm2 += s->probabilities[k] * s->probabilities[k];
    *H += norm2 * vec_norm2(x) / (p * p);
    return B / sqrt(2 * (1e-8 + *H));
}

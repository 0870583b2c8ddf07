/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/linear.h"

#include <math.h>

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret)
{
    s->linear->scores(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, ret);
}

void linear_first_scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, 0, x, ret);
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

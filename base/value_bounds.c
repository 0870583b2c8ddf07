/* SPDX-License-Identifier: BSD-3-Clause */
#include "value_bounds.h"

#include <math.h>

#define RATES 16 /* of the mixture: 1/2, 1/4, ... */
#define HALVINGS 40

static void mean_add(struct bounded_mean *m, uint64_t n, double x)
{
    double guess = (m->sum + 0.5) / ((double)n + 1);
    double deviation = x - (guess < 1 ? guess : 1);
    m->sum += x;
    m->squares += deviation * deviation;
}

void value_observe(struct value_bounds *v, double x, double other)
{
    mean_add(&v->right, v->n, x);
    mean_add(&v->wrong, v->n, other);
    v->n++;
}

void value_add(struct value_bounds *v, double weight, bool right)
{
    value_observe(v, right ? weight : 0, right ? 0 : weight);
}

double value_mean(const struct value_bounds *v)
{
    double mean = v->right.sum / (double)v->n;
    return mean > 1 ? 1 : mean;
}

/* Whether the mixture exceeds 1/alpha if the mean is `mean`. */
static bool refuted(const struct bounded_mean *m, uint64_t n, double mean, double alpha)
{
    double total = 0, max = RATES / alpha, rate = 0.5;
    for (int i = 0; i < RATES && total < max; i++, rate /= 2)
        total += exp(rate * (m->sum - (double)n * mean) + (log1p(-rate) + rate) * m->squares);
    return total >= max;
}

static double lower(const struct bounded_mean *m, uint64_t n, double alpha)
{
    double low = 0, high = 1; /* what is refuted is refuted for all smaller means */
    if (!refuted(m, n, 0, alpha))
        return 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (refuted(m, n, middle, alpha))
            low = middle;
        else
            high = middle;
    }
    return low;
}

void value_interval(const struct value_bounds *v, double confidence, double *ret_low, double *ret_high)
{
    double alpha = (1 - confidence) / 2;
    *ret_low = lower(&v->right, v->n, alpha);
    *ret_high = 1 - lower(&v->wrong, v->n, alpha);
}

bool value_above(const struct value_bounds *v, double mean, double confidence)
{
    return refuted(&v->right, v->n, mean, 1 - confidence);
}

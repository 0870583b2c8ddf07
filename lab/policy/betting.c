/* SPDX-License-Identifier: BSD-3-Clause */
#include "betting.h"

#include <stdbool.h>

#define SHARES 16 /* of the wealth: half of what may be lost, a quarter, ... */
#define HALVINGS 40

/* Whether the mixture's wealth has exceeded 1/alpha at some time. */
static bool refuted(const double *x, size_t n, double v, double top, double alpha)
{
    double wealth[SHARES], share[SHARES], max = SHARES / alpha;
    for (int j = 0; j < SHARES; j++) {
        wealth[j] = 1;
        share[j] = (j ? share[j - 1] : 1 / top) / 2;
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < SHARES; j++)
            sum += wealth[j] *= 1 + share[j] * (x[i] - v);
        if (sum >= max)
            return true;
    }
    return false;
}

double betting_lower(const double *x, size_t n, double top, double alpha)
{
    double low = 0, high = top; /* wealth falls with v: those below the bound are refuted */
    if (!refuted(x, n, 0, top, alpha))
        return 0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (refuted(x, n, middle, top, alpha))
            low = middle;
        else
            high = middle;
    }
    return low;
}

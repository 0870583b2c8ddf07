/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive-aggressive steps (K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, JMLR 2006). */
#ifndef PASSIVE_H
#define PASSIVE_H

#include <math.h>

#include "state/algo.h"

enum passive_kind { PASSIVE_PA, PASSIVE_PA1, PASSIVE_PA2 };

/* How much of x a linear learner with output f takes from the example (x, y): w += step x. With the loss
 * l = max(0, 1 - y f), the size of the step is l/|x|^2 (pa), min(C, l/|x|^2) (pa1) or l/(|x|^2 + 1/(2C)) (pa2). */
static inline double passive_step(enum passive_kind kind, double C, double y, double f, double norm2)
{
    double loss = fmax(0, 1 - y * f);
    if (norm2 < LENGTH2_MIN)
        return 0;
    if (kind == PASSIVE_PA2)
        return y * loss / (norm2 + 1 / (2 * C));
    return y * (kind == PASSIVE_PA1 ? fmin(C, loss / norm2) : loss / norm2);
}

#endif

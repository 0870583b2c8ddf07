/* SPDX-License-Identifier: BSD-3-Clause */
#include "ridge.h"

#include "linear.h"

const char *const ridge_matrix_choices[] = {"diag", NULL};

void ridge_shape(int tensor, double lambda, struct tensor *inout)
{
    if (tensor == RIDGE_V)
        inout->initial = 1 / lambda;
}

void ridge_scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, RIDGE_W, x, ret);
}

void ridge_examine(struct state *s, const struct vec *x)
{
    linear_scores_widths(s, RIDGE_W, RIDGE_V, x, s->scores, s->widths);
    s->scored = true;
}

void ridge_learn(struct state *s, const struct vec *x, uint32_t o, double reward)
{
    if (!s->scored)
        ridge_examine(s, x);
    real step = (real)((reward - s->scores[o]) / (1 + (double)s->widths[o]));
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = vec_index(x, i);
        real *w = linear_row(s, RIDGE_W, j) + o, *v = linear_row(s, RIDGE_V, j) + o, value = x->value[i];
        *w += step * (*v * value);
        *v /= 1 + *v * value * value;
    }
}

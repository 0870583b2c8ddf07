/* SPDX-License-Identifier: BSD-3-Clause */
#include "ridge.h"

#include "full.h"
#include "linear.h"

const char *const ridge_matrix_choices[] = {"diag", "full", NULL};

void ridge_shape(int tensor, double lambda, bool full, struct tensor *inout)
{
    if (tensor == RIDGE_V || tensor == RIDGE_FULL_V)
        inout->initial = 1 / lambda;
    if (tensor == RIDGE_FULL_LOW)
        full_shape_low(inout);
    if (full ? tensor == RIDGE_V : tensor == RIDGE_FULL_V || tensor == RIDGE_FULL_LOW)
        inout->kind = ABSENT;
}

static bool is_full(const struct state *s)
{
    return s->tensor[RIDGE_FULL_V].kind == MATRIX;
}

void ridge_scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, RIDGE_W, x, ret);
}

void ridge_examine(struct state *s, const struct vec *x)
{
    s->scored = true;
    if (!is_full(s)) {
        linear_scores_widths(s, RIDGE_W, RIDGE_V, x, s->scores, s->widths);
        return;
    }
    for (size_t k = 0; k < s->lanes; k++)
        s->scores[k] = s->widths[k] = 0;
    if (!x->n)
        return;
    linear_scores(s, RIDGE_W, x, s->scores);
    full_load(s, x);
    full_quads(s, RIDGE_FULL_V, s->widths);
    for (uint32_t k = 0; k < s->K; k++) /* rounding may leave a tiny negative number */
        s->widths[k] = s->widths[k] > 0 ? s->widths[k] : 0;
}

static void learn_full(struct state *s, const struct vec *x, uint32_t o, double reward)
{
    real *g = s->full->g;
    full_load(s, x);
    double q = full_mul(s, RIDGE_FULL_V, RIDGE_FULL_LOW, o, g);
    full_add(s, RIDGE_W, o, (reward - s->scores[o]) / (1 + q), g);
    full_update(s, RIDGE_FULL_V, RIDGE_FULL_LOW, o, -1 / (1 + q), g);
}

void ridge_learn(struct state *s, const struct vec *x, uint32_t o, double reward)
{
    if (!s->scored)
        ridge_examine(s, x);
    if (!x->n)
        return;
    if (is_full(s)) {
        learn_full(s, x, o, reward);
        return;
    }
    real step = (real)((reward - s->scores[o]) / (1 + (double)s->widths[o]));
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = vec_index(x, i);
        real *w = linear_row(s, RIDGE_W, j) + o, *v = linear_row(s, RIDGE_V, j) + o, value = x->value[i];
        *w += step * (*v * value);
        *v /= 1 + *v * value * value;
    }
}

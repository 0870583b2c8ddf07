/* SPDX-License-Identifier: BSD-3-Clause */
#include "ridge.h"

const char *const ridge_matrix_choices[] = {"diag", "full", "span", NULL};

void ridge_learn(struct state *s, const struct vec *x, uint32_t o, double reward)
{
    if (!s->scored)
        covariance_read(s, x, 1);
    if (!x->n)
        return;
    covariance_load(s, x, 1);
    covariance_regress(s, o, 0, reward, s->scores[o]);
    covariance_flush(s);
}

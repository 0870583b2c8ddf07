/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts/ridge.h"

#define REGRESSIONS COVARIANCE_TABLE("W", "b", "V", "full_V")

const struct tensor ridge_tensors[] = {REGRESSIONS, TENSORS_END};

const struct tensor ridge_counted_tensors[] = {
    REGRESSIONS,
    {"learned", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

double ridge_precision(const struct state *s)
{
    return setting_number(s, s->algo->covariance->setting - 1);
}

void ridge_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!s->scored)
        covariance_read_scores(s, x, 1);
    if (!x->n)
        return;
    covariance_load(s, x, 1);
    covariance_regress(s, c->label, 0, right, s->scores[c->label]);
    covariance_flush(s);
}

void ridge_learn_counted(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    ridge_learn(s, x, c, right);
    model_numbers(s, RIDGE_LEARNED)[0]++;
}

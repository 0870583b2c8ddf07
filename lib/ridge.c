/* SPDX-License-Identifier: BSD-3-Clause */
#include "ridge.h"

const struct tensor ridge_counted_tensors[] = {
    RIDGE_TENSOR_TABLE,
    {"learned", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

double ridge_precision(const struct state *s)
{
    return setting_number(s, s->algo->covariance->setting - 1);
}

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

void ridge_learn_counted(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    ridge_learn(s, x, c->label, right);
    model_numbers(s, RIDGE_LEARNED)[0]++;
}

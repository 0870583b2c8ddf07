/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts/naive_bayes.h"

#include "base/exact.h"
#include "state/linear.h"

static double *totals_of(const struct state *s, const struct naive_bayes *b, size_t id)
{
    return model_numbers(s, b->totals) + NAIVE_BAYES_TOTALS * id;
}

/* smooth=0: a side that has not seen all of x's features is ruled out; f is the other's sign, 0 where both are. Else
 * ret is left as it is. */
static void outputs_exclude(const struct state *s, const struct naive_bayes *b, struct naive_bayes_block block,
                            const struct vec *x, real *ret)
{
    for (size_t l = 0; l < block.n; l++) {
        const double *t = totals_of(s, b, block.id + l);
        bool yes = t[NAIVE_BAYES_N_YES] > 0, no = t[NAIVE_BAYES_N_NO] > 0;
        for (size_t i = 0; i < x->all; i++) {
            bool known = i < x->n;
            if (x->value[i] == 0)
                continue;
            yes = yes && known && linear_row(s, b->yes, vec_index(x, i))[block.at + l] > 0;
            no = no && known && linear_row(s, b->no, vec_index(x, i))[block.at + l] > 0;
        }
        if (!yes || !no)
            ret[l] = (real)(yes - no);
    }
}

void naive_bayes_outputs(const struct state *s, const struct naive_bayes *b, struct naive_bayes_block block,
                         const struct vec *x, real *ret)
{
    size_t n = block.n;
    double present = 0, smooth = b->smooth, room = smooth * (model_numbers(s, b->vocabulary)[0] + 1);
    for (size_t l = 0; l < n; l++)
        ret[l] = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->value[i] == 0)
            continue;
        const real *odds = linear_row(s, b->odds, vec_index(x, i)) + block.at;
        for (size_t l = 0; l < n; l++)
            ret[l] += odds[l];
        present++;
    }
    for (size_t i = x->n; i < x->all; i++) /* never seen: odds 0 */
        present += x->value[i] != 0;
    for (size_t l = 0; l < n; l++) {
        const double *t = totals_of(s, b, block.id + l);
        /* As real, like the odds: what cancels exactly must come out as 0. */
        real prior = (real)exact_log((t[NAIVE_BAYES_N_YES] + smooth) / (t[NAIVE_BAYES_N_NO] + smooth));
        real scale = (real)exact_log((t[NAIVE_BAYES_T_YES] + room) / (t[NAIVE_BAYES_T_NO] + room));
        ret[l] = (real)exact_tanh((prior + ret[l] - (present > 0 ? present * scale : 0)) / 2);
    }
    if (smooth == 0)
        outputs_exclude(s, b, block, x, ret);
}

void naive_bayes_meet(struct state *s, const struct naive_bayes *b, const struct vec *x)
{
    double *vocabulary = model_numbers(s, b->vocabulary);
    for (size_t i = 0; i < x->n; i++) {
        real *seen = linear_row(s, b->seen, vec_index(x, i));
        if (x->value[i] == 0 || *seen > 0)
            continue;
        *seen = 1;
        ++*vocabulary;
    }
}

static real odds_of(const struct naive_bayes *b, double yes, double no)
{
    if (b->smooth == 0 && (yes == 0 || no == 0)) /* see outputs_exclude */
        return 0;
    return (real)exact_log((yes + b->smooth) / (no + b->smooth));
}

void naive_bayes_update(struct state *s, const struct naive_bayes *b, struct naive_bayes_block block,
                        const struct vec *x, double weight)
{
    double *t = totals_of(s, b, block.id), present = 0;
    bool yes = weight > 0;
    weight = yes ? weight : -weight;
    for (size_t i = 0; i < x->n; i++) {
        if (x->value[i] == 0)
            continue;
        uint32_t j = vec_index(x, i);
        real *c_yes = linear_row(s, b->yes, j) + block.at, *c_no = linear_row(s, b->no, j) + block.at;
        *(yes ? c_yes : c_no) += (real)weight;
        linear_row(s, b->odds, j)[block.at] = odds_of(b, *c_yes, *c_no);
        present++;
    }
    t[yes ? NAIVE_BAYES_N_YES : NAIVE_BAYES_N_NO] += weight;
    t[yes ? NAIVE_BAYES_T_YES : NAIVE_BAYES_T_NO] += weight * present;
}

void naive_bayes_renew(struct state *s, const struct naive_bayes *b)
{
    const struct tensor_place *p = &s->tensor[b->odds];
    double vocabulary = 0;
    for (uint32_t j = 0; j < s->features; j++) {
        const real *yes = linear_row(s, b->yes, j), *no = linear_row(s, b->no, j);
        real *odds = linear_row(s, b->odds, j);
        for (size_t at = 0; at < p->groups * p->padded; at++)
            odds[at] = odds_of(b, yes[at], no[at]);
        vocabulary += *linear_row(s, b->seen, j) > 0;
    }
    model_numbers(s, b->vocabulary)[0] = vocabulary;
}

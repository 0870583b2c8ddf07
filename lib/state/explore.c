/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/explore.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/exact.h"

uint32_t explore_first(const real *scores, uint32_t K)
{
    uint32_t best = 0;
    real max = scores[0];
    for (uint32_t k = 1; k < K; k++) { /* written so that nothing is jumped over: the winner cannot be foreseen */
        bool more = scores[k] > max;
        best = more ? k : best;
        max = more ? scores[k] : max;
    }
    return best;
}

uint32_t explore_best_of(const real *scores, uint32_t K, const unsigned char *may)
{
    if (!may)
        return explore_first(scores, K);
    uint32_t best = K;
    for (uint32_t k = 0; k < K; k++)
        if (may[k] && (best == K || scores[k] > scores[best]))
            best = k;
    assert(best < K);
    return best;
}

uint32_t explore_best(const struct state *s, const real *scores)
{
    return explore_best_of(scores, s->K, s->eligible);
}

uint32_t explore_argmax(struct state *s, const real *scores)
{
    uint32_t best = explore_best(s, scores), count = 0;
    if (!s->ties_random)
        return best;
    for (uint32_t k = best; k < s->K; k++)
        count += scores[k] == scores[best] && explore_may(s, k);
    if (count < 2)
        return best;
    uint32_t chosen = (uint32_t)rng_below(&s->rng, count);
    for (uint32_t k = best;; k++)
        if (scores[k] == scores[best] && explore_may(s, k) && chosen-- == 0)
            return k;
}

uint32_t explore_rival(const real *scores, uint32_t K, uint32_t label)
{
    uint32_t best = label == 0 && K > 1;
    real max = scores[best];
    for (uint32_t k = best + 1; k < K; k++) { /* see explore_first */
        bool more = k != label && scores[k] > max;
        best = more ? k : best;
        max = more ? scores[k] : max;
    }
    return best;
}

float explore_margin(const real *scores, uint32_t K, uint32_t label)
{
    double margin = (double)scores[label] - scores[explore_rival(scores, K, label)];
    margin = fmin(fmax(margin, -FLT_MAX), FLT_MAX);
    return margin == 0 ? FLT_MIN : (float)margin; /* NaN: FLT_MAX, which is as good as anything */
}

/* Of the labels that may be shown, given that one of them is. */
static void chances_restrict(const struct state *s, double *chances)
{
    double sum = 0;
    for (uint32_t k = 0; k < s->K; k++) {
        chances[k] = s->eligible[k] ? chances[k] : 0;
        sum += chances[k];
    }
    for (uint32_t k = 0; k < s->K; k++)
        chances[k] = sum > 0 ? chances[k] / sum : (double)s->eligible[k] / s->eligible_n;
}

uint32_t explore_sample(struct state *s, double *chances)
{
    double u = rng_uniform(&s->rng), sum = 0;
    s->sampled = true;
    if (s->eligible)
        chances_restrict(s, chances);
    for (uint32_t k = 0; k < s->K; k++) {
        sum += chances[k];
        if (u < sum)
            return k;
    }
    /* Rounding left the sum below u: the last label that has a chance. */
    uint32_t last = s->K - 1;
    while (last > 0 && chances[last] <= 0)
        last--;
    return last;
}

uint32_t explore_uniform(struct state *s)
{
    uint32_t left = (uint32_t)rng_below(&s->rng, explore_labels(s)), k = 0;
    if (!s->eligible)
        return left;
    while (!s->eligible[k] || left-- > 0)
        k++;
    return k;
}

void explore_mix(struct state *s, uint32_t greedy, double gamma, hunch_choice *ret)
{
    double u = rng_uniform(&s->rng), each = gamma / explore_labels(s), max = fmin(each + (1 - gamma), 1), sum = 0;
    uint32_t label = s->K, last = greedy;
    for (uint32_t k = 0; k < s->K && label == s->K; k++) {
        if (!explore_may(s, k))
            continue;
        sum += k == greedy ? max : each;
        last = each > 0 ? k : greedy;
        if (u < sum)
            label = k;
    }
    if (label == s->K) /* rounding left the sum below u */
        label = last;
    ret->label = label;
    ret->greedy = greedy;
    ret->prob = label == greedy ? max : each;
}

void explore_none(uint32_t greedy, hunch_choice *ret)
{
    ret->label = ret->greedy = greedy;
    ret->prob = 1;
}

uint32_t explore_greedy(struct state *s, const struct vec *x)
{
    s->algo->scores(s, x, s->scores);
    s->scored = true;
    return explore_argmax(s, s->scores);
}

void explore_scores(struct state *s, const struct vec *x)
{
    if (!s->scored)
        s->algo->scores(s, x, s->scores);
}

void explore_predict_greedy(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_none(explore_greedy(s, x), ret);
}

void explore_inverse_gap(struct state *s, uint32_t greedy, double base, double greed, hunch_choice *ret)
{
    double *P = s->probabilities, rest = 1;
    for (uint32_t k = 0; k < s->K; k++) {
        P[k] = explore_may(s, k) ? base / (explore_labels(s) * base + greed * P[k]) : 0;
        rest -= k == greedy ? 0 : P[k];
    }
    P[greedy] = fmax(rest, 0);
    ret->label = explore_sample(s, P);
    ret->greedy = greedy;
    ret->prob = P[ret->label];
}

double explore_greed(double gamma, double power, double n)
{
    return n > 0 ? gamma * exact_pow(n, power) : 0;
}

void explore_softmax(const struct state *s, const real *scores, double scale, double *ret)
{
    double largest = scale * scores[explore_best(s, scores)], sum = 0;
    for (uint32_t k = 0; k < s->K; k++)
        sum += ret[k] = explore_may(s, k) ? exact_exp(scale * scores[k] - largest) : 0;
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] /= sum;
}

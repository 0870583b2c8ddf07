/* SPDX-License-Identifier: BSD-3-Clause */
#include "parts/boosting.h"

#include <math.h>

#include "base/exact.h"

enum { ALPHA = WEAK_TENSORS };

const struct tensor boosting_tensors[] = {
    WEAK_TENSOR_TABLE,
    {"alpha", PER_MODEL, CLASSES, 1, 1, MERGE_MEAN},
    TENSORS_END,
};

void boosting_shape(const struct state *s, int tensor, struct tensor *inout)
{
    double N = setting_number(s, WEAK_N);
    if (tensor < WEAK_TENSORS) {
        weak_shape(s, tensor, inout);
    } else if (tensor == ALPHA) {
        inout->lanes = (size_t)N;
        inout->initial = 1 / N;
    }
}

static double *votes(const struct state *s, uint32_t k)
{
    return model_numbers(s, ALPHA) + k * s->tensor[ALPHA].lanes;
}

void boosting_scores(const struct state *s, const struct vec *x, real *ret)
{
    struct weak_block b;
    size_t N = s->tensor[ALPHA].lanes;
    for (uint32_t k = 0; k < s->K; k++) {
        const double *alpha = votes(s, k);
        double f = 0;
        for (size_t first = 0; first < N; first += WEAK_BLOCK) {
            weak_ask(s, k, first, x, &b);
            for (size_t i = 0; i < b.n; i++)
                f += alpha[first + i] * b.h[i];
        }
        ret[k] = (real)f;
    }
}

/* alpha holds logarithms; the largest becomes 1 before all are brought to the sum 1, so that nothing overflows. */
static void votes_normalise(double *alpha, size_t N)
{
    double largest = alpha[0], sum = 0;
    for (size_t n = 1; n < N; n++)
        largest = fmax(largest, alpha[n]);
    for (size_t n = 0; n < N; n++)
        sum += alpha[n] = exact_exp(alpha[n] - largest);
    for (size_t n = 0; n < N; n++)
        alpha[n] /= sum;
}

void boosting_step(struct state *s, const struct vec *x, uint32_t k, double f, struct boosting_lesson lesson)
{
    double y = lesson.y;
    double gamma = setting_number(s, BOOSTING_GAMMA), theta = gamma / (2 + gamma), shrink = exact_log1p(-gamma) / 2,
           z = 0;
    double *alpha = votes(s, k), weight[WEAK_BLOCK];
    size_t N = s->tensor[ALPHA].lanes;
    bool vote = y * f < theta;
    struct weak_block b;
    for (size_t first = 0; first < N; first += WEAK_BLOCK) {
        weak_ask(s, k, first, x, &b);
        for (size_t i = 0; i < b.n; i++) {
            weight[i] = y * (fmin(exact_exp(shrink * z), 1) * lesson.importance);
            z += y * b.h[i] - theta;
            if (vote)
                alpha[first + i] = exact_log(alpha[first + i]) + lesson.rate * y * b.h[i];
        }
        weak_teach(s, &b, x, weight);
    }
    if (vote)
        votes_normalise(alpha, N);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/reward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 0.5
#define WEIGHTS ((size_t)1 << 26) /* more than that many, and features share them */

struct slot {
    float weight, squares; /* of gradients so far */
};

struct reward {
    uint32_t classes;   /* room for them */
    uint32_t features;  /* rows of cells - 1, a power of two; row 0 is the constant */
    struct slot *cells; /* features + 1 rows of classes */
    float *scale;       /* the largest value of a feature so far, with the constant's first */
};

struct reward *reward_new(void)
{
    return calloc(1, sizeof(struct reward));
}

void reward_free(struct reward *r)
{
    if (!r)
        return;
    free(r->cells);
    free(r->scale);
    free(r);
}

static uint32_t power_above(uint32_t n)
{
    uint32_t power = 1;
    while (power < n && power < (UINT32_C(1) << 31))
        power *= 2;
    return power;
}

/* Features beyond the limit share cells; growing must not move those that are there, so it stops once and for all. */
static uint32_t features_fit(const struct reward *r, uint32_t classes, uint32_t features)
{
    uint32_t wanted = power_above(features);
    while (wanted > 1 && wanted > r->features && (size_t)wanted * classes > WEIGHTS)
        wanted /= 2;
    return wanted > r->features ? wanted : r->features;
}

bool reward_reserve(struct reward *r, uint32_t classes, uint32_t features)
{
    uint32_t room = classes > r->classes ? power_above(classes) : r->classes;
    uint32_t rows = features_fit(r, room, features);
    if (room == r->classes && rows == r->features)
        return true;
    struct slot *cells = calloc(((size_t)rows + 1) * room, sizeof *cells);
    float *scale = calloc((size_t)rows + 1, sizeof *scale);
    if (!cells || !scale) {
        free(cells);
        free(scale);
        return false;
    }
    if (r->cells) {
        for (size_t f = 0; f <= r->features; f++)
            memcpy(cells + f * room, r->cells + f * r->classes, r->classes * sizeof *cells);
        memcpy(scale, r->scale, ((size_t)r->features + 1) * sizeof *scale);
    }
    free(r->cells);
    free(r->scale);
    *r = (struct reward){room, rows, cells, scale};
    return true;
}

static size_t row_of(const struct reward *r, const hunch_vec *x, size_t i)
{
    uint32_t feature = x->index ? x->index[i] : (uint32_t)i;
    return (size_t)(feature & (r->features - 1)) + 1;
}

double reward_guess(const struct reward *r, const hunch_vec *x, uint32_t label)
{
    double sum = (double)r->cells[label].weight;
    for (size_t i = 0; i < x->n; i++) {
        size_t row = row_of(r, x, i);
        if (r->scale[row] > 0)
            sum += (double)r->cells[row * r->classes + label].weight * (double)(x->value[i] / r->scale[row]);
    }
    return 1 / (1 + exp(-sum));
}

static void slot_step(struct slot *s, double gradient, double rate)
{
    s->squares += (float)(gradient * gradient);
    if (s->squares > 0)
        s->weight -= (float)(rate * gradient / sqrt((double)s->squares));
}

/* The constant's 1 and the scaled features. */
static double length(struct reward *r, const hunch_vec *x)
{
    double squares = 1;
    for (size_t i = 0; i < x->n; i++) {
        size_t row = row_of(r, x, i);
        r->scale[row] = fmaxf(r->scale[row], fabsf(x->value[i]));
        double v = r->scale[row] > 0 ? (double)(x->value[i] / r->scale[row]) : 0;
        squares += v * v;
    }
    return sqrt(squares);
}

void reward_learn(struct reward *r, const hunch_vec *x, uint32_t label, bool right)
{
    double rate = RATE / length(r, x); /* many features must not overshoot together */
    double slope = reward_guess(r, x, label) - right;
    slot_step(&r->cells[label], slope, rate);
    for (size_t i = 0; i < x->n; i++) {
        size_t row = row_of(r, x, i);
        if (r->scale[row] > 0)
            slot_step(&r->cells[row * r->classes + label], slope * (double)(x->value[i] / r->scale[row]), rate);
    }
}

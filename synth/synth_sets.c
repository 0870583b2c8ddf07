/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sets for measuring, with enough signal that learners have something to learn.
 *
 * zipf: like texts. Features are words, drawn by a Zipf law; three words in ten come from the class's own list, which
 * is again Zipfian and takes its words from the less frequent ones. Values fall with a word's frequency, rows have
 * unit norm.
 * dense: every feature present, nearly Gaussian around the class's centre.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synth_set.h"

static uint32_t label_draw(struct synth *s, uint32_t *ret_label)
{
    uint32_t y = (uint32_t)rng_below(&s->state, s->classes);
    bool noisy = s->options.noise > 0 && rng_uniform(&s->noise_state) < s->options.noise;
    *ret_label = noisy ? (uint32_t)rng_below(&s->noise_state, s->classes) : y;
    return y;
}

/* --- zipf --- */

#define ZIPF_TOPIC 0.3  /* share of words from the class's own list */
#define ZIPF_COMMON 100 /* the most frequent words belong to no class */

struct zipf {
    double *cut; /* Walker's alias method: draw a cell, keep it below its cut, else take its other */
    uint32_t *other;
    uint8_t *used; /* in the row being made */
    uint32_t *word;
};

/* Cells of less than average weight are filled up by those of more. */
static void alias_make(struct zipf *z, uint32_t n, double exponent, uint32_t *small, uint32_t *large)
{
    double total = 0;
    uint32_t smalls = 0, larges = 0;
    for (uint32_t i = 0; i < n; i++)
        total += z->cut[i] = pow(i + 1, -exponent);
    for (uint32_t i = 0; i < n; i++) {
        z->cut[i] *= n / total;
        z->other[i] = i;
        if (z->cut[i] < 1)
            small[smalls++] = i;
        else
            large[larges++] = i;
    }
    while (smalls > 0 && larges > 0) {
        uint32_t few = small[--smalls], many = large[larges - 1];
        z->other[few] = many;
        z->cut[many] -= 1 - z->cut[few];
        if (z->cut[many] < 1) {
            larges--;
            small[smalls++] = many;
        }
    }
    while (smalls > 0)
        z->cut[small[--smalls]] = 1; /* rounding left them */
}

static void zipf_end(struct synth *s)
{
    struct zipf *z = s->own;
    if (!z)
        return;
    free(z->cut);
    free(z->other);
    free(z->used);
    free(z->word);
    free(z);
}

static hunch_status zipf_begin(struct synth *s, hunch_error *reterr)
{
    size_t n = s->features;
    struct zipf *z = calloc(1, sizeof *z);
    uint32_t *small = malloc(n * sizeof *small), *large = malloc(n * sizeof *large);
    hunch_status status = HUNCH_OK;
    s->own = z;
    if (z) {
        z->cut = malloc(n * sizeof *z->cut);
        z->other = malloc(n * sizeof *z->other);
        z->used = calloc(n, 1);
        z->word = malloc(n * sizeof *z->word);
    }
    if (!z || !small || !large || !z->cut || !z->other || !z->used || !z->word) {
        status = error_memory(reterr);
    } else {
        double max = ceil(1.5 * s->options.nonzeros);
        s->max = max < s->features ? (size_t)max : s->features;
        alias_make(z, s->features, s->options.exponent, small, large);
    }
    free(small);
    free(large);
    return status;
}

static uint32_t zipf_draw(struct synth *s, const struct zipf *z)
{
    double u = rng_uniform(&s->state) * s->features;
    uint32_t cell = (uint32_t)u;
    return u - cell < z->cut[cell] ? cell : z->other[cell];
}

static int word_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static size_t zipf_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    struct zipf *z = s->own;
    uint64_t y = label_draw(s, ret_label), common = s->features > 4 * ZIPF_COMMON ? ZIPF_COMMON : 0;
    size_t wanted = (size_t)(s->options.nonzeros * (0.5 + rng_uniform(&s->state)) + 0.5), n = 0;
    wanted = wanted < 1 ? 1 : wanted > s->max ? s->max : wanted;
    for (size_t tries = 0; n < wanted && tries < 50 * wanted; tries++) {
        bool topical = rng_uniform(&s->state) < ZIPF_TOPIC;
        uint64_t word = zipf_draw(s, z);
        if (topical)
            word = (common + word * s->classes + y) % s->features;
        if (z->used[word])
            continue;
        z->used[word] = 1;
        z->word[n++] = (uint32_t)word;
    }
    qsort(z->word, n, sizeof *z->word, word_compare);
    double norm = 0;
    for (size_t i = 0; i < n; i++) {
        double weight = log(2 + z->word[i]);
        norm += weight * weight;
    }
    norm = sqrt(norm);
    for (size_t i = 0; i < n; i++) {
        z->used[z->word[i]] = 0;
        index[i] = z->word[i];
        value[i] = synth_round(log(2 + z->word[i]) / norm, 4);
    }
    return n;
}

/* --- dense --- */

#define DENSE_SIGNAL 0.12 /* of a centre's coordinate, in standard deviations */

/* Four 16-bit uniforms from one draw, added up: mean 0, variance 1, within +-3.5. */
static double nearly_gaussian(struct rng *state)
{
    uint64_t bits = rng_next(state);
    double sum = (double)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    return (sum - 131070) * 2.642898e-05; /* 1 / sqrt(4 (65536^2 - 1) / 12) */
}

static hunch_status dense_begin(struct synth *s, hunch_error *reterr)
{
    size_t n = (size_t)s->features * s->classes; /* at most 2^46 */
    double *centre = malloc(n * sizeof *centre);
    if (!centre)
        return error_memory(reterr);
    s->own = centre;
    for (size_t i = 0; i < n; i++)
        centre[i] = DENSE_SIGNAL * nearly_gaussian(&s->state);
    return HUNCH_OK;
}

static size_t dense_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    const double *centre = (const double *)s->own + (size_t)label_draw(s, ret_label) * s->features;
    for (uint32_t j = 0; j < s->features; j++) {
        double v = centre[j] + nearly_gaussian(&s->state);
        index[j] = j;
        value[j] = synth_round(v, 6);
        if (value[j] == 0)
            value[j] = 1e-6f; /* every feature is there */
    }
    return s->features;
}

static void dense_end(struct synth *s)
{
    free(s->own);
}

const struct synth_set synth_zipf = {.kind = {"zipf",
                                              "like texts: sparse, Zipf frequencies, words of the classes",
                                              {200000, 1, 0, 47236, 4, 75, 1, 0},
                                              .sizable = true},
                                     .begin = zipf_begin,
                                     .row = zipf_row,
                                     .end = zipf_end};

const struct synth_set synth_dense = {.kind = {"dense",
                                               "every feature present, Gaussian around the class's centre",
                                               {100000, 1, 0, 400, 9, 1, 1, 0},
                                               .sizable = true},
                                      .begin = dense_begin,
                                      .row = dense_row,
                                      .end = dense_end};

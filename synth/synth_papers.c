/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The papers' sets. The order of the draws is part of what they are: published counts depend on it.
 *
 * synsep, synnonsep: Kakade, Shalev-Shwartz, Tewari 2008, as the SOBA authors made them (2017).
 * confidit: Crammer, Gentile 2013, section 5.2.
 * separable-strong, separable-weak: Beygelzimer et al. 2019, the two-dimensional sets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "synth_set.h"

/* --- synsep, synnonsep --- */

enum { SYN_CLASSES = 9, SYN_KEYWORDS = 120, SYN_FEATURES = 400, SYN_DROPPED = 5, SYN_OTHERS = 20 };
#define SYN_OTHER (SYN_FEATURES - SYN_KEYWORDS)
#define SYN_SAME 0xff

struct syn {
    uint16_t keyword[SYN_CLASSES][SYN_KEYWORDS];
    uint32_t count[SYN_CLASSES];
    uint8_t *noisy; /* each row's label after the noise, or SYN_SAME */
};

static uint32_t syn_dropped(const struct syn *syn, uint32_t y)
{
    return syn->count[y] < SYN_DROPPED ? syn->count[y] : SYN_DROPPED;
}

/* The generator's state when all rows have been drawn: 26 draws a row, but for classes of fewer than 5 keywords. */
static struct rng syn_state_after(const struct synth *s, const struct syn *syn)
{
    struct rng state = s->state;
    bool usual = true;
    for (uint32_t y = 0; y < SYN_CLASSES; y++)
        usual = usual && syn->count[y] >= SYN_DROPPED;
    if (usual) {
        rng_skip(&state, s->options.rows * (1 + SYN_DROPPED + SYN_OTHERS));
        return state;
    }
    for (uint64_t i = 0; i < s->options.rows; i++)
        rng_skip(&state, syn_dropped(syn, (uint32_t)rng_below(&state, SYN_CLASSES)) + SYN_OTHERS);
    return state;
}

/* The rows that get a new label are drawn after all rows; the generator can look ahead, so rows need not be kept. */
static hunch_status syn_noise(struct synth *s, struct syn *syn, hunch_error *reterr)
{
    uint64_t n = s->options.rows, noisy = (uint64_t)((double)n * s->options.noise + 1e-6);
    if (noisy == 0)
        return HUNCH_OK;
    if (n > UINT32_MAX)
        return error_set(reterr, HUNCH_EINVAL, "at most %u rows with noise", UINT32_MAX);
    uint32_t *perm = malloc(n * sizeof *perm);
    syn->noisy = malloc(n);
    if (!perm || !syn->noisy) {
        free(perm);
        return error_memory(reterr);
    }
    memset(syn->noisy, SYN_SAME, n);
    for (uint32_t i = 0; i < n; i++)
        perm[i] = i;
    struct rng state = syn_state_after(s, syn);
    for (uint64_t t = 0; t < noisy; t++) {
        uint64_t other = t + rng_below(&state, n - t);
        uint32_t row = perm[other];
        perm[other] = perm[t];
        perm[t] = row;
        syn->noisy[row] = (uint8_t)rng_below(&state, SYN_CLASSES);
    }
    free(perm);
    return HUNCH_OK;
}

static hunch_status syn_begin(struct synth *s, hunch_error *reterr)
{
    struct syn *syn = calloc(1, sizeof *syn);
    if (!syn)
        return error_memory(reterr);
    s->own = syn;
    s->max = SYN_KEYWORDS + SYN_OTHERS;
    for (uint32_t y = 0; y < SYN_CLASSES; y++)
        for (uint16_t j = 0; j < SYN_KEYWORDS; j++)
            if (rng_uniform(&s->state) < 0.25)
                syn->keyword[y][syn->count[y]++] = j;
    return syn_noise(s, syn, reterr);
}

/* The first count entries of list become a random choice of its n. */
static void choose(struct rng *state, uint16_t *list, uint32_t n, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        uint32_t other = j + (uint32_t)rng_below(state, n - j);
        uint16_t swapped = list[j];
        list[j] = list[other];
        list[other] = swapped;
    }
}

static size_t syn_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    const struct syn *syn = s->own;
    uint16_t on[SYN_KEYWORDS], others[SYN_OTHER];
    bool set[SYN_FEATURES] = {false};
    uint32_t y = (uint32_t)rng_below(&s->state, SYN_CLASSES), m = syn->count[y], dropped = syn_dropped(syn, y);
    memcpy(on, syn->keyword[y], sizeof on);
    choose(&s->state, on, m, dropped);
    for (uint32_t j = dropped; j < m; j++)
        set[on[j]] = true;
    for (uint16_t j = 0; j < SYN_OTHER; j++)
        others[j] = (uint16_t)(SYN_KEYWORDS + j);
    choose(&s->state, others, SYN_OTHER, SYN_OTHERS);
    for (uint32_t j = 0; j < SYN_OTHERS; j++)
        set[others[j]] = true;
    size_t n = 0;
    for (uint32_t j = 0; j < SYN_FEATURES; j++)
        if (set[j]) {
            index[n] = j;
            value[n++] = 1;
        }
    *ret_label = syn->noisy && syn->noisy[s->row] != SYN_SAME ? syn->noisy[s->row] : y;
    return n;
}

static void syn_end(struct synth *s)
{
    struct syn *syn = s->own;
    if (syn)
        free(syn->noisy);
    free(syn);
}

/* --- confidit: 9 features of which the first 5 decide, through 5 random linear models --- */

enum { CONFIDIT_CLASSES = 5, CONFIDIT_FEATURES = 9, CONFIDIT_RELEVANT = 5 };

struct confidit {
    double u[CONFIDIT_CLASSES][CONFIDIT_RELEVANT];
};

/* Redraws labels, for the sets whose papers do not describe the noise. */
static uint32_t label_noise(struct synth *s, uint32_t label)
{
    if (s->options.noise > 0 && rng_uniform(&s->noise_state) < s->options.noise)
        return (uint32_t)rng_below(&s->noise_state, s->classes);
    return label;
}

static hunch_status confidit_begin(struct synth *s, hunch_error *reterr)
{
    struct confidit *c = malloc(sizeof *c);
    if (!c)
        return error_memory(reterr);
    s->own = c;
    for (int k = 0; k < CONFIDIT_CLASSES; k++)
        for (int j = 0; j < CONFIDIT_RELEVANT; j++)
            c->u[k][j] = synth_gaussian(&s->state);
    return HUNCH_OK;
}

static size_t confidit_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    const struct confidit *c = s->own;
    double best = -INFINITY;
    uint32_t label = 0;
    for (uint32_t j = 0; j < CONFIDIT_FEATURES; j++) {
        index[j] = j;
        value[j] = synth_round(synth_gaussian(&s->state), 6);
    }
    for (uint32_t k = 0; k < CONFIDIT_CLASSES; k++) {
        double score = 0;
        for (int j = 0; j < CONFIDIT_RELEVANT; j++)
            score += c->u[k][j] * (double)value[j];
        if (score > best) {
            best = score;
            label = k;
        }
    }
    *ret_label = label_noise(s, label);
    return CONFIDIT_FEATURES;
}

static void own_free(struct synth *s)
{
    free(s->own);
}

/* --- separable-strong, separable-weak --- */

static hunch_status separable_begin(struct synth *s, hunch_error *reterr)
{
    return HUNCH_OK;
}

#define PI 3.14159265358979323846

/* Octave's norm. By its rounding some points of length 1 are longer than that, and the authors reject them. */
static double plane_norm(double x, double y)
{
    double a = fabs(x), b = fabs(y), large = a > b ? a : b, ratio = (a > b ? b : a) / large;
    return large > 0 ? large * sqrt(1 + ratio * ratio) : 0;
}

/* The class of a point in the plane, and how far its score is above the second best. */
static uint32_t separable_class(double x, double y, double *ret_gap)
{
    double score[3] = {x, x * cos(PI / 6) + y * sin(PI / 6), x * cos(PI / 6) - y * sin(PI / 6)};
    uint32_t best = 0;
    for (uint32_t k = 1; k < 3; k++)
        if (score[k] > score[best])
            best = k;
    double second = -INFINITY;
    for (uint32_t k = 0; k < 3; k++)
        if (k != best && score[k] > second)
            second = score[k];
    *ret_gap = score[best] - second;
    return best;
}

static size_t separable_row(struct synth *s, bool weak, uint32_t *index, float *value, uint32_t *ret_label)
{
    bool first = rng_uniform(&s->state) > 0.2;
    double x, y, gap;
    uint32_t label;
    do {
        double u = rng_uniform(&s->state);
        double angle = (first ? -15 + 30 * u : 15 + 330 * u) * PI / 180;
        double length = weak ? rng_uniform(&s->state) : 1;
        x = length * cos(angle);
        y = length * sin(angle);
        label = separable_class(x, y, &gap);
    } while (gap < 0.05 || plane_norm(x, y) > 1);
    double point[3] = {x, y, 1};
    size_t n = 0;
    for (uint32_t j = 0; j < 3; j++) {
        index[n] = j;
        value[n] = (float)(point[j] / sqrt(2));
        n += value[n] != 0;
    }
    *ret_label = label_noise(s, label);
    return n;
}

static size_t strong_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    return separable_row(s, false, index, value, ret_label);
}

static size_t weak_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    return separable_row(s, true, index, value, ret_label);
}

const struct synth_set synth_synsep = {
    .kind = {.name = "synsep",
             .help = "class-specific keywords among 400 binary features, 9 classes; linearly separable",
             .defaults = {100000, 1, 0, 400, 9, 47, 1, 0}},
    .begin = syn_begin,
    .row = syn_row,
    .end = syn_end};

const struct synth_set synth_synnonsep = {.kind = {.name = "synnonsep",
                                                   .help = "synsep with a fraction of the labels redrawn at random",
                                                   .defaults = {100000, 1, 0.05, 400, 9, 47, 1, 0}},
                                          .begin = syn_begin,
                                          .row = syn_row,
                                          .end = syn_end};

const struct synth_set synth_confidit = {.kind = {.name = "confidit",
                                                  .help = "9 Gaussian features, 5 of them relevant, 5 classes",
                                                  .defaults = {1000, 1, 0, 9, 5, 9, 1, 0}},
                                         .begin = confidit_begin,
                                         .row = confidit_row,
                                         .end = own_free};

const struct synth_set synth_separable_strong = {
    .kind = {.name = "separable-strong",
             .help = "points on a circle, 3 classes, each separable from all others",
             .defaults = {20000, 201, 0, 3, 3, 3, 1, 0}},
    .begin = separable_begin,
    .row = strong_row};

const struct synth_set synth_separable_weak = {.kind = {.name = "separable-weak",
                                                        .help = "points in a disc, 3 classes, separable only pairwise",
                                                        .defaults = {20000, 201, 0, 3, 3, 3, 1, 0}},
                                               .begin = separable_begin,
                                               .row = weak_row};

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a synthetic set is: private to synth*.c. */
#ifndef SYNTH_SET_H
#define SYNTH_SET_H

#include "base/rng.h"
#include "synth.h"

struct synth {
    const struct synth_set *set;
    struct synth_options options;
    struct rng state;       /* of the generator */
    struct rng noise_state; /* of the labels' noise, for sets that draw it row by row */
    uint64_t row;
    uint32_t features, classes;
    size_t max; /* values that a row can have */
    struct names *labels;
    void *own;           /* the set's */
    struct truth *truth; /* NULL: not wanted */
};

struct synth_set {
    struct synth_kind kind;
    /* Sets features, classes, most and own. */
    hunch_status (*begin)(struct synth *s, hunch_error *reterr);
    /* Fills one row, increasing indices; returns how many values it has. */
    size_t (*row)(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label);
    void (*end)(struct synth *s);
    /* The last row's chances and best label; NULL: not known. */
    uint32_t (*truth)(const struct synth *s, float *chance);
};

extern const struct synth_set synth_synsep, synth_synnonsep, synth_confidit, synth_separable_strong,
    synth_separable_weak, synth_zipf, synth_dense, synth_linear, synth_margin, synth_halfspaces, synth_adversary,
    synth_permuted, synth_rotating;

/* value rounded to that many significant digits, so that its text is short and reads back as the same float. */
float synth_round(double value, int digits);
/* Two draws. */
double synth_gaussian(struct rng *state);

#endif

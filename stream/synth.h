/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic examples: the papers' generators and two made for measuring. A generator is read front to back like a
 * stream; the same options give the same rows, in text and in batches.
 */
#ifndef SYNTH_H
#define SYNTH_H

#include <stdio.h>

#include "stream.h"

struct synth_options {
    uint64_t rows, seed;
    double noise;      /* share of rows whose label is drawn anew, uniformly */
    uint32_t features; /* the rest: where the set has a choice (zipf, dense) */
    uint32_t classes;
    double nonzeros; /* a row, on average */
    double exponent; /* of the Zipf law */
};

struct synth_kind {
    const char *name, *help;
    struct synth_options defaults;
    bool sizable; /* features and classes may be chosen */
};

struct synth;

size_t synth_kinds(const struct synth_kind *const **ret);
const struct synth_kind *synth_find(const char *name); /* NULL: no such set */

hunch_status synth_open(struct synth **ret, const char *name, const struct synth_options *options, hunch_error *reterr);
/* Up to max rows (0: a good number) into batch; labels are class numbers. rows == 0 at the end. */
hunch_status synth_next(struct synth *s, size_t max, struct rows *batch, hunch_error *reterr);
void synth_close(struct synth *s); /* NULL is fine */

/* The classes' names, "1" .. "K", as the text has them. */
const struct names *synth_labels(const struct synth *s);
uint32_t synth_features(const struct synth *s);
/* The rest of the rows as svmlight text, indices from 1. */
hunch_status synth_write(struct synth *s, FILE *file, hunch_error *reterr);

#endif

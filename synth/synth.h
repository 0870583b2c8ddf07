/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synthetic examples: the papers' generators and two made for measuring. A generator is read front to back like a
 * stream; the same options give the same rows, in text and in batches.
 */
#ifndef SYNTH_H
#define SYNTH_H

#include <stdio.h>

#include "common/names.h"
#include "common/rows.h"

struct synth_options {
    uint64_t rows, seed;
    double noise;      /* share of rows whose label is redrawn uniformly */
    uint32_t features; /* the rest: where the set has a choice (zipf, dense) */
    uint32_t classes;
    double nonzeros; /* a row, on average */
    double exponent; /* of the Zipf law */
    double margin;   /* rows whose two best labels are nearer than this are left out (margin, halfspaces, adversary) */
};

/* What a model says of its rows: the chance of every label, and the label that one who knows the model shows. */
struct truth {
    uint32_t classes;
    size_t n;
    float *chance;  /* n x classes */
    uint32_t *best; /* n */
    size_t chance_room, best_room;
};
void truth_free(struct truth *t);
bool truth_reserve(struct truth *t); /* for one more row; false: out of memory */
/* As text: a line for each row, the chances in the order of the labels. */
void truth_write(const struct truth *t, const struct names *labels, FILE *file);
/* Adds the names to labels, which are empty. */
hunch_status truth_read(struct truth *ret, struct names *labels, const char *path, hunch_error *reterr);

struct synth_kind {
    const char *name, *help;
    struct synth_options defaults;
    bool sizable;  /* features and classes may be chosen */
    bool revealed; /* synth_record knows the truth of its rows */
};

struct synth;

size_t synth_kinds(const struct synth_kind *const **ret);
const struct synth_kind *synth_find(const char *name); /* NULL: no such set */

hunch_status synth_open(struct synth **ret, const char *name, const struct synth_options *options, hunch_error *reterr);
/* Up to max rows (0: a good number) into batch; labels are class numbers. rows == 0 at the end. */
hunch_status synth_next(struct synth *s, size_t max, struct rows *batch, hunch_error *reterr);
void synth_close(struct synth *s); /* NULL is fine */

/* Adds the truth of every row that is made from now on to t, which must outlive s. HUNCH_EUNSUPPORTED: it is not known
 * of this set. */
hunch_status synth_record(struct synth *s, struct truth *t, hunch_error *reterr);

/* The classes' names, "1" .. "K", as the text has them. */
const struct names *synth_labels(const struct synth *s);
uint32_t synth_features(const struct synth *s);

#endif

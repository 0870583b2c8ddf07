/* SPDX-License-Identifier: BSD-3-Clause */
/* Every algorithm of the table, at its defaults and with every value of every choice: what holds for one must hold
 * for all, and a new algorithm or setting is covered without a new test. */
#ifndef SPECS_H
#define SPECS_H

#include <stdint.h>

#include "hunch.h"

typedef void spec_check(const char *spec);

/* From here on only the algorithm that the program's argument names; without one all of them. */
void specs_choose(int argc, char **argv);

/* Calls check for every spec, naming it when it fails. */
void specs_each(spec_check *check);

/* A small stream with few features, all labels, and some noise. Row i is index/value[start[i]] .. */
#define STREAM_ROWS 300
#ifndef STREAM_CLASSES
#define STREAM_CLASSES 4
#endif
#define STREAM_FEATURES 12

struct small_stream {
    int64_t start[STREAM_ROWS + 1];
    uint32_t index[STREAM_ROWS * STREAM_FEATURES];
    float value[STREAM_ROWS * STREAM_FEATURES];
    uint32_t label[STREAM_ROWS];
};

void small_stream_make(struct small_stream *ret, uint64_t seed);
hunch_vec small_stream_row(const struct small_stream *s, int i);

/* A learner of the spec for the small stream; fails the test when there is none. */
hunch *learner_make(const char *spec, uint64_t seed);
/* One round on row i: predict and give one bit (the label to full-information learners). */
hunch_choice learner_play(hunch *h, const struct small_stream *s, int i);
/* Fails unless all numbers of the learner are finite. */
void learner_finite(const hunch *h, const char *when);
/* Fails unless both learners write the same bytes. */
void learners_equal(const hunch *a, const hunch *b, const char *what);

#endif

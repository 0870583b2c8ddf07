/* SPDX-License-Identifier: BSD-3-Clause */
/* Where prepared rows go. Private to lab/. */
#ifndef PREPARE_SINK_H
#define PREPARE_SINK_H

#include "base/replace.h"
#include "stream.h"
#include "data/prepare.h"

struct sink {
    struct replace out;
    struct sha256_ctx sum;
    struct names *labels; /* those of the rows so far, unless the step lists them */
    bool *seen;           /* of the step's labels */
    const json_t *step;
    struct prepared done;
    char *line; /* being made */
    size_t length, room;
};

/* A row: its label, then features (from 1, increasing) and values. */
hunch_status sink_row(struct sink *s, const char *label, hunch_error *reterr);
hunch_status sink_value(struct sink *s, uint32_t feature, double value, hunch_error *reterr);
hunch_status sink_end(struct sink *s, hunch_error *reterr);

typedef hunch_status prepare_kind(struct sink *s, const char *const *from, size_t n, hunch_error *reterr);
prepare_kind prepare_table, prepare_svmlight, prepare_topics, prepare_words;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A data set for experiments: rows of files or of a generator, perhaps only some of them, and their checksum. */
#ifndef CORPUS_H
#define CORPUS_H

#include "play/dataset.h"
#include "stream.h"

#define CORPUS_SUM 33 /* characters of a checksum in hexadecimal, with the final NUL */

struct corpus {
    struct dataset data;
    char sum[CORPUS_SUM];  /* XXH3 of all that learners can see */
    uint64_t skipped;      /* rows that could not be used */
    struct truth truth;    /* of generated rows, where it is known; else empty */
    struct schema *schema; /* of tables: what the columns mean; else NULL */
};

struct corpus_options {
    struct stream_options stream;
    uint32_t max_features;
    uint32_t rows; /* not 0: keep only that many, drawn without replacement by a generator of seed 1 */
    const atomic_bool *stop;
    dataset_progress progress;
    void *context;
};

hunch_status corpus_read(struct corpus *ret, const char *const *paths, size_t n, const struct corpus_options *options,
                         hunch_error *reterr);
hunch_status corpus_synth(struct corpus *ret, const char *name, const struct synth_options *options,
                          hunch_error *reterr);
void corpus_free(struct corpus *corpus);

/* The XXH3 sum of text, as the checksums above. */
void corpus_hash(const char *text, size_t length, char ret[CORPUS_SUM]);

#endif

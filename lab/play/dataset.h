/* SPDX-License-Identifier: BSD-3-Clause */
/* All rows of a stream in memory, to be played in any order. */
#ifndef DATASET_H
#define DATASET_H

#include <stdatomic.h>

#include "stream.h"

struct dataset {
    struct rows rows;
    uint32_t classes, width;
};

/* Called now and then while reading; done and total in bytes of input, total 0 when not known. */
typedef void (*dataset_progress)(void *context, uint64_t rows, uint64_t done, uint64_t total);

/* Reads the stream to its end (or until *stop is set, when not NULL) and sorts its labels. A stream that ends without
 * rows is an error. */
hunch_status dataset_read(struct dataset *ret, struct stream *stream, const atomic_bool *stop,
                          dataset_progress progress, void *context, hunch_error *reterr);
void dataset_free(struct dataset *data);

#endif

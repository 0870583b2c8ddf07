/* SPDX-License-Identifier: BSD-3-Clause */
/* All rows of a source in memory, to be played in any order. */
#ifndef DATASET_H
#define DATASET_H

#include <stdatomic.h>

#include "source.h"

struct dataset {
    struct block block;
    uint32_t classes, width;
    /* the owned arrays behind block */
    int64_t *start;
    uint32_t *index, *label;
    float *value;
    size_t rows_room, values_room;
};

/* Called now and then while reading; done and total in bytes of input, total 0 when not known. */
typedef void (*dataset_progress)(void *context, uint64_t rows, uint64_t done, uint64_t total);

/* Reads the source to its end (or until *stop is set, when not NULL) and ranks its labels. A source that ends without
 * rows is an error. */
hunch_status dataset_read(struct dataset *ret, struct source *source, const atomic_bool *stop,
                          dataset_progress progress, void *context, hunch_error *reterr);
void dataset_free(struct dataset *data);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling a struct stream_batch. */
#ifndef BATCH_H
#define BATCH_H

#include "stream.h"

/* Make it empty and its own. */
void batch_clear(struct stream_batch *batch);
/* Room for so many rows and values in all; what is there stays. */
hunch_status batch_reserve(struct stream_batch *batch, size_t rows, size_t values, hunch_error *reterr);
/* Find out whether the rows are dense, once all are there. */
void batch_measure(struct stream_batch *batch);
/* Sort the values of the row that begins at value number begin; false: a feature is there twice. */
bool batch_sort_row(struct stream_batch *batch, size_t begin, size_t end);

#endif

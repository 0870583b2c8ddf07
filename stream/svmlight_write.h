/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches as svmlight text. */
#ifndef SVMLIGHT_WRITE_H
#define SVMLIGHT_WRITE_H

#include <stdio.h>

#include "stream.h"

/* "# labels: a b c": their order, for readers that number labels as they come. */
hunch_status svmlight_write_labels(FILE *file, const struct names *labels, hunch_error *reterr);
hunch_status svmlight_write(FILE *file, const struct rows *batch, const struct names *labels, uint32_t index_base,
                            hunch_error *reterr);

#endif

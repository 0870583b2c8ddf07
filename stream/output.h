/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows out: a cache (path ends in .hc) or svmlight text, written beside the path and renamed when all is there. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "stream.h"

struct output;

/* path NULL or "-": text to standard output. compress: the cache's blocks with zstd. */
hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr);
/* labels: those known by now; their order goes into the text before the first row. */
hunch_status output_add(struct output *o, const struct rows *batch, const struct names *labels, hunch_error *reterr);
hunch_status output_finish(struct output *o, const struct names *labels, const struct names *features, int index_base,
                           hunch_error *reterr);
void output_free(struct output *o); /* NULL is fine; what was not finished is removed */
bool output_is_cache(const char *path);

#endif

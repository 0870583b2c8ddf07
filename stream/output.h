/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows out: as the path's ending says a cache (.hc), a table (.csv), JSON lines (.jsonl), VW text (.vw) or svmlight
 * text, written beside the path and renamed when all is there. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "stream.h"
#include "text_write.h"

struct output;

/* path NULL or "-": text to standard output. compress: the cache's blocks with zstd. */
hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr);
/* names: those known by now; the labels' order goes into svmlight text before the first row. A table is kept in memory
 * until its columns are known. */
hunch_status output_add(struct output *o, const struct rows *rows, const struct row_names *names, hunch_error *reterr);
hunch_status output_finish(struct output *o, const struct row_names *names, hunch_error *reterr);
void output_free(struct output *o); /* NULL is fine; what was not finished is removed */
bool output_is_cache(const char *path);

#endif

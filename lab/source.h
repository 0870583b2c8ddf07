/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labelled rows from files: a stream whose rows have been checked (every one has a label, no index is beyond the
 * limit) and whose labels have been given the numbers that learners use.
 *
 * Numbers: labels known beforehand keep theirs. Otherwise source_rank, called when those of the first rows are known,
 * sorts them when all are numbers, so that the order of the rows does not decide which class is which. Labels that
 * appear after that, and labels that are words, are numbered as they come.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "block.h"
#include "stream.h"

struct source;

/* A batch of rows with their labels' numbers. Start as {0}; free before the source is closed. */
struct piece {
    struct block block;
    struct stream_batch batch; /* what the block's rows lie in, unless some were left out */
    struct gather kept;
    uint32_t *label;
    size_t label_room;
    uint32_t classes;    /* labels known when it had been read */
    uint64_t bytes_read; /* of the input, likewise */
    struct piece *next;  /* for lists of them */
};

/* max_features 0: the library's limit. options->skip_bad_rows holds for rows without a label and for indices beyond
 * the limit too. */
hunch_status source_open(struct source **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         uint32_t max_features, hunch_error *reterr);
void source_close(struct source *s);

/* Two steps, so that another thread can tell whether the first, which may wait for input, has come back:
 * read the next batch; then check it and number its labels. batch.rows == 0 at the end. */
hunch_status source_read(struct source *s, struct piece *piece, hunch_error *reterr);
hunch_status source_accept(struct source *s, struct piece *piece, hunch_error *reterr);

/* Order the labels known so far, unless they were known beforehand. Then call source_renumber on the pieces that have
 * been accepted before. */
hunch_status source_rank(struct source *s, hunch_error *reterr);
void source_renumber(const struct source *s, struct piece *piece);

const struct names *source_labels(const struct source *s);
/* A copy of label number i, from any thread, also while another one reads; NULL: out of memory or no such label. */
char *source_label(struct source *s, uint32_t i);
const struct names *source_features(const struct source *s); /* NULL: numbers only */
uint32_t source_width(const struct source *s);               /* largest feature index so far + 1 */
bool source_is_described(const struct source *s);            /* all labels and the width are known after one piece */
int source_index_base(const struct source *s);
uint64_t source_skipped(const struct source *s);
uint64_t source_bytes_total(const struct source *s); /* 0: not known */

void piece_free(struct piece *piece);

#endif

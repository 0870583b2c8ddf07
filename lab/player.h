/* SPDX-License-Identifier: BSD-3-Clause */
/* A learner that plays: predicts, is told, learns; and the count of how it did. */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdatomic.h>

#include "block.h"
#include "tally.h"

/* Rows played in one call of the library, and between two looks at the stop sign. */
#define PLAYER_ROWS 256

/* Sees every choice of player `learner` in run `run`, in order, from whichever thread plays it. */
typedef void (*player_watch)(void *context, size_t learner, size_t run, const hunch_choice *choices,
                             const uint32_t *labels, size_t n);

struct player {
    hunch *learner;
    struct tally tally;
    size_t number, run;
    player_watch watch; /* or NULL */
    void *context;
};

/* Play the block's rows; classes that the learner does not know yet (labels up to classes - 1) join first. Stops early,
 * with success, when *stop (may be NULL) is set. */
hunch_status player_play(struct player *p, const struct block *block, uint32_t classes, const atomic_bool *stop,
                         hunch_error *reterr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A learner that plays: predicts, gets feedback, learns; and the count of how it did. */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdatomic.h>

#include "stream.h"
#include "play/tally.h"

/* Rows played in one call of the library, and between two looks at the stop sign. */
#define PLAYER_ROWS 256

/* Rounds that a learner has just played: rows from .. from + n - 1. */
struct player_rounds {
    size_t learner, run;
    const struct rows *rows;
    size_t from, n;
    const hunch_choice *choices;
    const uint32_t *labels;
};

/* Sees every choice of a learner, in order, from whichever thread plays it. */
typedef void (*player_watch)(void *context, const struct player_rounds *rounds);

struct player {
    hunch *learner;
    bool borrowed; /* the caller owns the learner */
    struct tally tally;
    size_t number, run;
    const struct names *eligible; /* names of labels: the rows' first cells say which may be shown; NULL: all may */
    player_watch watch;           /* or NULL */
    void *context;
};

/* What one learner did in one run. */
struct outcome {
    char *spec; /* in full; NULL: it has not begun */
    struct tally tally;
    uint64_t test_mistakes; /* of the greedy label on rows kept for it */
    uint64_t bytes;
    uint32_t classes, features;
    hunch *learner; /* if it was to be kept; else NULL */
};

/* loaded (or NULL) plays instead of a learner made by the options. */
hunch_status player_create(struct player *p, const hunch_options *options, hunch *loaded, hunch_error *reterr);
/* Tell the learner what the rows' features are, as far as that is known; player_play does so for its block. */
hunch_status player_roles(struct player *p, const struct rows *rows, hunch_error *reterr);
/* Tell the learner the true labels of these rows, which are not counted. */
hunch_status player_teach(struct player *p, const struct rows *rows, hunch_error *reterr);
/* Play the block's rows, told (NULL: the block's labels) deciding the feedback; the block's labels are what is counted.
 * Stops early, with success, when *stop (may be NULL) is set. */
hunch_status player_play(struct player *p, const struct rows *block, const uint32_t *revealed, const atomic_bool *stop,
                         hunch_error *reterr);
/* Whether the blocks to come hold rows that the learner has learned from before. */
void player_set_repeated(struct player *p, bool repeated);
/* Labels up to classes - 1 join those that the learner knows. */
hunch_status player_classes(struct player *p, uint32_t classes, hunch_error *reterr);
/* Moves what the player did, and with keep the learner, to *ret; ends the player also when it fails. */
hunch_status player_finish(struct player *p, bool keep, struct outcome *ret, hunch_error *reterr);
void player_free(struct player *p); /* one that has not been finished */
void outcome_free(struct outcome *o);

#endif

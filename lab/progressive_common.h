/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ways of progressive evaluation share. Private to lab/. */
#ifndef PROGRESSIVE_COMMON_H
#define PROGRESSIVE_COMMON_H

#include <pthread.h>

#include "progressive.h"

bool progressive_init(struct progressive *p, size_t learners, size_t runs);
unsigned progressive_threads(const struct progressive_options *options, size_t useful);

hunch_status player_create(struct player *p, const struct progressive_options *options, size_t number, size_t run,
                           uint32_t classes, uint32_t features, hunch_error *reterr);
/* Move what the player did to its place in the results; the learner too, or free it. */
hunch_status player_finish(struct player *p, const struct progressive_options *options, struct progressive *results,
                           hunch_error *reterr);
/* Free a player that has not been finished. */
void player_free(struct player *p, const struct progressive_options *options);

/* Wait on condition for at most the time between two reports of progress. */
void progressive_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);

static inline bool progressive_told(const struct progressive_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two ways of progressive evaluation share. Private to lab/. */
#ifndef PROGRESSIVE_COMMON_H
#define PROGRESSIVE_COMMON_H

#include <pthread.h>

#include "play/progressive.h"

bool progressive_init(struct progressive *p, size_t learners, size_t runs);
/* The player of learner number `number` in run 0, over data of n classes and features. */
hunch_status progressive_player(struct player *p, const struct progressive_options *options, size_t number,
                                const hunch_options *data, hunch_error *reterr);

static inline bool progressive_stopped(const struct progressive_options *options)
{
    return options->stop && atomic_load_explicit(options->stop, memory_order_relaxed);
}

#endif

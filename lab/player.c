/* SPDX-License-Identifier: BSD-3-Clause */
#include "player.h"

#include <time.h>

#include "fail.h"

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static hunch_status rows_play(struct player *p, const struct block *block, size_t from, size_t to,
                              hunch_choice *choices)
{
    hunch_batch batch = block_batch(block, from, to);
    size_t done = 0;
    hunch_status status = hunch_run_batch(p->learner, &batch, block->label + from, choices, &done);
    tally_count(&p->tally, choices, block->label + from, done);
    if (p->watch)
        p->watch(p->context, p->number, p->run, choices, block->label + from, done);
    return status;
}

hunch_status player_play(struct player *p, const struct block *block, uint32_t classes, const atomic_bool *stop,
                         hunch_error *reterr)
{
    hunch_choice choices[PLAYER_ROWS];
    hunch_status status = HUNCH_OK;
    double began = thread_seconds();
    if (classes > hunch_classes(p->learner))
        status = hunch_add_classes(p->learner, classes - hunch_classes(p->learner));
    for (size_t from = 0; !status && from < block->rows; from += PLAYER_ROWS) {
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            break;
        size_t to = block->rows - from > PLAYER_ROWS ? from + PLAYER_ROWS : block->rows;
        status = rows_play(p, block, from, to, choices);
    }
    p->tally.seconds += thread_seconds() - began;
    if (status)
        return fail_with(reterr, status, "%s: %s", hunch_spec(p->learner), hunch_reason(p->learner));
    return HUNCH_OK;
}

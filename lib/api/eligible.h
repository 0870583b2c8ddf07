/* SPDX-License-Identifier: BSD-3-Clause */
/* Which labels may be shown: see eligible.c. */
#ifndef ELIGIBLE_H
#define ELIGIBLE_H

#include "state/state_bytes.h"
#include "api/learner.h"

/* The mask of one choice: by label, 1: it may be shown; NULL: all may. */
struct eligible {
    const unsigned char *may;
    uint32_t n; /* how many */
};

/* labels NULL: all that are not retired. Fails, with h->error set, unless at least one is left. Valid until the next
 * call on h. */
hunch_status eligible_take(hunch *h, const uint32_t *labels, size_t n, struct eligible *ret);
/* Room for more classes, before they are made; and once they are. */
hunch_status eligible_grow(hunch *h, uint32_t classes);
void eligible_added(hunch *h, uint32_t classes);
/* The label with the largest score that is not retired. */
uint32_t eligible_greedy(const hunch *h, const real *scores);

void eligible_put(struct writer *w, const hunch *h);
hunch_status eligible_read(struct reader *r, hunch *h, hunch_error *reterr);

#endif

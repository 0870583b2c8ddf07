/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which run r sees the rows: a Fisher-Yates shuffle by splitmix64.
 *
 *     state = first output of splitmix64 started at seed + r
 *     for i = n-1 .. 1: j = floor(u * (i+1)), u the next uniform; swap order[i] and order[j]
 *
 * It depends on seed + r and n only. The learner's own generator starts at seed + r itself, so the two do not use the
 * same numbers. A further pass shuffles the order of the pass before, and the generator goes on.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

struct order {
    uint32_t *row;
    uint32_t rows;
    struct rng state;
};

bool order_init(struct order *order, uint32_t rows, uint64_t seed); /* false: out of memory; 0 .. rows-1 at first */
void order_shuffle(struct order *order);
void order_free(struct order *order);

#endif

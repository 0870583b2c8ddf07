/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64: the generator of the synthetic sets. A counter with a mixer, so skipping n draws is one multiplication.
 */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t splitmix_bits(uint64_t *state)
{
    uint64_t z = (*state += SPLITMIX_STEP);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* In [0, 1). */
static inline double splitmix_uniform(uint64_t *state)
{
    return (double)(splitmix_bits(state) >> 11) * 0x1p-53;
}

/* In 0 .. n-1. */
static inline uint64_t splitmix_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)(splitmix_uniform(state) * (double)n);
}

static inline void splitmix_skip(uint64_t *state, uint64_t draws)
{
    *state += draws * SPLITMIX_STEP;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64 (Steele, Lea, Flood 2014): 64 bits of state, so that a model file carries it in one number. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* In [0,1), 53 bits. */
static inline double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)(rng_uniform(r) * n);
}

#endif

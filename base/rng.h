/* SPDX-License-Identifier: BSD-3-Clause */
/* splitmix64 (Steele, Lea, Flood 2014): a counter with a mixer. 64 bits of state, so that a model file carries it in
 * one number, and skipping n draws is one multiplication. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <math.h>
#include <stdint.h>

#include "base/exact.h"

#define RNG_STEP UINT64_C(0x9E3779B97F4A7C15)

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += RNG_STEP;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* In [0,1), 53 bits. */
static inline double rng_uniform(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* In 0 .. n-1. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return (uint64_t)(rng_uniform(r) * (double)n);
}

/* Standard normal, from two uniforms (Box and Muller). */
static inline double rng_normal(struct rng *r)
{
    double u = rng_uniform(r), v = rng_uniform(r);
    return sqrt(-2 * exact_log(1 - u)) * exact_cos(6.283185307179586 * v);
}

static inline void rng_skip(struct rng *r, uint64_t draws)
{
    r->state += draws * RNG_STEP;
}

#endif

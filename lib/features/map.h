/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Features made of others, so that learners that are linear in what they see draw curves: what map=... puts before an
 * example's own columns. See docs/explanation/scale-and-map.md.
 *   Fourier (A. Rahimi, B. Recht 2007): c cos(g_i.z/w), c sin(g_i.z/w) for directions g_i that are the same in
 *     every learner (so that learners can be merged); the block has length 1.
 *   Pairs: sqrt 2 u^2 for every two 0/1 columns that are both 1, u being the value that a 1 has; exactly numbered while
 *     they fit, hashed beyond.
 */
#ifndef MAP_H
#define MAP_H

#include <math.h>

#include "numeric/linear_ops.h"

enum { MAP_NONE = 0, MAP_FOURIER = 1, MAP_PAIRS = 2, MAP_AUTO = MAP_FOURIER | MAP_PAIRS };

/* Angles in whole numbers, 2^16 to a turn: columns are rounded to whole steps, and directions, in fourths of their
 * standard deviation, too. Then an angle is a sum of 16 bits, which leaves out whole turns by itself, takes half the
 * memory and a fraction of the time of real ones, and has the same bits in any order. */
#define MAP_FOURTHS 4
#define MAP_STEPS ((float)(65536 / (2 * M_PI * MAP_WIDTH * MAP_FOURTHS))) /* of a column's 1 */

#define MAP_DIRECTIONS 256            /* of Fourier, at the most */
#define MAP_WIDTH 0.70710678118654752 /* of its kernel, for rows of length 1 */
#define MAP_PAIRED 128                /* 0/1 entries of a row that may be paired; rows with more get no pairs */
#define MAP_COLUMNS 4096              /* the most for which auto takes Fourier, and that have weights */

struct map {
    int kind;            /* MAP_FOURIER | MAP_PAIRS */
    uint32_t directions; /* of Fourier, a multiple of 16 */
    uint32_t pairs;      /* places for pairs */
    int16_t *direction;  /* columns x directions, in fourths: the same in every learner */
    size_t columns;
};

void map_free(struct map *m);
/* Directions for that many columns. May fail for want of memory, with nothing changed. */
hunch_status map_reserve(struct map *m, size_t columns);
/* Memory that it takes. */
uint64_t map_bytes(const struct map *m);
/* ret[i] = direction_j.c of n columns j = first + i. */
void map_turned(const struct map *m, const struct linear_ops *ops, size_t first, size_t n, const real *c, real *ret);
/* How many features the block has. */
uint32_t map_features(const struct map *m);
/* The most entries of the block. */
size_t map_room(const struct map *m);
/* The number of reals that map_write needs as scratch, aligned to 64 bytes. */
size_t map_scratch(const struct map *m);
/* The block's entries for z, whose indices are columns: features from 0 on, in order but for hashed pairs. ones: the
 * columns of z's `paired` entries that are a 1 of a 0/1 column, each of the value one. Returns how many. */
struct map_input {
    const struct linear_ops *ops;
    struct vec weighted; /* z, each column by its weight: for Fourier */
    const uint32_t *ones;
    size_t paired;
    float one;
    int16_t *steps; /* room for the entries of weighted */
    real *scratch;
};
/* ret_value: aligned to 16 bytes, as malloc gives it. */
size_t map_write(const struct map *m, const struct map_input *in, uint32_t *ret_index, float *ret_value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* An example as learners see it. */
#ifndef VEC_H
#define VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"
#include "numeric/real.h"

/* Where a step is divided by an example's squared length, one shorter than this counts as empty: its step would be too
 * long for a float. */
#define LENGTH2_MIN 1e-30

/* Some of an example's entries; n and all as in struct vec. */
struct vec_part {
    const uint32_t *index; /* NULL: it is not set apart */
    const float *value;
    size_t n, all;
};

/* One example as algorithms see it: checked, normalised and with its bias, if so set. index NULL: dense. */
struct vec {
    const uint32_t *index;
    const float *value;
    size_t n;
    /* Const calls do not grow the state, so features that it has never seen are left out there: entries n .. all-1 of
     * index and value, whose squared length is unseen. Elsewhere all = n and unseen = 0. */
    size_t all;
    double unseen;
    /* Behind a map (front.h): how many entries at the beginning are the map's, and the indices of the others where
     * there is no map. */
    size_t mapped;
    const uint32_t *columns;
    /* The same entries with columns of numbers along straight lines, not curves, for learners that ask for them. */
    const float *straight;
    /* Its squared length, and of text the sum of its |x_j|, if they were found beforehand; 0: they were not. */
    double norm2, absolute;
    /* Where words stand beside columns: the words; and the columns, numbered as learners see them that see neither the
     * map nor the words. */
    struct vec_part words, plain;
};

/* Increasing indices that leave none out need not be read. */
static inline bool vec_is_dense(const uint32_t *index, size_t n)
{
    return n && index[n - 1] == n - 1;
}

/* What of an example a front makes beside columns on a common scale: what a map makes of them; them along straight
 * lines. */
enum { WANT_MAP = 1, WANT_STRAIGHT = 2, WANT_ALL = 3 };

static inline uint32_t vec_index(const struct vec *x, size_t i)
{
    return x->index ? x->index[i] : (uint32_t)i;
}

/* Squared length, unseen features included. */
double vec_norm2(const struct vec *x);

#endif

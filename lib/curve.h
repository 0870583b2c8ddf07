/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a column's values are distributed: a sample of them in order, and the curve from a value to its score that is
 * drawn from it (scale.h). At most SCALE_KNOTS straight pieces.
 */
#ifndef CURVE_H
#define CURVE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#define SCALE_KNOTS 16
#define SCALE_SAMPLE 128
#define SAMPLE_STRIDE_MOST 32 /* so a sample looks back on about four thousand values */
#define CURVE_LARGEST 5       /* of a z that has no curve, and of the linear half of a curve */
#define CURVE_BEYOND 1        /* how far a z may go beyond the curve's ends */

/* score(x) = score + slope (x - knot[i]) of piece i, for the last knot[i] <= x; of the last knot, the slope of the
 * piece before it */
struct scale_curve {
    _Alignas(16) float knot[SCALE_KNOTS];
    struct scale_piece {
        float score, slope;
    } piece[SCALE_KNOTS];
};

/* Values that were not 0, one of about `stride`; when it is full, every other one in their order stays and the stride
 * doubles. */
struct scale_sample {
    float value[SCALE_SAMPLE];
    uint32_t stride;
    uint16_t fill, sorted; /* sorted: the first of them are in order */
    uint16_t fresh;        /* taken since the curve was drawn */
    uint32_t parity;       /* which half stays the next time */
};

static inline bool sample_is_settled(const struct scale_sample *s)
{
    return s->stride >= SAMPLE_STRIDE_MOST;
}
void sample_take(struct scale_sample *s, float x);
/* Both at one stride, thinned until they fit into one. */
void sample_merge(struct scale_sample *s, const struct scale_sample *other);

/* The last knot's slope, which files do not have to tell. */
void curve_close(struct scale_curve *curve, int knots);
/* nonzero: the share of rows in which the column is not 0. Returns how many knots there are. */
int curve_from_sample(struct scale_curve *curve, struct scale_sample *s, double nonzero, float *ret_at_zero);

/* Bring a curve nearer to another, by a share of the way. */
void curve_mix(struct scale_curve *curve, int knots, const struct scale_curve *other, int other_knots, float share);

/* How many knots are not above x: as many comparisons at a time as there are lanes. */
static inline int curve_knots_below(const struct scale_curve *curve, float x)
{
#if defined __AVX512F__
    return __builtin_popcount(_mm512_cmp_ps_mask(_mm512_loadu_ps(curve->knot), _mm512_set1_ps(x), _CMP_LE_OQ));
#elif defined __AVX__
    __m256 all = _mm256_set1_ps(x), low = _mm256_loadu_ps(curve->knot), high = _mm256_loadu_ps(curve->knot + 8);
    int below = _mm256_movemask_ps(_mm256_cmp_ps(low, all, _CMP_LE_OQ));
    return __builtin_popcount((unsigned)(below | _mm256_movemask_ps(_mm256_cmp_ps(high, all, _CMP_LE_OQ)) << 8));
#else
    typedef float numbers __attribute__((vector_size(16), may_alias));
    typedef int32_t truths __attribute__((vector_size(16)));
    const numbers *knot = (const numbers *)(const void *)curve->knot, all = {x, x, x, x};
    truths sum = ((knot[0] <= all) + (knot[1] <= all)) + ((knot[2] <= all) + (knot[3] <= all));
    sum += __builtin_shufflevector(sum, sum, 2, 3, 0, 1);
    sum += __builtin_shufflevector(sum, sum, 1, 0, 3, 2);
    return -sum[0];
#endif
}

/* Without a branch, since which piece a value falls on cannot be foreseen. Beyond its ends the curve goes on as its
 * outermost pieces do, by CURVE_BEYOND at most; pieces within it rise, so that the lower end of that holds for all. */
static inline float curve_score(const struct scale_curve *curve, int knots, float x)
{
    static const float most[] = {INFINITY, CURVE_BEYOND};
    int below = curve_knots_below(curve, x), at = below - (below > 0);
    const struct scale_piece *piece = &curve->piece[at];
    float rise = (x - curve->knot[at]) * piece->slope, high = most[below == knots];
    rise = rise < -CURVE_BEYOND ? -CURVE_BEYOND : rise;
    return piece->score + (rise > high ? high : rise);
}

#endif

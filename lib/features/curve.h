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
#define SAMPLE_SETTLED 32 /* stride from which on a sample follows slowly */
#define CURVE_LARGEST                                                                                                  \
    5 /* of a z that has no curve, of the linear part of a curve, and how far z may go beyond its ends */

/* score(x) = score + slope (x - knot[i]) of piece i, for the last knot[i] <= x; the last knot has
 * slope 0. Between the outermost two knots, 2 CURVE_LARGEST standard deviations apart, it rises by CURVE_LARGEST: there
 * are no ranks beyond the sample, so that only its linear half goes on. */
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
    return s->stride >= SAMPLE_SETTLED;
}
void sample_take(struct scale_sample *s, float x);
/* Both at one stride, thinned until they fit into one. */
void sample_merge(struct scale_sample *s, const struct scale_sample *other);

/* nonzero: the share of rows in which the column is not 0. Returns how many knots there are. */
int curve_from_sample(struct scale_curve *curve, struct scale_sample *s, double nonzero, float *ret_at_zero);

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

/* Without a branch, since which piece a value falls on cannot be foreseen. Beyond its ends a curve is constant: pieces
 * rise, and the last knot has no slope. */
static inline float curve_score(const struct scale_curve *curve, float x)
{
    int below = curve_knots_below(curve, x), at = below - (below > 0);
    const struct scale_piece *piece = &curve->piece[at];
    float rise = (x - curve->knot[at]) * piece->slope;
    return piece->score + (rise > 0 ? rise : 0);
}

#endif

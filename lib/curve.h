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

#define SCALE_KNOTS 16
#define SCALE_SAMPLE 128
#define CURVE_LARGEST 5 /* of a z that has no curve, and of the linear half of a curve */
#define CURVE_BEYOND 1  /* how far a z may go beyond the curve's ends */

/* score(x) = score[i] + slope[i] (x - knot[i]) for the last knot[i] <= x */
struct scale_curve {
    float knot[SCALE_KNOTS], score[SCALE_KNOTS], slope[SCALE_KNOTS];
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

void sample_take(struct scale_sample *s, float x);
/* Both at one stride, thinned until they fit into one. */
void sample_merge(struct scale_sample *s, const struct scale_sample *other);

/* nonzero: the share of rows in which the column is not 0. Returns how many knots there are. */
int curve_from_sample(struct scale_curve *curve, struct scale_sample *s, double nonzero, float *ret_at_zero);

static inline float curve_score(const struct scale_curve *curve, int knots, float x)
{
    int i = 0;
    for (int k = 0; k < SCALE_KNOTS; k++)
        i += curve->knot[k] <= x;
    if (i > 0 && i < knots)
        return curve->score[i - 1] + curve->slope[i - 1] * (x - curve->knot[i - 1]);
    if (i == 0)
        return curve->score[0] - fminf((curve->knot[0] - x) * curve->slope[0], CURVE_BEYOND);
    float slope = knots > 1 ? curve->slope[knots - 2] : 0;
    return curve->score[knots - 1] + fminf((x - curve->knot[knots - 1]) * slope, CURVE_BEYOND);
}

#endif

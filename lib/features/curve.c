/* SPDX-License-Identifier: BSD-3-Clause */
#include "features/curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/exact.h"

/* --- the sample --- */

/* The values that came since they were sorted take their places: few among many, so by insertion and a merge. */
static void sample_sort(struct scale_sample *s)
{
    float late[SCALE_SAMPLE];
    int n = s->fill - s->sorted, kept = s->sorted;
    for (int i = 0; i < n; i++) {
        float x = s->value[kept + i];
        int at = i;
        for (; at > 0 && late[at - 1] > x; at--)
            late[at] = late[at - 1];
        late[at] = x;
    }
    for (int to = s->fill - 1; n > 0; to--) {
        bool older = kept > 0 && s->value[kept - 1] > late[n - 1];
        s->value[to] = older ? s->value[kept - 1] : late[n - 1];
        kept -= older;
        n -= !older;
    }
    s->sorted = s->fill;
}

/* Every other of the sorted values stays. */
static void sample_thin(struct scale_sample *s)
{
    uint16_t kept = 0;
    sample_sort(s);
    for (uint32_t i = s->parity; i < s->fill; i += 2)
        s->value[kept++] = s->value[i];
    s->fill = s->sorted = kept;
    s->parity ^= 1;
    s->stride = s->stride < UINT32_MAX / 4 ? 2 * s->stride : s->stride; /* all values so far count alike */
}

void sample_take(struct scale_sample *s, float x)
{
    if (s->fill == SCALE_SAMPLE)
        sample_thin(s);
    s->value[s->fill++] = x;
    s->fresh = (uint16_t)(s->fresh + 1 < s->fill ? s->fresh + 1 : s->fill);
}

void sample_merge(struct scale_sample *s, const struct scale_sample *other)
{
    struct scale_sample more = *other;
    while (s->stride < more.stride)
        sample_thin(s);
    while (more.stride < s->stride)
        sample_thin(&more);
    while (s->fill + more.fill > SCALE_SAMPLE) {
        sample_thin(s);
        sample_thin(&more);
    }
    memcpy(s->value + s->fill, more.value, more.fill * sizeof *s->value);
    s->fill = (uint16_t)(s->fill + more.fill);
    s->fresh = s->fill;
}

/* --- the curve --- */

/* The normal distribution's quantile (P. J. Acklam's rational approximation, to 1.2e-9). */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    double tail = fmin(p, 1 - p);
    if (tail < 0.02425) {
        double q = sqrt(-2 * exact_log(tail));
        double z = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                   ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        return p < 0.5 ? z : -z;
    }
    double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

/* What a curve is drawn from: the sorted sample, and the share of rows that are 0. */
struct distribution {
    const float *value;
    int n;
    double nonzero;  /* share of rows that are not 0 */
    double mean, sd; /* of all rows, zeros included, winsorised */
};

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Mean and standard deviation with values beyond three times the middle four fifths' width brought back to there. */
static void distribution_moments(struct distribution *d)
{
    double low = d->value[d->n / 10], high = d->value[d->n - 1 - d->n / 10], width = high - low;
    double sum = 0, squares = 0;
    if (width > 0) {
        low -= 3 * width;
        high += 3 * width;
    } else {
        low = -INFINITY;
        high = INFINITY;
    }
    for (int i = 0; i < d->n; i++)
        sum += within(d->value[i], low, high);
    d->mean = sum / d->n * d->nonzero;
    for (int i = 0; i < d->n; i++) {
        double off = within(d->value[i], low, high) - d->mean;
        squares += off * off;
    }
    d->sd = sqrt(squares / d->n * d->nonzero + (1 - d->nonzero) * d->mean * d->mean);
}

/* The z of a value, given how many of the sample are smaller (its equals count half). */
static float distribution_score(const struct distribution *d, double x, double below)
{
    double end = 0.5 / (d->n + 1), zeros = 1 - d->nonzero;
    double rank = d->nonzero * below / d->n + (x > 0 ? zeros : x < 0 ? 0 : zeros / 2);
    double z = d->sd > 0 ? (x - d->mean) / d->sd : 0;
    return (float)(0.5 * (normal_quantile(within(rank, end, 1 - end)) + within(z, -CURVE_LARGEST, CURVE_LARGEST)));
}

#define INNER (SCALE_KNOTS - 2) /* knots at values of the sample */

/* Knots at different values, evenly over the ranks; returns how many. */
static int curve_knots(const struct distribution *d, struct scale_curve *ret)
{
    int knots = 0, distinct = 0, last = -1;
    for (int i = 0; i < d->n; i++)
        distinct += i == 0 || d->value[i] > d->value[i - 1];
    for (int i = 0, next; i < d->n; i = next) {
        for (next = i + 1; next < d->n && d->value[next] == d->value[i];)
            next++;
        int slot = i * INNER / d->n;
        if (distinct > INNER && slot <= last && next < d->n)
            continue;
        if (knots == INNER)
            knots--; /* the largest value always has one */
        last = slot;
        ret->knot[knots] = d->value[i];
        ret->piece[knots++].score = distribution_score(d, d->value[i], 0.5 * (i + next));
    }
    return knots;
}

/* Between knots as near to each other as 0 and the smallest number a curve is steeper than a number can say. */
static void curve_slopes(struct scale_curve *curve, int knots)
{
    struct scale_piece *piece = curve->piece;
    for (int i = 0; i + 1 < knots; i++)
        piece[i].slope = fminf((piece[i + 1].score - piece[i].score) / (curve->knot[i + 1] - curve->knot[i]), FLT_MAX);
}

/* A knot on either side, as far from the sample as the linear half of the score tells anything; returns how many there
 * are then. */
static int curve_ends(const struct distribution *d, struct scale_curve *inout, int knots)
{
    float far = (float)(2 * CURVE_LARGEST * d->sd), *knot = inout->knot;
    struct scale_piece *piece = inout->piece;
    if (!(knot[0] - far < knot[0]) || !(knot[knots - 1] + far > knot[knots - 1]))
        return knots;
    memmove(knot + 1, knot, (size_t)knots * sizeof *knot);
    memmove(piece + 1, piece, (size_t)knots * sizeof *piece);
    knot[0] = knot[1] - far;
    piece[0].score = piece[1].score - CURVE_LARGEST;
    knot[knots + 1] = knot[knots] + far;
    piece[knots + 1].score = piece[knots].score + CURVE_LARGEST;
    return knots + 2;
}

int curve_from_sample(struct scale_curve *curve, struct scale_sample *s, double nonzero, float *ret_at_zero)
{
    sample_sort(s);
    s->fresh = 0;
    *curve = (struct scale_curve){0};
    struct distribution d = {s->value, s->fill, nonzero, 0, 0};
    distribution_moments(&d);
    int negative = 0, knots = curve_knots(&d, curve);
    while (negative < d.n && s->value[negative] < 0)
        negative++;
    *ret_at_zero = distribution_score(&d, 0, negative);
    knots = curve_ends(&d, curve, knots);
    for (int i = knots; i < SCALE_KNOTS; i++)
        curve->knot[i] = INFINITY;
    curve_slopes(curve, knots);
    return knots;
}

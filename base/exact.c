/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each function reduces its argument to a short interval, where the Taylor series with as many terms as a double can
 * show is evaluated, and carries what the reduction rounded away as a second, small number (a "tail").
 */
#include "base/exact.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ROUNDER 0x1.8p52 /* x + ROUNDER - ROUNDER is x as a whole number, for |x| < 2^51 */

/* Numbers of twice the length: head + tail, the tail at most half a unit of the head's last place. */
struct wide {
    double head, tail;
};

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- arithmetic of twice the length (Dekker 1971, Knuth) --- */

static inline struct wide sum_exact(double a, double b)
{
    double s = a + b, from_b = s - a;
    return (struct wide){s, (a - (s - from_b)) + (b - from_b)};
}

/* |a| >= |b| */
static inline struct wide sum_ordered(double a, double b)
{
    double s = a + b;
    return (struct wide){s, b - (s - a)};
}

static inline struct wide product_exact(double a, double b)
{
    const double split = 0x1p27 + 1;
    double p = a * b, as = a * split, bs = b * split;
    double ah = as - (as - a), bh = bs - (bs - b), al = a - ah, bl = b - bh;
    return (struct wide){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static struct wide wide_mul(struct wide a, struct wide b)
{
    struct wide p = product_exact(a.head, b.head);
    return sum_ordered(p.head, p.tail + (a.head * b.tail + a.tail * b.head));
}

static struct wide wide_add(struct wide a, struct wide b)
{
    struct wide s = sum_exact(a.head, b.head);
    return sum_ordered(s.head, s.tail + (a.tail + b.tail));
}

static struct wide wide_div(struct wide a, struct wide b)
{
    double q = a.head / b.head;
    struct wide p = wide_mul((struct wide){q, 0}, b);
    return sum_ordered(q, ((a.head - p.head) + (a.tail - p.tail)) / b.head);
}

/* --- exp --- */

static const double ln2_head = 0x1.62e42fefa2p-1, ln2_tail = 0x1.9ef35793c7673p-41; /* head: 40 bits */

/* x 2^k for any k, rounded once. */
static double scale(double x, int64_t k)
{
    if (k < -1022) {
        k = k < -2044 ? -2044 : k;
        return x * of_bits((uint64_t)(k + 1022 + 1023) << 52) * 0x1p-1022;
    }
    if (k > 1023) {
        k = k > 2046 ? 2046 : k;
        return x * 0x1p1023 * of_bits((uint64_t)(k - 1023 + 1023) << 52);
    }
    return x * of_bits((uint64_t)(k + 1023) << 52);
}

/* c[0] z^(n-1) + ... + c[n-1] */
static inline double polynomial(double z, const double *c, size_t n)
{
    double p = c[0];
    for (size_t i = 1; i < n; i++)
        p = p * z + c[i];
    return p;
}

#define POLYNOMIAL(z, c) polynomial(z, c, sizeof(c) / sizeof *(c))

/* exp(r + tail) - 1 for |r| <= ln(2)/2; two short chains instead of a long one. */
static double exp_series(double r, double tail)
{
    static const double odd[] = {1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6};
    static const double even[] = {1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320, 1.0 / 720, 1.0 / 24, 0.5};
    double z = r * r;
    return r + (z * (POLYNOMIAL(z, even) + r * POLYNOMIAL(z, odd)) + (tail + tail * r));
}

/* x = k ln 2 + r + tail. */
static double ln2_reduce(double x, double more, double *ret_tail, int64_t *ret_k)
{
    double k = (x * 0x1.71547652b82fep0 + ROUNDER) - ROUNDER;
    double head = x - k * ln2_head, tail = more - k * ln2_tail, r = head + tail;
    *ret_tail = (head - r) + tail;
    *ret_k = (int64_t)k;
    return r;
}

static double exp_wide(double x, double more)
{
    double tail;
    int64_t k;
    if (!(x > -746 && x < 710))
        return x < 0 ? 0 : x > 0 ? INFINITY : x; /* NaN stays */
    double r = ln2_reduce(x, more, &tail, &k);
    return scale(1 + exp_series(r, tail), k);
}

double exact_exp(double x)
{
    return exp_wide(x, 0);
}

double exact_expm1(double x)
{
    double tail;
    int64_t k;
    if (!(x > -40 && x < 710))
        return x < 0 ? -1 : x > 0 ? INFINITY : x;
    double r = ln2_reduce(x, 0, &tail, &k), p = exp_series(r, tail);
    if (k == 0)
        return x == 0 ? x : p;
    if (k > 1000)
        return scale(1 + p, k);
    double power = scale(1, k);
    struct wide s = sum_exact(power, -1);
    return s.head + (power * p + s.tail);
}

double exact_tanh(double x)
{
    double size = fabs(x);
    if (!(size < 22))
        return x > 0 ? 1 : x < 0 ? -1 : x;
    double e = exact_expm1(2 * size);
    return copysign(e / (e + 2), x);
}

/* --- log --- */

/* x = m 2^k with m in [sqrt(1/2), sqrt(2)). */
static double normalise(double x, int64_t *ret_k)
{
    int64_t k = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits = bits_of(x), half = bits_of(M_SQRT1_2);
    int64_t exponent = (int64_t)(bits - half) >> 52;
    *ret_k = k + exponent;
    return of_bits(bits - ((uint64_t)exponent << 52));
}

/* 2 z^2/5 + 2 z^3/7 + ... for z below 0.0295: of 2 atanh(s)/s, with z = s^2, all but 2 + 2 z/3. */
static double atanh_series(double z)
{
    static const double odd[] = {2.0 / 23, 2.0 / 19, 2.0 / 15, 2.0 / 11, 2.0 / 7};
    static const double even[] = {2.0 / 25, 2.0 / 21, 2.0 / 17, 2.0 / 13, 2.0 / 9};
    double y = z * z;
    return y * (2.0 / 5 + z * (POLYNOMIAL(y, odd) + z * POLYNOMIAL(y, even)));
}

/* log(1 + f) + k ln 2 + more for 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2+f), log(1+f) = 2 atanh(s), and
 * 2 s = f - f^2/2 + s f^2/2, whose first terms are exact or nearly so. */
static double log_sum(double f, int64_t k, double more)
{
    double square = 0.5 * f * f, s = f / (2 + f), z = s * s;
    double rest = s * (square + (2.0 / 3 * z + atanh_series(z)));
    if (k == 0)
        return f - (square - (rest + more));
    return (double)k * ln2_head - ((square - (rest + ((double)k * ln2_tail + more))) - f);
}

double exact_log(double x)
{
    int64_t k;
    if (!(x > 0 && x <= DBL_MAX))
        return x == 0 ? -INFINITY : x > 0 ? INFINITY : NAN;
    double m = normalise(x, &k);
    return log_sum(m - 1, k, 0);
}

double exact_log1p(double x)
{
    int64_t k;
    if (!(x > -1 && x <= DBL_MAX))
        return x == -1 ? -INFINITY : x > 0 ? INFINITY : NAN;
    if (fabs(x) < 0.25)
        return fabs(x) < 0x1p-54 ? x : log_sum(x, 0, 0);
    struct wide u = sum_exact(1, x);
    double m = normalise(u.head, &k);
    return log_sum(m - 1, k, u.tail / u.head);
}

/* --- powers --- */

/* log(x) to about 2^-65 of its size. */
static struct wide log_wide(double x)
{
    int64_t k;
    double f = normalise(x, &k) - 1;
    struct wide s = wide_div((struct wide){f, 0}, sum_ordered(2, f)), z = wide_mul(s, s);
    struct wide third = wide_mul(z, (struct wide){0x1.5555555555555p-2, 0x1.5555555555555p-56});
    struct wide factor = wide_add(sum_ordered(2, 2 * third.head), (struct wide){2 * third.tail, 0});
    factor = wide_add(factor, (struct wide){atanh_series(z.head), 0});
    struct wide multiple = wide_add((struct wide){(double)k * ln2_head, 0}, product_exact((double)k, ln2_tail));
    return wide_add(multiple, wide_mul(s, factor));
}

/* x^n for x > 0 and 0 < n <= 64, in all 106 bits. */
static double power_whole(double x, int n, bool inverse)
{
    int64_t k;
    struct wide square = {normalise(x, &k), 0}, power = {1, 0};
    for (int left = n; left; left >>= 1, square = wide_mul(square, square))
        if (left & 1)
            power = wide_mul(power, square);
    if (inverse)
        power = wide_div((struct wide){1, 0}, power);
    return scale(power.head, inverse ? -n * k : n * k);
}

static double power_positive(double x, double y)
{
    double size = fabs(y);
    if (size <= 64 && size == floor(size))
        return power_whole(x, (int)size, y < 0);
    if (size == 0.5)
        return y > 0 ? sqrt(x) : 1 / sqrt(x);
    if (size > 0x1p66)
        return (x > 1) == (y > 0) ? INFINITY : 0;
    struct wide p = wide_mul((struct wide){y, 0}, log_wide(x));
    return exp_wide(p.head, p.tail);
}

double exact_pow(double x, double y)
{
    bool whole = y == floor(y), odd = whole && fabs(y) < 0x1p53 && fmod(y, 2) != 0;
    double size = fabs(x), sign = signbit(x) && odd ? -1 : 1;
    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return NAN;
    if (size == 0 || isinf(x))
        return sign * ((size == 0) == (y < 0) ? INFINITY : 0);
    if (x < 0 && !whole)
        return NAN;
    return size == 1 ? sign : sign * power_positive(size, y);
}

double exact_cbrt(double x)
{
    int64_t k;
    if (x == 0 || !isfinite(x))
        return x;
    double m = normalise(fabs(x), &k);
    int64_t third = (k + 3000) / 3 - 1000; /* rounded down */
    m = scale(m, k - 3 * third);           /* in [sqrt(1/2), 4 sqrt(2)) */
    double t = 0.8 + 0.2 * m;
    for (int i = 0; i < 4; i++) { /* Halley: three times as many digits each time */
        double cube = t * t * t;
        t *= (cube + 2 * m) / (2 * cube + m);
    }
    struct wide cube = wide_mul(product_exact(t, t), (struct wide){t, 0});
    t -= ((cube.head - m) + cube.tail) / (3 * t * t);
    return copysign(scale(t, third), x);
}

/* --- cosine --- */

#define COS_MAX 0x1p20 /* up to here 33 bits of pi/2 times the number of quarters are exact */

/* cos(r + tail + pi/2 quarters) for |r| <= pi/4; of quarters only the last two bits count. */
static double cos_turned(double r, double tail, uint64_t quarters)
{
    static const double odd[] = {-1.0 / 121645100408832000,
                                 1.0 / 355687428096000,
                                 -1.0 / 1307674368000,
                                 1.0 / 6227020800,
                                 -1.0 / 39916800,
                                 1.0 / 362880,
                                 -1.0 / 5040,
                                 1.0 / 120,
                                 -1.0 / 6};
    static const double even[] = {-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                                  -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
    double z = r * r, p = POLYNOMIAL(z, odd), q = POLYNOMIAL(z, even);
    double half = 0.5 * z, high = 1 - half;
    double sine = r + (r * z * p + tail * high), cosine = high + (((1 - high) - half) + (z * z * q - r * tail));
    uint64_t odd_quarter = -(quarters & 1); /* all bits or none: without a branch, which would be mispredicted */
    return of_bits(((bits_of(cosine) & ~odd_quarter) | (bits_of(sine) & odd_quarter)) ^ ((quarters + 1) & 2) << 62);
}

double exact_cos(double x)
{
    if (!(fabs(x) <= COS_MAX))
        return NAN;
    double rounded = x * 0x1.45f306dc9c883p-1 + ROUNDER, k = rounded - ROUNDER;
    struct wide first = sum_exact(x - k * 0x1.921fb544p0, -(k * 0x1.0b4611a6p-34));
    struct wide second = sum_exact(first.head, -(k * 0x1.3198a2ep-69));
    double more = (first.tail + second.tail) - k * 0x1.b839a252049c1p-104, r = second.head + more;
    return cos_turned(r, (second.head - r) + more, bits_of(rounded));
}

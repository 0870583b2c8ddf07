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

/* --- sin and cos --- */

#define NEAR 0x1p20 /* up to here 33 bits of pi/2 times the number of quarters are exact */

/* sin(r + tail) and cos(r + tail) for |r| <= pi/4, turned by the quarters that bits end in. */
static void quarter_turn(double r, double tail, uint64_t bits, double *ret_sin, double *ret_cos)
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
    double half = 0.5 * z, most = 1 - half;
    double sine = r + (r * z * p + tail * most), cosine = most + (((1 - most) - half) + (z * z * q - r * tail));
    uint64_t swap = -(bits & 1), s = bits_of(sine), c = bits_of(cosine);
    *ret_sin = of_bits(((s & ~swap) | (c & swap)) ^ (bits & 2) << 62);
    *ret_cos = of_bits(((c & ~swap) | (s & swap)) ^ ((bits + 1) & 2) << 62);
}

/* |x| <= NEAR */
static void sincos_near(double x, double *ret_sin, double *ret_cos)
{
    double rounded = x * 0x1.45f306dc9c883p-1 + ROUNDER, k = rounded - ROUNDER;
    struct wide first = sum_exact(x - k * 0x1.921fb544p0, -(k * 0x1.0b4611a6p-34));
    struct wide second = sum_exact(first.head, -(k * 0x1.3198a2ep-69));
    double more = (first.tail + second.tail) - k * 0x1.b839a252049c1p-104, r = second.head + more;
    quarter_turn(r, (second.head - r) + more, bits_of(rounded), ret_sin, ret_cos);
}

/* 2/pi: bits behind the binary point. */
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

static uint64_t word_at(size_t bit)
{
    size_t i = bit / 64, shift = bit % 64;
    return shift ? two_over_pi[i] << shift | two_over_pi[i + 1] >> (64 - shift) : two_over_pi[i];
}

/* x 2/pi modulo 4 for |x| > NEAR, as 192 bits of which the highest weighs 2 (Payne and Hanek 1983): of m 2^e 2/pi only
 * the part below 4 matters, and that comes from the bits of 2/pi after the first e - 2. */
static void quarters_count(uint64_t bits, uint64_t w[3])
{
    uint64_t m = (bits & 0xfffffffffffff) | (uint64_t)1 << 52;
    int64_t e = (int64_t)(bits >> 52 & 0x7ff) - 1075; /* -32 at least */
    size_t skip = e > 2 ? (size_t)e - 2 : 0, down = e > 2 ? 0 : (size_t)(2 - e);
    unsigned __int128 low = (unsigned __int128)m * word_at(skip + 128);
    unsigned __int128 middle = (unsigned __int128)m * word_at(skip + 64) + (uint64_t)(low >> 64);
    unsigned __int128 high = (unsigned __int128)m * word_at(skip) + (uint64_t)(middle >> 64);
    w[0] = (uint64_t)low;
    w[1] = (uint64_t)middle;
    w[2] = (uint64_t)high;
    if (down) { /* no bit was left out: the product is longer, and moves down */
        w[0] = w[0] >> down | w[1] << (64 - down);
        w[1] = w[1] >> down | w[2] << (64 - down);
        w[2] = w[2] >> down | (uint64_t)(high >> 64) << (64 - down);
    }
}

static void shift_left(uint64_t w[3], int by)
{
    w[2] = w[2] << by | w[1] >> (64 - by);
    w[1] = w[1] << by | w[0] >> (64 - by);
    w[0] <<= by;
}

/* A signed fraction of 192 bits. */
static struct wide fraction(uint64_t w[3])
{
    bool minus = w[2] >> 63 != 0;
    int shift = 0;
    if (minus) {
        w[0] = ~w[0] + 1;
        w[1] = ~w[1] + !w[0];
        w[2] = ~w[2] + (!w[0] && !w[1]);
    }
    for (; shift < 128 && !(w[2] >> 63); shift++)
        shift_left(w, 1);
    double sign = minus ? -1 : 1;
    return (struct wide){sign * scale((double)(w[2] >> 11), -53 - shift),
                         sign * scale((double)((w[2] & 0x7ff) << 42 | w[1] >> 22), -106 - shift)};
}

static void sincos_far(double x, double *ret_sin, double *ret_cos)
{
    const struct wide quarter = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
    uint64_t w[3];
    quarters_count(bits_of(x), w);
    uint64_t quarters = ((w[2] >> 61) + 1) >> 1; /* the nearest number */
    shift_left(w, 2);
    struct wide r = wide_mul(fraction(w), quarter);
    quarter_turn(r.head, r.tail, quarters, ret_sin, ret_cos);
    *ret_sin = x < 0 ? -*ret_sin : *ret_sin;
}

static void sincos_any(double x, double *ret_sin, double *ret_cos)
{
    if (fabs(x) <= NEAR)
        sincos_near(x, ret_sin, ret_cos);
    else if (isfinite(x))
        sincos_far(x, ret_sin, ret_cos);
    else
        *ret_sin = *ret_cos = NAN;
}

double exact_sin(double x)
{
    double sine, cosine;
    sincos_any(x, &sine, &cosine);
    return sine;
}

double exact_cos(double x)
{
    double sine, cosine;
    sincos_any(x, &sine, &cosine);
    return cosine;
}

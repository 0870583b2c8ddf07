/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of linear.h. This file is compiled once per instruction set, with LINEAR_ISA naming the set and
 * LINEAR_VECTOR the largest vector in bytes. All arithmetic is element by element on vectors over classes, without
 * fused multiply-add, so every build of it gives the same bits.
 */
#include "numeric/linear_ops.h"
#include "numeric/log_near.h"

#include <math.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

#ifndef LINEAR_ISA
#define LINEAR_ISA plain
#define LINEAR_VECTOR 16
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)

typedef real vector16 __attribute__((vector_size(16), aligned(16)));
#if LINEAR_VECTOR >= 32
typedef real vector32 __attribute__((vector_size(32), aligned(16)));
#endif
#if LINEAR_VECTOR >= 64
typedef real vector64 __attribute__((vector_size(64), aligned(16)));
#endif

#define INLINE static inline __attribute__((always_inline))

/* Sums run in SUMS chains (example entry i goes to chain i mod SUMS) so that one addition need not wait for the last;
 * every instruction set has the same chains, hence the same bits. Double builds add in the order of the features, as
 * the papers' own programs do: their mistakes are counted to the last one there, and SOBA's hang on the last bit. */
#define CHAINS 4
#define SUMS (sizeof(real) == sizeof(float) ? CHAINS : 1)

#define SUMS_MAX 12 /* vectors of a row that are read in one go, of the widest vectors: their sums stay in registers */
#define KEPT (LINEAR_VECTOR >= 64 ? 24 : 12) /* sums that do; with more of them ... */
/* ... as many rows are gone through, one chain after the other; where they do not follow one another, as many are
 * fetched meanwhile */
#define BLOCK (dense ? 32 : 16)
#define FEW 64  /* rows that do not follow one another, of which so few are at hand anyway */
#define LINE 64 /* bytes that are fetched at once */
#define AHEAD 8 /* entries whose rows are fetched beforehand, where much is to be done for each */

/* The row of entry i: dense examples walk through the rows, sparse ones jump. */
#define ROW(base, i) ((base) + (size_t)(dense ? (i) : x->index[i]) * stride)

/* The loops for n (1 to MOST) vectors of one type per row; n and dense are constants at every call, so that the sums
 * stay in registers and nothing is decided per entry. Scores are taken from the first entry to the last and updates
 * from the last to the first: where a dense example's rows are a little more than a cache holds, each pass then begins
 * with those that the pass before has left there. */
#define DEFINE_LOOPS(V)                                                                                                \
    INLINE void V##_entry(const real *row, real v, V *sum, int n)                                                      \
    {                                                                                                                  \
        for (int a = 0; a < n; a++)                                                                                    \
            sum[a] += ((const V *)row)[a] * v;                                                                         \
    }                                                                                                                  \
    INLINE void V##_fetch(const real *row, int n)                                                                      \
    {                                                                                                                  \
        for (size_t at = 0; at < n * sizeof(V); at += LINE)                                                            \
            __builtin_prefetch((const char *)row + at);                                                                \
    }                                                                                                                  \
    INLINE void V##_chain(const real *W, size_t stride, const struct vec *x, size_t from, size_t to, V *ret, int n,    \
                          bool dense)                                                                                  \
    {                                                                                                                  \
        V sum[SUMS_MAX];                                                                                               \
        for (int a = 0; a < n; a++)                                                                                    \
            sum[a] = ret[a];                                                                                           \
        for (size_t i = from; i < to; i += SUMS) {                                                                     \
            if (!dense && i + BLOCK < x->n)                                                                            \
                V##_fetch(ROW(W, i + BLOCK), n);                                                                       \
            V##_entry(ROW(W, i), x->value[i], sum, n);                                                                 \
        }                                                                                                              \
        for (int a = 0; a < n; a++)                                                                                    \
            ret[a] = sum[a];                                                                                           \
    }                                                                                                                  \
    INLINE void V##_scores(const real *W, size_t stride, const struct vec *x, real *out, int n, bool dense)            \
    {                                                                                                                  \
        V sum[CHAINS][SUMS_MAX];                                                                                       \
        for (size_t c = 0; c < CHAINS; c++)                                                                            \
            for (int a = 0; a < n; a++)                                                                                \
                sum[c][a] = (V){0};                                                                                    \
        size_t i = 0, whole = x->n - x->n % SUMS;                                                                      \
        for (; n * CHAINS <= KEPT && i < whole; i += SUMS)                                                             \
            for (size_t c = 0; c < SUMS; c++)                                                                          \
                V##_entry(ROW(W, i + c), x->value[i + c], sum[c], n);                                                  \
        for (; i < whole; i += BLOCK)                                                                                  \
            for (size_t c = 0; c < SUMS; c++)                                                                          \
                V##_chain(W, stride, x, i + c, i + BLOCK < whole ? i + BLOCK : whole, sum[c], n, dense);               \
        for (i = whole; i < x->n; i++)                                                                                 \
            V##_entry(ROW(W, i), x->value[i], sum[0], n);                                                              \
        for (int a = 0; a < n; a++)                                                                                    \
            ((V *)out)[a] = (sum[0][a] + sum[1][a]) + (sum[2][a] + sum[3][a]);                                         \
    }                                                                                                                  \
    INLINE void V##_scores_widths(const real *W, const real *U, size_t stride, const struct vec *x, real *out,         \
                                  real *q, bool dense)                                                                 \
    {                                                                                                                  \
        V sum[CHAINS] = {{0}}, width[CHAINS] = {{0}};                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + SUMS <= x->n; i += SUMS)                                                                            \
            for (size_t c = 0; c < SUMS; c++) {                                                                        \
                real v = x->value[i + c];                                                                              \
                sum[c] += *(const V *)ROW(W, i + c) * v;                                                               \
                width[c] += *(const V *)ROW(U, i + c) * v * v;                                                         \
            }                                                                                                          \
        for (; i < x->n; i++) {                                                                                        \
            real v = x->value[i];                                                                                      \
            sum[0] += *(const V *)ROW(W, i) * v;                                                                       \
            width[0] += *(const V *)ROW(U, i) * v * v;                                                                 \
        }                                                                                                              \
        *(V *)out = (sum[0] + sum[1]) + (sum[2] + sum[3]);                                                             \
        *(V *)q = (width[0] + width[1]) + (width[2] + width[3]);                                                       \
    }                                                                                                                  \
    INLINE void V##_add_all(real *W, size_t stride, const struct vec *x, const real *c, int n, bool dense)             \
    {                                                                                                                  \
        V step[SUMS_MAX];                                                                                              \
        for (int a = 0; a < n; a++)                                                                                    \
            step[a] = ((const V *)c)[a];                                                                               \
        for (size_t i = x->n; i-- > 0;)                                                                                \
            for (int a = 0; a < n; a++)                                                                                \
                ((V *)ROW(W, i))[a] += step[a] * (real)x->value[i];                                                    \
    }                                                                                                                  \
    INLINE void V##_arow_all(real *W, real *U, size_t stride, const struct vec *x, const real *c, const real *b,       \
                             bool dense)                                                                               \
    {                                                                                                                  \
        V step = *(const V *)c, shrink = *(const V *)b;                                                                \
        for (size_t i = x->n; i-- > 0;) {                                                                              \
            V *w = (V *)ROW(W, i), *u = (V *)ROW(U, i);                                                                \
            V ux = *u * (real)x->value[i];                                                                             \
            *w += step * ux;                                                                                           \
            *u -= shrink * (ux * ux);                                                                                  \
        }                                                                                                              \
    }

/* Division is the dearest operation by far, so four entries share one: 1/a = b c d / (a b c d). The divisors are at
 * least 1, and far from where a product of four of them could overflow. V may be a vector or a single number. */
#define QUARTET 4
#define DEFINE_SHARPEN(V)                                                                                              \
    INLINE V V##_sharpen_step(real *W, const real *U, V step, V more, real v)                                          \
    {                                                                                                                  \
        V ux = *(const V *)U * v;                                                                                      \
        *(V *)W += step * ux;                                                                                          \
        return 1 + more * ux * v;                                                                                      \
    }                                                                                                                  \
    INLINE void V##_sharpen_all(real *W, real *U, size_t stride, const struct vec *x, const real *c, const real *p,    \
                                bool dense)                                                                            \
    {                                                                                                                  \
        V step = *(const V *)c, more = *(const V *)p, by[QUARTET];                                                     \
        size_t i = x->n;                                                                                               \
        for (; i >= QUARTET; i -= QUARTET) {                                                                           \
            for (size_t a = 0; a < QUARTET; a++)                                                                       \
                by[a] = V##_sharpen_step(ROW(W, i - 1 - a), ROW(U, i - 1 - a), step, more, x->value[i - 1 - a]);       \
            V first = by[0] * by[1], second = by[2] * by[3], all = 1 / (first * second);                               \
            first *= all;                                                                                              \
            second *= all;                                                                                             \
            *(V *)ROW(U, i - 1) *= second * by[1];                                                                     \
            *(V *)ROW(U, i - 2) *= second * by[0];                                                                     \
            *(V *)ROW(U, i - 3) *= first * by[3];                                                                      \
            *(V *)ROW(U, i - 4) *= first * by[2];                                                                      \
        }                                                                                                              \
        while (i-- > 0)                                                                                                \
            *(V *)ROW(U, i) *= 1 / V##_sharpen_step(ROW(W, i), ROW(U, i), step, more, x->value[i]);                    \
    }

#define DEFINE_NEWTON(V)                                                                                               \
    INLINE void V##_newton_all(const struct linear_newton *t, size_t k, size_t stride, const struct vec *x,            \
                               bool dense)                                                                             \
    {                                                                                                                  \
        V first = *(const V *)(t->first + k), second = *(const V *)(t->second + k), change = {0};                      \
        for (size_t i = x->n; i-- > 0;) {                                                                              \
            V *u = (V *)ROW(t->U + k, i), *b = (V *)ROW(t->B + k, i), *a = (V *)ROW(t->A + k, i);                      \
            real v = x->value[i];                                                                                      \
            V sum = *b + first * v, square = *a + second * (v * v), fresh = -sum / square;                             \
            change += (fresh - *u) * (fresh + *u);                                                                     \
            *b = sum;                                                                                                  \
            *a = square;                                                                                               \
            *u = fresh;                                                                                                \
        }                                                                                                              \
        *(V *)(t->change + k) = change;                                                                                \
    }

/* word_odds and log_near of linear.h, operation by operation, for as many classes as V has. */
#define DEFINE_ODDS(V)                                                                                                 \
    typedef float V##_floats __attribute__((vector_size(sizeof(V) / sizeof(real) * sizeof(float))));                   \
    typedef int32_t V##_bits __attribute__((vector_size(sizeof(V##_floats))));                                         \
    DEFINE_LOG_NEAR(V##_log_near, V##_floats, V##_bits)                                                                \
    INLINE V##_floats V##_at_least(V##_floats x, V##_floats least)                                                     \
    {                                                                                                                  \
        V##_bits more = x > least;                                                                                     \
        return (V##_floats)(((V##_bits)x & more) | ((V##_bits)least & ~more));                                         \
    }                                                                                                                  \
    INLINE V V##_odds_of(V c, real B, real before, V ratio)                                                            \
    {                                                                                                                  \
        V odds = (c + before) / (B - c + before) * ratio;                                                              \
        V##_floats logs = V##_log_near(__builtin_convertvector(odds, V##_floats));                                     \
        return __builtin_convertvector(V##_at_least(logs, (V##_floats){0} - 1), V);                                    \
    }                                                                                                                  \
    INLINE void V##_odds(const struct linear_odds *t, size_t k, size_t stride, const struct vec *x, real *out, int n,  \
                         bool dense)                                                                                   \
    {                                                                                                                  \
        V sum[SUMS_MAX];                                                                                               \
        const real *C = t->C + k;                                                                                      \
        for (int a = 0; a < n; a++)                                                                                    \
            sum[a] = (V){0};                                                                                           \
        for (size_t i = 0; i < x->n; i++) {                                                                            \
            if (!dense && i + AHEAD < x->n)                                                                            \
                V##_fetch(ROW(C, i + AHEAD), n);                                                                       \
            real y = t->share * (real)(x->value[i] < 0 ? -x->value[i] : x->value[i]);                                  \
            real B = *ROW(t->B, i) + y, before = t->prior * B + (real)1e-12;                                           \
            for (int a = 0; a < n; a++)                                                                                \
                sum[a] += y * V##_odds_of(((const V *)ROW(C, i))[a], B, before, ((const V *)(t->ratio + k))[a]);       \
        }                                                                                                              \
        for (int a = 0; a < n; a++)                                                                                    \
            ((V *)out)[a] = sum[a];                                                                                    \
    }

DEFINE_SHARPEN(real)
#define DEFINE_ALL(V)                                                                                                  \
    DEFINE_LOOPS(V)                                                                                                    \
    DEFINE_SHARPEN(V)                                                                                                  \
    DEFINE_ODDS(V)
DEFINE_ALL(vector16)
DEFINE_NEWTON(vector16)
#if LINEAR_VECTOR >= 32
DEFINE_ALL(vector32)
DEFINE_NEWTON(vector32)
#endif
#if LINEAR_VECTOR >= 64
DEFINE_ALL(vector64)
#endif

#define LANES(V) (sizeof(V) / sizeof(real))

/* Splits the lanes into pieces of a few vectors, largest first, and hands each to CALL(type, n, offset, dense). Behind
 * the widest vectors there is at most one of each narrower type left. */
#define PIECES(V, CALL, n, dense)                                                                                      \
    for (; ((n) == 1 || sizeof(V) == LINEAR_VECTOR) && lanes - k >= (n)*LANES(V); k += (n)*LANES(V))                   \
        CALL(V, n, k, dense);
/* Two halves rather than one vector that is left over. */
#define KEPT_PIECES(V, CALL, n, dense)                                                                                 \
    if ((n)*CHAINS <= KEPT && lanes - k != ((n) + 1) * LANES(V))                                                       \
    PIECES(V, CALL, n, dense)
#define KEPT_PIECES_OF(V, CALL, dense)                                                                                 \
    KEPT_PIECES(V, CALL, 6, dense)                                                                                     \
    KEPT_PIECES(V, CALL, 5, dense)                                                                                     \
    KEPT_PIECES(V, CALL, 4, dense)                                                                                     \
    KEPT_PIECES(V, CALL, 3, dense)                                                                                     \
    KEPT_PIECES(V, CALL, 2, dense)                                                                                     \
    PIECES(V, CALL, 1, dense)
#define PIECES_OF(V, CALL, dense)                                                                                      \
    PIECES(V, CALL, SUMS_MAX, dense)                                                                                   \
    PIECES(V, CALL, 10, dense)                                                                                         \
    PIECES(V, CALL, 9, dense)                                                                                          \
    PIECES(V, CALL, 8, dense)                                                                                          \
    PIECES(V, CALL, 7, dense)                                                                                          \
    PIECES(V, CALL, 6, dense)                                                                                          \
    PIECES(V, CALL, 5, dense)                                                                                          \
    PIECES(V, CALL, 4, dense)                                                                                          \
    KEPT_PIECES_OF(V, CALL, dense)
#define SINGLES_OF(V, CALL, dense)                                                                                     \
    for (; lanes - k >= LANES(V); k += LANES(V))                                                                       \
        CALL(V, 1, k, dense);
#if LINEAR_VECTOR >= 64
#define WIDEST(OF, CALL, dense) OF(vector64, CALL, dense)
#else
#define WIDEST(OF, CALL, dense)
#endif
#if LINEAR_VECTOR >= 32
#define MIDDLE(OF, CALL, dense) OF(vector32, CALL, dense)
#else
#define MIDDLE(OF, CALL, dense)
#endif
#define EACH_TYPE(OF, CALL, dense)                                                                                     \
    size_t k = 0;                                                                                                      \
    WIDEST(OF, CALL, dense)                                                                                            \
    MIDDLE(OF, CALL, dense)                                                                                            \
    OF(vector16, CALL, dense)
/* Division takes longer the wider the vectors are, so that narrow ones lose nothing. */
#define EACH_DIVIDING(OF, CALL, dense)                                                                                 \
    size_t k = 0;                                                                                                      \
    MIDDLE(OF, CALL, dense)                                                                                            \
    OF(vector16, CALL, dense)
#define DENSE_OR_SPARSE(EACH, OF, CALL)                                                                                \
    if (x->index) {                                                                                                    \
        EACH(OF, CALL, false)                                                                                          \
    } else {                                                                                                           \
        EACH(OF, CALL, true)                                                                                           \
    }

/* Rows are best read whole, but few of them in pieces that leave room for all chains at once. */
static void scores(const real *W, size_t stride, size_t lanes, const struct vec *x, real *out)
{
#define CALL(T, n, k, dense) T##_scores(W + k, stride, x, out + k, n, dense)
    if (x->index && x->n < FEW) {
        EACH_TYPE(KEPT_PIECES_OF, CALL, false)
    } else {
        DENSE_OR_SPARSE(EACH_TYPE, PIECES_OF, CALL)
    }
#undef CALL
}

static void scores_widths(const struct linear_tables *t, const struct vec *x, real *out, real *q)
{
    size_t lanes = t->lanes;
#define CALL(T, n, k, dense) T##_scores_widths(t->W + k, t->V + k, t->stride, x, out + k, q + k, dense)
    DENSE_OR_SPARSE(EACH_TYPE, SINGLES_OF, CALL)
#undef CALL
}

static void add_all(real *W, size_t stride, size_t lanes, const struct vec *x, const real *c)
{
#define CALL(T, n, k, dense) T##_add_all(W + k, stride, x, c + k, n, dense)
    DENSE_OR_SPARSE(EACH_TYPE, PIECES_OF, CALL)
#undef CALL
}

static void arow_all(const struct linear_tables *t, const struct vec *x, const real *c, const real *b)
{
    size_t lanes = t->lanes;
#define CALL(T, n, k, dense) T##_arow_all(t->W + k, t->V + k, t->stride, x, c + k, b + k, dense)
    DENSE_OR_SPARSE(EACH_TYPE, SINGLES_OF, CALL)
#undef CALL
}

static void sharpen_all(const struct linear_tables *t, const struct vec *x, const real *c, const real *p)
{
    size_t lanes = t->lanes;
#define CALL(T, n, k, dense) T##_sharpen_all(t->W + k, t->V + k, t->stride, x, c + k, p + k, dense)
    DENSE_OR_SPARSE(EACH_TYPE, SINGLES_OF, CALL)
#undef CALL
}

static void sharpen_one(real *w, real *v, size_t stride, const struct vec *x, real c, real p)
{
    if (x->index)
        real_sharpen_all(w, v, stride, x, &c, &p, false);
    else
        real_sharpen_all(w, v, stride, x, &c, &p, true);
}

static void newton_all(const struct linear_newton *t, size_t stride, size_t lanes, const struct vec *x)
{
#define CALL(T, n, k, dense) T##_newton_all(t, k, stride, x, dense)
    DENSE_OR_SPARSE(EACH_DIVIDING, SINGLES_OF, CALL)
#undef CALL
}

static void odds(const struct linear_odds *t, size_t stride, size_t lanes, const struct vec *x, real *out)
{
#define CALL(T, n, k, dense) T##_odds(t, k, stride, x, out + k, n, dense)
    DENSE_OR_SPARSE(EACH_TYPE, KEPT_PIECES_OF, CALL)
#undef CALL
}

#define PART3(bytes) vector##bytes
#define PART2(bytes) PART3(bytes)
#define PART PART2(LINEAR_VECTOR) /* the widest vector */
#define PARTS (64 / LINEAR_VECTOR)
typedef __typeof__((PART){0} > (PART){0}) part_bits; /* all of them set where a comparison holds */

/* Where it holds the first, else the second: compilers do not make choices of sums on their own, and branches that are
 * taken at random cost ten times as much. */
INLINE PART chosen(part_bits holds, PART yes, PART no)
{
    return (PART)(((part_bits)yes & holds) | ((part_bits)no & ~holds));
}

/* 1/2 with the sign of t. */
INLINE PART half_of(PART t)
{
    const part_bits sign = (part_bits)((PART){0} * -1);
    return (PART)(((part_bits)t & sign) | (part_bits)((PART){0} + (real)0.5));
}

/* sin(2 pi t) for |t| <= 3/4: folded to |t| <= 1/4, then its series. */
INLINE PART wave(PART t)
{
    t = chosen(t > (real)0.5, t - 1, t);
    t = chosen((t > (real)0.25) | (t < (real)-0.25), half_of(t) - t, t);
    PART s = t * t;
    PART high = (real)81.6052492760750 +
                s * ((real)-76.7058597530614 + s * ((real)42.0586939448620 - s * (real)15.0946425768230));
    return t * ((real)6.28318530717959 + s * ((real)-41.3417022403997 + s * high));
}

static void waves(const real *x, size_t n, real c, real *ret_cos, real *ret_sin)
{
    for (size_t i = 0; i < n; i += LANES(PART)) {
        PART turns = *(const PART *)(x + i) * (real)0.159154943091895;
        part_bits whole = __builtin_convertvector(turns + half_of(turns), part_bits);
        PART part = turns - __builtin_convertvector(whole, PART);
        *(PART *)(ret_cos + i) = c * wave(part + (real)0.25);
        *(PART *)(ret_sin + i) = c * wave(part);
    }
}

/* Of the lanes of 64 bytes, each of which is a chain. */
INLINE real parts_sum(const PART *part)
{
    vector16 quarter[4];
    real sum = 0;
    memcpy(quarter, part, sizeof quarter);
    quarter[0] = (quarter[0] + quarter[1]) + (quarter[2] + quarter[3]);
    for (size_t a = 0; a < 16 / sizeof(real); a++)
        sum += quarter[0][a];
    return sum;
}

/* What does not fill the chains comes last. */
static real row_dot(const real *row, const real *c, size_t n)
{
    PART part[PARTS] = {{0}};
    real rest = 0;
    size_t i = 0;
    for (; i + 64 / sizeof(real) <= n; i += 64 / sizeof(real))
        for (size_t a = 0; a < PARTS; a++)
            part[a] += ((const PART *)(row + i))[a] * ((const PART *)(c + i))[a];
    for (; i < n; i++)
        rest += row[i] * c[i];
    return parts_sum(part) + rest;
}

static void dots(const real *W, size_t stride, size_t n, size_t rows, const real *c, real *out)
{
    for (size_t j = 0; j < rows; j++)
        out[j] = row_dot(W + j * stride, c, n);
}

typedef int16_t part_whole __attribute__((vector_size(LANES(PART) * sizeof(int16_t)), aligned(2), may_alias));

static real row_dot_whole(const int16_t *row, const real *c, size_t n)
{
    PART part[PARTS] = {{0}};
    for (size_t i = 0; i < n; i += 64 / sizeof(real))
        for (size_t a = 0; a < PARTS; a++)
            part[a] += __builtin_convertvector(((const part_whole *)(row + i))[a], PART) * ((const PART *)(c + i))[a];
    return parts_sum(part);
}

static void dots_whole(const int16_t *W, size_t n, size_t rows, const real *c, real *out)
{
    for (size_t j = 0; j < rows; j++)
        out[j] = row_dot_whole(W + j * n, c, n);
}

typedef uint16_t turns __attribute__((vector_size(32), aligned(16), may_alias));
#define TURNS 8 /* vectors of a row that are added up at once: half of the registers */

/* To the nearest whole number: it is what the last bits of a sum with 1.5 * 2^23 tell. More than 16 of them are not
 * wanted, since whole turns are left out anyway. */
static void steps_write(const float *restrict x, size_t n, float steps, int16_t *restrict ret)
{
    for (size_t i = 0; i < n; i++) {
        float sum = x[i] * steps + 12582912;
        int32_t bits;
        memcpy(&bits, &sum, sizeof bits);
        ret[i] = (int16_t)bits;
    }
}

INLINE void turns_add(const struct linear_angles *t, const struct vec *x, size_t from, real *out, size_t vectors,
                      bool dense)
{
    turns sum[TURNS] = {{0}};
    for (size_t i = 0; i < x->n; i++) {
        const turns *row = (const turns *)(const void *)(t->D + (dense ? i : x->index[i]) * t->n + from);
        for (size_t a = 0; a < vectors; a++)
            sum[a] += row[a] * (uint16_t)t->room[i];
    }
    for (size_t i = 0; i < vectors * sizeof(turns) / sizeof(int16_t); i++)
        out[i] = ((const int16_t *)sum)[i] * (real)(2 * M_PI / 65536);
}

static void angles(const struct linear_angles *t, const struct vec *x, real *out)
{
    const size_t one = sizeof(turns) / sizeof *t->D, whole = TURNS * one;
    size_t i = 0;
    steps_write(x->value, x->n, t->steps, t->room);
    for (; i + whole <= t->n; i += whole)
        if (x->index)
            turns_add(t, x, i, out + i, TURNS, false);
        else
            turns_add(t, x, i, out + i, TURNS, true);
    for (; i < t->n; i += one)
        turns_add(t, x, i, out + i, 1, !x->index);
}

typedef double sums __attribute__((vector_size(4 * sizeof(double))));

/* The intrinsic is for compilers that take convertvector to pieces. */
INLINE sums four(const float *p)
{
#if LINEAR_VECTOR >= 32
    return (sums)_mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    typedef float numbers __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float)), may_alias));
    return __builtin_convertvector(*(const numbers *)p, sums);
#endif
}

/* In eight chains; what does not fill them goes to the first. */
static double dot(const float *x, const float *y, size_t n)
{
    sums low = {0}, high = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        low += four(x + i) * four(y + i);
        high += four(x + i + 4) * four(y + i + 4);
    }
    for (; i < n; i++)
        low[0] += (double)x[i] * y[i];
    return ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
}

/* Without a branch per number: magnitudes as whole numbers are ordered, and NaN is beyond them all. */
static bool is_valid(const uint32_t *index, const float *value, size_t n)
{
    const float max = HUNCH_MAX_VALUE;
    uint32_t largest = 0, falls = 0, limit;
    memcpy(&limit, &max, sizeof limit);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits &= 0x7fffffffu;
        largest = bits > largest ? bits : largest;
    }
    if (index)
        for (size_t i = 1; i < n; i++)
            falls |= (uint32_t)(index[i] <= index[i - 1]);
    return largest <= limit && !falls;
}

#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

/* scale_kernels.c */
void JOIN(scale_words, LINEAR_ISA)(const struct scale *c, const hunch_vec *x, float *ret);
void JOIN(scale_numbers, LINEAR_ISA)(const struct scale *c, const hunch_vec *x, float *ret);
size_t JOIN(scale_nonzeros, LINEAR_ISA)(const float *row, size_t n, uint32_t *ret_index, float *ret_value);

extern const struct linear_ops JOIN(linear_ops, LINEAR_ISA);
const struct linear_ops JOIN(linear_ops, LINEAR_ISA) = {
    .name = TEXT(LINEAR_ISA),
    .scores = scores,
    .scores_widths = scores_widths,
    .add_all = add_all,
    .arow_all = arow_all,
    .sharpen_all = sharpen_all,
    .sharpen_one = sharpen_one,
    .newton_all = newton_all,
    .odds = odds,
    .dots = dots,
    .dots_whole = dots_whole,
    .angles = angles,
    .waves = waves,
    .dot = dot,
    .is_valid = is_valid,
    .words = JOIN(scale_words, LINEAR_ISA),
    .columns = JOIN(scale_numbers, LINEAR_ISA),
    .nonzeros = JOIN(scale_nonzeros, LINEAR_ISA),
};

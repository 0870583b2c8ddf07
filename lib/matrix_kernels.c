/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of matrix.h. This file is compiled once per instruction set, with MATRIX_ISA naming the set and
 * MATRIX_VECTOR its vector in bytes: 64 for AVX-512, 32 for AVX2 with FMA, 16 for plain C on any machine.
 *
 * Products work on panels of ROWS rows, one strip of matrix.h or two. Below the diagonal a tile T of block row I and
 * block column J serves twice: g_I += T x_J and g_J += T' x_I. The sums of the first kind stay in registers along the
 * whole panel, those of the second kind are one load and one store per panel; every number of S is read once.
 */
#include "matrix.h"

#include <assert.h>
#include <string.h>

#ifndef MATRIX_ISA
#define MATRIX_ISA plain
#define MATRIX_VECTOR 16
#endif

#if MATRIX_VECTOR > 16
#include <immintrin.h>
#endif

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

#define INLINE static inline __attribute__((always_inline))
#define STRIP MATRIX_STRIP
#define BLOCK MATRIX_BLOCK
#define TILE MATRIX_TILE
#define LANES ((int)(MATRIX_VECTOR / sizeof(real)))
#define ROWS (LANES > STRIP ? BLOCK : STRIP) /* that a product takes together: their sums fill whole vectors */
#define ALL ((1u << ROWS) - 1)               /* as bits */
#define UNROLL _Pragma("GCC unroll 16")

typedef real vec __attribute__((vector_size(MATRIX_VECTOR)));
typedef real loose __attribute__((vector_size(MATRIX_VECTOR), aligned(sizeof(real)), may_alias));
typedef int32_t mask __attribute__((vector_size(MATRIX_VECTOR)));

INLINE vec load(const real *p)
{
    return *(const loose *)p;
}

INLINE void store(real *p, vec v)
{
    *(loose *)p = v;
}

INLINE vec splat(real v)
{
    return v - (vec){0};
}

/* a b + c, rounded once where the set can: said outright, so that it never depends on the compiler. */
INLINE vec madd(vec a, vec b, vec c)
{
#if MATRIX_VECTOR == 64
    if (sizeof(real) == sizeof(float))
        return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif MATRIX_VECTOR == 32
    if (sizeof(real) == sizeof(float))
        return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

/* Keeps v in a register: without it, compilers may load from memory once per use. */
#ifdef __x86_64__
#define HOLD(v) __asm__("" : "+v"(v))
#else
#define HOLD(v) (void)0
#endif

INLINE size_t strip_at(size_t I, size_t half)
{
    return matrix_size(I * BLOCK) + half * (I + 1) * TILE;
}

/* Row r of a tile; where r goes on into the block row's second strip, that is `step` numbers further. */
INLINE const real *tile_row(const real *tile, size_t step, int r)
{
    return tile + (size_t)(r / STRIP) * step + r % STRIP * BLOCK;
}

/*
 * Sums across lanes. pair(a, b, h) cuts both vectors in pieces of h 32-bit words and adds each odd piece to the even
 * one before it; a's and b's sums come to stand in turn. Three levels of it turn eight vectors into one vector of the
 * eight sums, in order.
 */
#define WORDS (MATRIX_VECTOR / 4)
#define WORD(p, h, o) ((p) / (h) % 2 * WORDS + (p) / (2 * (h)) * (2 * (h)) + (p) % (h) + (o))
#define WORDS4(p, h, o) WORD(p, h, o), WORD(p + 1, h, o), WORD(p + 2, h, o), WORD(p + 3, h, o)
#if MATRIX_VECTOR == 64
#define MASK(h, o) WORDS4(0, h, o), WORDS4(4, h, o), WORDS4(8, h, o), WORDS4(12, h, o)
#elif MATRIX_VECTOR == 32
#define MASK(h, o) WORDS4(0, h, o), WORDS4(4, h, o)
#else
#define MASK(h, o) WORDS4(0, h, o)
#endif
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif
#define PAIR(a, b, h) ((vec)SHUFFLE((mask)(a), (mask)(b), MASK(h, 0)) + (vec)SHUFFLE((mask)(a), (mask)(b), MASK(h, h)))

INLINE vec pair(vec a, vec b, int h)
{
#if MATRIX_VECTOR == 64
    if (h == 8)
        return PAIR(a, b, 8);
#endif
#if MATRIX_VECTOR >= 32
    if (h == 4)
        return PAIR(a, b, 4);
#endif
    return h == 2 ? PAIR(a, b, 2) : PAIR(a, b, 1);
}

INLINE vec four(const vec *a, int apart, int h)
{
    return pair(pair(a[0], a[2 * apart], h), pair(a[apart], a[3 * apart], h), h / 2);
}

INLINE vec eight(const vec *a, int apart, int h)
{
    return pair(four(a, 2 * apart, h), four(a + apart, 2 * apart, h), h / 4);
}

/* g[r] += the sum of a[r]'s lanes */
INLINE void sums_add(const vec a[ROWS], real *g)
{
    const int h = WORDS / 2;
    UNROLL
    for (int r = 0; r < ROWS; r += LANES) {
        vec sum;
        if (LANES == 16)
            sum = pair(eight(a, 2, h), eight(a + 1, 2, h), h / 8);
        else if (LANES == 8)
            sum = eight(a + r, 1, h);
        else if (LANES == 4)
            sum = four(a + r, 1, h);
        else
            sum = pair(a[r], a[r + 1], h);
        store(g + r, load(g + r) + sum);
    }
}

/* sum_r += T x_J */
INLINE void tile_rows(const real *tile, size_t step, const real *x, vec sum[ROWS])
{
    UNROLL
    for (int v = 0; v < BLOCK; v += LANES) {
        vec xv = load(x + v);
        UNROLL
        for (int r = 0; r < ROWS; r++)
            sum[r] = madd(load(tile_row(tile, step, r) + v), xv, sum[r]);
    }
}

/* sum_r += T x_J and g_J += T' x_I */
INLINE void tile_both(const real *tile, size_t step, const vec x[ROWS], const real *xJ, real *g, vec sum[ROWS])
{
    UNROLL
    for (int v = 0; v < BLOCK; v += LANES) {
        vec xv = load(xJ + v), even = load(g + v), odd = {0};
        UNROLL
        for (int r = 0; r < ROWS; r += 2) {
            vec s = load(tile_row(tile, step, r) + v), t = load(tile_row(tile, step, r + 1) + v);
            HOLD(s);
            HOLD(t);
            even = madd(s, x[r], even);
            odd = madd(t, x[r + 1], odd);
            sum[r] = madd(s, xv, sum[r]);
            sum[r + 1] = madd(t, xv, sum[r + 1]);
        }
        store(g + v, even + odd);
    }
}

/* Columns v .. of T' x_I, from those rows alone that x has (bit r of rows: x_I[r] is not zero) */
INLINE vec tile_columns(const real *tile, size_t step, unsigned rows, const real *x, int v)
{
    vec even = {0}, odd = {0};
    if (rows == ALL) {
        UNROLL
        for (int r = 0; r < ROWS; r += 2) {
            even = madd(load(tile_row(tile, step, r) + v), splat(x[r]), even);
            odd = madd(load(tile_row(tile, step, r + 1) + v), splat(x[r + 1]), odd);
        }
        return even + odd;
    }
    for (; rows; rows &= rows - 1) {
        int r = __builtin_ctz(rows);
        even = madd(load(tile_row(tile, step, r) + v), splat(x[r]), even);
    }
    return even;
}

/* g_J += T' x_I */
INLINE void tile_columns_add(const real *tile, size_t step, unsigned rows, const real *x, real *g)
{
    for (int v = 0; v < BLOCK; v += LANES)
        store(g + v, load(g + v) + tile_columns(tile, step, rows, x, v));
}

/* Rows where x is zero: only g_I += T x_J, for the tiles where x is not */
static void panel_rows(const real *tile, size_t I, const struct matrix_vec *x, real *gI)
{
    size_t step = (I + 1) * TILE;
    vec sum[ROWS];
    UNROLL
    for (int r = 0; r < ROWS; r++)
        sum[r] = (vec){0};
    for (size_t b = 0; b < x->blocks && x->block[b] < I; b++)
        tile_rows(tile + x->block[b] * (size_t)TILE, step, x->x + x->block[b] * (size_t)BLOCK, sum);
    sums_add(sum, gI);
}

/* Rows from i on where x is not zero, namely at the bits of `rows`; where x_J is zero, only those are read */
static void panel_both(const real *tile, size_t I, const struct matrix_vec *x, unsigned rows, size_t i, real *g)
{
    const real *xI = x->x + i;
    size_t step = (I + 1) * TILE;
    vec sum[ROWS], xr[ROWS];
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        sum[r] = (vec){0};
        xr[r] = splat(xI[r]);
    }
    for (size_t J = 0; J < I; J++, tile += TILE) {
        if (x->rows[J])
            tile_both(tile, step, xr, x->x + J * BLOCK, g + J * BLOCK, sum);
        else
            tile_columns_add(tile, step, rows, xI, g + J * BLOCK);
    }
    sums_add(sum, g + i);
    tile_columns_add(tile, step, rows, xI, g + I * BLOCK);
}

/* What rows i to i + ROWS - 1 give to g = S x */
static void panel_mul(const real *m, size_t i, const struct matrix_vec *x, real *g)
{
    size_t I = i / BLOCK;
    const real *tile = m + strip_at(I, i / STRIP % 2);
    unsigned rows = x->rows[I] >> i % BLOCK & ALL;
    if (rows)
        panel_both(tile, I, x, rows, i, g);
    else
        panel_rows(tile, I, x, g + i);
}

static real dot(const struct matrix_vec *x, const real *g)
{
    vec sum = {0};
    for (size_t b = 0; b < x->blocks; b++)
        for (int v = 0; v < BLOCK; v += LANES)
            sum = madd(load(x->x + x->block[b] * (size_t)BLOCK + v), load(g + x->block[b] * (size_t)BLOCK + v), sum);
    real q = 0;
    for (int l = 0; l < LANES; l++)
        q += sum[l];
    return q;
}

static real mul(const real *m, const struct matrix_vec *x, real *g)
{
    memset(g, 0, matrix_pad(x->d) * sizeof *g);
    for (size_t i = 0; i < matrix_pad(x->d); i += ROWS)
        panel_mul(m, i, x, g);
    return dot(x, g);
}

/*
 * The product in double, of S and low together. Where A's eigenvalues are far apart, the error of a float product is
 * what remains of the drift.
 */
#define WIDE ((int)(MATRIX_VECTOR / sizeof(double)))

typedef double wide __attribute__((vector_size(MATRIX_VECTOR)));
typedef double loose_wide __attribute__((vector_size(MATRIX_VECTOR), aligned(8), may_alias));
typedef real narrow
    __attribute__((vector_size(MATRIX_VECTOR / sizeof(double) * sizeof(real)), aligned(sizeof(real)), may_alias));

/* The intrinsics are for compilers that take convertvector to pieces. */
INLINE wide load_wide(const real *p)
{
#if MATRIX_VECTOR == 64
    if (sizeof(real) == sizeof(float))
        return (wide)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)p));
#elif MATRIX_VECTOR == 32
    if (sizeof(real) == sizeof(float))
        return (wide)_mm256_cvtps_pd(_mm_loadu_ps((const float *)p));
#endif
    return __builtin_convertvector(*(const narrow *)p, wide);
}

INLINE wide madd_wide(wide a, wide b, wide c)
{
#if MATRIX_VECTOR == 64
    return (wide)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif MATRIX_VECTOR == 32
    return (wide)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

/* sum_r += T x_J and g_J += T' x_I */
INLINE void tile_exact(const real *tile, const real *low, const wide x[STRIP], const real *xJ, double *g,
                       wide sum[STRIP])
{
    for (int v = 0; v < BLOCK; v += WIDE) {
        wide xv = load_wide(xJ + v), even = *(loose_wide *)(g + v), odd = {0};
        UNROLL
        for (int r = 0; r < STRIP; r += 2) {
            wide s = load_wide(tile + r * BLOCK + v) + load_wide(low + r * BLOCK + v);
            wide t = load_wide(tile + (r + 1) * BLOCK + v) + load_wide(low + (r + 1) * BLOCK + v);
            even = madd_wide(s, x[r], even);
            odd = madd_wide(t, x[r + 1], odd);
            sum[r] = madd_wide(s, xv, sum[r]);
            sum[r + 1] = madd_wide(t, xv, sum[r + 1]);
        }
        *(loose_wide *)(g + v) = even + odd;
    }
}

static void strip_exact(const real *m, const real *low, size_t i, const struct matrix_vec *x, double *g)
{
    size_t I = i / BLOCK, at = strip_at(I, i / STRIP % 2);
    unsigned rows = x->rows[I] >> i % BLOCK & ((1u << STRIP) - 1);
    wide sum[STRIP], unused[STRIP], xr[STRIP];
    UNROLL
    for (int r = 0; r < STRIP; r++) {
        sum[r] = unused[r] = (wide){0};
        xr[r] = (double)x->x[i + r] - (wide){0};
    }
    for (size_t J = 0; J < I; J++)
        if (rows || x->rows[J])
            tile_exact(m + at + J * TILE, low + at + J * TILE, xr, x->x + J * BLOCK, g + J * BLOCK, sum);
    if (rows)
        tile_exact(m + at + I * TILE, low + at + I * TILE, xr, x->x + I * BLOCK, g + I * BLOCK, unused);
    UNROLL
    for (int r = 0; r < STRIP; r++)
        for (int l = 0; l < WIDE; l++)
            g[i + r] += sum[r][l];
}

static double mul_exact(const real *m, const real *low, const struct matrix_vec *x, real *g, double *scratch)
{
    size_t pad = matrix_pad(x->d);
    double q = 0;
    if (!low)
        return mul(m, x, g);
    memset(scratch, 0, pad * sizeof *scratch);
    for (size_t i = 0; i < pad; i += STRIP)
        strip_exact(m, low, i, x, scratch);
    for (size_t i = 0; i < pad; i++) {
        q += scratch[i] * x->x[i];
        g[i] = (real)scratch[i];
    }
    return q;
}

/* x'Sx of one block row: twice what stands below the diagonal, once what stands on it */
static vec quad_block(const real *m, size_t b, const struct matrix_vec *x)
{
    vec below = {0}, on = {0};
    size_t I = x->block[b], step = (I + 1) * TILE;
    for (size_t i = I * BLOCK; i < (I + 1) * BLOCK; i += ROWS) {
        const real *tile = m + strip_at(I, i / STRIP % 2);
        unsigned rows = x->rows[I] >> i % BLOCK & ALL;
        for (size_t a = 0; a < b && rows; a++) {
            size_t J = x->block[a];
            for (int v = 0; v < BLOCK; v += LANES)
                below = madd(tile_columns(tile + J * TILE, step, rows, x->x + i, v), load(x->x + J * BLOCK + v), below);
        }
        for (int v = 0; v < BLOCK && rows; v += LANES)
            on = madd(tile_columns(tile + I * TILE, step, rows, x->x + i, v), load(x->x + I * BLOCK + v), on);
    }
    return below + below + on;
}

static void quads(const real *m, size_t stride, size_t n, const struct matrix_vec *x, real *q)
{
    for (size_t k = 0; k < n; k++) {
        vec sum = {0};
        for (size_t b = 0; b < x->blocks; b++)
            sum += quad_block(m + k * stride, b, x);
        q[k] = 0;
        for (int l = 0; l < LANES; l++)
            q[k] += sum[l];
    }
}

/*
 * A tile takes n updates: T += sum_k a_k g_k', with a_k the strip's rows of c_k g_k; of plain g_k on the diagonal,
 * where c_k is multiplied in last, so that both triangles round alike: a difference between them would grow. With
 * low, what rounding drops goes there and comes back with the next update. (Exact where the entry is larger than the
 * step, else as good as the step.)
 */
INLINE void tile_update(real *tile, real *low, int diagonal, size_t n, const vec (*a)[STRIP], const real *c,
                        const real *g, size_t stride)
{
    for (int v = 0; v < BLOCK; v += LANES) {
        vec s[STRIP];
        UNROLL
        for (int r = 0; r < STRIP; r++)
            s[r] = load((low ? low : tile) + r * BLOCK + v);
        for (size_t k = 0; k < n; k++) {
            vec gv = load(g + k * stride + v);
            UNROLL
            for (int r = 0; r < STRIP; r++)
                s[r] = diagonal ? madd(splat(c[k]), a[k][r] * gv, s[r]) : madd(a[k][r], gv, s[r]);
        }
        UNROLL
        for (int r = 0; r < STRIP; r++) {
            if (low) {
                vec step = s[r], old = load(tile + r * BLOCK + v);
                s[r] = old + step;
                store(low + r * BLOCK + v, step - (s[r] - old));
            }
            store(tile + r * BLOCK + v, s[r]);
        }
    }
}

INLINE void strip_update(real *strip, real *low, size_t i, size_t n, const real *c, const real *g, size_t stride)
{
    size_t I = i / BLOCK;
    vec a[MATRIX_RANK][STRIP];
    int any = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < STRIP; r++) {
            real v = g[k * stride + i + r];
            a[k][r] = splat(c[k] * v);
            any |= v != 0;
        }
    for (size_t J = 0; J < I && any; J++) /* not for features that have not met any of these yet */
        tile_update(strip + J * TILE, low ? low + J * TILE : NULL, 0, n, a, c, g + J * BLOCK, stride);
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < STRIP; r++)
            a[k][r] = splat(g[k * stride + i + r]);
    tile_update(strip + I * TILE, low ? low + I * TILE : NULL, 1, n, a, c, g + I * BLOCK, stride);
}

/* Rows i to i + STRIP - 1. The cases apart, so that each has its own straight loops. */
static void strip_update_any(real *m, real *low, size_t i, size_t n, const real *c, const real *g, size_t stride)
{
    size_t at = strip_at(i / BLOCK, i / STRIP % 2);
    if (low)
        strip_update(m + at, low + at, i, n, c, g, stride);
    else if (n == 1)
        strip_update(m + at, NULL, i, 1, c, g, stride);
    else
        strip_update(m + at, NULL, i, n, c, g, stride);
}

static void update(real *m, real *low, size_t d, size_t n, const real *c, const real *g, size_t stride)
{
    assert(n <= MATRIX_RANK);
    for (size_t i = 0; i < matrix_pad(d); i += STRIP)
        strip_update_any(m, low, i, n, c, g, stride);
}

static real update_mul(real *m, real *low, real c, const real *g, const struct matrix_vec *x, real *h)
{
    memset(h, 0, matrix_pad(x->d) * sizeof *h);
    for (size_t i = 0; i < matrix_pad(x->d); i += STRIP) {
        strip_update_any(m, low, i, 1, &c, g, 0);
        if ((i + STRIP) % ROWS == 0)
            panel_mul(m, i + STRIP - ROWS, x, h);
    }
    return dot(x, h);
}

extern const struct matrix_ops JOIN(matrix_ops, MATRIX_ISA);
const struct matrix_ops JOIN(matrix_ops, MATRIX_ISA) = {TEXT(MATRIX_ISA), mul, mul_exact, quads, update, update_mul};

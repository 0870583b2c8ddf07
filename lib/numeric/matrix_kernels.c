/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heavy loops of matrix.h. This file is compiled once per instruction set, with MATRIX_ISA naming the set and
 * MATRIX_VECTOR its vector in bytes: 64 for AVX-512, 32 for AVX2, 16 for plain C on any machine.
 *
 * All sets give the same bits, so that a model does not tell where it was made: sums run in a fixed number of chains
 * (CHAINS in products, one per column of a block in quadratic forms), which are one vector of AVX-512 or several of
 * the others, and nothing is fused: a fused multiply-add rounds once where plain C rounds twice.
 *
 * Below the diagonal a tile T of block row I and block column J serves a product twice: g_I += T x_J and
 * g_J += T' x_I. The sums of the first kind stay in registers along the whole strip, those of the second kind are one
 * load and one store per tile; every number of S is read once.
 */
#include "numeric/matrix.h"

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
#define UNROLL _Pragma("GCC unroll 16")

typedef real vec __attribute__((vector_size(MATRIX_VECTOR)));
typedef real loose __attribute__((vector_size(MATRIX_VECTOR), aligned(sizeof(real)), may_alias));

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

INLINE size_t strip_at(size_t I, size_t half)
{
    return matrix_at(I) + half * (I + 1) * TILE;
}

/*
 * Products. S x is summed in double: where A's eigenvalues are far apart, the error of a float product is what would
 * remain of the drift. Of low, which is a rounding error of S, a float sum is as good; it is gathered in g.
 */
#define CHAINS 8 /* of a row's sum */
#define GROUP 4  /* rows whose products with x_I are added up before they go to g_J */
#define GROUPS (STRIP / GROUP)
#define WIDE ((int)(MATRIX_VECTOR / sizeof(double)))
#define VECTORS (CHAINS / WIDE) /* that hold the chains */

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

/* a b + c. A product of two floats is exact in double, so that fusing the addition changes no bit. */
INLINE wide madd_wide(wide a, wide b, wide c)
{
#if MATRIX_VECTOR == 64
    if (sizeof(real) == sizeof(float))
        return (wide)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif MATRIX_VECTOR == 32
    if (sizeof(real) == sizeof(float))
        return (wide)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#endif
    return a * b + c;
}

/* Numbers of low: as many as CHAINS in a vector, if the set has such. */
#define PART_BYTES (MATRIX_VECTOR < CHAINS * (int)sizeof(real) ? MATRIX_VECTOR : CHAINS * (int)sizeof(real))
#define PART (PART_BYTES / (int)sizeof(real))
#define PARTS (CHAINS / PART)

typedef real part __attribute__((vector_size(PART_BYTES)));
typedef real loose_part __attribute__((vector_size(PART_BYTES), aligned(sizeof(real)), may_alias));

/* What GROUP rows of S gather along a strip. */
struct sums {
    wide sum[GROUP][VECTORS], x[GROUP];
    part low[GROUP][PARTS], x_low[GROUP];
};

/* sum_r += T x_J and g_J += T' x_I, for GROUP rows of a tile */
INLINE void tile_mul(struct sums *s, const real *tile, const real *xJ, double *g)
{
    UNROLL
    for (int v = 0; v < BLOCK; v += WIDE) {
        wide xv = load_wide(xJ + v), column = *(loose_wide *)(g + v);
        UNROLL
        for (int r = 0; r < GROUP; r++) {
            wide t = load_wide(tile + r * BLOCK + v), *sum = &s->sum[r][v / WIDE % VECTORS];
            column = madd_wide(t, s->x[r], column);
            *sum = madd_wide(t, xv, *sum);
        }
        *(loose_wide *)(g + v) = column;
    }
}

INLINE void tile_low(struct sums *s, const real *tile, const real *xJ, real *g)
{
    UNROLL
    for (int v = 0; v < BLOCK; v += PART) {
        part xv = *(const loose_part *)(xJ + v), t[GROUP];
        UNROLL
        for (int r = 0; r < GROUP; r++) {
            t[r] = *(const loose_part *)(tile + r * BLOCK + v);
            s->low[r][v / PART % PARTS] += t[r] * xv;
        }
        *(loose_part *)(g + v) += (t[0] * s->x_low[0] + t[1] * s->x_low[1]) + (t[2] * s->x_low[2] + t[3] * s->x_low[3]);
    }
}

#define CHAINS_SUM(c) ((((c)[0] + (c)[4]) + ((c)[2] + (c)[6])) + (((c)[1] + (c)[5]) + ((c)[3] + (c)[7])))

INLINE void sums_begin(struct sums *s, const real *x)
{
    UNROLL
    for (int r = 0; r < GROUP; r++) {
        s->x[r] = (double)x[r] - (wide){0};
        s->x_low[r] = x[r] - (part){0};
        UNROLL
        for (int c = 0; c < VECTORS; c++)
            s->sum[r][c] = (wide){0};
        UNROLL
        for (int c = 0; c < PARTS; c++)
            s->low[r][c] = (part){0};
    }
}

INLINE void sums_end(const struct sums *s, double *g, real *g_low)
{
    for (int r = 0; r < GROUP; r++) {
        double chain[CHAINS];
        real chain_low[CHAINS];
        memcpy(chain, s->sum[r], sizeof chain);
        memcpy(chain_low, s->low[r], sizeof chain_low);
        g[r] += CHAINS_SUM(chain);
        g_low[r] += CHAINS_SUM(chain_low);
    }
}

/* What a product is made of; g_low gathers what low gives. */
struct product {
    const struct matrix_vec *x;
    double *g;
    real *g_low;
};

/* Tile J of a strip */
INLINE void tiles_mul(const struct product *p, struct sums s[GROUPS], const real *tile, const real *low, size_t J)
{
    UNROLL
    for (int n = 0; n < GROUPS; n++)
        tile_mul(&s[n], tile + J * TILE + n * GROUP * BLOCK, p->x->x + J * BLOCK, p->g + J * BLOCK);
    UNROLL
    for (int n = 0; n < GROUPS && low; n++)
        tile_low(&s[n], low + J * TILE + n * GROUP * BLOCK, p->x->x + J * BLOCK, p->g_low + J * BLOCK);
}

INLINE void strip_mul(const struct product *p, const real *m, const real *low, size_t i)
{
    size_t I = i / BLOCK, at = strip_at(I, i / STRIP % 2);
    const real *tile = m + at;
    unsigned rows = p->x->rows[I] >> i % BLOCK & ((1u << STRIP) - 1);
    struct sums s[GROUPS];
    low = low ? low + at : NULL;
    UNROLL
    for (int n = 0; n < GROUPS; n++)
        sums_begin(&s[n], p->x->x + i + n * GROUP);
    for (size_t J = 0; J < I; J++)
        if (rows || p->x->rows[J])
            tiles_mul(p, s, tile, low, J);
    for (int n = 0; n < GROUPS; n++)
        sums_end(&s[n], p->g + i + n * GROUP, p->g_low + i + n * GROUP);
    if (rows)
        tiles_mul(p, s, tile, low, I);
}

static double mul(const real *m, const real *low, const struct matrix_vec *x, real *g, double *scratch)
{
    size_t pad = matrix_pad(x->d);
    double q = 0;
    memset(scratch, 0, pad * sizeof *scratch);
    memset(g, 0, pad * sizeof *g);
    struct product p = {x, scratch, g};
    for (size_t i = 0; i < pad; i += STRIP) {
        if (low)
            strip_mul(&p, m, low, i);
        else
            strip_mul(&p, m, NULL, i);
    }
    for (size_t i = 0; i < pad; i++)
        scratch[i] += g[i];
    for (size_t b = 0; b < x->blocks; b++)
        for (size_t i = x->block[b] * (size_t)BLOCK, end = i + BLOCK; i < end; i++)
            q += scratch[i] * x->x[i];
    for (size_t i = 0; i < pad; i++)
        g[i] = (real)scratch[i];
    return q;
}

/* --- quadratic forms --- */

#define COLUMNS (BLOCK / LANES) /* vectors that hold one number per column of a block */

/* sum += (T' x_I) x_J column by column, from those rows alone that x has (bit r of rows: x_I[r] is not zero) */
INLINE void tile_quad(const real *tile, unsigned rows, const real *x, const real *xJ, vec sum[COLUMNS])
{
    vec even[COLUMNS], odd[COLUMNS];
    UNROLL
    for (int c = 0; c < COLUMNS; c++)
        even[c] = odd[c] = (vec){0};
    if (rows == (1u << STRIP) - 1) {
        UNROLL
        for (int r = 0; r < STRIP; r += 2)
            UNROLL
        for (int c = 0; c < COLUMNS; c++) {
            even[c] += load(tile + r * BLOCK + c * LANES) * splat(x[r]);
            odd[c] += load(tile + (r + 1) * BLOCK + c * LANES) * splat(x[r + 1]);
        }
    } else {
        for (; rows; rows &= rows - 1) {
            int r = __builtin_ctz(rows);
            UNROLL
            for (int c = 0; c < COLUMNS; c++)
                even[c] += load(tile + r * BLOCK + c * LANES) * splat(x[r]);
        }
    }
    UNROLL
    for (int c = 0; c < COLUMNS; c++)
        sum[c] += (even[c] + odd[c]) * load(xJ + c * LANES);
}

/* sum += x'Sx of one block row: twice what stands below the diagonal, once what stands on it */
static void quad_block(const real *m, size_t b, const struct matrix_vec *x, vec sum[COLUMNS])
{
    vec below[COLUMNS] = {{0}}, on[COLUMNS] = {{0}};
    size_t I = x->block[b];
    for (size_t half = 0; half < BLOCK / STRIP; half++) {
        const real *tile = m + strip_at(I, half), *xI = x->x + I * BLOCK + half * STRIP;
        unsigned rows = x->rows[I] >> half * STRIP & ((1u << STRIP) - 1);
        if (!rows)
            continue;
        for (size_t a = 0; a < b; a++)
            tile_quad(tile + x->block[a] * (size_t)TILE, rows, xI, x->x + x->block[a] * (size_t)BLOCK, below);
        tile_quad(tile + I * TILE, rows, xI, x->x + I * BLOCK, on);
    }
    for (int c = 0; c < COLUMNS; c++)
        sum[c] += below[c] + below[c] + on[c];
}

static void quads(const real *m, size_t stride, size_t n, const struct matrix_vec *x, real *q)
{
    for (size_t k = 0; k < n; k++) {
        vec sum[COLUMNS] = {{0}};
        real column[BLOCK];
        for (size_t b = 0; b < x->blocks; b++)
            quad_block(m + k * stride, b, x, sum);
        memcpy(column, sum, sizeof column);
        for (int half = BLOCK / 2; half; half /= 2)
            for (int l = 0; l < half; l++)
                column[l] += column[l + half];
        q[k] = column[0];
    }
}

/*
 * A tile takes an update: T += a g', with a the strip's rows of c g; of plain g on the diagonal, where c is multiplied
 * in last, so that both triangles round alike: a difference between them would grow. With low, what rounding drops goes
 * there and comes back with the next update. (Exact where the entry is larger than the step, else as good as the step.)
 */
INLINE void tile_update(real *tile, real *low, int diagonal, const vec *a, real c, const real *g)
{
    for (int v = 0; v < BLOCK; v += LANES) {
        vec gv = load(g + v);
        UNROLL
        for (int r = 0; r < STRIP; r++) {
            vec s = load((low ? low : tile) + r * BLOCK + v);
            s += diagonal ? splat(c) * (a[r] * gv) : a[r] * gv;
            if (low) {
                vec step = s, old = load(tile + r * BLOCK + v);
                s = old + step;
                store(low + r * BLOCK + v, step - (s - old));
            }
            store(tile + r * BLOCK + v, s);
        }
    }
}

/* Rows i to i + STRIP - 1. */
INLINE void strip_update(real *strip, real *low, size_t i, real c, const real *g)
{
    size_t I = i / BLOCK;
    vec a[STRIP];
    int any = 0;
    for (size_t r = 0; r < STRIP; r++) {
        a[r] = splat(c * g[i + r]);
        any |= g[i + r] != 0;
    }
    for (size_t J = 0; J < I && any; J++) /* not for features that have not met any of these yet */
        tile_update(strip + J * TILE, low ? low + J * TILE : NULL, 0, a, c, g + J * BLOCK);
    for (size_t r = 0; r < STRIP; r++)
        a[r] = splat(g[i + r]);
    tile_update(strip + I * TILE, low ? low + I * TILE : NULL, 1, a, c, g + I * BLOCK);
}

/* The cases apart, so that each has its own straight loops. */
static void update(real *m, real *low, size_t d, real c, const real *g)
{
    for (size_t i = 0; i < matrix_pad(d); i += STRIP) {
        size_t at = strip_at(i / BLOCK, i / STRIP % 2);
        if (low)
            strip_update(m + at, low + at, i, c, g);
        else
            strip_update(m + at, NULL, i, c, g);
    }
}

extern const struct matrix_ops JOIN(matrix_ops, MATRIX_ISA);
const struct matrix_ops JOIN(matrix_ops, MATRIX_ISA) = {TEXT(MATRIX_ISA), mul, quads, update};

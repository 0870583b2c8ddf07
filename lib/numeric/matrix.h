/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric matrices S of d rows (covariances, inverses of A = aI + sum x x'): quadratic forms x'Sx, products
 * g = S x and rank-one updates S += c g g'.
 *
 * Layout. Rows come in blocks of 16, and of every block row only the columns up to the diagonal block are kept, so a
 * little more than half of the square is stored and streamed. Block row I is two strips of 8 rows; a strip is I + 1
 * tiles of 8 x 16 numbers, one after the other, each row-major:
 *
 *     strip of rows 0..7    |tile|
 *     strip of rows 8..15   |tile|
 *     strip of rows 16..23  |tile|tile|
 *     strip of rows 24..31  |tile|tile|      ... in memory from left to right, then down
 *
 * A pass over the matrix is therefore one sequential walk, and more features only append: the numbers of d rows are
 * a prefix of those of any larger matrix. The tiles on the diagonal hold both of their triangles. Rows and columns
 * from d up to whole blocks are zero. Memory is the caller's; aligned to 64 bytes it is fastest, any will do.
 *
 * Drift. A float matrix that takes a million updates gathers a million roundings, and at last its steps are too small
 * to move it at all. `low`, a second matrix of the same shape that starts at zero, keeps what each rounding dropped
 * and gives it to the next update, so S + low runs true and S is the nearest float to it. Quadratic forms need S
 * alone. What then remains is the rounding of g itself, which tells where A's largest eigenvalue is some hundred
 * thousand times its smallest, so products are summed in double. Builds with real = double do without (MATRIX_KEEPS_LOW
 * is 0). Symmetry is kept to the last bit, since a difference between the triangles would grow.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "numeric/real.h"

#define MATRIX_BLOCK 16 /* rows and columns of a block */
#define MATRIX_STRIP 8  /* rows of a strip */
#define MATRIX_TILE (MATRIX_STRIP * MATRIX_BLOCK)
#define MATRIX_KEEPS_LOW (sizeof(real) == sizeof(float))

/* An example as the loops read it. x and rows are zero but for what the last load put there. */
struct matrix_vec {
    real *x;         /* dense, d padded to whole blocks */
    uint16_t *rows;  /* per block, bit r: entry r of this block is not zero */
    uint32_t *block; /* the blocks with an entry that is not zero, ascending */
    size_t blocks, d;
};

/* The heavy loops, once per instruction set (matrix_kernels.c), all of which give the same bits. g and the like are
 * padded with zeros to matrix_pad(d), on entry and on return. */
struct matrix_ops {
    const char *name;
    /* g = (S + low) x, summed in double; returns x'g. scratch is of matrix_pad(d); low may be NULL */
    double (*mul_exact)(const real *m, const real *low, const struct matrix_vec *x, real *g, double *scratch);
    /* q[k] = x'S_k x of n matrices that lie stride numbers apart; touches only where x is not zero */
    void (*quads)(const real *m, size_t stride, size_t n, const struct matrix_vec *x, real *q);
    /* S += c g g'; low may be NULL */
    void (*update)(real *m, real *low, size_t d, real c, const real *g);
};

/* Name NULL: the best that this machine runs; or "plain", "avx2", "avx512": NULL if it can't. */
const struct matrix_ops *matrix_ops(const char *name);

/* Numbers in a vector and in a matrix of d rows. */
static inline size_t matrix_pad(size_t d)
{
    return (d + MATRIX_BLOCK - 1) / MATRIX_BLOCK * MATRIX_BLOCK;
}

/* Where a row of blocks begins. */
static inline size_t matrix_at(size_t block)
{
    return block * (block + 1) * MATRIX_TILE;
}

/* SIZE_MAX: more than can be counted. */
static inline size_t matrix_size(size_t d)
{
    size_t blocks = size_add(d, MATRIX_BLOCK - 1) / MATRIX_BLOCK;
    return size_mul(size_mul(blocks, blocks + 1), MATRIX_TILE);
}

/* Rows and columns from .. to-1 become diagonal * I; memory that growth has added need not be clear before. */
void matrix_fill(real *m, size_t from, size_t to, real diagonal);
real matrix_get(const real *m, size_t i, size_t j);
void matrix_set(real *m, size_t i, size_t j, real value);

/* Bytes that a matrix_vec of d entries needs; init takes them over, at an address good for any type. */
size_t matrix_vec_size(size_t d);
void matrix_vec_init(struct matrix_vec *v, size_t d, void *memory);
/* Takes an example in place of the one before. index NULL: dense, else ascending. Entries from d on are left out;
 * returns the sum of their squares, which is what they add to x'Sx per unit of a diagonal that never changed. */
double matrix_vec_load(struct matrix_vec *v, const uint32_t *index, const float *value, size_t n);

#endif

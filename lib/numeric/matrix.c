/* SPDX-License-Identifier: BSD-3-Clause */
#include "numeric/matrix.h"

#include <assert.h>
#include <string.h>

#include "base/cpu.h"

extern const struct matrix_ops matrix_ops_plain, matrix_ops_avx2, matrix_ops_avx512;

const struct matrix_ops *matrix_ops(const char *name)
{
    static const struct matrix_ops *const sets[] = CPU_SETS(matrix_ops);
    int cpu = cpu_chosen(name);
    return cpu < 0 ? NULL : sets[cpu];
}

/* Where the entry of row i and column j stands; its block must be on or below the diagonal. */
static size_t entry_place(size_t i, size_t j)
{
    size_t I = i / MATRIX_BLOCK, J = j / MATRIX_BLOCK, half = i / MATRIX_STRIP % 2;
    assert(J <= I);
    return matrix_at(I) + (half * (I + 1) + J) * MATRIX_TILE + i % MATRIX_STRIP * MATRIX_BLOCK + j % MATRIX_BLOCK;
}

void matrix_fill(real *m, size_t from, size_t to, real diagonal)
{
    if (to <= from)
        return;
    for (size_t i = from; i < to && i < matrix_pad(from); i++) /* the rest of a block that was begun */
        for (size_t j = 0; j < matrix_pad(from); j++)
            matrix_set(m, i, j, 0);
    for (size_t i = matrix_size(from); i < matrix_size(to); i++)
        m[i] = 0;
    for (size_t i = from; i < to; i++)
        m[entry_place(i, i)] = diagonal;
}

real matrix_get(const real *m, size_t i, size_t j)
{
    return m[i < j ? entry_place(j, i) : entry_place(i, j)];
}

void matrix_set(real *m, size_t i, size_t j, real value)
{
    m[i < j ? entry_place(j, i) : entry_place(i, j)] = value;
    if (i / MATRIX_BLOCK == j / MATRIX_BLOCK)
        m[i < j ? entry_place(i, j) : entry_place(j, i)] = value;
}

size_t matrix_vec_size(size_t d)
{
    return matrix_pad(d) * sizeof(real) + matrix_pad(d) / MATRIX_BLOCK * (sizeof(uint32_t) + sizeof(uint16_t));
}

void matrix_vec_init(struct matrix_vec *v, size_t d, void *memory)
{
    memset(memory, 0, matrix_vec_size(d));
    v->x = memory;
    v->block = (uint32_t *)(void *)(v->x + matrix_pad(d));
    v->rows = (uint16_t *)(void *)(v->block + matrix_pad(d) / MATRIX_BLOCK);
    v->blocks = 0;
    v->d = d;
}

double matrix_vec_load(struct matrix_vec *v, const uint32_t *index, const float *value, size_t n)
{
    for (size_t b = 0; b < v->blocks; b++) {
        memset(v->x + (size_t)v->block[b] * MATRIX_BLOCK, 0, MATRIX_BLOCK * sizeof(real));
        v->rows[v->block[b]] = 0;
    }
    v->blocks = 0;
    double left_out = 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = index ? index[k] : k, b = i / MATRIX_BLOCK;
        if (i >= v->d) {
            left_out += (double)value[k] * value[k];
        } else if (value[k] != 0) {
            if (!v->rows[b])
                v->block[v->blocks++] = (uint32_t)b;
            v->rows[b] = (uint16_t)(v->rows[b] | 1u << i % MATRIX_BLOCK);
            v->x[i] = value[k];
        }
    }
    return left_out;
}

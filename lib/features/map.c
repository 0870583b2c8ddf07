/* SPDX-License-Identifier: BSD-3-Clause */
#include "features/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "numeric/linear_ops.h"
#include "numeric/zeros.h"

void map_free(struct map *m)
{
    free(m->direction);
    m->direction = NULL;
    m->columns = 0;
}

uint64_t map_bytes(const struct map *m)
{
    return m->columns * m->directions * sizeof *m->direction;
}

/* A direction's component: four uniforms of 16 bits, added up, scaled to a variance of 1. Near enough to a normal one,
 * and without a logarithm. */
static double component(uint64_t place)
{
    struct rng r = {place * UINT64_C(0xD1B54A32D192ED03)};
    uint64_t u = rng_next(&r);
    double sum = (double)(u & 0xffff) + (double)(u >> 16 & 0xffff) + (double)(u >> 32 & 0xffff) + (double)(u >> 48);
    return (sum - 131070) * (1.7320508075688772 / 65536);
}

hunch_status map_reserve(struct map *m, size_t columns)
{
    if (!(m->kind & MAP_FOURIER) || columns <= m->columns)
        return HUNCH_OK;
    size_t wanted = columns + columns / 4, had = m->columns * m->directions;
    int16_t *table = zeros_allocate(size_mul(wanted, m->directions), sizeof *table);
    if (!table)
        return HUNCH_ENOMEM;
    if (had)
        memcpy(table, m->direction, had * sizeof *table);
    for (size_t i = had; i < wanted * m->directions; i++)
        table[i] = (int16_t)lrint(MAP_FOURTHS * component(i));
    map_free(m);
    m->direction = table;
    m->columns = wanted;
    return HUNCH_OK;
}

uint32_t map_features(const struct map *m)
{
    return (m->kind & MAP_FOURIER ? 2 * m->directions : 0) + (m->kind & MAP_PAIRS ? m->pairs : 0);
}

size_t map_room(const struct map *m)
{
    return (m->kind & MAP_FOURIER ? 2 * (size_t)m->directions : 0) +
           (m->kind & MAP_PAIRS ? MAP_PAIRED * (MAP_PAIRED - 1) / 2 : 0);
}

size_t map_scratch(const struct map *m)
{
    size_t each = sizeof(real) == sizeof(float) ? 1 : 3; /* angles, and waves that are still to become floats */
    return m->kind & MAP_FOURIER ? each * m->directions : 0;
}

static size_t fourier_write(const struct map *m, const struct map_input *in, uint32_t *ret_index, float *ret_value)
{
    const uint32_t features = 2 * m->directions;
    size_t n = m->directions;
    bool same = sizeof(real) == sizeof *ret_value;
    real *angle = in->scratch, *cosine = same ? (real *)(void *)ret_value : angle + n;
    in->ops->angles(&(struct linear_angles){m->direction, m->directions, MAP_STEPS, in->steps}, &in->weighted, angle);
    in->ops->waves(angle, n, (real)(1 / sqrt((double)n)), cosine, cosine + n);
    for (uint32_t i = 0; i < features; i++)
        ret_index[i] = i;
    for (uint32_t i = 0; !same && i < features; i++)
        ret_value[i] = (float)cosine[i];
    return features;
}

void map_turned(const struct map *m, const struct linear_ops *ops, size_t first, size_t n, const real *c, real *ret)
{
    size_t directions = m->directions;
    ops->dots_whole(m->direction + first * directions, directions, n, c, ret);
    for (size_t j = 0; j < n; j++)
        ret[j] *= (real)1 / MAP_FOURTHS;
}

static uint32_t pair_place(const struct map *m, uint64_t number)
{
    struct rng mix = {number};
    return (uint32_t)(number < m->pairs ? number : rng_next(&mix) % m->pairs);
}

/* The pair of columns u < w has the number w (w - 1) / 2 + u. */
static size_t pairs_write(const struct map *m, const struct map_input *in, uint32_t first, uint32_t *restrict ret_index,
                          float *restrict ret_value)
{
    size_t n = 0;
    for (size_t i = 1; i < in->paired; n += i++) {
        uint64_t row = (uint64_t)in->ones[i] * (in->ones[i] - 1) / 2;
        const uint32_t *restrict ones = in->ones, from = first + (uint32_t)row;
        if (row + ones[i - 1] < m->pairs)
            for (size_t j = 0; j < i; j++)
                ret_index[n + j] = from + ones[j];
        else
            for (size_t j = 0; j < i; j++)
                ret_index[n + j] = first + pair_place(m, row + ones[j]);
    }
    for (size_t j = 0; j < n; j++)
        ret_value[j] = (float)M_SQRT2 * in->one * in->one;
    return n;
}

size_t map_write(const struct map *m, const struct map_input *in, uint32_t *ret_index, float *ret_value)
{
    size_t n = 0;
    if (m->kind & MAP_FOURIER)
        n = fourier_write(m, in, ret_index, ret_value);
    if (m->kind & MAP_PAIRS && in->paired <= MAP_PAIRED)
        n += pairs_write(m, in, (uint32_t)n, ret_index + n, ret_value + n);
    return n;
}

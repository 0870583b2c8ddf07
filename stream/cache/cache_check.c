/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled once per instruction set, which CACHE_CHECK_ISA names; the plain one chooses. No loop has a branch per number, so
 * that the compiler makes vectors of them. */
#include "cache/cache_check.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/rows.h"
#include "base/cpu.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)

static uint64_t checksum(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

static bool starts(const struct view *v)
{
    bool right = v->start[0] == 0 && v->start[v->rows] == (int64_t)v->values;
    for (size_t i = 0; i < v->rows; i++)
        right &= v->start[i] <= v->start[i + 1];
    return right;
}

/* Increasing within each row: the places where an index does not rise must all be beginnings of rows. */
static bool indices(const struct view *v, uint64_t features)
{
    uint32_t falls = 0, allowed = 0, max = v->values ? v->index[0] : 0; /* a block has less than 2^32 values */
    for (size_t i = 1; i < v->values; i++) {
        max = v->index[i] > max ? v->index[i] : max;
        falls += v->index[i] <= v->index[i - 1];
    }
    if (v->values > 0 && max >= features)
        return false;
    for (size_t i = 1; i < v->rows; i++) {
        int64_t at = v->start[i];
        if (at > v->start[i - 1] && at < (int64_t)v->values)
            allowed += v->index[at] <= v->index[at - 1];
    }
    return falls == allowed;
}

static bool labels(const struct view *v, uint32_t count)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < v->rows; i++)
        bad |= (uint32_t)(v->label[i] >= count) & (uint32_t)(v->label[i] != STREAM_NO_LABEL);
    return !bad;
}

static bool values(const struct view *v)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < v->values; i++) {
        uint32_t bits;
        memcpy(&bits, &v->value[i], sizeof bits);
        bits &= 0x7fffffff;
        largest = bits > largest ? bits : largest;
    }
    return largest < 0x7f800000;
}

extern const struct cache_check_ops JOIN(cache_check_ops, CACHE_CHECK_ISA);
const struct cache_check_ops JOIN(cache_check_ops, CACHE_CHECK_ISA) = {checksum, starts, indices, labels, values};

#ifdef CACHE_CHECK_CHOOSES
extern const struct cache_check_ops cache_check_ops_avx2, cache_check_ops_avx512;

const struct cache_check_ops *cache_check_ops(void)
{
    static const struct cache_check_ops *const sets[] = {
        [CPU_PLAIN] = &cache_check_ops_plain,
#ifdef __x86_64__
        [CPU_AVX2] = &cache_check_ops_avx2,
        [CPU_AVX512] = &cache_check_ops_avx512,
#endif
    };
    return sets[cpu_best()];
}
#endif

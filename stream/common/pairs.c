/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/pairs.h"

#include <math.h>

#include "base/cpu.h"
#include "base/decimal.h"

const char *pairs_read_plain(const char *p, struct pairs *pairs)
{
    size_t n = pairs->n;
    int64_t previous = pairs->previous;
    for (;;) {
        const char *token = p + (*p == ' ');
        uint64_t word = decimal_load(token);
        unsigned count = decimal_count(word);
        float value;
        if (count - 1 > 6 || token[count] != ':')
            break;
        uint32_t at = decimal_value(word, count);
        const char *end = decimal_read(token + count + 1, &value);
        if (!end || (*end != ' ' && *end != '\n') || at <= previous || isinf(value))
            break;
        previous = at;
        pairs->index[n] = at - pairs->base;
        pairs->value[n] = value;
        n += value != 0;
        p = end;
        if (*p == '\n')
            break;
    }
    pairs->n = n;
    pairs->previous = previous;
    return p;
}

pairs_read *pairs_choose(void)
{
#if defined(__x86_64__)
    if (cpu_best() >= CPU_AVX2)
        return pairs_read_avx2;
#endif
    return pairs_read_plain;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static enum cpu machine(void)
{
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return CPU_PLAIN;
    bool wide =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return wide ? CPU_AVX512 : CPU_AVX2;
#else
    return CPU_PLAIN;
#endif
}

int cpu_chosen(const char *name)
{
    static const char *const names[] = {"plain", "avx2", "avx512"};
    if (!name)
        return (int)cpu_best();
    for (int i = 0; i <= (int)machine(); i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

enum cpu cpu_best(void)
{
    const char *ceiling = getenv("HUNCH_CPU");
    int wanted = ceiling ? cpu_chosen(ceiling) : -1;
    return wanted < 0 ? machine() : (enum cpu)wanted;
}

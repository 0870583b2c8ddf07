/* SPDX-License-Identifier: BSD-3-Clause */
#include "numeric/linear_ops.h"

#include "base/cpu.h"

extern const struct linear_ops linear_ops_plain, linear_ops_avx2, linear_ops_avx512;

const struct linear_ops *linear_ops(const char *name)
{
    static const struct linear_ops *const sets[] = CPU_SETS(linear_ops);
    int cpu = cpu_chosen(name);
    return cpu < 0 ? NULL : sets[cpu];
}

double vec_norm2(const struct vec *x)
{
    double sum[8] = {x->unseen};
    size_t i = 0;
    for (; i + 8 <= x->n; i += 8)
        for (int c = 0; c < 8; c++)
            sum[c] += (double)x->value[i + c] * x->value[i + c];
    for (; i < x->n; i++)
        sum[0] += (double)x->value[i] * x->value[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which instructions this machine has, asked in one place. Loops that are compiled once per instruction set are chosen
 * by it; they give the same bits, so the choice is one of speed alone.
 *
 * For tests: HUNCH_CPU=plain or avx2 in the environment is a ceiling.
 */
#ifndef BASE_CPU_H
#define BASE_CPU_H

/* Each has all that those before it have. */
enum cpu {
    CPU_PLAIN,  /* what every machine of the family has: SSE2 on x86-64, NEON on aarch64 */
    CPU_AVX2,   /* with FMA, BMI and BMI2 */
    CPU_AVX512, /* F, VL and DQ */
};

enum cpu cpu_best(void);
/* "plain", "avx2", "avx512", or NULL for the best; -1: no such name, or this machine does not have it. */
int cpu_chosen(const char *name);

/* The initializer of a table of loops, one set for each instruction set that they are compiled for. */
#ifdef HUNCH_X86
#define CPU_SETS(loops)                                                                                                \
    {                                                                                                                  \
        &loops##_plain, &loops##_avx2, &loops##_avx512                                                                 \
    }
#else
#define CPU_SETS(loops)                                                                                                \
    {                                                                                                                  \
        &loops##_plain                                                                                                 \
    }
#endif

#endif

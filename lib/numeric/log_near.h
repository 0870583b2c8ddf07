/* SPDX-License-Identifier: BSD-3-Clause */
/* log_near of linear.h for vectors of floats, operation by operation, so that all have the same bits. */
#ifndef LOG_NEAR_H
#define LOG_NEAR_H

/* whole: as many int32_t as there are floats */
#define DEFINE_LOG_NEAR(name, floats, whole)                                                                           \
    static inline __attribute__((always_inline)) floats name(floats x)                                                 \
    {                                                                                                                  \
        whole bits = (whole)x;                                                                                         \
        floats exponent = __builtin_convertvector(bits >> 23, floats) - 127;                                           \
        floats m = (floats)((bits & 0x7fffff) | 0x3f800000) - 1;                                                       \
        return 0.69314718f * (exponent + m * (1.3465554f - 0.3465554f * m));                                           \
    }

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* SynSep and SynNonSep, written down here once more so that the counts do not depend on synth/synth.c. */
#ifndef SYNSEP_H
#define SYNSEP_H

#include <stdint.h>

#define SYN_CLASSES 9
#define SYN_FEATURES 400

struct synsep {
    uint32_t rows;
    int64_t *start;
    uint32_t *index;
    float *value;
    uint32_t *label;
};

/* noise: the share of rows that get a label drawn from all nine. Exits when out of memory. */
void synsep_make(struct synsep *ret, uint32_t rows, uint64_t seed, double noise);
void synsep_free(struct synsep *data);

#endif

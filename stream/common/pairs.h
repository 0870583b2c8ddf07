/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inner loop of svmlight text: a run of "index:value" in their usual form, one blank between them. It stops before
 * whatever is not of that form (the end of the line, a comment, a tab, a long number, a mistake), which the caller
 * then reads in the general way. Versions of it differ in speed only.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pairs {
    uint32_t *index; /* room for as many as the text can hold */
    float *value;
    size_t n;         /* how many there are; zeros are left out */
    int64_t previous; /* the last index, as written; zeros count */
    uint32_t base;    /* subtracted from indices */
};

/* Reads from p on; returns where it stopped. */
typedef const char *pairs_read(const char *p, struct pairs *pairs);

pairs_read pairs_read_plain;
#if defined(__x86_64__)
pairs_read pairs_read_avx2;
#endif

/* The fastest that this machine can run. */
pairs_read *pairs_choose(void);

#endif

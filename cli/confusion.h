/* SPDX-License-Identifier: BSD-3-Clause */
/* Which label was answered how often for which: a table of counts that grows with the labels. */
#ifndef CONFUSION_H
#define CONFUSION_H

#include <stdbool.h>
#include <stdint.h>

/* Start as {0}. */
struct confusion {
    uint64_t *counts; /* [truth * classes + answer] */
    uint32_t classes;
    bool failed; /* out of memory: nothing more is counted */
};

void confusion_count(struct confusion *c, uint32_t truth, uint32_t answer);
uint64_t confusion_at(const struct confusion *c, uint32_t truth, uint32_t answer); /* 0 beyond the table */
uint64_t confusion_rows(const struct confusion *c, uint32_t truth);
uint64_t confusion_answers(const struct confusion *c, uint32_t answer);
void confusion_free(struct confusion *c);

#endif

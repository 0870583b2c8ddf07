/* SPDX-License-Identifier: BSD-3-Clause */
#include "confusion.h"

#include <stdlib.h>
#include <string.h>

static bool confusion_grow(struct confusion *c, uint32_t classes)
{
    uint64_t *grown = calloc((size_t)classes * classes, sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = 0; i < c->classes; i++)
        memcpy(grown + (size_t)i * classes, c->counts + (size_t)i * c->classes, c->classes * sizeof *grown);
    free(c->counts);
    c->counts = grown;
    c->classes = classes;
    return true;
}

void confusion_count(struct confusion *c, uint32_t truth, uint32_t answer)
{
    uint32_t max = truth > answer ? truth : answer;
    if (!c->failed && max >= c->classes)
        c->failed = !confusion_grow(c, max + 1 + c->classes / 2);
    if (!c->failed)
        c->counts[(size_t)truth * c->classes + answer]++;
}

uint64_t confusion_at(const struct confusion *c, uint32_t truth, uint32_t answer)
{
    return truth < c->classes && answer < c->classes ? c->counts[(size_t)truth * c->classes + answer] : 0;
}

uint64_t confusion_rows(const struct confusion *c, uint32_t truth)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->classes; k++)
        sum += confusion_at(c, truth, k);
    return sum;
}

uint64_t confusion_answers(const struct confusion *c, uint32_t answer)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->classes; k++)
        sum += confusion_at(c, k, answer);
    return sum;
}

void confusion_free(struct confusion *c)
{
    free(c->counts);
    *c = (struct confusion){0};
}

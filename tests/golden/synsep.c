/* SPDX-License-Identifier: BSD-3-Clause */
#include "synsep.h"

#include <stdlib.h>

#define KEYWORDS 120

static uint64_t state;

static double uniform(void)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(uniform() * n);
}

/* The first `count` of `n` entries become a random choice without replacement. */
static void draw(uint32_t *list, uint32_t n, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++) {
        uint32_t k = j + below(n - j), keep = list[j];
        list[j] = list[k];
        list[k] = keep;
    }
}

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

static uint32_t row_make(const unsigned char *words, uint32_t *ret_index)
{
    uint32_t a[KEYWORDS], b[SYN_FEATURES - KEYWORDS], m = 0, n = 0;
    unsigned char on[SYN_FEATURES] = {0};
    for (uint32_t j = 0; j < KEYWORDS; j++)
        if (words[j])
            a[m++] = j;
    for (uint32_t j = 0; j < SYN_FEATURES - KEYWORDS; j++)
        b[j] = KEYWORDS + j;
    draw(a, m, 5);
    draw(b, SYN_FEATURES - KEYWORDS, 20);
    for (uint32_t j = 5; j < m; j++)
        on[a[j]] = 1;
    for (uint32_t j = 0; j < 20; j++)
        on[b[j]] = 1;
    for (uint32_t j = 0; j < SYN_FEATURES; j++)
        if (on[j])
            ret_index[n++] = j;
    return n;
}

static void labels_spoil(struct synsep *data, uint32_t count)
{
    uint32_t *perm = allocate(data->rows, sizeof *perm);
    for (uint32_t i = 0; i < data->rows; i++)
        perm[i] = i;
    for (uint32_t t = 0; t < count; t++) {
        uint32_t k = t + below(data->rows - t), keep = perm[t];
        perm[t] = perm[k];
        perm[k] = keep;
        data->label[perm[t]] = below(SYN_CLASSES);
    }
    free(perm);
}

void synsep_make(struct synsep *ret, uint32_t rows, uint64_t seed, double noise)
{
    unsigned char words[SYN_CLASSES][KEYWORDS];
    state = seed;
    for (int k = 0; k < SYN_CLASSES; k++)
        for (int j = 0; j < KEYWORDS; j++)
            words[k][j] = uniform() < 0.25;
    ret->rows = rows;
    ret->start = allocate(rows + 1u, sizeof *ret->start);
    ret->label = allocate(rows, sizeof *ret->label);
    ret->index = allocate((size_t)rows * 80, sizeof *ret->index);
    ret->value = allocate((size_t)rows * 80, sizeof *ret->value);
    for (uint32_t i = 0; i < rows; i++) {
        ret->label[i] = below(SYN_CLASSES);
        ret->start[i + 1] = ret->start[i] + row_make(words[ret->label[i]], ret->index + ret->start[i]);
    }
    for (int64_t j = 0; j < ret->start[rows]; j++)
        ret->value[j] = 1;
    if (noise > 0)
        labels_spoil(ret, (uint32_t)(rows * noise + 0.5));
}

void synsep_free(struct synsep *data)
{
    free(data->start);
    free(data->index);
    free(data->value);
    free(data->label);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor under the speed of a learner: the same bytes streamed, and nothing learned from them.
 *
 *     floor text FILE      newlines counted by memchr, a block at a time
 *     floor rows FILE.hc K every row of a cache: its numbers, and for each the K weights that a linear learner must
 *                          read, in the order in which it would
 *
 * Prints seconds of CPU, then of wall time, and something of what was read.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/cache_format.h"

#define BLOCK ((size_t)1 << 18)

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what)
{
    perror(what);
    return 1;
}

static uint64_t lines_count(int fd)
{
    char *buffer = malloc(BLOCK);
    uint64_t lines = 0;
    for (ssize_t n; buffer && (n = read(fd, buffer, BLOCK)) > 0;)
        for (const char *p = buffer, *end = buffer + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            lines++;
    free(buffer);
    return lines;
}

/* Widths of up to four classes, and multiples of eight beyond: how the library lays weights out. */
static size_t lanes_of(size_t K)
{
    return K <= 4 ? 4 : (K + 7) / 8 * 8;
}

typedef int32_t four __attribute__((vector_size(16), may_alias));
typedef int32_t sixteen __attribute__((vector_size(64), aligned(16), may_alias));

/* The rows of n values, lanes at a time, four of them under way at once. */
#define WEIGHTS_READ(type, at)                                                                                         \
    do {                                                                                                               \
        type seen[4] = {{0}};                                                                                          \
        for (uint64_t i = 0; i + 4 <= n; i += 4)                                                                       \
            for (uint64_t c = 0; c < 4; c++)                                                                           \
                for (size_t k = 0; k < lanes; k += sizeof(type) / sizeof(float))                                       \
                    seen[c] |= *(const type *)(const void *)(weights + (at)*lanes + k);                                \
        seen[0] |= seen[1] | seen[2] | seen[3];                                                                        \
        return seen[0][0];                                                                                             \
    } while (0)

#ifdef __x86_64__
#define EVERY_MACHINE __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define EVERY_MACHINE
#endif

EVERY_MACHINE static int32_t sparse_read(const uint32_t *index, uint64_t n, const float *weights, size_t lanes)
{
    if (lanes % 16)
        WEIGHTS_READ(four, index[i + c]);
    WEIGHTS_READ(sixteen, index[i + c]);
}

EVERY_MACHINE static int32_t dense_read(uint64_t n, const float *weights, size_t lanes)
{
    if (lanes % 16)
        WEIGHTS_READ(four, i + c);
    WEIGHTS_READ(sixteen, i + c);
}

EVERY_MACHINE static int32_t values_read(const int32_t *value, uint64_t n)
{
    int32_t seen = 0;
    for (uint64_t i = 0; i < n; i++)
        seen |= value[i];
    return seen;
}

static int32_t block_read(const unsigned char *bytes, const struct cache_block *b, const float *weights, size_t lanes)
{
    struct cache_layout at;
    int32_t seen = 0;
    if (!cache_layout(b->rows, b->values, b->flags, &at))
        exit(1);
    if (!(b->flags & CACHE_ONES))
        seen |= values_read((const void *)(bytes + at.value), b->values);
    if (!(b->flags & CACHE_DENSE))
        return seen | sparse_read((const void *)(bytes + at.index), b->values, weights, lanes);
    for (uint32_t i = 0; i < b->rows; i++)
        seen |= dense_read(b->values / b->rows, weights, lanes);
    return seen;
}

static int32_t rows_read(const unsigned char *bytes, size_t K)
{
    const struct cache_header *h = (const void *)bytes;
    const struct cache_block *blocks = (const void *)(bytes + h->directory);
    size_t lanes = lanes_of(K);
    float *weights = aligned_alloc(64, (h->features * lanes * sizeof(float) + 63) / 64 * 64);
    int32_t seen = 0;
    if (!weights)
        return 0;
    memset(weights, 0, h->features * lanes * sizeof(float));
    for (uint64_t i = 0; i < h->blocks; i++)
        seen |= block_read(bytes + blocks[i].offset, &blocks[i], weights, lanes);
    free(weights);
    return seen;
}

int main(int argc, char **argv)
{
    struct stat status;
    if (argc < 3 || (strcmp(argv[1], "text") && argc < 4))
        return fprintf(stderr, "usage: floor text FILE | floor rows FILE.hc K\n"), 2;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC), what;
    int fd = open(argv[2], O_RDONLY);
    if (fd < 0 || fstat(fd, &status))
        return fail(argv[2]);
    if (!strcmp(argv[1], "text")) {
        what = (double)lines_count(fd);
    } else {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            return fail(argv[2]);
        what = rows_read(bytes, strtoul(argv[3], NULL, 10));
    }
    close(fd);
    printf("%.6f %.6f %g\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall, what);
    return 0;
}

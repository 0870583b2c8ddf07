/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Full matrices on real data: one pass of confident:matrix=full, against the time that only streaming the matrix bytes
 * it touched would take: per round the blocks that the quadratic forms of all classes read, per class step the whole
 * matrix and its low-order twin. Usage: bench_full FILE ... (svmlight, any compression)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "hunch.h"
#include "numeric/matrix.h"
#include "stream.h"

static uint32_t rows_read(struct rows *r, const char *const *paths, size_t n)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct rows batch = {0};
    struct stream *s;
    hunch_error error = {""};
    if (stream_open(&s, paths, n, &options, &error) != HUNCH_OK)
        goto fail;
    do {
        if (stream_next(s, &batch, &error) != HUNCH_OK)
            goto fail;
        if (rows_append(r, &batch, &error) != HUNCH_OK)
            goto fail;
        r->width = batch.n ? batch.width : r->width;
    } while (batch.n);
    uint32_t classes = names_count(stream_labels(s));
    rows_free(&batch);
    stream_close(s);
    return classes;
fail:
    fprintf(stderr, "bench_full: %s\n", error.message);
    exit(2);
}

/* Rows come sorted or in no order worth keeping: a fixed shuffle, as an online experiment wants. */
static void order_make(size_t *order, size_t n)
{
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (size_t)((state >> 33) % i), keep = order[i - 1];
        order[i - 1] = order[j];
        order[j] = keep;
    }
}

static real reads(const real *m, size_t n)
{
    real sum[64] = {0};
    for (size_t i = 0; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k++)
            sum[k] += m[i + k];
    real all = 0;
    for (int k = 0; k < 64; k++)
        all += sum[k];
    return all;
}

/* Seconds to stream what was touched: steps matrices with their twins, and the blocks of the quadratic forms. */
static double floor_seconds(uint32_t classes, size_t size, double steps, double quad_bytes)
{
    size_t total = classes * 2 * size;
    real *m = aligned_alloc(64, (total * sizeof *m + 63) / 64 * 64);
    if (!m)
        abort();
    memset(m, 0, total * sizeof *m);
    volatile real sink = 0;
    double began = clock_thread(), bytes = 0, limit = 2e9; /* a sample is enough: the rate is steady */
    uint32_t k = 0;
    for (; bytes < limit; bytes += (double)(2 * size * sizeof *m), k = (k + 1) % classes)
        sink += reads(m + (size_t)k * 2 * size, 2 * size);
    double rate = bytes / (clock_thread() - began);
    free(m);
    printf("plain read          %8.1f GB/s\n", rate / 1e9);
    return (steps * (double)(2 * size * sizeof *m) + quad_bytes) / rate;
}

int main(int argc, char **argv)
{
    struct rows r = {0};
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {""};
    hunch *h;
    if (argc < 2)
        return fprintf(stderr, "usage: bench_full FILE ...\n"), 1;
    options.classes = rows_read(&r, (const char *const *)argv + 1, (size_t)argc - 1);
    options.learner = "confident:matrix=full";
    if (hunch_create(&h, &options, &error) != HUNCH_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    size_t *order = malloc(r.n * sizeof *order), wrong = 0;
    order_make(order, r.n);
    double quad_bytes = 0, began = clock_thread(), steps = 0;
    for (size_t i = 0; i < r.n; i++) {
        int64_t from = r.start[order[i]], to = r.start[order[i] + 1];
        hunch_vec x = {r.index + from, r.value + from, (size_t)(to - from)};
        hunch_choice c;
        if (hunch_predict(h, &x, &c) != HUNCH_OK || hunch_feedback(h, &x, &c, c.label == r.label[order[i]]) != HUNCH_OK)
            return fprintf(stderr, "%s\n", hunch_reason(h)), 1;
        wrong += c.label != r.label[order[i]];
        quad_bytes += (double)options.classes * (double)x.n * (double)x.n / 2 * sizeof(real);
    }
    double took = clock_thread() - began;
    if (hunch_get(h, "steps", 0, 0, &steps) != HUNCH_OK)
        return 1;
    double floor_s = floor_seconds(options.classes, matrix_size(r.width), steps, quad_bytes);
    printf("rounds              %8zu   %u features, %u classes, error %.2f %%\n", r.n, r.width, options.classes,
           100.0 * (double)wrong / (double)r.n);
    printf("class steps         %8.0f   %.2f per round\n", steps, steps / (double)r.n);
    printf("confident, full     %8.1f s\n", took);
    printf("streaming the bytes %8.1f s   ratio %.2f\n", floor_s, took / floor_s);
    hunch_free(h);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric matrices against OpenBLAS, one thread: the quadratic form with its product (symv and dot) and the
 * rank-one update (syr), the two taking turns, best of many; and the bytes per second beside a plain read of as many.
 *
 * Then what sparse examples make of it: forms of ten matrices and a product.
 *
 *     bench_matrix [plain|avx2|avx512]
 */
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "numeric/matrix.h"

struct bench {
    const struct matrix_ops *ops;
    size_t d, bytes;
    real *m, *low, *square, *x, *g;
    float *value;
    double *scratch;
    struct matrix_vec v;
    volatile real sink;
};

static void ours_mul(struct bench *b)
{
    b->sink = (real)b->ops->mul_exact(b->m, NULL, &b->v, b->g, b->scratch);
}

static void blas_mul(struct bench *b)
{
    int d = (int)b->d;
    if (sizeof(real) == sizeof(float)) {
        float *S = (void *)b->square, *x = (void *)b->x, *g = (void *)b->g;
        cblas_ssymv(CblasRowMajor, CblasLower, d, 1, S, d, x, 1, 0, g, 1);
        b->sink = (real)cblas_sdot(d, x, 1, g, 1);
    } else {
        double *S = (void *)b->square, *x = (void *)b->x, *g = (void *)b->g;
        cblas_dsymv(CblasRowMajor, CblasLower, d, 1, S, d, x, 1, 0, g, 1);
        b->sink = (real)cblas_ddot(d, x, 1, g, 1);
    }
}

static void ours_update(struct bench *b)
{
    b->ops->update(b->m, NULL, b->d, (real)-1e-9, b->x);
}

static void ours_kept(struct bench *b)
{
    b->ops->update(b->m, b->low, b->d, (real)-1e-9, b->x);
}

static void ours_exact(struct bench *b)
{
    b->sink = (real)b->ops->mul_exact(b->m, b->low, &b->v, b->g, b->scratch);
}

static void blas_update(struct bench *b)
{
    int d = (int)b->d;
    if (sizeof(real) == sizeof(float))
        cblas_ssyr(CblasRowMajor, CblasLower, d, -1e-9f, (void *)b->x, 1, (void *)b->square, d);
    else
        cblas_dsyr(CblasRowMajor, CblasLower, d, -1e-9, (void *)b->x, 1, (void *)b->square, d);
}

/* The floor: every byte of the matrix read once, with the widest vectors of the machine. */
#ifdef __x86_64__
__attribute__((target_clones("default", "avx2", "avx512f")))
#endif
static void
read_all(struct bench *b)
{
    typedef int64_t wide __attribute__((vector_size(64), may_alias));
    const wide *p = (const wide *)(const void *)b->m;
    wide s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (size_t i = 0; i + 4 <= b->bytes / 64; i += 4) {
        s0 |= p[i];
        s1 |= p[i + 1];
        s2 |= p[i + 2];
        s3 |= p[i + 3];
    }
    s0 |= s1 | s2 | s3;
    b->sink = (real)s0[0];
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double once(struct bench *b, void (*f)(struct bench *), int calls)
{
    double start = now();
    for (int i = 0; i < calls; i++)
        f(b);
    return (now() - start) / calls;
}

enum { MUL, BLAS_MUL, UPDATE, BLAS_UPDATE, EXACT, KEPT, READ, RACERS };

static void race(struct bench *b, double best[RACERS])
{
    static void (*const f[RACERS])(struct bench *) = {ours_mul,   blas_mul,  ours_update, blas_update,
                                                      ours_exact, ours_kept, read_all};
    int calls = (int)(4e6 / ((double)b->d * (double)b->d)) + 1;
    for (int i = 0; i < RACERS; i++)
        best[i] = INFINITY;
    for (int turn = 0; turn < 60; turn++)
        for (int i = 0; i < RACERS; i++) {
            f[i](b); /* its own data into the cache */
            best[i] = fmin(best[i], once(b, f[i], calls));
        }
}

static void *take(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p)
        exit(1);
    return memset(p, 0, (bytes + 63) / 64 * 64);
}

static void fill(struct bench *b, size_t d)
{
    size_t pad = matrix_pad(d);
    b->d = d;
    b->bytes = matrix_size(d) * sizeof(real);
    b->m = take(b->bytes);
    b->low = take(b->bytes);
    b->square = take(d * d * sizeof(real));
    b->x = take(pad * sizeof(real));
    b->g = take(pad * sizeof(real));
    b->scratch = take(pad * sizeof(double));
    b->value = take(d * sizeof(float));
    matrix_fill(b->m, 0, d, 1);
    matrix_vec_init(&b->v, d, take(matrix_vec_size(d)));
    for (size_t i = 0; i < d; i++) {
        b->x[i] = b->value[i] = (float)(rand() % 1000 + 1) / 1000;
        b->square[i * d + i] = 1;
    }
    matrix_vec_load(&b->v, NULL, b->value, d);
}

static void clear(struct bench *b)
{
    free(b->m);
    free(b->low);
    free(b->square);
    free(b->x);
    free(b->g);
    free(b->scratch);
    free(b->value);
    free(b->v.x);
}

static void ours_quads(struct bench *b)
{
    real q[10];
    b->ops->quads(b->m, 0, 10, &b->v, q);
    b->sink = q[9];
}

/* Every run of 8 features is there with the chance given, as strokes of a picture are. */
static void race_sparse(struct bench *b, double chance)
{
    size_t n = 0;
    for (size_t i = 0; i < b->d; i += 8) {
        float v = rand() < chance * RAND_MAX;
        for (size_t k = i; k < i + 8 && k < b->d; k++, n += v != 0)
            b->value[k] = v;
    }
    matrix_vec_load(&b->v, NULL, b->value, b->d);
    double mul = INFINITY, quads = INFINITY;
    for (int turn = 0; turn < 60; turn++) {
        mul = fmin(mul, once(b, ours_mul, 4));
        quads = fmin(quads, once(b, ours_quads, 4));
    }
    printf("%5zu of %4zu | %8.2f %8.2f\n", n, b->d, 1e6 * mul, 1e6 * quads / 10);
}

int main(int argc, char **argv)
{
    static const size_t size[] = {64, 256, 784, 2000};
    struct bench b = {.ops = matrix_ops(argc > 1 ? argv[1] : NULL)};
    if (!b.ops)
        return fprintf(stderr, "bench_matrix: this machine does not run %s\n", argv[1]), 2;
    openblas_set_num_threads(1);
    printf("%s, %s; OpenBLAS %s, one thread. Microseconds; times: OpenBLAS's time over ours.\n",
           sizeof(real) == sizeof(float) ? "float" : "double", b.ops->name, openblas_get_corename());
    printf("%5s | %8s %8s %6s | %8s %8s %6s | %9s %8s | %8s %8s %8s %8s\n", "d", "Sx,x'Sx", "symv+dot", "times",
           "S+=cgg'", "syr", "times", "kept: Sx", "S+=cgg'", "read", "GB/s read", "mul", "update");
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        double t[RACERS];
        fill(&b, size[i]);
        race(&b, t);
        double gb = (double)b.bytes * 1e-9;
        printf("%5zu | %8.2f %8.2f %6.2f | %8.2f %8.2f %6.2f | %9.2f %8.2f | %8.2f %8.1f %8.1f %8.1f\n", b.d,
               1e6 * t[MUL], 1e6 * t[BLAS_MUL], t[BLAS_MUL] / t[MUL], 1e6 * t[UPDATE], 1e6 * t[BLAS_UPDATE],
               t[BLAS_UPDATE] / t[UPDATE], 1e6 * t[EXACT], 1e6 * t[KEPT], 1e6 * t[READ], gb / t[READ], gb / t[MUL],
               gb / t[UPDATE]);
        clear(&b);
    }
    printf("\n%13s | %8s %8s\n", "non-zeros", "Sx,x'Sx", "x'Sx");
    fill(&b, 784);
    static const double chance[] = {0.01, 0.05, 0.2, 0.5, 1};
    for (size_t i = 0; i < sizeof chance / sizeof *chance; i++)
        race_sparse(&b, chance[i]);
    clear(&b);
    return 0;
}

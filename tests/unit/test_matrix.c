/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numeric/matrix.h"

#define EPSILON (sizeof(real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON)

static const char *const names[] = {"plain", "avx2", "avx512"};
static const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 129};

static uint64_t seed;

/* In [-1, 1), the same on every machine. */
static double draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) * 0x1p-52 - 1;
}

/* Not aligned to more than a number, as the loops promise to cope with. */
static real *numbers(size_t n, void **whole)
{
    *whole = calloc(n + 1, sizeof(real));
    assert_non_null(*whole);
    return (real *)*whole + 1;
}

/* A matrix of random numbers, and the same as a square of doubles. */
struct sample {
    size_t d;
    void *whole, *whole_low, *bytes;
    real *m, *low;
    double *square;
    struct matrix_vec v;
    float *value;
    uint32_t *index;
    size_t n;
};

static void sample_init(struct sample *s, size_t d)
{
    s->d = d;
    s->m = numbers(matrix_size(d), &s->whole);
    s->low = numbers(matrix_size(d), &s->whole_low);
    s->square = calloc(d * d, sizeof(double));
    s->value = calloc(d, sizeof(float));
    s->index = calloc(d, sizeof(uint32_t));
    s->bytes = malloc(matrix_vec_size(d));
    matrix_fill(s->m, 0, d, 1);
    matrix_fill(s->low, 0, d, 0);
    matrix_vec_init(&s->v, d, s->bytes);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            real v = (real)draw();
            matrix_set(s->m, i, j, v);
            s->square[i * d + j] = s->square[j * d + i] = v;
        }
}

/* An example with this chance of being there for each feature; chance 1 makes it dense. */
static void sample_load(struct sample *s, double chance)
{
    s->n = 0;
    for (size_t i = 0; i < s->d; i++)
        if (chance >= 1 || draw() < 2 * chance - 1) {
            s->index[s->n] = (uint32_t)i;
            s->value[s->n++] = (float)draw();
        }
    assert_true(matrix_vec_load(&s->v, chance < 1 ? s->index : NULL, s->value, s->n) == 0);
}

static void sample_free(struct sample *s)
{
    free(s->whole);
    free(s->whole_low);
    free(s->square);
    free(s->value);
    free(s->index);
    free(s->bytes);
}

static double product_entry(const struct sample *s, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < s->n; k++)
        sum += s->square[i * s->d + s->index[k]] * s->value[k];
    return sum;
}

static double form(const struct sample *s)
{
    double q = 0;
    for (size_t k = 0; k < s->n; k++)
        q += product_entry(s, s->index[k]) * s->value[k];
    return q;
}

static void check_product(const struct sample *s, const real *g, real q)
{
    double near = 4 * EPSILON * (double)(s->d + 4);
    for (size_t i = 0; i < s->d; i++)
        assert_true(fabs(g[i] - product_entry(s, i)) <= near);
    for (size_t i = s->d; i < matrix_pad(s->d); i++)
        assert_true(g[i] == 0);
    assert_true(fabs(q - form(s)) <= near * (double)(s->n + 1));
}

/* Near the square; and what a lower triangle says is all there is: symmetric to the bit, zero beyond. */
static void check_matrix(const struct sample *s)
{
    void *whole;
    real *again = numbers(matrix_size(s->d), &whole);
    for (size_t i = 0; i < s->d; i++)
        for (size_t j = 0; j <= i; j++) {
            assert_true(fabs(matrix_get(s->m, i, j) - s->square[i * s->d + j]) <= 64 * EPSILON);
            matrix_set(again, i, j, matrix_get(s->m, i, j));
        }
    for (size_t i = 0; i < matrix_size(s->d); i++)
        assert_true(again[i] == s->m[i]);
    free(whole);
}

/* Runs a check for every instruction set of this machine, size and sparsity. */
static void everywhere(void (*check)(const struct matrix_ops *, struct sample *))
{
    static const double chances[] = {0, 0.02, 0.2, 0.7, 1};
    for (size_t o = 0; o < sizeof names / sizeof *names; o++) {
        const struct matrix_ops *ops = matrix_ops(names[o]);
        for (size_t i = 0; ops && i < sizeof sizes / sizeof *sizes; i++) {
            struct sample s;
            seed = sizes[i];
            sample_init(&s, sizes[i]);
            for (size_t c = 0; c < sizeof chances / sizeof *chances; c++) {
                sample_load(&s, chances[c]);
                check(ops, &s);
            }
            sample_free(&s);
        }
    }
}

static void check_mul(const struct matrix_ops *ops, struct sample *s)
{
    void *whole;
    real *g = numbers(matrix_pad(s->d), &whole);
    double *scratch = malloc(matrix_pad(s->d) * sizeof(double));
    for (size_t i = 0; i < matrix_pad(s->d); i++)
        g[i] = 99;
    real q = (real)ops->mul_exact(s->m, NULL, &s->v, g, scratch);
    check_product(s, g, q);
    free(whole);
    free(scratch);
}

static void check_mul_exact(const struct matrix_ops *ops, struct sample *s)
{
    void *whole;
    real *g = numbers(matrix_pad(s->d), &whole);
    double *scratch = malloc(matrix_pad(s->d) * sizeof(double));
    for (size_t i = 0; i < s->d; i++) /* what a rounding may drop, and some more */
        for (size_t j = 0; j <= i; j++) {
            double low = (double)(i + 3 * j) / 512 * 0x1p-25;
            matrix_set(s->low, i, j, (real)low);
            s->square[i * s->d + j] = s->square[j * s->d + i] = matrix_get(s->m, i, j) + low;
        }
    double q = ops->mul_exact(s->m, s->low, &s->v, g, scratch);
    for (size_t i = 0; i < s->d; i++)
        assert_true(fabs(scratch[i] - product_entry(s, i)) <= 1e-12 && g[i] == (real)scratch[i]);
    assert_true(fabs(q - form(s)) <= 1e-11);
    free(whole);
    free(scratch);
}

static void check_quads(const struct matrix_ops *ops, struct sample *s)
{
    size_t size = matrix_at(matrix_pad(s->d) / MATRIX_BLOCK);
    real *three = calloc(3 * size + 5, sizeof(real)), q[3];
    memcpy(three, s->m, size * sizeof(real));
    for (size_t i = 0; i < size; i++)
        three[2 * size + 4 + i] = 2 * s->m[i];
    ops->quads(three, size + 2, 3, &s->v, q);
    double near = 4 * EPSILON * (double)(s->d + 4) * (double)(s->n + 1);
    assert_true(fabs(q[0] - form(s)) <= near);
    assert_true(q[1] == 0);
    assert_true(fabs(q[2] - 2 * form(s)) <= 2 * near);
    free(three);
}

/* Every third number is zero, and so are whole strips. */
static real *vector(const struct sample *s, void **whole)
{
    real *g = numbers(matrix_pad(s->d), whole);
    for (size_t i = 0; i < s->d; i++)
        g[i] = i % 3 && i / 8 % 2 ? (real)draw() : 0;
    return g;
}

static void check_update(const struct matrix_ops *ops, struct sample *s)
{
    for (int kept = 0; kept < 2; kept++) {
        void *whole;
        real c = (real)draw() / 20, *g = vector(s, &whole);
        ops->update(s->m, kept ? s->low : NULL, s->d, c, g);
        for (size_t i = 0; i < s->d; i++)
            for (size_t j = 0; j < s->d; j++)
                s->square[i * s->d + j] += (double)c * g[i] * g[j];
        check_matrix(s);
        free(whole);
    }
}

/* Everything that one set of loops gives for a sample, one after the other. */
static size_t all_results(const struct matrix_ops *ops, struct sample *s, const real *g, real *ret)
{
    size_t pad = matrix_pad(s->d), size = matrix_size(s->d), n = 0;
    double *scratch = malloc(pad * sizeof *scratch);
    for (int kept = 0; kept < 2; kept++) {
        real *low = kept ? s->low : NULL;
        ret[n] = (real)ops->mul_exact(s->m, low, &s->v, ret + n + 1, scratch);
        n += 1 + pad;
        ops->quads(s->m, 0, 1, &s->v, ret + n++);
        ops->update(s->m, low, s->d, (real)-0.37, g);
        memcpy(ret + n, s->m, size * sizeof(real));
        memcpy(ret + n + size, s->low, size * sizeof(real));
        n += 2 * size;
    }
    free(scratch);
    return n;
}

/* The same calls give the same bits, whatever the machine has. */
static void check_agreement(const struct matrix_ops *ops, struct sample *s)
{
    size_t pad = matrix_pad(s->d), size = matrix_size(s->d);
    void *whole;
    real *g = vector(s, &whole), *one = calloc(2 * (2 * size + pad + 2), sizeof(real));
    real *two = calloc(2 * (2 * size + pad + 2), sizeof(real)), *m = malloc(size * sizeof(real));
    for (size_t i = 0; i < s->d; i++)
        matrix_set(s->low, i, i / 2, (real)(draw() * 1e-7));
    memcpy(m, s->m, size * sizeof(real));
    real *low = malloc(size * sizeof(real));
    memcpy(low, s->low, size * sizeof(real));
    size_t n = all_results(matrix_ops("plain"), s, g, one);
    memcpy(s->m, m, size * sizeof(real));
    memcpy(s->low, low, size * sizeof(real));
    all_results(ops, s, g, two);
    assert_memory_equal(one, two, n * sizeof(real));
    free(whole);
    free(one);
    free(two);
    free(m);
    free(low);
}

static void test_mul(void **unused)
{
    (void)unused;
    everywhere(check_mul);
}

static void test_mul_exact(void **unused)
{
    (void)unused;
    everywhere(check_mul_exact);
}

static void test_quads(void **unused)
{
    (void)unused;
    everywhere(check_quads);
}

static void test_update(void **unused)
{
    (void)unused;
    everywhere(check_update);
}

static void test_instruction_sets_agree(void **unused)
{
    (void)unused;
    everywhere(check_agreement);
}

static void test_names(void **unused)
{
    (void)unused;
    assert_string_equal(matrix_ops("plain")->name, "plain");
    assert_null(matrix_ops("abacus"));
    assert_non_null(matrix_ops(NULL));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (matrix_ops(names[i]))
            assert_string_equal(matrix_ops(names[i])->name, names[i]);
    setenv("HUNCH_CPU", "plain", 1);
    assert_string_equal(matrix_ops(NULL)->name, "plain");
    unsetenv("HUNCH_CPU");
}

static void test_sizes_are_checked(void **unused)
{
    (void)unused;
    assert_int_equal(matrix_size(17), 3 * 2 * MATRIX_TILE);
    assert_int_equal(matrix_size(1000), matrix_at(63));
    assert_true(matrix_size((size_t)1 << 40) == SIZE_MAX);
    assert_true(matrix_size(SIZE_MAX) == SIZE_MAX);
}

/* Growth appends: what was there stays where it is, what is new is diagonal. */
static void test_growth(void **unused)
{
    (void)unused;
    for (size_t d = 0, to; d < 70; d = to) {
        to = d + 1 + d / 3;
        real *m = malloc(matrix_size(to) * sizeof(real)), *old = malloc(matrix_size(to) * sizeof(real));
        memset(m, 0x7b, matrix_size(to) * sizeof(real));
        matrix_fill(m, 0, d, 2);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++)
                matrix_set(m, j, i, (real)(100 * i + j));
        memcpy(old, m, matrix_size(d) * sizeof(real));
        matrix_fill(m, d, to, 3);
        for (size_t i = 0; i < to; i++)
            for (size_t j = 0; j <= i; j++)
                assert_true(matrix_get(m, i, j) == (i < d ? (real)(100 * i + j) : i == j ? 3 : 0));
        real total = 0, stored = 0;
        for (size_t i = 0; i < matrix_size(to); i++)
            total += m[i];
        for (size_t i = 0; i < to; i++)
            for (size_t j = 0; j <= i; j++)
                stored += matrix_get(m, i, j) * (i != j && i / MATRIX_BLOCK == j / MATRIX_BLOCK ? 2 : 1);
        assert_true(total == stored); /* nothing but zeros elsewhere */
        assert_true(matrix_size(to) >= matrix_size(d));
        free(m);
        free(old);
    }
}

/* A load leaves nothing of the one before, and tells of what does not fit. */
static void test_vec(void **unused)
{
    (void)unused;
    struct matrix_vec v;
    void *bytes = malloc(matrix_vec_size(40));
    matrix_vec_init(&v, 40, bytes);
    const uint32_t first[] = {0, 17, 39, 40, 1000}, second[] = {16, 17};
    const float value[] = {1, 2, 3, 4, 5}, zero[] = {7, 0};
    assert_true(matrix_vec_load(&v, first, value, 5) == 41);
    assert_int_equal(v.blocks, 3);
    assert_int_equal(v.rows[1], 2);
    assert_true(v.x[39] == 3);
    assert_true(matrix_vec_load(&v, second, zero, 2) == 0);
    assert_int_equal(v.blocks, 1);
    assert_int_equal(v.block[0], 1);
    assert_int_equal(v.rows[0] | v.rows[2], 0);
    assert_int_equal(v.rows[1], 1);
    for (size_t i = 0; i < matrix_pad(40); i++)
        assert_true(v.x[i] == (i == 16 ? 7 : 0));
    free(bytes);
}

/*
 * Drift: S, the inverse of A = I + sum x x', after up to a million Sherman-Morrison steps. The stream goes round a pool
 * of examples of length one, so that A is known at the end: the counts are.
 */
enum { D = 64, POOL = 4096 };

struct stream {
    float x[POOL][D];
    double A[D][D];
    size_t rounds;
};

static void stream_finish(struct stream *s)
{
    memset(s->A, 0, sizeof s->A);
    for (size_t i = 0; i < D; i++)
        s->A[i][i] = 1;
    for (size_t p = 0; p < POOL; p++) {
        double norm2 = 0, count = (double)(s->rounds / POOL + (p < s->rounds % POOL));
        for (size_t i = 0; i < D; i++)
            norm2 += (double)s->x[p][i] * s->x[p][i];
        for (size_t i = 0; i < D; i++)
            s->x[p][i] = (float)(s->x[p][i] / sqrt(norm2));
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                s->A[i][j] += count * s->x[p][i] * s->x[p][j];
    }
}

/* Every direction alike: all of A's eigenvalues near rounds / D. */
static void stream_even(struct stream *s)
{
    for (size_t p = 0; p < POOL; p++)
        for (size_t i = 0; i < D; i++)
            s->x[p][i] = (float)draw();
    stream_finish(s);
}

/* Blots of ink on an 8 x 8 grid: no number below zero, neighbours alike, a third of them zero. */
static void stream_ink(struct stream *s)
{
    for (size_t p = 0; p < POOL; p++) {
        double x = 4 + 4 * draw(), y = 4 + 4 * draw(), width = 2 + draw();
        for (size_t i = 0; i < D; i++) {
            double across = (double)(i % 8) - x, down = (double)(i / 8) - y;
            double ink = exp(-(across * across + down * down) / width) + 0.04 * draw();
            s->x[p][i] = ink > 0.05 ? (float)ink : 0;
        }
    }
    stream_finish(s);
}

/* Directions that fade: A's largest eigenvalue is some hundred thousand times its smallest. */
static void stream_steep(struct stream *s)
{
    static double turn[D][D];
    for (size_t i = 0; i < D * D; i++)
        turn[i / D][i % D] = draw() * pow((double)(i % D + 1), -1.5);
    for (size_t p = 0; p < POOL; p++) {
        double z[D];
        for (size_t i = 0; i < D; i++)
            z[i] = draw();
        for (size_t i = 0; i < D; i++) {
            double sum = 0;
            for (size_t j = 0; j < D; j++)
                sum += turn[i][j] * z[j];
            s->x[p][i] = (float)sum;
        }
    }
    stream_finish(s);
}

/* The largest entry of A (S + low) - I; low NULL: of A S - I. */
static double drift(const struct stream *s, const real *m, const real *low)
{
    double worst = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double sum = i == j ? -1 : 0;
            for (size_t k = 0; k < D; k++)
                sum += s->A[i][k] * ((double)matrix_get(m, k, j) + (low ? (double)matrix_get(low, k, j) : 0));
            worst = fmax(worst, isnan(sum) ? INFINITY : fabs(sum));
        }
    return worst;
}

static void run(const struct stream *s, real *m, real *low)
{
    const struct matrix_ops *ops = matrix_ops(NULL);
    struct matrix_vec v;
    void *bytes = malloc(matrix_vec_size(D));
    real g[D];
    double scratch[D];
    matrix_fill(m, 0, D, 1);
    matrix_vec_init(&v, D, bytes);
    for (size_t t = 0; t < s->rounds; t++) {
        matrix_vec_load(&v, NULL, s->x[t % POOL], D);
        double q = ops->mul_exact(m, low, &v, g, scratch);
        ops->update(m, low, D, (real)(-1 / (1 + q)), g);
    }
    free(bytes);
}

static void test_drift(void **unused)
{
    (void)unused;
    struct stream *s = malloc(sizeof *s);
    real *m = malloc(matrix_size(D) * sizeof(real)), *low = calloc(matrix_size(D), sizeof(real));
    real *kept = MATRIX_KEEPS_LOW ? low : NULL;
    seed = 1;
    s->rounds = 250000;
    stream_even(s);
    run(s, m, kept);
    assert_true(drift(s, m, NULL) < 1e-6);
    s->rounds = 1000000;
    stream_ink(s);
    matrix_fill(low, 0, D, 0);
    run(s, m, kept);
    assert_true(drift(s, m, NULL) < 1e-4);
    s->rounds = 250000;
    stream_steep(s);
    matrix_fill(low, 0, D, 0);
    run(s, m, kept);
    assert_true(drift(s, m, kept) < 1e-5);
    free(s);
    free(m);
    free(low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_growth),    cmocka_unit_test(test_vec),
        cmocka_unit_test(test_mul),       cmocka_unit_test(test_quads),
        cmocka_unit_test(test_update),    cmocka_unit_test(test_instruction_sets_agree),
        cmocka_unit_test(test_mul_exact), cmocka_unit_test(test_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

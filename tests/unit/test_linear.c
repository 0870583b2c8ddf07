/* SPDX-License-Identifier: BSD-3-Clause */
/* Every instruction set gives the bits of plain C, for every width of the class dimension, sparse and dense; and plain
 * C agrees with sums written out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "state/linear.h"

#define FEATURES 79
#define LANES_MAX 208 /* more than any instruction set takes in one go */

static struct rng rng = {5};
static real W[FEATURES * 2 * LANES_MAX] __attribute__((aligned(64)));
static real V[FEATURES * 2 * LANES_MAX] __attribute__((aligned(64)));
static uint32_t indices[FEATURES];
static float values[FEATURES];

static void numbers_fill(real *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (real)(rng_uniform(&rng) - 0.5);
}

/* MAPPED: the first rows follow one another, as behind a Fourier map. */
enum layout { SPARSE, DENSE, MAPPED, LAYOUTS };

static struct vec example(enum layout layout)
{
    struct vec x = {.index = layout == DENSE ? NULL : indices, .value = values, .mapped = layout == MAPPED ? 37 : 0};
    for (uint32_t j = 0; j < FEATURES; j++) {
        if (layout != DENSE && j >= x.mapped && rng_uniform(&rng) < 0.5)
            continue;
        indices[x.n] = j;
        values[x.n++] = (float)(rng_uniform(&rng) * 4 - 2);
    }
    return x;
}

/* Everything that an ops table can do, into one buffer. */
static void exercise(const struct linear_ops *ops, size_t lanes, const struct vec *x, real *ret)
{
    static real w[sizeof W / sizeof *W] __attribute__((aligned(64)));
    static real v[sizeof V / sizeof *V] __attribute__((aligned(64)));
    size_t stride = 2 * lanes, size = FEATURES * stride;
    real *c = ret + 3 * lanes, *b = ret + 4 * lanes;
    memcpy(w, W, size * sizeof *w);
    memcpy(v, V, size * sizeof *v);
    ops->scores(w, stride, lanes, x, ret);
    struct linear_tables two = {w, w + lanes, stride, lanes}, other = {v, v + lanes, stride, lanes};
    ops->scores_widths(&two, x, ret + lanes, ret + 2 * lanes);
    for (size_t k = 0; k < lanes; k++) {
        c[k] = (real)0.25 * (real)k - 1;
        b[k] = (real)0.125 * (real)(k % 3);
    }
    ops->add_all(w, stride, lanes, x, c);
    ops->arow_all(&other, x, c, b);
    memcpy(ret + 5 * lanes, w, size * sizeof *w);
    memcpy(ret + 5 * lanes + size, v, size * sizeof *v);
    for (size_t i = 0; i < size; i++)
        v[i] = v[i] * v[i] + 1;
    struct linear_newton t = {w, w + lanes, v, c, b, ret + 5 * lanes + 2 * size};
    ops->newton_all(&t, stride, lanes, x);
    two.V = v + lanes;
    ops->sharpen_all(&two, x, c, b);
    t.change[0] += (real)ops->dot(x->value, x->value, x->n);
    memcpy(t.change + lanes, w, size * sizeof *w);
    memcpy(t.change + lanes + size, v, size * sizeof *v);
}

static void test_instruction_sets_agree(void **state)
{
    (void)state;
    static real one[LANES_MAX * (6 + 8 * FEATURES)] __attribute__((aligned(64)));
    static real two[LANES_MAX * (6 + 8 * FEATURES)] __attribute__((aligned(64)));
    const char *names[] = {"avx2", "avx512"};
    const size_t step = 16 / sizeof(real);
    for (size_t lanes = step; lanes <= LANES_MAX; lanes += lanes == step ? step : 2 * step)
        for (enum layout layout = 0; layout < LAYOUTS; layout++) {
            numbers_fill(W, sizeof W / sizeof *W);
            numbers_fill(V, sizeof V / sizeof *V);
            struct vec x = example(layout);
            exercise(linear_ops("plain"), lanes, &x, one);
            for (int i = 0; i < 2; i++) {
                const struct linear_ops *ops = linear_ops(names[i]);
                if (!ops && lanes == step && layout == SPARSE)
                    printf("SKIPPED: %s, which this processor does not have\n", names[i]);
                if (!ops)
                    continue;
                exercise(ops, lanes, &x, two);
                assert_memory_equal(one, two, (6 * lanes + 8 * lanes * FEATURES) * sizeof(real));
            }
        }
    assert_null(linear_ops("abacus"));
}

/* One class of a score as it is promised: entry i is added in chain i mod 4, what is left over in the first (in double
 * builds there is one chain). */
static real score_in_chains(const struct vec *x, size_t stride, size_t k)
{
    real sum[4] = {0};
    size_t chains = sizeof(real) == sizeof(float) ? 4 : 1, whole = x->n - x->n % chains;
    for (size_t i = 0; i < x->n; i++)
        sum[i < whole ? i % chains : 0] += W[(x->index ? x->index[i] : i) * stride + k] * (real)x->value[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void test_scores_run_in_four_chains(void **state)
{
    (void)state;
    real out[LANES_MAX] __attribute__((aligned(64)));
    const char *names[] = {"plain", "avx2", "avx512"};
    const size_t step = 16 / sizeof(real);
    numbers_fill(W, sizeof W / sizeof *W);
    for (size_t lanes = step; lanes <= LANES_MAX; lanes += step)
        for (enum layout layout = 0; layout < LAYOUTS; layout++) {
            struct vec x = example(layout);
            for (int i = 0; i < 3 && linear_ops(names[i]); i++) {
                linear_ops(names[i])->scores(W, 2 * lanes, lanes, &x, out);
                for (size_t k = 0; k < lanes; k++)
                    assert_true(out[k] == score_in_chains(&x, 2 * lanes, k));
            }
        }
}

static void test_plain_is_the_formula(void **state)
{
    (void)state;
    const size_t lanes = 16, stride = 32;
    real out[16] __attribute__((aligned(64))), q[16] __attribute__((aligned(64)));
    numbers_fill(W, FEATURES * stride);
    struct vec x = example(SPARSE);
    linear_ops("plain")->scores_widths(&(struct linear_tables){W, W + lanes, stride, lanes}, &x, out, q);
    for (size_t k = 0; k < lanes; k++) {
        double s = 0, v = 0;
        for (size_t i = 0; i < x.n; i++) {
            s += (double)W[x.index[i] * stride + k] * x.value[i];
            v += (double)W[x.index[i] * stride + lanes + k] * x.value[i] * x.value[i];
        }
        assert_true(fabs(s - out[k]) < 1e-4);
        assert_true(fabs(v - q[k]) < 1e-4);
    }
}

/* One class alone gets the bits that it gets among all; and both are the formula, whose division four entries share. */
static void sharpen_compare(const struct linear_ops *ops, const struct vec *x)
{
    static real w[FEATURES * 32] __attribute__((aligned(64)));
    const size_t lanes = 16, stride = 32;
    real c[16] __attribute__((aligned(64))), p[16] __attribute__((aligned(64)));
    for (size_t k = 0; k < lanes; k++) {
        c[k] = (real)0.25 * (real)k - 1;
        p[k] = (real)0.5 * (real)(k % 5);
    }
    for (size_t i = 0; i < FEATURES * stride; i++)
        W[i] = V[i] = w[i] = (real)fabs((double)W[i]) + (real)0.01;
    ops->sharpen_all(&(struct linear_tables){W, W + lanes, stride, lanes}, x, c, p);
    for (size_t k = 0; k < lanes; k++)
        ops->sharpen_one(w + k, w + lanes + k, stride, x, c[k], p[k]);
    assert_memory_equal(W, w, sizeof w);
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < lanes; k++) {
            size_t at = vec_index(x, i) * stride + k;
            double v = x->value[i], mean = V[at] + c[k] * V[at + lanes] * v;
            double variance = 1 / (1 / (double)V[at + lanes] + p[k] * v * v);
            assert_true(fabs(mean - W[at]) < 1e-5);
            assert_true(fabs(variance / W[at + lanes] - 1) < 1e-5);
        }
}

static void test_sharpen(void **state)
{
    (void)state;
    const char *names[] = {"plain", "avx2", "avx512"};
    for (int i = 0; i < 3; i++)
        for (int round = 0; round < 20; round++) { /* half of them dense, and of all lengths */
            const struct linear_ops *ops = linear_ops(names[i]);
            numbers_fill(W, FEATURES * 32);
            struct vec x = example(round & 1);
            x.n -= (size_t)round % 5 < x.n ? (size_t)round % 5 : 0;
            if (ops)
                sharpen_compare(ops, &x);
        }
}

/* Rows of all lengths, those that do not fill a vector too: the formula, and the same bits everywhere. */
static void test_dots(void **state)
{
    (void)state;
    const char *names[] = {"plain", "avx2", "avx512"};
    const size_t stride = 2 * LANES_MAX;
    numbers_fill(W, FEATURES * stride);
    numbers_fill(V, stride);
    for (size_t n = 0; n <= stride; n++) {
        real out[3][FEATURES];
        for (int i = 0; i < 3; i++) {
            const struct linear_ops *ops = linear_ops(names[i]);
            (ops ? ops : linear_ops("plain"))->dots(W, stride, n, FEATURES, V, out[i]);
            assert_memory_equal(out[i], out[0], sizeof out[0]);
        }
        for (size_t j = 0; j < FEATURES; j++) {
            double want = 0;
            for (size_t a = 0; a < n; a++)
                want += (double)W[j * stride + a] * V[a];
            assert_true(fabs(want - out[0][j]) < 1e-4);
        }
    }
}

static void test_squared_length(void **state)
{
    (void)state;
    for (size_t n = 0; n <= FEATURES; n++) {
        struct vec x = {.value = values, .n = n, .all = n};
        example(true);
        double want = vec_norm2(&x), got = linear_ops(NULL)->dot(values, values, n);
        assert_memory_equal(&want, &got, sizeof want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_sets_agree),
        cmocka_unit_test(test_scores_run_in_four_chains),
        cmocka_unit_test(test_plain_is_the_formula),
        cmocka_unit_test(test_sharpen),
        cmocka_unit_test(test_dots),
        cmocka_unit_test(test_squared_length),
    };
    return cmocka_run_group_tests_name("linear", tests, NULL, NULL);
}

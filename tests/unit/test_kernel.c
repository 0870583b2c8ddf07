/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "covariance/kernel.h"
#include "state/linear.h"

#define FEATURES 20
#define OWNERS 3

/* A random example, written out and sparse; about a quarter of its sparse entries are zeros. */
struct sample {
    float dense[FEATURES], value[FEATURES];
    uint32_t index[FEATURES];
    size_t n;
};

static void sample_draw(struct rng *r, struct sample *ret)
{
    memset(ret, 0, sizeof *ret);
    for (uint32_t j = 0; j < FEATURES; j++)
        if (rng_uniform(r) < 0.4) {
            float v = rng_uniform(r) < 0.25 ? 0 : (float)(rng_uniform(r) - 0.5);
            ret->dense[j] = ret->value[ret->n] = v;
            ret->index[ret->n++] = j;
        }
}

static struct vec sparse(const struct sample *s)
{
    return (struct vec){.index = s->index, .value = s->value, .n = s->n, .all = s->n};
}

static struct vec dense(const struct sample *s)
{
    return (struct vec){.value = s->dense, .n = FEATURES, .all = FEATURES};
}

static double dot(const struct sample *a, const struct sample *b)
{
    double sum = 0;
    for (int j = 0; j < FEATURES; j++)
        sum += (double)a->dense[j] * b->dense[j];
    return sum;
}

/* What a store should hold, as a plain list. */
struct list {
    struct sample x[2000];
    uint32_t owner[2000];
    double weight[2000];
    size_t n;
};

static struct list list; /* large; one at a time */

static void list_scores(const struct kernel *k, const struct sample *x, double *ret)
{
    memset(ret, 0, OWNERS * sizeof *ret);
    for (size_t i = 0; i < list.n; i++)
        ret[list.owner[i]] +=
            list.weight[i] * kernel_value(k, dot(&list.x[i], x), dot(&list.x[i], &list.x[i]), dot(x, x));
}

static void check_scores(const struct store *t, uint64_t seed)
{
    const struct kernel kernels[] = {
        {KERNEL_LINEAR, 0, 0, 0}, {KERNEL_POLY, 3, 0, 0}, {KERNEL_RBF, 0, 0.5, 0}, {KERNEL_RATIONAL, 0, 0, 0.5}};
    struct rng r = {seed};
    struct sample x;
    double want[OWNERS];
    sample_draw(&r, &x);
    for (int k = 0; k < 4; k++) {
        real one[OWNERS] = {0}, two[OWNERS] = {0};
        struct vec a = sparse(&x), b = dense(&x);
        store_scores(t, &kernels[k], &a, one);
        store_scores(t, &kernels[k], &b, two);
        list_scores(&kernels[k], &x, want);
        for (int o = 0; o < OWNERS; o++) {
            assert_true(fabs(one[o] - want[o]) < 1e-3);
            assert_true(fabs(two[o] - want[o]) < 1e-3);
        }
    }
}

static void fill(struct store *t, uint64_t seed, int rounds)
{
    struct rng r = {seed};
    list.n = 0;
    for (int i = 0; i < rounds; i++) {
        struct sample x;
        sample_draw(&r, &x);
        struct vec v = i % 2 ? sparse(&x) : dense(&x);
        size_t copies = 1 + rng_below(&r, OWNERS);
        assert_int_equal(store_reserve(t, &v, copies), HUNCH_OK);
        uint32_t example = store_example(t, &v);
        for (size_t c = 0; c < copies; c++) {
            double weight = rng_uniform(&r) - 0.5;
            store_add(t, example, (uint32_t)c, weight);
            list.x[list.n] = x;
            list.owner[list.n] = (uint32_t)c;
            list.weight[list.n++] = weight;
        }
    }
}

static void test_values(void **unused)
{
    (void)unused;
    struct kernel linear = {KERNEL_LINEAR, 0, 0, 0}, poly = {KERNEL_POLY, 3, 0, 0}, rbf = {KERNEL_RBF, 0, 2, 0},
                  rational = {KERNEL_RATIONAL, 0, 0, 0.5};
    assert_true(kernel_value(&linear, 0.3, 1, 1) == 0.3);
    assert_true(fabs(kernel_value(&poly, 0.5, 1, 1) - 3.375) < 1e-12);
    assert_true(fabs(kernel_value(&rbf, 0.3, 1, 0.5) - exp(-1.8)) < 1e-12);
    assert_true(kernel_value(&rbf, 1.0000001, 1, 1) == 1); /* rounding must not make it exceed 1 */
    assert_true(fabs(kernel_value(&rational, 0.5, 1, 0.25) - 1 / 0.75) < 1e-12);
    assert_true(fabs(kernel_value(&rational, 6, 4, 9) - 2) < 1e-12); /* pulled to the unit ball */
}

static void test_scores(void **unused)
{
    (void)unused;
    struct store t = {0};
    check_scores(&t, 1); /* empty */
    fill(&t, 7, 100);
    for (uint64_t seed = 0; seed < 20; seed++)
        check_scores(&t, seed);
    store_clear(&t);
}

static void test_entries(void **unused)
{
    (void)unused;
    struct store t = {0};
    float value[] = {1, 2};
    struct vec x = {.value = value, .n = 2, .all = 2};
    const uint32_t owners[] = {0, 1, 0, 2, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(store_reserve(&t, &x, 1), HUNCH_OK);
        store_add(&t, store_example(&t, &x), owners[i], i);
    }
    assert_int_equal(store_count(&t, 0), 3);
    assert_int_equal(store_find(&t, 0, 0), 0);
    assert_int_equal(store_find(&t, 0, 2), 4);
    store_remove(&t, 0);
    assert_int_equal(store_find(&t, 0, 0), 1);
    assert_int_equal(store_find(&t, 2, 0), 2);
    store_replace(&t, 1, 0, 1, 10);
    assert_int_equal(store_count(&t, 0), 1);
    assert_true(t.entry[1].weight == 10);
    store_clear(&t);
}

/* A budget replaces for ever: examples that nothing refers to go, and what is left is right. */
static void test_sweeps(void **unused)
{
    (void)unused;
    struct store t = {0};
    struct rng r = {3};
    fill(&t, 11, 30);
    size_t max = 0;
    for (int i = 0; i < 3000; i++) {
        struct sample x;
        sample_draw(&r, &x);
        struct vec v = sparse(&x);
        assert_int_equal(store_reserve(&t, &v, 1), HUNCH_OK);
        size_t slot = rng_below(&r, (uint32_t)t.entries);
        list.x[slot] = x;
        list.owner[slot] = (uint32_t)rng_below(&r, OWNERS);
        list.weight[slot] = 1;
        store_replace(&t, slot, store_example(&t, &v), list.owner[slot], 1);
        max = t.index_room > max ? t.index_room : max;
        if (i % 100 == 0)
            check_scores(&t, (uint64_t)i);
    }
    assert_true(max < 4 * t.entries * FEATURES);
    store_clear(&t);
}

static void test_bytes(void **unused)
{
    (void)unused;
    struct store t = {0}, back = {0};
    fill(&t, 5, 20);
    size_t size = store_size(&t);
    char *bytes = malloc(size), *again = malloc(size);
    store_write(&t, bytes);
    assert_int_equal(store_read(&back, bytes, size, OWNERS, NULL), HUNCH_OK);
    check_scores(&back, 1);
    store_write(&back, again);
    assert_memory_equal(bytes, again, size);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(store_read(&back, bytes, cut, OWNERS, NULL), HUNCH_EMODEL);
    assert_int_equal(store_read(&back, bytes, size, OWNERS - 1, NULL), HUNCH_EMODEL);
    check_scores(&back, 2); /* what was refused changed nothing */
    for (size_t i = 0; i < size; i++) {
        struct store any = {0};
        real scores[OWNERS] = {0};
        struct kernel k = {KERNEL_LINEAR, 0, 0, 0};
        struct vec none = {0};
        memcpy(again, bytes, size);
        again[i] ^= 0x41;
        if (store_read(&any, again, size, OWNERS, NULL) == HUNCH_OK)
            store_scores(&any, &k, &none, scores);
        store_clear(&any);
    }
    free(bytes);
    free(again);
    store_clear(&t);
    store_clear(&back);
}

static void test_append(void **unused)
{
    (void)unused;
    struct store t = {0}, other = {0};
    fill(&other, 2, 15);
    static struct list first;
    first = list;
    fill(&t, 1, 25);
    assert_int_equal(store_append(&t, &other), HUNCH_OK);
    for (size_t i = 0; i < first.n; i++, list.n++) {
        list.x[list.n] = first.x[i];
        list.owner[list.n] = first.owner[i];
        list.weight[list.n] = first.weight[i];
    }
    assert_int_equal(t.entries, list.n);
    check_scores(&t, 4);
    store_clear(&t);
    store_clear(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_scores), cmocka_unit_test(test_entries),
        cmocka_unit_test(test_sweeps), cmocka_unit_test(test_bytes),  cmocka_unit_test(test_append),
    };
    return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of features: words beside columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "specs.h"

#define WORDS 200 /* features from COLUMNS on; of each class a tenth are its own */
#define COLUMNS 6 /* four categories and two numbers */
#define ENTRIES 9
#define CLASSES 10

struct row {
    uint32_t index[ENTRIES];
    float value[ENTRIES];
    size_t n;
    uint32_t label;
};

/* Two categories, two numbers and five words, of which two or three are the class's own; some rows lack the first. */
static void row_make(struct row *ret, uint64_t number)
{
    struct rng rng = {number};
    *ret = (struct row){.label = (uint32_t)rng_below(&rng, CLASSES)};
    for (uint32_t j = 0; j < COLUMNS; j += j < 4 ? 2 : 1) {
        uint32_t index = j < 4 ? j + (uint32_t)rng_below(&rng, 2) : j;
        if (j == 0 && rng_below(&rng, 4) == 0)
            continue;
        ret->index[ret->n] = index;
        ret->value[ret->n++] = j < 4 ? 1 : (float)rng_uniform(&rng) - 0.5f;
    }
    for (uint32_t part = 0; part < 5; part++) {
        uint32_t own = ret->label * WORDS / CLASSES / 5 + (uint32_t)rng_below(&rng, WORDS / CLASSES / 5);
        uint32_t word = rng_below(&rng, 2) ? own : (uint32_t)rng_below(&rng, WORDS / 5);
        ret->index[ret->n] = COLUMNS + part * (WORDS / 5) + word;
        ret->value[ret->n++] = 1;
    }
}

static hunch_role role_of(uint32_t feature)
{
    return feature < COLUMNS ? HUNCH_COLUMN : HUNCH_WORD;
}

static hunch *roles_make(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.classes = CLASSES;
    options.seed = 1;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

static void roles_report(hunch *h, uint32_t from, uint32_t to)
{
    for (uint32_t j = from; j < to; j++)
        assert_int_equal(hunch_set_role(h, j, role_of(j)), HUNCH_OK);
}

static bool row_play(hunch *h, uint64_t number, bool told)
{
    struct row row;
    hunch_choice c;
    row_make(&row, number);
    for (size_t i = 0; told && i < row.n; i++)
        assert_int_equal(hunch_set_role(h, row.index[i], role_of(row.index[i])), HUNCH_OK);
    hunch_vec x = {row.index, row.value, row.n};
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &x, &c, c.label == row.label), HUNCH_OK);
    return c.label == row.label;
}

/* Roles may come all at once or each with the first example that has the feature. */
static void test_roles_may_come_late(void **unused)
{
    (void)unused;
    hunch *early = roles_make(), *late = roles_make();
    roles_report(early, 0, COLUMNS + WORDS);
    roles_report(late, 0, 1);
    for (uint64_t i = 0; i < 700; i++)
        assert_int_equal(row_play(early, i, false), row_play(late, i, true));
    hunch_free(early);
    hunch_free(late);
}

static void test_roles_are_kept(void **unused)
{
    (void)unused;
    hunch *h = roles_make(), *again = NULL;
    void *bytes;
    size_t size;
    roles_report(h, 0, COLUMNS + WORDS);
    for (uint64_t i = 0; i < 900; i++) {
        if (i % 300 == 37) { /* also between two looks at what the rows are */
            assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
            hunch_free(again);
            assert_int_equal(hunch_read(&again, bytes, size, NULL), HUNCH_OK);
            hunch_free_bytes(bytes);
        }
        bool right = row_play(h, i, false);
        if (again)
            assert_int_equal(right, row_play(again, i, false));
    }
    learners_equal(h, again, "words beside columns");
    assert_int_equal(hunch_set_role(again, COLUMNS, HUNCH_COLUMN), HUNCH_EINVAL);
    hunch_free(h);
    hunch_free(again);
}

/* A few words in a row are text all the same, when somebody says so. */
static void test_words_are_text(void **unused)
{
    (void)unused;
    int right[2] = {0};
    for (int told = 0; told < 2; told++) {
        hunch *h = roles_make();
        for (uint64_t i = 0; i < 3000; i++)
            right[told] += row_play(h, i, told);
        hunch_free(h);
    }
    assert_true(right[1] > right[0] + 80);
}

/* Wrong answers in 1,500 rounds whose label follows from two of four categories, beside that many words drawn at random. */
static int irrelevant_play(uint64_t seed, size_t words)
{
    hunch *h = roles_make();
    struct rng rng = {seed};
    int wrong = 0;
    for (uint32_t j = 0; j < 8 + WORDS; j++)
        assert_int_equal(hunch_set_role(h, j, j < 8 ? HUNCH_COLUMN : HUNCH_WORD), HUNCH_OK);
    for (int round = 0; round < 1500; round++) {
        struct row row = {0};
        for (uint32_t j = 0; j < 8; j += 2) {
            uint32_t bit = (uint32_t)rng_below(&rng, 2);
            row.label += j < 4 ? bit << (j / 2) : 0;
            row.index[row.n] = j + bit;
            row.value[row.n++] = 1;
        }
        for (size_t i = 0; i < 5; i++) {
            uint32_t word = 8 + (uint32_t)(i * (WORDS / 5) + rng_below(&rng, WORDS / 5));
            if (i < words) {
                row.index[row.n] = word;
                row.value[row.n++] = 1;
            }
        }
        hunch_vec x = {.index = row.index, .value = row.value, .n = row.n};
        hunch_choice choice;
        assert_int_equal(hunch_predict(h, &x, &choice), HUNCH_OK);
        wrong += choice.label != row.label;
        assert_int_equal(hunch_feedback(h, &x, &choice, choice.label == row.label), HUNCH_OK);
    }
    hunch_free(h);
    return wrong;
}

static void test_irrelevant_words_cost_little(void **unused)
{
    (void)unused;
    int alone = 0, beside = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        alone += irrelevant_play(seed, 0);
        beside += irrelevant_play(seed, 5);
    }
    assert_true(5 * beside < 6 * alone);
}

static void test_roles_are_merged(void **unused)
{
    (void)unused;
    hunch *a = roles_make(), *b = roles_make();
    int right = 0;
    roles_report(a, 0, COLUMNS + WORDS / 2);
    roles_report(b, 0, COLUMNS + WORDS);
    for (uint64_t i = 0; i < 600; i++) {
        row_play(a, i, true);
        row_play(b, 10000 + i, false);
    }
    assert_int_equal(hunch_merge(a, b), HUNCH_OK);
    for (uint64_t i = 0; i < 300; i++)
        right += row_play(a, 20000 + i, false);
    assert_true(right > 60);
    hunch_free(a);
    hunch_free(b);
}

/* Whoever goes on with a model need not say that new words are words. */
static void test_new_features_are_words(void **unused)
{
    (void)unused;
    hunch *all = roles_make(), *half = roles_make();
    roles_report(all, 0, COLUMNS + WORDS);
    roles_report(half, 0, COLUMNS + WORDS / 2);
    for (uint64_t i = 0; i < 900; i++)
        assert_int_equal(row_play(all, i, false), row_play(half, i, i == 0));
    hunch_free(all);
    hunch_free(half);
}

static void test_roles_are_checked(void **unused)
{
    (void)unused;
    hunch *h = roles_make();
    assert_int_equal(hunch_set_role(h, 3, HUNCH_ROLE_UNKNOWN), HUNCH_EINVAL);
    assert_int_equal(hunch_set_role(h, 3, (hunch_role)7), HUNCH_EINVAL);
    assert_int_equal(hunch_set_role(h, HUNCH_MAX_FEATURES, HUNCH_WORD), HUNCH_ELIMIT);
    assert_int_equal(hunch_set_role(h, 3, HUNCH_WORD), HUNCH_OK);
    assert_int_equal(hunch_set_role(h, 3, HUNCH_WORD), HUNCH_OK);
    assert_int_equal(hunch_set_role(h, 3, HUNCH_COLUMN), HUNCH_EINVAL);
    hunch_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles_may_come_late), cmocka_unit_test(test_roles_are_kept),
        cmocka_unit_test(test_words_are_text),      cmocka_unit_test(test_irrelevant_words_cost_little),
        cmocka_unit_test(test_roles_are_merged),    cmocka_unit_test(test_new_features_are_words),
        cmocka_unit_test(test_roles_are_checked),
    };
    return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Clouds: what it promises of classes, strangers and columns, and that it grows, is saved and is read with the classes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "api/learner.h"
#include "state/state.h"

#define CLASSES_MADE 40
#define COLUMNS 6
#define ROWS 3000

struct rows {
    uint32_t label[ROWS];
    float value[ROWS][COLUMNS + 1]; /* the last one is for the tests */
};

static float about_normal(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(rng);
    return (float)sum;
}

/* Clouds whose centres are six times as far apart as they are wide. */
static struct rows *rows_make(void)
{
    struct rng rng = {5};
    struct rows *rows = calloc(1, sizeof *rows);
    float centre[CLASSES_MADE][COLUMNS];
    assert_non_null(rows);
    for (int k = 0; k < CLASSES_MADE; k++)
        for (int j = 0; j < COLUMNS; j++)
            centre[k][j] = 6 * about_normal(&rng);
    for (int i = 0; i < ROWS; i++) {
        rows->label[i] = (uint32_t)rng_below(&rng, CLASSES_MADE);
        for (int j = 0; j < COLUMNS; j++)
            rows->value[i][j] = centre[rows->label[i]][j] + about_normal(&rng);
    }
    return rows;
}

static hunch *learner(const char *spec, uint32_t classes)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = classes;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* Plays rows from .. to-1 with so many of their columns; returns how many were wrong. labels: what was shown; may be
 * NULL. */
static int play(hunch *h, const struct rows *rows, int from, int to, size_t columns, uint32_t *ret_labels)
{
    int wrong = 0;
    for (int i = from; i < to; i++) {
        const hunch_vec x = {NULL, rows->value[i], columns};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == rows->label[i]), HUNCH_OK);
        wrong += c.label != rows->label[i];
        if (ret_labels)
            ret_labels[i] = c.label;
    }
    return wrong;
}

/* Who knew of every row whether its class has been found would need K^2/2 wrong guesses among the others, and K^2/3 if
 * no label is tried twice on a class. */
static void test_classes_are_found(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    hunch *h = learner("clouds", CLASSES_MADE);
    int wrong = play(h, rows, 0, ROWS, COLUMNS, NULL), late = 0;
    assert_true(wrong < CLASSES_MADE * CLASSES_MADE / 2);
    hunch *panel = learner(NULL, CLASSES_MADE);
    assert_true(play(panel, rows, 0, ROWS, COLUMNS, NULL) < CLASSES_MADE * CLASSES_MADE);
    late = play(h, rows, 0, ROWS, COLUMNS, NULL);
    assert_true(late < ROWS / 50); /* all are known by now */
    hunch_free(panel);
    hunch_free(h);
    free(rows);
}

/* The unit of all columns together says nothing. */
static void test_units_say_nothing(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    uint32_t *labels = calloc(2 * ROWS, sizeof *labels);
    assert_non_null(labels);
    hunch *h = learner("clouds", CLASSES_MADE);
    play(h, rows, 0, ROWS, COLUMNS, labels);
    hunch_free(h);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rows->value[i][j] *= 1024;
    h = learner("clouds", CLASSES_MADE);
    play(h, rows, 0, ROWS, COLUMNS, labels + ROWS);
    hunch_free(h);
    assert_memory_equal(labels, labels + ROWS, ROWS * sizeof *labels);
    free(labels);
    free(rows);
}

/* A column that is always the same tells no class from strangers. */
static void test_constant_columns_tell_nothing(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    hunch *plain = learner("clouds", CLASSES_MADE), *more = learner("clouds", CLASSES_MADE);
    for (int i = 0; i < ROWS; i++) {
        rows->value[i][COLUMNS] = 4;
        const hunch_vec x = {NULL, rows->value[i], COLUMNS}, wider = {NULL, rows->value[i], COLUMNS + 1};
        if (rows->label[i] >= CLASSES_MADE / 2)
            continue;
        assert_int_equal(hunch_teach(plain, &x, rows->label[i]), HUNCH_OK);
        assert_int_equal(hunch_teach(more, &wider, rows->label[i]), HUNCH_OK);
    }
    for (int i = 0; i < 100; i++) {
        const hunch_vec x = {NULL, rows->value[i], COLUMNS}, wider = {NULL, rows->value[i], COLUMNS + 1};
        float before[CLASSES_MADE], after[CLASSES_MADE];
        assert_int_equal(hunch_scores(plain, &x, before), HUNCH_OK);
        assert_int_equal(hunch_scores(more, &wider, after), HUNCH_OK);
        if (rows->label[i] < CLASSES_MADE / 2)
            assert_true(fabsf(before[rows->label[i]] - after[rows->label[i]]) < 0.5f);
    }
    hunch_free(plain);
    hunch_free(more);
    free(rows);
}

/* On one and the same stranger no label is tried twice. */
static void test_labels_are_refuted(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    hunch *h = learner("clouds", CLASSES_MADE);
    bool shown[CLASSES_MADE] = {false};
    play(h, rows, 0, 200, COLUMNS, NULL);
    const float far[COLUMNS] = {30, -30, 30, -30, 30, -30};
    const hunch_vec x = {NULL, far, COLUMNS};
    const double *hits = h->state.tensor[0].numbers;
    int unknown = 0;
    for (uint32_t k = 0; k < CLASSES_MADE; k++)
        unknown += hits[k] == 0;
    assert_true(unknown > 1);
    for (int i = 0; i < unknown; i++) {
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_true(hits[c.label] == 0 && !shown[c.label]);
        shown[c.label] = true;
        assert_int_equal(hunch_feedback(h, &x, &c, 0), HUNCH_OK);
    }
    hunch_free(h);
    free(rows);
}

static void models_are_the_same(const hunch *a, const hunch *b)
{
    void *mine = NULL, *others = NULL;
    size_t size = 0, others_size = 0;
    assert_int_equal(hunch_write(a, &mine, &size, NULL), HUNCH_OK);
    assert_int_equal(hunch_write(b, &others, &others_size, NULL), HUNCH_OK);
    assert_int_equal(size, others_size);
    assert_memory_equal(mine, others, size);
    free(mine);
    free(others);
}

/* With few classes the panel's finder keeps nothing; when there are enough of them it begins, and models of before and
 * after can be read. */
static void test_it_begins_when_there_are_enough_classes(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    hunch *h = learner(NULL, 4), *read = NULL;
    for (uint32_t classes = 4; classes <= 44; classes += 20) {
        void *bytes = NULL;
        size_t size = 0;
        for (int i = 0; i < 300; i++)
            rows->label[i] %= classes;
        play(h, rows, 0, 300, COLUMNS, NULL);
        const struct state *finder = state_extra(&h->state)->member(&h->state, 4);
        assert_string_equal(finder->algo->info.name, "clouds");
        assert_int_equal(finder->tensor[0].kind == ABSENT, classes < 32);
        assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&read, bytes, size, NULL), HUNCH_OK);
        free(bytes);
        play(h, rows, 300, 600, COLUMNS, NULL);
        play(read, rows, 300, 600, COLUMNS, NULL);
        models_are_the_same(h, read);
        hunch_free(read);
        if (classes < 44)
            assert_int_equal(hunch_add_classes(h, 20), HUNCH_OK);
    }
    hunch_free(h);
    free(rows);
}

/* Features beyond the 64th are added to others, and count. */
static void test_more_features_than_directions(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    uint32_t index[COLUMNS];
    for (uint32_t j = 0; j < COLUMNS; j++)
        index[j] = 100 + 37 * j;
    hunch *h = learner("clouds", CLASSES_MADE);
    int wrong = 0;
    for (int i = 0; i < ROWS; i++) {
        const hunch_vec x = {index, rows->value[i], COLUMNS};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == rows->label[i]), HUNCH_OK);
        wrong += c.label != rows->label[i];
    }
    assert_true(wrong < CLASSES_MADE * CLASSES_MADE);
    hunch_free(h);
    free(rows);
}

#define WIDE_COLUMNS 400

/* Six columns in which classes differ among 400 with noise. */
static void wide_row(const struct rows *rows, int i, struct rng *noise, float *ret)
{
    for (int j = 0; j < WIDE_COLUMNS; j++)
        ret[j] = 2 * about_normal(noise);
    for (int c = 0; c < COLUMNS; c++)
        ret[100 + 37 * c] = rows->value[i][c];
}

/* Plays rows from .. to-1, each of 400 columns; returns how many were wrong. */
static int play_wide(hunch *h, const struct rows *rows, int from, int to)
{
    struct rng noise = {11 + (uint64_t)from};
    float x[WIDE_COLUMNS];
    int wrong = 0;
    for (int i = from; i < to; i++) {
        wide_row(rows, i, &noise, x);
        const hunch_vec example = {NULL, x, WIDE_COLUMNS};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &example, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &example, &c, c.label == rows->label[i]), HUNCH_OK);
        wrong += c.label != rows->label[i];
    }
    return wrong;
}

/* Directions are taken from the examples: with columns added up at random, their noise hides the classes. Learners that
 * have taken different ones can be merged. */
static void test_directions_come_from_wide_rows(void **unused)
{
    (void)unused;
    struct rows *rows = rows_make();
    hunch *a = learner("clouds", CLASSES_MADE), *b = learner("clouds", CLASSES_MADE);
    play_wide(a, rows, 0, 1500);
    play_wide(a, rows, 1500, ROWS);
    play_wide(b, rows, 1500, ROWS);
    assert_int_equal(hunch_merge(a, b), HUNCH_OK);
    play_wide(a, rows, 0, 1000);
    assert_true(play_wide(a, rows, 1000, 2000) < 300);
    hunch_free(a);
    hunch_free(b);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes_are_found),
        cmocka_unit_test(test_units_say_nothing),
        cmocka_unit_test(test_constant_columns_tell_nothing),
        cmocka_unit_test(test_labels_are_refuted),
        cmocka_unit_test(test_it_begins_when_there_are_enough_classes),
        cmocka_unit_test(test_more_features_than_directions),
        cmocka_unit_test(test_directions_come_from_wide_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

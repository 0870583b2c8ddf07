/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on the scale of their columns: entry by entry what the columns make of them; columns that are settled; straight
 * lines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "state/state_bytes.h"
#include "state/linear.h"
#include "features/scale.h"

static double normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(r);
    return sum;
}

/* Nothing, everything and something; lengths around whole vectors; in place and with places before it. */
static void test_nonzeros_of_every_instruction_set(void **unused)
{
    (void)unused;
    enum { MAX = 100 };
    static const char *const names[] = {"plain", "avx2", "avx512"};
    struct rng r = {8};
    for (int t = 0; t < 1200; t++) {
        float row[MAX], value[MAX + SCALE_SLACK + 3];
        uint32_t index[MAX + SCALE_SLACK];
        size_t n = rng_below(&r, MAX + 1), before = rng_below(&r, 4), share = rng_below(&r, 5);
        for (size_t i = 0; i < n; i++)
            row[i] = rng_below(&r, 4) < share ? (float)normal(&r) : t % 2 ? -0.0f : 0;
        for (int k = 0; k < 3 && linear_ops(names[k]); k++) {
            memcpy(value + before, row, n * sizeof *row);
            size_t count = linear_ops(names[k])->nonzeros(value + before, n, index, value), at = 0;
            for (uint32_t i = 0; i < n; i++)
                if (row[i] != 0) {
                    assert_int_equal(index[at], i);
                    assert_true(value[at++] == row[i]);
                }
            assert_int_equal(count, at);
        }
    }
}

/* Rows of few and of many of the columns, with zeros that are given and zeros that are left out: what each column makes
 * of its number, in order, and nothing else. */
static void rows_are_what_their_columns_make_of_them(size_t max)
{
    enum { WIDE = 300, LONG = WIDE + 5, ALWAYS = 60 };
    struct scale c = {.unit = 1, .share = 1};
    struct rng r = {12};
    uint32_t index[LONG], to[LONG + 2 * SCALE_SLACK + WIDE];
    float x[LONG], value[LONG + 2 * SCALE_SLACK + WIDE], room[LONG + 2 * SCALE_SLACK + WIDE];
    for (int t = 0; t < 900; t++) {
        float full[LONG] = {0};
        size_t n = 0, last = t > 600 && t % 9 == 0 ? LONG : WIDE, share = t < 600 ? max : rng_below(&r, max + 1);
        for (uint32_t j = 0; j < last; j++) {
            double u = rng_uniform(&r);
            if (rng_below(&r, 100) >= share && j % ALWAYS && j != last - 1)
                continue;
            index[n] = j;
            x[n++] = full[j] = j < 20 ? (float)(u < 0.3) : j < 40 && u < 0.8 ? 0 : (float)normal(&r);
        }
        hunch_vec row = {index, x, n};
        assert_int_equal(scale_reserve(&c, scale_columns(&row), n), HUNCH_OK);
        assert_true(scale_room(&c, n) <= sizeof room / sizeof *room);
        struct scaled out = scale_write(&c, linear_ops(NULL), &row, &(struct scale_out){to, value, room, to});
        size_t at = 0;
        for (uint32_t j = 0; j < LONG; j++) {
            float z = scale_number(&c, scale_column(&c, j), full[j]);
            if (z != 0) {
                assert_int_equal(to[at], j);
                assert_true(value[at++] == z);
            }
        }
        assert_int_equal(out.n, at);
        scale_observe(&c, &row, &out);
        if (scale_is_due(&c))
            scale_refresh(&c);
    }
    assert_true(max == 100 ? c.centreds > WIDE / 2 : c.centreds > 1 && c.centreds < WIDE / ALWAYS + 5);
    scale_free(&c);
}

static void test_rows_are_what_their_columns_make_of_them(void **unused)
{
    (void)unused;
    rows_are_what_their_columns_make_of_them(100); /* laid out, */
    rows_are_what_their_columns_make_of_them(6);   /* and merged with the zeros of few columns */
}

/* A column that is settled is looked at in one row of eight, and still counts its rows and follows a change. */
static void test_settled_columns_follow(void **unused)
{
    (void)unused;
    struct scale c = {.unit = 1, .share = 1};
    struct rng r = {7};
    uint32_t index[] = {0, 1};
    double late = 0;
    for (int t = 0; t < 30000; t++) {
        float x[] = {(float)(normal(&r) + (t < 15000 ? 0 : 100)), rng_uniform(&r) < 0.7 ? (float)normal(&r) : 0};
        hunch_vec row = {index, x, 2};
        assert_int_equal(scale_reserve(&c, 2, 2), HUNCH_OK);
        uint32_t rows = c.column[0].rows;
        late += t >= 25000 ? scale_number(&c, &c.column[0], x[0]) / 5000 : 0;
        scale_observe(&c, &row, &(struct scaled){2, 1, 0});
        if (t == 14000)
            assert_true(c.column[0].kind & SCALE_SETTLED);
        if (t > 14000)
            assert_true(c.column[0].rows - rows <= SCALE_SPARE);
        if (scale_is_due(&c))
            scale_refresh(&c);
    }
    assert_true(fabs(late) < 1.2); /* of all values so far this half is the upper one: it was 5 and more */
    assert_true(c.column[0].rows <= c.rows && c.column[0].rows + 100 > c.rows);
    assert_true(fabs(c.column[1].rows / (double)c.rows - 0.7) < 0.03);
    scale_free(&c);
}

/* Through two knots of the curve, cut at 5, 0 at 0 where zeros stay zeros; whatever was saved and read. */
static void straight_lines_hold(const struct scale *c)
{
    for (uint32_t j = 0; j < 4; j++) {
        const struct scale_column *column = &c->column[j];
        const struct scale_curve *curve = &c->curve[column->curve];
        assert_true(column->knots > 4 && column->centred == (j != 3));
        int low = column->knots / 4, high = 3 * column->knots / 4;
        double first = curve->knot[low], last = curve->knot[high], shift = column->centred ? 0 : 1;
        double slope = ((double)curve->piece[high].score - curve->piece[low].score) / (last - first);
        for (double x = -30; x < 30; x += 0.7) {
            double z = shift ? slope * x : curve->piece[low].score + slope * (x - first);
            z = z > CURVE_LARGEST ? CURVE_LARGEST : z < -CURVE_LARGEST ? -CURVE_LARGEST : z;
            assert_true(fabs(scale_straight(c, column, (float)x) - z) < 1e-4);
        }
    }
    const struct scale_column binary = {.curve = -1};
    assert_true(scale_straight(c, &binary, 1) == 1);
}

static void test_straight_lines(void **unused)
{
    (void)unused;
    struct scale c = {.unit = 1, .share = 1}, again;
    struct rng r = {21};
    for (int t = 0; t < 2000; t++) {
        float x[] = {(float)normal(&r), (float)(3 * normal(&r) + 9), (float)exp(normal(&r)),
                     rng_uniform(&r) < 0.8 ? 0 : (float)normal(&r)};
        hunch_vec row = {NULL, x, 4};
        assert_int_equal(scale_reserve(&c, 4, 4), HUNCH_OK);
        scale_observe(&c, &row, &(struct scaled){4, 1, 0});
        if (scale_is_due(&c))
            scale_refresh(&c);
    }
    straight_lines_hold(&c);
    struct writer w = {NULL, 0};
    scale_put(&w, &c);
    w = (struct writer){malloc(w.used), 0};
    scale_put(&w, &c);
    struct reader reader = {w.bytes, w.used, false};
    assert_int_equal(scale_take(&reader, &again, NULL), HUNCH_OK);
    straight_lines_hold(&again);
    free(w.bytes);
    scale_free(&c);
    scale_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonzeros_of_every_instruction_set),
        cmocka_unit_test(test_rows_are_what_their_columns_make_of_them),
        cmocka_unit_test(test_settled_columns_follow),
        cmocka_unit_test(test_straight_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

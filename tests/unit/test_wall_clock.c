/* SPDX-License-Identifier: BSD-3-Clause */
/* The log's time over several runs, with clocks that are set by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../temporary.h"
#include "util/wall_clock.h"

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static char kept[4096], shift[4096];

/* passed: both clocks; jumped: the system's alone. */
static void set_clocks(int64_t passed, int64_t jumped)
{
    FILE *f = fopen(shift, "w");
    assert_non_null(f);
    fprintf(f, "%lld %lld", (long long)passed, (long long)jumped);
    fclose(f);
}

static void begin(const char *dir)
{
    snprintf(kept, sizeof kept, "%s/clock", dir);
    snprintf(shift, sizeof shift, "%s/shift", dir);
    remove(kept);
    set_clocks(0, 0);
    setenv("HUNCH_CLOCK_FILE", shift, 1);
}

/* One run; gives its last time. */
static int64_t run(bool trust)
{
    struct wall_clock w = {0};
    wall_clock_start(&w, kept, trust);
    int64_t ms = wall_clock_ms(&w);
    wall_clock_stop(&w);
    return ms;
}

static bool near(int64_t a, int64_t b)
{
    return llabs(a - b) < MINUTE;
}

/* How old a moment of the last run is in the next one, at once and an hour and a bit later. */
static void ages(int64_t then, int64_t passed, int64_t jumped, int64_t *ret_at_once, int64_t *ret_later)
{
    struct wall_clock w = {0};
    set_clocks(passed, jumped);
    wall_clock_start(&w, kept, false);
    *ret_at_once = wall_clock_age_ms(&w, wall_clock_ms(&w), then);
    set_clocks(passed + HOUR + 1000, jumped);
    *ret_later = wall_clock_age_ms(&w, wall_clock_ms(&w), then);
    wall_clock_stop(&w);
}

static void test_gap_is_confirmed_by_an_hour(void **state)
{
    int64_t at_once, later;
    begin(*state);
    int64_t then = run(false);
    ages(then, 3 * HOUR, 0, &at_once, &later);
    assert_true(near(at_once, 0));
    assert_true(near(later, 4 * HOUR));
}

static void test_restarts_do_not_confirm(void **state)
{
    begin(*state);
    int64_t then = run(false), at_once, later;
    for (int i = 1; i <= 5; i++) {
        set_clocks(0, i * DAY);
        run(false);
    }
    ages(then, 0, 6 * DAY, &at_once, &later);
    assert_true(near(at_once, 0));
}

static void test_short_gap_counts(void **state)
{
    int64_t at_once, later;
    begin(*state);
    int64_t then = run(false);
    ages(then, MINUTE / 2, 0, &at_once, &later);
    assert_true(at_once >= MINUTE / 2);
}

/* An hour ahead for one run: the next one is right again, without anyone's help. */
static void test_wrong_clock_is_taken_back(void **state)
{
    begin(*state);
    int64_t then = run(false);
    set_clocks(0, HOUR);
    run(false);
    set_clocks(0, 0);
    assert_true(near(run(false), then));
}

static void test_wrong_clock_is_taken_back_while_it_runs(void **state)
{
    struct wall_clock w = {0};
    begin(*state);
    int64_t then = run(false);
    set_clocks(0, HOUR);
    wall_clock_start(&w, kept, false);
    assert_true(near(wall_clock_ms(&w), then + HOUR));
    set_clocks(10 * MINUTE, 0);
    assert_true(near(wall_clock_ms(&w), then + 10 * MINUTE));
    assert_true(near(wall_clock_age_ms(&w, wall_clock_ms(&w), then), 10 * MINUTE));
    wall_clock_stop(&w);
}

static void test_trust(void **state)
{
    struct wall_clock w = {0};
    begin(*state);
    int64_t then = run(false);
    set_clocks(0, 2 * HOUR);
    wall_clock_start(&w, kept, true);
    assert_true(near(wall_clock_age_ms(&w, wall_clock_ms(&w), then), 2 * HOUR));
    wall_clock_stop(&w);
    set_clocks(0, 0); /* it was wrong after all */
    assert_true(near(run(true), then));
    set_clocks(0, 400 * DAY);
    assert_true(near(run(true), then + 400 * DAY));
}

/* Clocks that go on together for an hour after a jump back are followed; nothing gets older for it. */
static void test_jump_back_is_followed(void **state)
{
    struct wall_clock w = {0};
    begin(*state);
    wall_clock_start(&w, kept, true);
    int64_t then = wall_clock_ms(&w);
    set_clocks(0, -3 * HOUR);
    assert_true(near(wall_clock_ms(&w), then));
    set_clocks(HOUR - MINUTE, -3 * HOUR);
    assert_true(near(wall_clock_ms(&w), then + HOUR - MINUTE));
    set_clocks(HOUR + MINUTE, -3 * HOUR);
    assert_true(near(wall_clock_ms(&w), then - 2 * HOUR + MINUTE));
    wall_clock_stop(&w);
}

static void test_jump_forward_in_a_run(void **state)
{
    struct wall_clock w = {0};
    begin(*state);
    wall_clock_start(&w, kept, false);
    int64_t then = wall_clock_ms(&w);
    for (int i = 0; i < 5; i++) {
        set_clocks(i * HOUR, 3000 * DAY);
        assert_true(near(wall_clock_ms(&w), then + i * HOUR));
    }
    wall_clock_stop(&w);
}

/* A start with these bytes in the file. */
static void start_with(const char *bytes, size_t n, int64_t then)
{
    FILE *f = fopen(kept, "wb");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
    struct wall_clock w = {0};
    wall_clock_start(&w, kept, false);
    wall_clock_seen(&w, then);
    int64_t now = wall_clock_ms(&w);
    int64_t age = wall_clock_age_ms(&w, now, then);
    wall_clock_stop(&w);
    assert_true(near(now, then));
    assert_true(age < MINUTE);
}

/* One bit of the file, or its end: no time passes for it. */
static void test_every_bit(void **state)
{
    char bytes[256], flipped[256];
    begin(*state);
    run(false);
    int64_t then = run(false);
    FILE *f = fopen(kept, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_int_equal(n, 64);
    for (size_t bit = 0; bit < n * 8; bit++) {
        memcpy(flipped, bytes, n);
        flipped[bit / 8] ^= (char)(1 << bit % 8);
        start_with(flipped, n, then);
    }
    for (size_t end = 0; end < n; end++)
        start_with(bytes, end, then);
}

/* No record is left, and the system's clock is years off: the logs tell the time. */
static void test_both_records_damaged(void **state)
{
    char zeros[64] = {1};
    static const int64_t off[] = {-4000 * DAY, 2 * DAY, 4000 * DAY};
    for (size_t i = 0; i < 3; i++) {
        begin(*state);
        int64_t then = run(false), at_once;
        struct wall_clock w = {0};
        FILE *f = fopen(kept, "wb");
        fwrite(zeros, 1, sizeof zeros, f);
        fclose(f);
        set_clocks(0, off[i]);
        wall_clock_start(&w, kept, false);
        wall_clock_seen(&w, 0);
        wall_clock_seen(&w, then - DAY);
        wall_clock_seen(&w, then);
        at_once = wall_clock_age_ms(&w, wall_clock_ms(&w), then);
        assert_true(at_once < MINUTE);
        assert_true(wall_clock_ms(&w) >= then);
        wall_clock_stop(&w);
        wall_clock_start(&w, kept, false); /* nor is it confirmed by another start */
        assert_true(wall_clock_age_ms(&w, wall_clock_ms(&w), then) < MINUTE);
        wall_clock_stop(&w);
    }
}

static int teardown(void **state)
{
    int code = temporary_remove(*state);
    free(*state);
    return code;
}

static int setup(void **state)
{
    *state = temporary_folder();
    return *state ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gap_is_confirmed_by_an_hour),
        cmocka_unit_test(test_restarts_do_not_confirm),
        cmocka_unit_test(test_short_gap_counts),
        cmocka_unit_test(test_wrong_clock_is_taken_back),
        cmocka_unit_test(test_wrong_clock_is_taken_back_while_it_runs),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_jump_back_is_followed),
        cmocka_unit_test(test_jump_forward_in_a_run),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_both_records_damaged),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

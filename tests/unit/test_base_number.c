/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as text: against the C library in the C locale, and under a locale with a decimal comma. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "base/rng.h"

#include "../comma_locale.h"

static double any(struct rng *r)
{
    for (;;) {
        uint64_t bits = rng_next(r);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

static void test_prints_the_shortest_that_reads_back(void **state)
{
    (void)state;
    struct rng r = {1};
    char text[NUMBER_TEXT], shorter[64];
    for (int i = 0; i < 100000; i++) {
        double value = i % 3 == 0 ? any(&r) : i % 3 == 1 ? rng_uniform(&r) * 1000 : round(rng_uniform(&r) * 1e6) / 1000;
        double back = 0;
        size_t n = number_print(value, text);
        assert_int_equal(n, strlen(text));
        assert_true(number_is(text, &back) && back == value);
        assert_true(strtod(text, NULL) == value);
        for (int digits = 1; digits < 17; digits++) {
            snprintf(shorter, sizeof shorter, "%.*g", digits, value);
            if (strtod(shorter, NULL) == value) {
                assert_true(strcmp(shorter, text) == 0 || strlen(shorter) + 4 >= n);
                break;
            }
        }
    }
}

/* The first of 15, 16 and 17 digits that reads back, as printf writes it. */
static void test_prints_as_printf_does(void **state)
{
    (void)state;
    struct rng r = {3};
    char text[NUMBER_TEXT], expected[64];
    for (int i = 0; i < 300000; i++) {
        double u = rng_uniform(&r), ten = pow(10, (double)rng_below(&r, 10) - 4);
        double values[] = {u,
                           -u * ten,
                           (double)(1 + rng_below(&r, 999)) / (double)(1 + rng_below(&r, 999)),
                           (float)u * ten,
                           nextafter(ten, rng_below(&r, 2) ? 0 : 1e9),
                           ldexp(1 + (double)rng_below(&r, 3) * 0x1p-52, (int)rng_below(&r, 30) - 10)};
        double value = values[i % 6];
        int digits = 15;
        do
            snprintf(expected, sizeof expected, "%.*g", digits, value);
        while (strtod(expected, NULL) != value && digits++ < 17);
        number_print(value, text);
        assert_string_equal(text, expected);
    }
}

static void test_reads_as_strtod_does(void **state)
{
    (void)state;
    struct rng r = {2};
    char text[128];
    for (int i = 0; i < 200000; i++) {
        size_t n = 0, whole = rng_below(&r, 22), fraction = rng_below(&r, 30);
        if (rng_below(&r, 2))
            text[n++] = '-';
        for (size_t k = 0; k < whole; k++)
            text[n++] = (char)('0' + rng_below(&r, 10));
        if (fraction || !whole) {
            text[n++] = '.';
            for (size_t k = 0; k < fraction + !whole; k++)
                text[n++] = (char)('0' + rng_below(&r, rng_below(&r, 3) ? 10 : 1));
        }
        text[n] = '\0';
        if (rng_below(&r, 2))
            snprintf(text + n, sizeof text - n, "e%d", (int)rng_below(&r, 700) - 350);
        double got = 0, want = strtod(text, NULL);
        const char *end = number_read(text, &got);
        assert_ptr_equal(end, text + strlen(text));
        assert_memory_equal(&got, &want, sizeof got);
    }
}

static void test_zeros_that_make_a_large_exponent_small(void **state)
{
    (void)state;
    static char text[3000];
    double got = 0;
    memset(text, '0', sizeof text);
    text[1] = '.';
    strcpy(text + 1502, "1e1010"); /* 1e-491 */
    assert_non_null(number_read(text, &got));
    assert_true(got == 0);
    strcpy(text + 1502, "25e1500"); /* 0.25 */
    assert_non_null(number_read(text, &got));
    assert_true(got == 0.25);
}

static void test_is_no_number(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "-",  ".",   "e5",  "1e",    "1e+", "nan",  "inf",  "0x10",
                                      " 1", "1 ", "1,5", "--1", "1.2.3", "+",   "1e5x", "1e999"};
    double value = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(number_is(bad[i], &value));
    assert_true(value == 7);
    assert_true(number_is("+1.e2", &value) && value == 100);
    assert_true(number_is(".5", &value) && value == 0.5);
    assert_true(number_is("-0", &value) && value == 0 && signbit(value));
    assert_string_equal(number_read("3:4", &value), ":4");
}

static void test_known_texts(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-17, "-17"},
                 {0.1, "0.1"},
                 {1e6, "1000000"},
                 {1e15, "1e+15"},
                 {1e-7, "1e-07"},
                 {1e300, "1e+300"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1.0 / 3, "0.3333333333333333"}};
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        number_print(known[i].value, text);
        assert_string_equal(text, known[i].text);
    }
    number_print(NAN, text);
    assert_non_null(strstr(text, "nan"));
    number_print(-INFINITY, text);
    assert_string_equal(text, "-inf");
    number_print_float(0.1f, text);
    assert_string_equal(text, "0.1");
    number_print_whole(UINT64_MAX, text);
    assert_string_equal(text, "18446744073709551615");
    assert_int_equal(number_print_digits(1234567, 3, text), 8);
    assert_string_equal(text, "1.23e+06");
}

static void test_under_a_decimal_comma(void **state)
{
    (void)state;
    char text[NUMBER_TEXT];
    double value;
    if (!comma_locale_set())
        skip();
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    assert_true(number_is("0.3", &value) && value == 0.3);
    assert_true(number_is("0.12345678901234567890123", &value) && value == 0.12345678901234567890123);
    number_print(0.3, text);
    assert_string_equal(text, "0.3");
    number_print(1e-30 / 3, text);
    assert_non_null(strchr(text, '.'));
    number_print_float(1.5e-20f, text);
    assert_string_equal(text, "1.5e-20");
    comma_locale_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prints_the_shortest_that_reads_back),
        cmocka_unit_test(test_prints_as_printf_does),
        cmocka_unit_test(test_reads_as_strtod_does),
        cmocka_unit_test(test_zeros_that_make_a_large_exponent_small),
        cmocka_unit_test(test_is_no_number),
        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_under_a_decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

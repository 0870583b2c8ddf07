/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast readers of decimals against strtof, bit by bit. "test_decimal N": N random numbers of each kind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "base/rng.h"

static uint64_t wanted = 1000000;

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Both readers must agree with strtof on a number that fills text. */
static void check(const char *text)
{
    char buffer[2048 + DECIMAL_PADDING] = {0};
    size_t length = strlen(text);
    float fast = -1, any = -1, right = strtof(text, NULL);
    assert_true(length < 2048);
    memcpy(buffer, text, length);
    buffer[length] = ' ';
    const char *end = decimal_read(buffer, &fast), *end_any = decimal_read_any(buffer, &any);
    if (isinf(right)) {
        assert_true(isinf(fast) && isinf(any));
    }
    if (end != buffer + length || end_any != buffer + length || bits_of(fast) != bits_of(right) ||
        bits_of(any) != bits_of(right))
        fail_msg("'%s': %a and %a instead of %a", text, (double)fast, (double)any, (double)right);
}

/* clang-format off */
static const char *const hard[] = {
    "0", "-0", "1", "-1", "+1", "00001", "1.", ".5", "-.5", "0.1", "0.123456", "1e5", "1E+5", "1e-5",
    "123456789", "16777217", "16777219", "16777216.999999999", "33554433", "33554435", "9007199254740993",
    "0.000000000000000000000000000000000000000000001", "1.401298464324817e-45", "7.006492321624085e-46",
    "7.0064923216240853546186479164495806564013097093825788587853e-46",
    "7.0064923216240853546186479164495806564013097093825788587854e-46", "1.17549435e-38", "1.1754943e-38",
    "1.17549429e-38", "3.40282346638528859811704183484516925e38", "3.4028235677973366e38", "3.4028236e38",
    "340282356779733661637539395458142568447.999", "1e39", "1e-46", "1e-400", "1e400", "0e400",
    "0e-99999999999999", "1e99999999999999999999",
    "0.00000000000000000000000000000000000000000000000000000000000000000000000000001e77",
    "100000000000000000000000000000000000000000000000000000e-53", "12345678.12345678", "1234567.1234567",
    "99999999", "9999999.9999999", "0.30000001192092896", "0.300000011920928955078125",
    "1.00000005960464477539", "1.000000059604644775390625",
    "1.0000000596046447753906250000000000000000000000000000000000000001",
    "1.0000000596046447753906249999999999999999999999999999999999999999", "8388608.5", "8388609.5",
    "4194304.25", "4194304.75", "0.50000002980232238769531250", "123456789012345678901234567890", "1e22",
    "1e23", "1e-22", "1e-23",
};
/* clang-format on */

static void test_hard_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        check(hard[i]);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"",    "-",   "+",   ".",    "-.", "e5",  "1e",
                                        "1e+", "nan", "inf", "-inf", "x",  "--1", " 1"};
    char buffer[64] = {0};
    float value;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(buffer, 0, sizeof buffer);
        strcpy(buffer, cases[i]);
        assert_null(decimal_read(buffer, &value));
        assert_null(decimal_read_any(buffer, &value));
        assert_true(value == 0);
    }
    /* what follows is the caller's: hexadecimal is a 0 before an x */
    strcpy(buffer, "0x10");
    assert_ptr_equal(decimal_read(buffer, &value), buffer + 1);
    strcpy(buffer, "1.5.5");
    assert_ptr_equal(decimal_read(buffer, &value), buffer + 3);
}

static void test_random_digits(void **state)
{
    (void)state;
    struct rng random = {1};
    char text[128];
    for (uint64_t i = 0; i < wanted; i++) {
        size_t n = 0, whole = rng_below(&random, 10), fraction = rng_below(&random, 12 + i % 24);
        if (rng_below(&random, 3) == 0)
            text[n++] = '-';
        for (size_t j = 0; j < whole; j++)
            text[n++] = (char)('0' + rng_below(&random, 10));
        if (fraction > 0 || whole == 0) {
            text[n++] = '.';
            for (size_t j = 0; j <= fraction; j++)
                text[n++] = (char)('0' + rng_below(&random, 10));
        }
        text[n] = 0;
        if (rng_below(&random, 4) == 0)
            snprintf(text + n, sizeof text - n, "e%d", (int)rng_below(&random, 110) - 60);
        check(text);
    }
}

static void test_random_bits(void **state)
{
    (void)state;
    struct rng random = {2};
    static const char *const forms[] = {"%.9g", "%.8g", "%.6g", "%.17g", "%.12f"};
    for (uint64_t i = 0; i < wanted; i++) {
        char text[128];
        uint32_t bits = (uint32_t)rng_next(&random);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, forms[i % 5], (double)value);
        check(text);
    }
}

/* The point half way between two floats, exactly, and a little more or less. */
static void test_halfway(void **state)
{
    (void)state;
    struct rng random = {3};
    for (uint64_t i = 0; i < wanted / 5; i++) {
        char text[512];
        /* around 1 as often as in the whole range, subnormals included */
        uint32_t exponent = (uint32_t)(i % 2 ? 110 + rng_below(&random, 30) : rng_below(&random, 254));
        uint32_t bits = exponent << 23 | (uint32_t)rng_below(&random, 1 << 23);
        float low;
        memcpy(&low, &bits, sizeof low);
        double half = ((double)low + (double)nextafterf(low, INFINITY)) / 2; /* exact */
        int length = snprintf(text, sizeof text, "%.200f", half);
        while (length > 1 && text[length - 1] == '0')
            text[--length] = 0;
        check(text);
        strcpy(text + length, "0000000000000000000000000000001");
        check(text);
        text[length] = 0;
        if (text[length - 1] > '1') {
            text[length - 1]--;
            strcpy(text + length, "9999999999");
            check(text);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_cases),  cmocka_unit_test(test_refused), cmocka_unit_test(test_random_digits),
        cmocka_unit_test(test_random_bits), cmocka_unit_test(test_halfway),
    };
    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

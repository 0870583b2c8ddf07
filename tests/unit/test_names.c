/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/names.h"

static void test_numbers_in_order(void **state)
{
    (void)state;
    struct names *names = names_new();
    size_t length;
    assert_int_equal(names_count(names), 0);
    assert_int_equal(names_find(names, "a", 1), NAMES_NONE);
    assert_int_equal(names_add(names, "a", 1), 0);
    assert_int_equal(names_add(names, "bcd", 3), 1);
    assert_int_equal(names_add(names, "", 0), 2);
    assert_int_equal(names_add(names, "a", 1), 0);
    assert_int_equal(names_add(names, "bcd", 2), 3); /* "bc" is another name than "bcd" */
    assert_int_equal(names_count(names), 4);
    assert_string_equal(names_text(names, 1, &length), "bcd");
    assert_int_equal(length, 3);
    assert_string_equal(names_text(names, 2, &length), "");
    assert_int_equal(length, 0);
    assert_null(names_text(names, 4, &length));
    assert_int_equal(names_find(names, "", 0), 2);
    names_free(names);
    names_free(NULL);
}

static void test_many(void **state)
{
    (void)state;
    struct names *names = names_new();
    enum { MANY = 200000 };
    char text[32];
    for (uint32_t i = 0; i < MANY; i++) {
        int length = snprintf(text, sizeof text, "name%u", i * 7);
        assert_int_equal(names_add(names, text, (size_t)length), i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        int length = snprintf(text, sizeof text, "name%u", i * 7);
        assert_int_equal(names_find(names, text, (size_t)length), i);
        assert_string_equal(names_text(names, i, NULL), text);
    }
    assert_int_equal(names_find(names, "name1", 5), NAMES_NONE);
    assert_true(names_bytes(names) > MANY * 8);
    names_free(names);
}

/* Against a list of what each number is called. */
static void test_replace(void **state)
{
    (void)state;
    enum { MANY = 1000, ROUNDS = 20000 };
    static char called[MANY][48];
    struct names *names = names_new();
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(called[i], sizeof called[i], "%s%u", i % 3 ? "n" : "a name that is longer than sixteen bytes ", i);
        assert_int_equal(names_add(names, called[i], strlen(called[i])), i);
    }
    size_t bytes = names_bytes(names);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t i = round * 7919 % MANY;
        char before[48];
        strcpy(before, called[i]);
        snprintf(called[i], sizeof called[i], "%s%u", round % 4 ? "m" : "another name, longer than sixteen bytes ",
                 round);
        assert_true(names_replace(names, i, called[i], strlen(called[i])));
        assert_int_equal(names_find(names, before, strlen(before)), NAMES_NONE);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(names_find(names, called[i], strlen(called[i])), i);
        assert_string_equal(names_text(names, i, NULL), called[i]);
    }
    assert_int_equal(names_count(names), MANY);
    assert_true(names_bytes(names) < bytes + MANY * 48);
    size_t size;
    char *block = names_block(names, &size);
    struct names *again = names_from_block(block, size);
    assert_true(names_equal(names, again));
    free(block);
    names_free(again);
    names_free(names);
}

/* Names up to eight bytes are found in another way than longer ones. */
static void test_every_length(void **state)
{
    (void)state;
    struct names *names = names_new();
    char text[24];
    uint32_t count = 0;
    for (int round = 0; round < 2; round++, count = 0)
        for (size_t length = 0; length < sizeof text; length++)
            for (size_t changed = 0; changed <= length; changed++) { /* changed == length: none */
                memset(text, 0xe9, sizeof text);
                if (changed < length)
                    text[changed] = 'x';
                assert_int_equal(names_find(names, text, length), round ? count : NAMES_NONE);
                assert_int_equal(names_add(names, text, length), count++);
            }
    names_free(names);
}

static void test_nul_is_refused(void **state)
{
    (void)state;
    struct names *names = names_new();
    assert_int_equal(names_add(names, "a\0b", 3), NAMES_NONE);
    assert_int_equal(names_count(names), 0);
    names_free(names);
}

static void test_blocks(void **state)
{
    (void)state;
    size_t size;
    struct names *names = names_from_block("one\0two\0\0three\0", 15);
    assert_non_null(names);
    assert_int_equal(names_count(names), 4);
    assert_int_equal(names_find(names, "three", 5), 3);
    char *block = names_block(names, &size);
    assert_int_equal(size, 15);
    assert_memory_equal(block, "one\0two\0\0three\0", 15);
    free(block);
    struct names *copy = names_copy(names);
    assert_true(names_equal(copy, names));
    assert_int_equal(names_add(copy, "four", 4), 4);
    assert_false(names_equal(copy, names));
    assert_int_equal(names_count(names), 4);
    names_free(copy);
    names_free(names);
    assert_null(names_from_block("one\0one\0", 8)); /* twice */
    assert_null(names_from_block("one\0two", 7));   /* not terminated */
    struct names *empty = names_from_block("", 0);
    assert_int_equal(names_count(empty), 0);
    free(names_block(empty, &size));
    assert_int_equal(size, 0);
    names_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_in_order), cmocka_unit_test(test_many),           cmocka_unit_test(test_replace),
        cmocka_unit_test(test_every_length),     cmocka_unit_test(test_nul_is_refused), cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

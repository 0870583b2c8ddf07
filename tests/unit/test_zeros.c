/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is zero when it comes, also where it was used before, and when it is cleared; its neighbours stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "numeric/zeros.h"

static const size_t sizes[] = {1,
                               64,
                               ZEROS_PAGES - 1,
                               ZEROS_PAGES,
                               ZEROS_PAGES + 1,
                               3 * ZEROS_PAGES + 4095,
                               ZEROS_LARGE - 1,
                               ZEROS_LARGE,
                               ZEROS_LARGE + 12345};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void is_all(const unsigned char *p, size_t n, unsigned char what)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(p[i], what);
}

static void test_memory_comes_as_zeros(void **unused)
{
    (void)unused;
    for (int times = 0; times < 3; times++) /* what is freed comes again */
        for (int i = 0; i < SIZES; i++) {
            unsigned char *p = zeros_allocate(sizes[i], 1);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % ZEROS_ALIGNMENT, 0);
            is_all(p, sizes[i], 0);
            memset(p, 0xee, sizes[i]);
            free(p);
        }
}

static void test_only_what_is_cleared_is_zero(void **unused)
{
    unsigned char *p[SIZES];
    (void)unused;
    for (int i = 0; i < SIZES; i++)
        memset(p[i] = zeros_allocate(sizes[i], 1), 0xee, sizes[i]);
    for (int i = 0; i < SIZES; i += 2)
        zeros_clear(p[i], sizes[i]);
    for (int i = 0; i < SIZES; i++) {
        is_all(p[i], sizes[i], i % 2 ? 0xee : 0);
        free(p[i]);
    }
}

static void test_more_than_there_can_be_is_refused(void **unused)
{
    (void)unused;
    assert_null(zeros_allocate(SIZE_MAX, 1));
    assert_null(zeros_allocate(SIZE_MAX / 2, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_comes_as_zeros),
        cmocka_unit_test(test_only_what_is_cleared_is_zero),
        cmocka_unit_test(test_more_than_there_can_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

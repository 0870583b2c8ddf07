/* SPDX-License-Identifier: BSD-3-Clause */
/* Specs with grids: what they become, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "play/grid.h"

static struct grid parsed(const char *text, const char *extra)
{
    struct grid g;
    hunch_error error = {{0}};
    if (grid_parse(&g, text, extra, &error))
        fail_msg("%s: %s", text, error.message);
    return g;
}

static void powers_are_expanded(void **state)
{
    (void)state;
    struct grid g = parsed("banditron:gamma=2^-13..2^-3", NULL);
    assert_int_equal(g.n, 11);
    assert_string_equal(g.axis, "gamma");
    for (size_t i = 0; i < g.n; i++) {
        assert_true(g.points[i].x == pow(2, (double)i - 13));
        assert_int_equal(g.points[i].edge, i == 0 || i == 10);
    }
    assert_string_equal(g.points[8].setting, "gamma=2^-5");
    assert_string_equal(g.points[8].spec, "banditron:gamma=0.03125");
    grid_free(&g);
    g = parsed("confidit:eta=10^-3..10^3", NULL);
    assert_int_equal(g.n, 7);
    assert_string_equal(g.points[0].spec, "confidit:eta=0.001");
    assert_string_equal(g.points[6].spec, "confidit:eta=1000");
    grid_free(&g);
}

static void lists_and_products(void **state)
{
    (void)state;
    struct grid g = parsed("cova:base={pa,pa1},C={0.1,1,10}", NULL);
    assert_int_equal(g.n, 6);
    assert_string_equal(g.points[0].spec, "cova:base=pa,C=0.1");
    assert_string_equal(g.points[1].spec, "cova:base=pa,C=1"); /* the last setting changes fastest */
    assert_string_equal(g.points[3].setting, "base=pa1,C=0.1");
    assert_true(isnan(g.points[0].x)); /* the first grid has no numbers */
    assert_true(g.points[0].edge && !g.points[1].edge && g.points[2].edge);
    grid_free(&g);
    g = parsed("banditron:gamma={2^-3,0.5}", NULL);
    assert_string_equal(g.points[0].setting, "gamma=2^-3");
    assert_string_equal(g.points[0].spec, "banditron:gamma=0.125");
    assert_false(g.points[0].edge); /* two values have no inside */
    grid_free(&g);
}

static void plain_specs_stay(void **state)
{
    (void)state;
    struct grid g = parsed("perceptron", NULL);
    assert_int_equal(g.n, 1);
    assert_null(g.axis);
    assert_string_equal(g.points[0].spec, "perceptron");
    assert_string_equal(g.points[0].setting, "");
    grid_free(&g);
    g = parsed("banditron:gamma=2^-2", NULL); /* one power is a number, not a grid */
    assert_string_equal(g.points[0].spec, "banditron:gamma=0.25");
    assert_null(g.axis);
    grid_free(&g);
    g = parsed("exp4:experts=[cova:base=pa1;banditron:gamma=0.1],gamma={0.1,0.2}", NULL);
    assert_int_equal(g.n, 2);
    assert_string_equal(g.points[1].spec, "exp4:experts=[cova:base=pa1;banditron:gamma=0.1],gamma=0.2");
    grid_free(&g);
}

static void extras_are_added_where_they_are_missing(void **state)
{
    (void)state;
    struct grid g = parsed("perceptron", "ties=random,bias=1");
    assert_string_equal(g.points[0].spec, "perceptron:ties=random,bias=1");
    grid_free(&g);
    g = parsed("banditron:ties=first,gamma={0.1,0.2}", "ties=random,bias=1");
    assert_string_equal(g.points[0].spec, "banditron:ties=first,gamma=0.1,bias=1");
    grid_free(&g);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"banditron:gamma=2^-3..2^-13",
                                      "banditron:gamma=2^-3..3^-1",
                                      "banditron:gamma={}",
                                      "banditron:gamma={0.1,,0.2}",
                                      "banditron:gamma={0.1,0.2",
                                      "banditron:gamma=2^1..2^3",
                                      "banditron:gamma",
                                      "nobody:gamma={0.1,0.2}",
                                      "banditron:gamm=2^-3..2^-1",
                                      "confidit:eta=10^-999..10^999",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct grid g = {.n = 77};
        hunch_error error = {{0}};
        if (!grid_parse(&g, bad[i], NULL, &error))
            fail_msg("'%s' was taken", bad[i]);
        assert_true(strlen(error.message) > 0);
        assert_int_equal(g.n, 77); /* untouched */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_expanded), cmocka_unit_test(lists_and_products),
        cmocka_unit_test(plain_specs_stay),    cmocka_unit_test(extras_are_added_where_they_are_missing),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

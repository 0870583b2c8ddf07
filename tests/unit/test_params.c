/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hunch.h"

#include "../comma_locale.h"

static hunch_status create(const char *spec, hunch **ret, hunch_error *reterr)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = spec;
    return hunch_create(ret, &options, reterr);
}

static void test_good_specs(void **state)
{
    (void)state;
    const char *const pairs[][2] = {
        {"banditron", "banditron:gamma=0.05,ties=first,normalize=none,bias=0,scale=none,map=none,floor=0"},
        {"banditron:gamma=2^-3", "banditron:gamma=0.125,ties=first,normalize=none,bias=0,scale=none,map=none,floor=0"},
        {"banditron:gamma=1e-3,bias=1",
         "banditron:gamma=0.001,ties=first,normalize=none,bias=1,scale=none,map=none,floor=0"},
        {"banditron:ties=random,normalize=l2",
         "banditron:gamma=0.05,ties=random,normalize=l2,bias=0,scale=none,map=none,floor=0"},
        {"banditron:gamma=0.1,gamma=0.2",
         "banditron:gamma=0.2,ties=first,normalize=none,bias=0,scale=none,map=none,floor=0"},
        /* names of before */
        {"confident:matrix=span,rank=2,sharpness=1,demote_after=5",
         "confident:matrix=span,eta=3,r=0.3,sharpness=1,demote_after=5,demote_mean=0,forget=0.002,rank=2,decay=0,"
         "doubt=0,ties=first,normalize=none,bias=0,scale=none,map=none,floor=0"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        hunch *h = NULL;
        assert_int_equal(create(pairs[i][0], &h, NULL), HUNCH_OK);
        assert_string_equal(hunch_spec(h), pairs[i][1]);
        hunch_free(h);
    }
    hunch *h = NULL;
    assert_int_equal(create(NULL, &h, NULL), HUNCH_OK);
    assert_string_equal(hunch_algorithm_of(h)->name, hunch_default_learner());
    hunch_free(h);
}

/* The reason names what is wrong. */
static void test_bad_specs(void **state)
{
    (void)state;
    const char *const pairs[][2] = {
        {"", "no learner"},
        {"nonesuch", "'nonesuch'"},
        {"banditron:", NULL},
        {"banditron:gamma", "setting=value"},
        {"banditron:gamma=", "not a number"},
        {"banditron:gamma=zero", "gamma=zero: not a number"},
        {"banditron:gamma=2", "between 0 and 1"},
        {"banditron:gamma=nan", "not a number"},
        {"banditron:gamma=0.1x", "not a number"},
        {"banditron:colour=red", "no setting 'colour'"},
        {"cova:base=svm", "one of pa, pa1"},
        {"banditron:ties=never", "one of first, random"},
        {"banditron:=1", "setting=value"},
        {"banditron:size=1", "no setting 'size'"},
        {"confident:matrix=span,rank=1.5", "whole number"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        hunch *h = NULL;
        hunch_error error = {""};
        hunch_status status = create(pairs[i][0], &h, &error);
        if (!pairs[i][1]) {
            assert_int_equal(status, HUNCH_OK);
            hunch_free(h);
            continue;
        }
        assert_int_equal(status, HUNCH_EINVAL);
        assert_null(h);
        if (!strstr(error.message, pairs[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", pairs[i][0], error.message, pairs[i][1]);
    }
}

static void test_bad_options(void **state)
{
    (void)state;
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.classes = 0;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_EINVAL);
    options.classes = HUNCH_MAX_CLASSES + 1;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_EINVAL);
    options.classes = 2;
    options.size = 0;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_EINVAL);
    options.size = sizeof options;
    options.features = 10;
    options.max_features = 5;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_EINVAL);
    assert_null(h);
}

static void test_under_a_decimal_comma(void **state)
{
    (void)state;
    const hunch_algorithm *const *list;
    size_t n = hunch_algorithms(&list);
    hunch_error error = {""};
    if (!comma_locale_set())
        skip();
    for (size_t i = 0; i < n; i++) {
        hunch *h = NULL;
        if (create(list[i]->name, &h, &error) != HUNCH_OK)
            fail_msg("%s: %s", list[i]->name, error.message);
        hunch_free(h);
    }
    hunch *h = NULL;
    assert_int_equal(create("banditron:gamma=0.25", &h, NULL), HUNCH_OK);
    assert_non_null(strstr(hunch_spec(h), "gamma=0.25,"));
    hunch_free(h);
    assert_string_equal(localeconv()->decimal_point, ",");
    comma_locale_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_specs),
        cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_under_a_decimal_comma),
    };
    return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments' files: every learner can be made, and every name that refers to another one exists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce.h"

static struct experiment *all;
static size_t n;

static bool data_known(const struct experiment *e, const char *id)
{
    const json_t *data;
    size_t i;
    json_array_foreach(experiment_data(e), i, data)
    {
        if (!strcmp(json_text(data, "id", ""), id))
            return true;
    }
    return false;
}

static bool learner_known(const struct experiment *e, const char *id)
{
    const json_t *learner;
    size_t i;
    json_array_foreach(json_object_get(e->json, "learners"), i, learner)
    {
        const char *spec = json_text(learner, "spec", "");
        if (!strcmp(json_text(learner, "id", spec), id))
            return true;
        const hunch_algorithm *const *algorithms;
        size_t count = hunch_algorithms(&algorithms);
        for (size_t j = 0; !strcmp(spec, "all") && j < count; j++)
            if (!strcmp(algorithms[j]->name, id))
                return true;
    }
    return false;
}

static void learners_can_be_made(void **state)
{
    (void)state;
    assert_true(n >= 10);
    for (size_t i = 0; i < n; i++) {
        const json_t *data;
        size_t j;
        json_array_foreach(experiment_data(&all[i]), j, data)
        {
            for (int quick = 0; quick < 2; quick++) {
                struct lineup l;
                hunch_error error;
                if (experiment_lineup(&all[i], data, quick, &l, &error))
                    fail_msg("%s", error.message);
                assert_true(l.n > 0);
                lineup_free(&l);
            }
        }
    }
}

static void names_exist(void **state)
{
    (void)state;
    for (size_t i = 0; i < n; i++) {
        json_t *printed = json_object_get(all[i].json, "printed"), *of_data, *value, *figure, *name;
        const char *data, *learner;
        size_t j, k;
        json_object_foreach(printed, data, of_data)
        {
            if (!data_known(&all[i], data))
                fail_msg("%s: printed numbers of unknown data %s", all[i].id, data);
            json_object_foreach(of_data, learner, value)
            {
                if (!learner_known(&all[i], learner))
                    fail_msg("%s: printed numbers of unknown learner %s", all[i].id, learner);
            }
        }
        json_array_foreach(json_object_get(all[i].json, "figures"), j, figure)
        {
            json_array_foreach(json_object_get(figure, "learners"), k, name)
            {
                if (!learner_known(&all[i], json_string_value(name)))
                    fail_msg("%s: a figure of unknown learner %s", all[i].id, json_string_value(name));
            }
        }
        json_array_foreach(json_object_get(all[i].json, "order"), j, name)
        {
            assert_true(learner_known(&all[i], json_string_value(name)));
        }
        json_array_foreach(json_object_get(json_object_get(all[i].json, "quick"), "data"), j, name)
        {
            assert_true(data_known(&all[i], json_string_value(name)));
        }
    }
}

/* Verdicts by hand: tolerance, direction, settings below the range, other data. */
static void verdicts(void **state)
{
    (void)state;
    json_t *json = json_loads("{\"tolerance\": 1, \"tolerance_sd\": 2, \"compare_from\": 0.1,"
                              " \"learners\": [{\"id\": \"a\", \"spec\": \"banditron\"}, {\"id\": \"b\", \"spec\":"
                              " \"banditron\", \"tolerance\": 3}],"
                              " \"printed\": {\"d\": {\"a\": {\"mean\": 10, \"sd\": 0.5}, \"b\": {\"grid\":"
                              " {\"gamma=1\": 20, \"gamma=2\": \"> 50\", \"gamma=3\": 5}}}}}",
                              0, NULL);
    json_t *data = json_loads("{\"id\": \"d\"}", 0, NULL),
           *other = json_loads("{\"id\": \"d\", \"differs\": \"x\"}", 0, NULL);
    struct experiment e = {json, "e", "e", ""};
    static const struct {
        const char *learner, *setting;
        double mean, x;
        const char *verdict;
    } lines[] = {{"a", "", 11.9, 0.5, "reproduced"},
                 {"a", "", 12.1, 0.5, "worse"},
                 {"a", "", 7.9, 0.5, "better"},
                 {"b", "gamma=1", 22.9, 0.5, "reproduced"},
                 {"b", "gamma=1", 16, 0.5, "better"},
                 {"b", "gamma=1", 90, 0.05, "not comparable"},
                 {"b", "gamma=2", 60, 0.5, "not comparable"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int differs = 0; differs < 2; differs++) {
            json_t *table = json_pack("{s:[{s:s, s:s, s:f, s:f, s:b}]}", "lines", "learner", lines[i].learner,
                                      "setting", lines[i].setting, "mean", lines[i].mean, "x", lines[i].x, "best", 1);
            table_compare(table, &e, differs ? other : data, false);
            const char *verdict = json_text(json_array_get(json_object_get(table, "lines"), 0), "verdict", "none");
            assert_string_equal(verdict, differs ? "not comparable" : lines[i].verdict);
            json_decref(table);
        }
    json_decref(json);
    json_decref(data);
    json_decref(other);
}

static void quick_numbers_are_compared(void **state)
{
    (void)state;
    json_t *results = json_loads("[{\"id\": \"e\", \"tables\": [{\"data\": \"d\", \"lines\": [{\"learner\": \"a\","
                                 " \"best\": true, \"mean\": 10.0, \"sd\": 0.1}, {\"learner\": \"a\", \"best\": false,"
                                 " \"mean\": 50.0, \"sd\": 0}]}]}]",
                                 0, NULL);
    json_t *good = json_pack("{s:f, s:f, s:o}", "relative", 0.05, "deviations", 3.0, "numbers", quick_make(results));
    json_t *bad = json_loads(
        "{\"relative\": 0.05, \"deviations\": 3, \"numbers\": {\"e\": {\"d\": {\"a\": [11.0, 0.1]}}}}", 0, NULL);
    json_t *none = json_array(), *some = json_array();
    assert_int_equal(quick_compare(results, good, none), 0);
    assert_int_equal(quick_compare(results, bad, some), 1);
    json_decref(results);
    json_decref(good);
    json_decref(bad);
    json_decref(none);
    json_decref(some);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(learners_can_be_made), cmocka_unit_test(names_exist),
                                       cmocka_unit_test(verdicts), cmocka_unit_test(quick_numbers_are_compared)};
    hunch_error error;
    if (argc != 2 || experiments_read(&all, &n, argv[1], &error)) {
        print_error("%s\n", argc == 2 ? error.message : "expected a folder of experiments");
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    experiments_free(all, n);
    return failed;
}

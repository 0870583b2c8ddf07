/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments' files: every learner can be made, and every name that refers to another one exists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../temporary.h"
#include "paper/reproduce.h"
#include "paper/results.h"

static struct experiment *all;
static size_t n;

static bool data_known(const struct experiment *e, const char *id)
{
    for (size_t i = 0; i < e->data.n; i++)
        if (!strcmp(e->data.item[i].id, id))
            return true;
    return false;
}

static bool learner_known(const struct experiment *e, const char *id)
{
    for (size_t i = 0; i < e->learners.n; i++) {
        const struct experiment_learner *l = &e->learners.item[i];
        const hunch_algorithm *const *algorithms;
        size_t count = hunch_algorithms(&algorithms);
        if (!strcmp(l->id, id))
            return true;
        for (size_t j = 0; l->spec && !strcmp(l->spec, "all") && j < count; j++)
            if (!strcmp(algorithms[j]->name, id))
                return true;
    }
    return false;
}

static void learners_can_be_made(void **state)
{
    (void)state;
    assert_true(n >= 10);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all[i].data.n; j++)
            for (int quick = 0; quick < 2; quick++) {
                struct learner_grids l;
                hunch_error error;
                if (experiment_learners(&all[i], &all[i].data.item[j], quick, &l, &error))
                    fail_msg("%s", error.message);
                assert_true(l.n > 0);
                learner_grids_free(&l);
            }
}

static void learners_known(const struct experiment *e, const struct texts *names)
{
    for (size_t i = 0; i < names->n; i++)
        if (!learner_known(e, names->item[i]))
            fail_msg("%s: unknown learner %s", e->id, names->item[i]);
}

static void names_exist(void **state)
{
    (void)state;
    for (size_t i = 0; i < n; i++) {
        const char *data, *learner;
        json_t *of_data, *value;
        json_object_foreach((json_t *)all[i].printed, data, of_data)
        {
            if (!data_known(&all[i], data))
                fail_msg("%s: printed numbers of unknown data %s", all[i].id, data);
            json_object_foreach(of_data, learner, value)
            {
                struct printed printed;
                if (!learner_known(&all[i], learner))
                    fail_msg("%s: printed numbers of unknown learner %s", all[i].id, learner);
                assert_true(json_object_get(value, "grid") || experiment_printed(&all[i], data, learner, "", &printed));
            }
        }
        for (size_t j = 0; j < all[i].figures.n; j++)
            learners_known(&all[i], &all[i].figures.item[j].learners);
        learners_known(&all[i], &all[i].order);
        for (size_t j = 0; all[i].quick && j < all[i].quick->data.n; j++)
            assert_true(data_known(&all[i], all[i].quick->data.item[j]));
    }
}

static struct experiment experiment_of(const char *text)
{
    struct experiment e;
    hunch_error error;
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    if (experiment_parse(&e, json, "test", &error))
        fail_msg("%s", error.message);
    return e;
}

static void experiment_drop(struct experiment *e)
{
    json_decref(e->json);
    arena_free(&e->arena);
}

#define FRAME "\"id\": \"e\", \"title\": \"e\", \"learners\": [{\"spec\": \"banditron\"}]"

/* Verdicts by hand: what chance explains, direction, nothing to choose, settings below the range, other data. */
static void verdicts(void **state)
{
    (void)state;
    struct experiment e = experiment_of(
        "{" FRAME
        ", \"data\": [{\"id\": \"d\", \"files\": [\"d\"]}, {\"id\": \"o\", \"files\": [\"o\"], \"differs\": \"x\"}],"
        " \"paper_runs\": 10, \"rounding\": 0.05, \"compare_from\": 0.1, \"printed\": {\"d\": {\"a\": {\"mean\": 10, "
        "\"sd\": 1},"
        " \"b\": {\"grid\": {\"gamma=1\": 20, \"gamma=2\": \"> 50\"}}}, \"o\": {\"a\": 10, \"b\": {\"grid\": "
        "{\"gamma=1\": 20,"
        " \"gamma=2\": 5}}}}}");
    static const struct {
        const char *learner, *setting;
        double mean, sd, x;
        bool chosen;
        enum verdict verdict;
    } lines[] = {/* t at 1 % with 18 degrees is 2.878: 0.05 + 2.878 sqrt(0.2) = 1.337 */
                 {"a", "", 11.33, 1, 0.5, true, VERDICT_REPRODUCED},
                 {"a", "", 11.35, 1, 0.5, true, VERDICT_WORSE},
                 {"a", "", 8.65, 1, 0.5, true, VERDICT_BETTER},
                 {"a", "", 8.65, 1, 0.5, false, VERDICT_DIFFERS},
                 {"a", "", 11.35, 1, 0.5, false, VERDICT_DIFFERS},
                 {"a", "", 11.35, 5, 0.5, false, VERDICT_SPREAD},
                 {"b", "gamma=1", 20.05, 0, 0.5, true, VERDICT_REPRODUCED},
                 {"b", "gamma=1", 20.07, 0, 0.5, true, VERDICT_DIFFERS},
                 {"b", "gamma=1", 90, 1, 0.05, true, VERDICT_APART},
                 {"b", "gamma=2", 60, 1, 0.5, true, VERDICT_APART}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int other = 0; other < 2; other++) {
            struct line line = {.learner = lines[i].learner,
                                .spec = "banditron",
                                .setting = lines[i].setting,
                                .mean = lines[i].mean,
                                .sd = lines[i].sd,
                                .x = lines[i].x,
                                .runs = 10,
                                .best = true,
                                .chosen = lines[i].chosen};
            struct table table = {.lines = {&line, 1}};
            table_compare(&table, &e, &e.data.item[other], false);
            assert_int_equal(line.verdict, other ? VERDICT_APART : lines[i].verdict);
            assert_int_equal(line.spread, !other && lines[i].sd == 5); /* where the paper has 1 */
            line = (struct line){.learner = "a", .spec = "banditron", .setting = "", .runs = 1, .best = true};
            table_compare(&table, &e, &e.data.item[0], false);
            assert_int_equal(line.verdict, VERDICT_APART); /* one run tells nothing of chance */
        }
    experiment_drop(&e);
}

static void an_order_is_an_order_only(void **state)
{
    (void)state;
    struct experiment e =
        experiment_of("{" FRAME ", \"data\": [{\"id\": \"d\", \"files\": [\"d\"]}], \"order\": [\"a\", \"b\"]}");
    struct line lines[] = {{.learner = "a", .setting = "", .mean = 1}, {.learner = "b", .setting = "", .mean = 2}};
    struct table table = {.lines = {lines, 2}};
    struct arena arena = {0};
    struct result r = {.tables = {&table, 1}};
    result_judge(&r, &e, &arena);
    assert_int_equal(r.verdict, VERDICT_ORDER);
    lines[0].mean = 3;
    result_judge(&r, &e, &arena);
    assert_int_equal(r.verdict, VERDICT_DIFFERS);
    assert_int_equal(r.order->settings.item[0].breaks.n, 1);
    arena_free(&arena);
    experiment_drop(&e);
}

/* A key that is misspelt is not silently without effect. */
static void unknown_keys_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"{" FRAME ", \"data\": [{\"id\": \"d\", \"files\": [\"d\"]}], \"run\": 3}",
                                        "{" FRAME ", \"data\": [{\"id\": \"d\", \"files\": [\"d\"]}], \"runs\": \"3\"}",
                                        "{" FRAME ", \"data\": [{\"id\": \"d\", \"file\": [\"d\"]}]}",
                                        "{" FRAME ", \"data\": [{\"id\": \"d\"}]}", "[]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct experiment e;
        assert_int_equal(experiment_parse(&e, json_loads(texts[i], 0, NULL), "test", NULL), HUNCH_EINVAL);
    }
}

/* results.csv has the numbers; what they are judged by is the experiment's, as it is when they are read. */
static void results_survive_their_file(void **state)
{
    (void)state;
    struct experiment e = experiment_of("{" FRAME ", \"data\": [{\"id\": \"d\", \"files\": [\"d\"]}, "
                                        "{\"id\": \"far\", \"files\": [\"x\", \"y\"]}], "
                                        "\"rounding\": 0.005, \"paper_runs\": 10, "
                                        "\"printed\": {\"d\": {\"a \\\"b\\\", c\": {\"mean\": 2.0, \"sd\": 0.2}}}}");
    struct line line = line_empty("a \"b\", c", "s:t=1,u=2", "t=1");
    line.mean = 1.5;
    line.sd = 0.25;
    line.runs = 3;
    line.best = true;
    line.mark = "†";
    struct table tables[] = {{.data = "d", .title = "D", .rows = 7, .lines = {&line, 1}}};
    struct result result[] = {{.id = e.id, .title = "E", .paper = "", .tables = {tables, 1}}};
    struct results results = {.version = "1", .experiments = {result, 1}}, back;
    struct arena arena = {0};
    char *folder = temporary_folder();
    assert_non_null(folder);
    assert_false(results_read(&back, &e, 1, folder, &arena));
    assert_int_equal(results_write(&results, folder, NULL), HUNCH_OK);
    assert_true(results_read(&back, &e, 1, folder, &arena));
    assert_int_equal(back.experiments.n, 1);
    const struct result *r = &back.experiments.item[0];
    const struct line *l = &r->tables.item[0].lines.item[0];
    assert_string_equal(l->learner, line.learner);
    assert_string_equal(l->spec, line.spec);
    assert_string_equal(l->mark, "†");
    assert_true(l->mean == 1.5 && l->sd == 0.25 && l->runs == 3 && l->best && isnan(l->x) && l->paper == 2);
    assert_int_equal(l->verdict, VERDICT_REPRODUCED); /* within t with 2 degrees of freedom, which is 9.9 */
    assert_true(l->power < 0.1);                      /* and that notices nothing */
    assert_string_equal(r->tables.item[1].skipped, "needs data: x, y");
    assert_int_equal(temporary_remove(folder), 0);
    free(folder);
    arena_free(&arena);
    experiment_drop(&e);
}

static void quick_numbers_are_compared(void **state)
{
    (void)state;
    struct line lines[] = {{.learner = "a", .best = true, .mean = 10, .sd = 0.1}, {.learner = "a", .mean = 50}};
    struct table tables[] = {{.data = "d", .lines = {lines, 2}}};
    struct result result[] = {{.id = "e", .tables = {tables, 1}}};
    struct results results = {.experiments = {result, 1}};
    json_t *good = json_pack("{s:f, s:f, s:o}", "relative", 0.05, "deviations", 3.0, "numbers", quick_make(&results));
    json_t *bad = json_loads(
        "{\"relative\": 0.05, \"deviations\": 3, \"numbers\": {\"e\": {\"d\": {\"a\": [11.0, 0.1]}}}}", 0, NULL);
    assert_int_equal(quick_mark(&result[0], good, NULL), 0);
    assert_int_equal(lines[0].verdict, VERDICT_EXPECTED);
    assert_int_equal(quick_mark(&result[0], bad, NULL), 1);
    assert_int_equal(lines[0].verdict, VERDICT_OFF);
    result[0].improves = true;
    result[0].verdicts[VERDICT_OFF] = 0;
    assert_int_equal(quick_mark(&result[0], bad, NULL), 0);
    assert_int_equal(lines[0].verdict, VERDICT_BETTER);
    json_decref(good);
    json_decref(bad);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(learners_can_be_made),
                                       cmocka_unit_test(names_exist),
                                       cmocka_unit_test(verdicts),
                                       cmocka_unit_test(an_order_is_an_order_only),
                                       cmocka_unit_test(unknown_keys_are_refused),
                                       cmocka_unit_test(results_survive_their_file),
                                       cmocka_unit_test(quick_numbers_are_compared)};
    hunch_error error;
    if (argc != 2 || experiments_read(&all, &n, argv[1], &error)) {
        print_error("%s\n", argc == 2 ? error.message : "expected a folder of experiments");
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    experiments_free(all, n);
    return failed;
}

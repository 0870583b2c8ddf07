/* SPDX-License-Identifier: BSD-3-Clause */
/* The small versions of --quick against the numbers committed for them in quick.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce.h"

json_t *quick_make(const json_t *results)
{
    json_t *all = json_object();
    const json_t *result, *table, *line;
    size_t i, j, k;
    json_array_foreach(results, i, result)
    {
        json_t *numbers = json_object();
        json_array_foreach(json_object_get(result, "tables"), j, table)
        {
            json_t *of_data = json_object();
            json_array_foreach(json_object_get(table, "lines"), k, line)
            {
                if (json_is_true(json_object_get(line, "best")))
                    json_object_set_new(of_data, json_text(line, "learner", ""),
                                        json_pack("[f,f]", round(1e4 * json_number(line, "mean", 0)) / 1e4,
                                                  round(1e4 * json_number(line, "sd", 0)) / 1e4));
            }
            json_object_set_new(numbers, json_text(table, "data", ""), of_data);
        }
        json_object_set_new(all, json_text(result, "id", ""), numbers);
    }
    return all;
}

static void remark(json_t *remarks, const char *experiment, const char *data, const char *learner, double expected,
                   double got)
{
    char text[512];
    snprintf(text, sizeof text, "%s, %s, %s: %.4g where %.4g was expected", experiment, data, learner, got, expected);
    json_array_append_new(remarks, json_string(text));
}

/* Whether fewer errors than before are welcome in this experiment. */
static bool may_improve(const json_t *results, const char *id)
{
    const json_t *result;
    size_t i;
    json_array_foreach(results, i, result)
    {
        if (!strcmp(json_text(result, "id", ""), id))
            return json_is_true(json_object_get(result, "improves"));
    }
    return false;
}

/* pair and known: mean and standard deviation. Other compilers and processors may round differently, and one different
 * choice leads to a different run: the tolerance is relative and in standard deviations. */
static bool pair_agrees(const json_t *pair, const json_t *known, const json_t *expected, bool improves)
{
    double got = json_number_value(json_array_get(pair, 0)), want = json_number_value(json_array_get(known, 0));
    double sd = fmax(json_number_value(json_array_get(known, 1)), json_number_value(json_array_get(pair, 1)));
    double relative = json_number(expected, "relative", 0.05), deviations = json_number(expected, "deviations", 3);
    if (!json_is_array(known) || (improves && got < want))
        return true;
    return fabs(got - want) <= relative * fabs(want) + deviations * sd;
}

size_t quick_compare(const json_t *results, const json_t *expected, json_t *ret_remarks)
{
    json_t *ours = quick_make(results), *numbers, *of_data, *pair;
    const char *experiment, *data, *learner;
    json_object_foreach(ours, experiment, numbers)
    {
        const json_t *committed = json_object_get(json_object_get(expected, "numbers"), experiment);
        bool improves = may_improve(results, experiment);
        json_object_foreach(numbers, data, of_data)
        {
            json_object_foreach(of_data, learner, pair)
            {
                const json_t *known = json_object_get(json_object_get(committed, data), learner);
                if (!pair_agrees(pair, known, expected, improves))
                    remark(ret_remarks, experiment, data, learner, json_number_value(json_array_get(known, 0)),
                           json_number_value(json_array_get(pair, 0)));
            }
        }
    }
    json_decref(ours);
    return json_array_size(ret_remarks);
}

/* --- the same for readers --- */

static const char *line_mark(json_t *line, const json_t *known, const json_t *expected, bool improves)
{
    double got = json_number(line, "mean", NAN), want = json_number_value(json_array_get(known, 0));
    json_t *pair = json_pack("[f,f]", got, json_number(line, "sd", 0));
    bool agrees = pair_agrees(pair, known, expected, improves);
    const char *verdict = !agrees ? "off" : pair_agrees(pair, known, expected, false) ? "as expected" : "better";
    json_decref(pair);
    json_object_set_new(line, "expected", json_real(want));
    json_object_set_new(line, "difference", json_real(got - want));
    json_object_set_new(line, "verdict", json_string(verdict));
    return verdict;
}

void quick_mark(json_t *result, const json_t *expected)
{
    const json_t *numbers = json_object_get(json_object_get(expected, "numbers"), json_text(result, "id", ""));
    bool improves = json_is_true(json_object_get(result, "improves"));
    json_t *counts = json_pack("{s:i, s:i, s:i}", "as expected", 0, "better", 0, "off", 0), *table, *line;
    size_t i, j;
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        const json_t *of_data = json_object_get(numbers, json_text(table, "data", ""));
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            const json_t *known = json_object_get(of_data, json_text(line, "learner", ""));
            if (!json_is_true(json_object_get(line, "best")) || !json_is_array(known))
                continue;
            const char *verdict = line_mark(line, known, expected, improves);
            json_object_set_new(counts, verdict, json_integer((json_int_t)json_number(counts, verdict, 0) + 1));
        }
    }
    double good = json_number(counts, "as expected", 0) + json_number(counts, "better", 0);
    json_object_set_new(result, "verdict",
                        json_string(json_number(counts, "off", 0) > 0 ? "off"
                                    : good > 0                        ? "as expected"
                                                                      : "not comparable"));
    json_object_set_new(result, "verdicts", counts);
}

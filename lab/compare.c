/* SPDX-License-Identifier: BSD-3-Clause */
/* Ours beside the papers' numbers: differences and verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"
#include "results.h"

static const json_t *learner_find(const struct experiment *e, const char *name)
{
    const json_t *learner;
    size_t i;
    json_array_foreach(json_object_get(e->json, "learners"), i, learner)
    {
        if (!strcmp(json_text(learner, "id", json_text(learner, "spec", "")), name))
            return learner;
    }
    return NULL;
}

/* What the paper printed for this line: a number, {"mean", "sd"}, or {"grid": {setting: number or text}}. */
static const json_t *printed_find(const json_t *line, const struct experiment *e, const json_t *data)
{
    const json_t *of_data = json_object_get(json_object_get(e->json, "printed"), json_text(data, "id", ""));
    const json_t *printed = json_object_get(of_data, json_text(line, "learner", ""));
    const json_t *grid = json_object_get(printed, "grid");
    if (grid)
        return json_object_get(grid, json_text(line, "setting", ""));
    return json_is_true(json_object_get(line, "best")) ? printed : NULL;
}

static double tolerance_of(const json_t *line, const struct experiment *e, double paper_sd)
{
    const json_t *learner = learner_find(e, json_text(line, "learner", ""));
    double tolerance = json_number(learner, "tolerance", json_number(e->json, "tolerance", 1));
    return tolerance + json_number(e->json, "tolerance_sd", 0) * paper_sd;
}

static const char *verdict_of(const json_t *line, const struct experiment *e, const json_t *data, double difference,
                              double tolerance)
{
    double from = json_number(e->json, "compare_from", -INFINITY);
    if (json_object_get(data, "differs") || json_number(line, "x", INFINITY) < from)
        return "not comparable";
    if (fabs(difference) <= tolerance + 1e-9)
        return "reproduced";
    return difference < 0 ? "better" : "worse";
}

static void line_compare(json_t *line, const struct experiment *e, const json_t *data)
{
    const json_t *printed = printed_find(line, e, data);
    const char *why = json_text(json_object_get(json_object_get(e->json, "explanations"), json_text(data, "id", "")),
                                json_text(line, "learner", ""), NULL);
    if (!printed)
        return;
    if (json_is_string(printed)) { /* off the paper's scale, say */
        json_object_set_new(line, "paper_text", json_string(json_string_value(printed)));
        json_object_set_new(line, "verdict", json_string("not comparable"));
        return;
    }
    double paper = json_is_number(printed) ? json_number_value(printed) : json_number(printed, "mean", NAN);
    double paper_sd = json_number(printed, "sd", 0), difference = json_number(line, "mean", NAN) - paper;
    double tolerance = tolerance_of(line, e, paper_sd);
    const char *verdict = verdict_of(line, e, data, difference, tolerance), *mark = json_text(printed, "mark", NULL);
    json_object_set_new(line, "paper", json_real(paper));
    if (json_object_get(printed, "sd"))
        json_object_set_new(line, "paper_sd", json_real(paper_sd));
    if (mark)
        json_object_set_new(line, "paper_mark", json_string(mark));
    json_object_set_new(line, "difference", json_real(difference));
    json_object_set_new(line, "tolerance", json_real(tolerance));
    json_object_set_new(line, "verdict", json_string(verdict));
    if (why && (!strcmp(verdict, "better") || !strcmp(verdict, "worse")))
        json_object_set_new(line, "why", json_string(why));
}

/* --- the marks of the Confidit tables --- */

static bool full_information(const char *spec)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all), length = strcspn(spec, ":");
    for (size_t i = 0; i < n; i++)
        if (strlen(all[i]->name) == length && !strncmp(all[i]->name, spec, length))
            return all[i]->full_information;
    return false;
}

/* The largest p of a comparison with the other lines (only those of bandit learners), or 2 when one of them is not
 * worse than this line. */
static double worst_p(const json_t *line, const json_t *lines, bool bandits, const json_t *except)
{
    const json_t *other;
    double worst = 0, mine = json_number(line, "mean", NAN);
    size_t i, compared = 0;
    json_array_foreach(lines, i, other)
    {
        const char *name = json_text(other, "learner", "");
        if (other == line || (bandits && full_information(json_text(other, "spec", ""))) ||
            (!bandits && json_object_get(except, name)))
            continue;
        compared++;
        if (json_number(other, "mean", 0) <= mine)
            return 2;
        worst = fmax(worst, json_number(json_object_get(line, "p"), name, 1));
    }
    return compared ? worst : 2;
}

/* Dagger and star: better than all others (margin-based ones apart) at 0.01 and 0.001; in brackets: than the bandit
 * learners only. */
static void marks_add(json_t *table, const struct experiment *e)
{
    json_t *lines = json_object_get(table, "lines"), *line;
    const json_t *except = json_object_get(json_object_get(e->json, "cv"), "apart");
    size_t i;
    json_array_foreach(lines, i, line)
    {
        if (full_information(json_text(line, "spec", "")))
            continue;
        double all = worst_p(line, lines, false, except), bandits = worst_p(line, lines, true, except);
        const char *mark = all < 0.001       ? "⋆"
                           : bandits < 0.001 ? (all < 0.01 ? "†" : "(⋆)")
                           : all < 0.01      ? "†"
                           : bandits < 0.01  ? "(†)"
                                             : NULL;
        if (mark)
            json_object_set_new(line, "mark", json_string(mark));
    }
}

void table_compare(json_t *table, const struct experiment *e, const json_t *data, bool quick)
{
    json_t *line;
    size_t i;
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        if (!quick) /* a small version is not what the paper did */
            line_compare(line, e, data);
    }
    if (json_object_get(e->json, "cv"))
        marks_add(table, e);
}

/* --- the experiment as a whole --- */

static int number_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* The median over all settings and data sets of a learner: the ends of a grid do not decide it. NAN: no lines. */
static double learner_median(const json_t *result, const char *name)
{
    const json_t *table, *line;
    double means[256];
    size_t i, j, n = 0;
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            if (n < sizeof means / sizeof *means && !strcmp(json_text(line, "learner", ""), name))
                means[n++] = json_number(line, "mean", NAN);
        }
    }
    qsort(means, n, sizeof *means, number_compare);
    return n ? (means[(n - 1) / 2] + means[n / 2]) / 2 : NAN;
}

/* The point-th settings of a table by themselves: the neighbours in the expected order that stand the other way round.
 */
static json_t *setting_judge(const json_t *table, const json_t *names, size_t point)
{
    const json_t *before = NULL, *name;
    json_t *breaks = json_array();
    size_t i;
    json_array_foreach(names, i, name)
    {
        const json_t *line = view_point(table, json_string_value(name), point);
        double more = json_number(before, "mean", NAN), less = json_number(line, "mean", NAN);
        if (less < more)
            json_array_append_new(breaks, json_pack("{s:s, s:s, s:f}", "lower", json_text(line, "learner", ""),
                                                    "higher", json_text(before, "learner", ""), "by", more - less));
        before = line ? line : before;
    }
    return json_pack("{s:s, s:o}", "setting", view_setting(table, point), "breaks", breaks);
}

static json_t *settings_judge(const json_t *result, const json_t *names)
{
    json_t *settings = json_array();
    const json_t *table;
    size_t i;
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        for (size_t point = 0; point < view_points(table); point++)
            json_array_append_new(settings, setting_judge(table, names, point));
    }
    return settings;
}

/* Do the learners' medians rise in the expected order? And the single settings'? */
static void order_judge(json_t *result, const struct experiment *e)
{
    const json_t *name;
    json_t *ours = json_array();
    double before = -INFINITY;
    bool holds = true;
    size_t i;
    json_array_foreach(json_object_get(e->json, "order"), i, name)
    {
        double median = learner_median(result, json_string_value(name));
        holds = holds && median >= before;
        before = median;
        json_array_append_new(ours, json_pack("{s:O, s:f}", "learner", name, "median", isnan(median) ? 0 : median));
    }
    json_object_set_new(result, "order",
                        json_pack("{s:o, s:b, s:o}", "learners", ours, "holds", holds, "settings",
                                  settings_judge(result, json_object_get(e->json, "order"))));
}

void result_judge(json_t *result, const struct experiment *e)
{
    enum { REPRODUCED, BETTER, WORSE, APART, VERDICTS };
    static const char *const words[] = {"reproduced", "better", "worse", "not comparable"};
    size_t count[VERDICTS] = {0}, i, j;
    const json_t *table, *line;
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            for (int v = 0; v < VERDICTS; v++)
                count[v] += !strcmp(json_text(line, "verdict", ""), words[v]);
        }
    }
    json_t *counts = json_object();
    for (int v = 0; v < VERDICTS; v++)
        json_object_set_new(counts, words[v], json_integer((json_int_t)count[v]));
    int verdict = count[WORSE] ? WORSE : count[BETTER] ? BETTER : count[REPRODUCED] ? REPRODUCED : APART;
    if (json_object_get(e->json, "order")) {
        order_judge(result, e);
        bool holds = json_is_true(json_object_get(json_object_get(result, "order"), "holds"));
        if (!holds)
            verdict = WORSE;
        else if (verdict == APART)
            verdict = REPRODUCED;
    }
    json_object_set_new(result, "verdicts", counts);
    json_object_set_new(result, "verdict", json_string(words[verdict]));
}

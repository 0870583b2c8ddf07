/* SPDX-License-Identifier: BSD-3-Clause */
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "fail.h"

/* --- views --- */

struct view view_of(const json_t *result)
{
    return (struct view){result, json_text(result, "unit", "%"), !strcmp(json_text(result, "layout", ""), "grid")};
}

void view_number(const struct view *v, double number, bool with_sign, char ret[32])
{
    int digits = !strcmp(v->unit, "%") ? 2 : !strcmp(v->unit, "rate") ? 4 : 0;
    double unit = pow(10, -digits);
    if (fabs(number) < unit / 2)
        number = 0;
    snprintf(ret, 32, with_sign && number > 0 ? "+%.*f" : "%.*f", digits, number);
}

const json_t *view_line(const json_t *table, const char *learner)
{
    const json_t *line;
    size_t i;
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        if (json_is_true(json_object_get(line, "best")) && !strcmp(json_text(line, "learner", ""), learner))
            return line;
    }
    return NULL;
}

const json_t *view_point(const json_t *table, const char *learner, size_t point)
{
    const json_t *line;
    size_t i;
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        if (!strcmp(json_text(line, "learner", ""), learner) && point-- == 0)
            return line;
    }
    return NULL;
}

json_t *view_learners(const json_t *tables)
{
    json_t *names = json_array();
    const json_t *table, *line, *name;
    size_t i, j, k;
    json_array_foreach(tables, i, table)
    {
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            const char *learner = json_text(line, "learner", "");
            bool known = false;
            json_array_foreach(names, k, name)
            {
                known = known || !strcmp(json_string_value(name), learner);
            }
            if (!known)
                json_array_append_new(names, json_string(learner));
        }
    }
    return names;
}

size_t view_points(const json_t *table)
{
    json_t *one = json_pack("[O]", table), *names = view_learners(one);
    const json_t *name;
    size_t most = 0, i;
    json_array_foreach(names, i, name)
    {
        size_t n = 0;
        while (view_point(table, json_string_value(name), n))
            n++;
        most = n > most ? n : most;
    }
    json_decref(one);
    json_decref(names);
    return most;
}

const char *view_setting(const json_t *table, size_t point)
{
    const json_t *line, *found = NULL;
    size_t i, points = view_points(table);
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        const char *learner = json_text(line, "learner", "");
        if (!found && view_point(table, learner, points - 1))
            found = view_point(table, learner, point);
    }
    return json_text(found, "setting", "");
}

const char *view_reference(const json_t *line)
{
    return json_object_get(line, "paper") ? "paper" : json_object_get(line, "expected") ? "expected" : NULL;
}

/* "15 of 16 reproduced, 1 better; 8 not comparable" */
void verdicts_print(FILE *out, const json_t *result)
{
    const json_t *counts = json_object_get(result, "verdicts"), *number;
    const char *good = json_object_get(counts, "as expected") ? "as expected" : "reproduced", *word;
    double apart = json_number(counts, "not comparable", 0), all = -apart;
    json_object_foreach((json_t *)counts, word, number)
    {
        all += json_number_value(number);
    }
    const json_t *order = json_object_get(result, "order");
    if (all + apart <= 0)
        fputs(!order                                          ? "no numbers to compare with"
              : json_is_true(json_object_get(order, "holds")) ? "the paper's order"
                                                              : "not the paper's order",
              out);
    if (all > 0)
        fprintf(out, "%.0f of %.0f %s", json_number(counts, good, 0), all, good);
    json_object_foreach((json_t *)counts, word, number)
    {
        if (json_number_value(number) > 0 && strcmp(word, good) && strcmp(word, "not comparable"))
            fprintf(out, ", %.0f %s", json_number_value(number), word);
    }
    if (apart > 0)
        fprintf(out, "%s%.0f not comparable", all > 0 ? "; " : "", apart);
}

void time_print(FILE *out, double seconds)
{
    if (seconds < 60)
        fprintf(out, "%.1f s", seconds);
    else
        fprintf(out, "%d min %d s", (int)(seconds / 60), (int)fmod(seconds, 60));
}

/* --- the terminal --- */

static void line_print(FILE *out, const struct view *v, const json_t *line, int width, bool colours)
{
    const char *verdict = json_text(line, "verdict", ""), *setting = json_text(line, "setting", "");
    const char *colour = !colours || !*verdict                                  ? ""
                         : !strcmp(verdict, "worse") || !strcmp(verdict, "off") ? "\033[38;5;166m"
                         : !strcmp(verdict, "better")                           ? "\033[38;5;36m"
                                                                                : "";
    char mean[32], sd[32], paper[32] = "", difference[32] = "";
    view_number(v, json_number(line, "mean", 0), false, mean);
    view_number(v, json_number(line, "sd", 0), false, sd);
    const char *reference = view_reference(line);
    if (reference) {
        view_number(v, json_number(line, reference, 0), false, paper);
        view_number(v, json_number(line, "difference", 0), true, difference);
    } else if (json_object_get(line, "paper_text")) {
        snprintf(paper, sizeof paper, "%s", json_text(line, "paper_text", ""));
    }
    const char *mark = json_text(line, "mark", "");
    fprintf(out, "  %-*s %9s ± %-7s %9s %9s  %s%-15s%s %s%s%s%s\n", width, json_text(line, "learner", ""), mean, sd,
            paper, difference, colour, verdict, *colour ? "\033[0m" : "", setting,
            json_is_true(json_object_get(line, "edge")) && json_is_true(json_object_get(line, "best"))
                ? " (edge of the grid)"
                : "",
            *mark ? "  " : "", mark);
}

static void table_print(FILE *out, const struct view *v, const json_t *table, bool colours)
{
    const json_t *line;
    size_t i;
    int width = 8;
    const char *skipped = json_text(table, "skipped", NULL), *differs = json_text(table, "differs", NULL);
    fprintf(out, "\n%s%s%s", colours ? "\033[1m" : "", json_text(table, "title", ""), colours ? "\033[0m" : "");
    if (skipped) {
        fprintf(out, ": skipped, %s\n", skipped);
        return;
    }
    fprintf(out, "  %.0f rows, %.0f features, %.0f classes, %.0f %s\n", json_number(table, "rows", 0),
            json_number(table, "features", 0), json_number(table, "classes", 0), json_number(table, "runs", 0),
            json_object_get(table, "tuning_seconds") ? "folds" : "runs");
    if (differs)
        fprintf(out, "  not the paper's data: %s\n", differs);
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        int length = (int)strlen(json_text(line, "learner", ""));
        width = length > width ? length : width;
    }
    fprintf(out, "  %-*s %9s ± %-7s %9s %9s\n", width, "learner", "ours", "sd",
            json_is_true(json_object_get(v->result, "quick")) ? "expected" : "paper", "diff");
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        if (json_is_true(json_object_get(line, "best")) || json_object_get(line, "verdict"))
            line_print(out, v, line, width, colours);
    }
}

/* Which learners stand in the wrong order at a setting: "4 below 3 by 18". */
static void breaks_print(FILE *out, const struct view *v, const json_t *setting)
{
    const json_t *one;
    char by[32];
    size_t i;
    json_array_foreach(json_object_get(setting, "breaks"), i, one)
    {
        view_number(v, json_number(one, "by", 0), false, by);
        fprintf(out, "%s'%s' is below '%s' by %s", i ? ", " : "", json_text(one, "lower", ""),
                json_text(one, "higher", ""), by);
    }
}

size_t order_kept(const json_t *order)
{
    const json_t *setting;
    size_t i, kept = 0;
    json_array_foreach(json_object_get(order, "settings"), i, setting)
    {
        kept += !json_array_size(json_object_get(setting, "breaks"));
    }
    return kept;
}

void order_medians_print(FILE *out, const json_t *order)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(order, "learners"), i, one)
    {
        fprintf(out, "%s %s (%.1f)", i ? " <" : "", json_text(one, "learner", ""), json_number(one, "median", 0));
    }
}

void order_breaks_print(FILE *out, const struct view *v, const json_t *order, const char *before, const char *after)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(order, "settings"), i, one)
    {
        if (!json_array_size(json_object_get(one, "breaks")))
            continue;
        fprintf(out, "%s%s ", before, json_text(one, "setting", ""));
        breaks_print(out, v, one);
        fputs(after, out);
    }
}

static void order_print(FILE *out, const struct view *v, const json_t *order)
{
    if (!order)
        return;
    fputs("\n  median over all settings:", out);
    order_medians_print(out, order);
    fprintf(out, ": %s\n", json_is_true(json_object_get(order, "holds")) ? "as in the paper" : "NOT as in the paper");
    fprintf(out, "  setting by setting: %zu of %zu in the paper's order\n", order_kept(order),
            json_array_size(json_object_get(order, "settings")));
    order_breaks_print(out, v, order, "    ", "\n");
}

void result_print(FILE *out, const json_t *result, bool colours)
{
    struct view v = view_of(result);
    const json_t *table;
    size_t i;
    fprintf(out, "\n%s%s%s: %s\n  %s; %s\n", colours ? "\033[1m" : "", json_text(result, "id", ""),
            colours ? "\033[0m" : "", json_text(result, "title", ""), json_text(result, "paper", ""),
            !strcmp(v.unit, "%") ? "errors in %" : v.unit);
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        table_print(out, &v, table, colours);
    }
    order_print(out, &v, json_object_get(result, "order"));
    const char *verdict = json_text(result, "verdict", "");
    bool plain = !strcmp(verdict, "as expected"); /* what the counts say, too */
    fprintf(out, "\n  %s: %s", json_text(result, "id", ""), plain ? "" : verdict);
    fputs(plain ? "" : " (", out);
    verdicts_print(out, result);
    fputs(plain ? ", " : "), ", out);
    time_print(out, json_number(result, "seconds", 0));
    fputs(" (processor time of all runs, also those kept from before: ", out);
    time_print(out, json_number(result, "processor_seconds", 0));
    fputs(")\n", out);
}

/* --- files --- */

static void csv_text(FILE *out, const char *text)
{
    bool quote = strpbrk(text, ",\"\n");
    if (quote)
        fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs(quote ? "\"," : ",", out);
}

static void csv_number(FILE *out, const json_t *line, const char *key)
{
    if (json_object_get(line, key))
        fprintf(out, "%.8g", json_number(line, key, 0));
    fputc(',', out);
}

static void csv_print(FILE *out, const json_t *results)
{
    const json_t *result, *table, *line;
    size_t i, j, k;
    fputs("experiment,data,learner,setting,spec,unit,best,runs,mean,sd,greedy,explored,seconds,paper,paper_sd,"
          "difference,tolerance,verdict\n",
          out);
    json_array_foreach(json_object_get(results, "experiments"), i, result)
    {
        json_array_foreach(json_object_get(result, "tables"), j, table)
        {
            json_array_foreach(json_object_get(table, "lines"), k, line)
            {
                static const char *const numbers[] = {"runs",    "mean",  "sd",       "greedy",     "explored",
                                                      "seconds", "paper", "paper_sd", "difference", "tolerance"};
                csv_text(out, json_text(result, "id", ""));
                csv_text(out, json_text(table, "data", ""));
                csv_text(out, json_text(line, "learner", ""));
                csv_text(out, json_text(line, "setting", ""));
                csv_text(out, json_text(line, "spec", ""));
                csv_text(out, json_text(result, "unit", ""));
                fprintf(out, "%d,", json_is_true(json_object_get(line, "best")));
                for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
                    csv_number(out, line, numbers[n]);
                fprintf(out, "%s\n", json_text(line, "verdict", ""));
            }
        }
    }
}

static hunch_status text_write(const json_t *results, const char *folder, const char *name, int which,
                               hunch_error *reterr)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return fail_memory(reterr);
    if (which == 0)
        json_dumpf(results, out, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    else if (which == 1)
        csv_print(out, results);
    else if (which == 2)
        markdown_print(out, results);
    else
        page_print(out, results, folder);
    hunch_status status = fclose(out) ? fail_memory(reterr) : store_file(folder, name, text, length, reterr);
    free(text);
    return status;
}

hunch_status results_write(const json_t *results, const char *folder, hunch_error *reterr)
{
    static const char *const names[] = {"results.json", "results.csv", "RESULTS.md", "index.html"};
    hunch_status status = HUNCH_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = text_write(results, folder, names[i], i, reterr);
    return status;
}

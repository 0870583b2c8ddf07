/* SPDX-License-Identifier: BSD-3-Clause */
/* RESULTS.md: the results for readers of the repository. */
#include <string.h>

#include "experiment.h"
#include "results.h"

static void cell_print(FILE *out, const struct view *v, const json_t *line)
{
    char text[32];
    if (!line) {
        fputs(" |", out);
        return;
    }
    const char *verdict = json_text(line, "verdict", "");
    bool off = !strcmp(verdict, "better") || !strcmp(verdict, "worse") || !strcmp(verdict, "off");
    const char *reference = view_reference(line);
    view_number(v, json_number(line, "mean", 0), false, text);
    fprintf(out, " %s", text);
    if (json_number(line, "runs", 1) > 1 && !v->grid) {
        view_number(v, json_number(line, "sd", 0), false, text);
        fprintf(out, " ± %s", text);
    }
    fputs(json_text(line, "mark", ""), out);
    if (reference) {
        view_number(v, json_number(line, reference, 0), false, text);
        fprintf(out, " (%s", text);
        if (json_object_get(line, "paper_sd")) {
            view_number(v, json_number(line, "paper_sd", 0), false, text);
            fprintf(out, " ± %s", text);
        }
        fputs(json_text(line, "paper_mark", ""), out);
        view_number(v, json_number(line, "difference", 0), true, text);
        fprintf(out, "; %s%s%s)", off ? "**" : "", text, off ? "**" : "");
    } else if (json_object_get(line, "paper_text")) {
        fprintf(out, " (%s)", json_text(line, "paper_text", ""));
    }
    if (!v->grid && *json_text(line, "setting", ""))
        fprintf(out, "<br>`%s`%s", json_text(line, "setting", ""),
                json_is_true(json_object_get(line, "edge")) ? " (edge)" : "");
    fputs(" |", out);
}

static void head_print(FILE *out, const char *corner, const json_t *names, const char *key)
{
    const json_t *one;
    size_t i, columns = 0;
    fprintf(out, "\n| %s |", corner);
    json_array_foreach(names, i, one)
    {
        if (key && json_object_get(one, "skipped"))
            continue;
        fprintf(out, " %s |", key ? json_text(one, key, "") : json_string_value(one));
        columns++;
    }
    fputs("\n|---|", out);
    for (i = 0; i < columns; i++)
        fputs("---|", out);
    fputc('\n', out);
}

static void matrix_print(FILE *out, const struct view *v, const json_t *tables)
{
    json_t *names = view_learners(tables);
    const json_t *name, *table;
    size_t i, j;
    head_print(out, "learner", tables, "title");
    json_array_foreach(names, i, name)
    {
        fprintf(out, "| %s |", json_string_value(name));
        json_array_foreach(tables, j, table)
        {
            if (!json_object_get(table, "skipped"))
                cell_print(out, v, view_line(table, json_string_value(name)));
        }
        fputc('\n', out);
    }
    json_decref(names);
}

static void grid_print(FILE *out, const struct view *v, const json_t *table)
{
    json_t *one = json_pack("[O]", table), *names = view_learners(one);
    const json_t *name;
    size_t i, p;
    fprintf(out, "\n%s\n", json_text(table, "title", ""));
    head_print(out, "setting", names, NULL);
    for (p = 0; p < view_points(table); p++) {
        fprintf(out, "| %s |", view_setting(table, p));
        json_array_foreach(names, i, name)
        {
            cell_print(out, v, view_point(table, json_string_value(name), p));
        }
        fputc('\n', out);
    }
    json_decref(one);
    json_decref(names);
}

static void remarks_print(FILE *out, const json_t *result)
{
    const json_t *table, *line, *note;
    size_t i, j;
    fputc('\n', out);
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        const char *title = json_text(table, "title", "");
        if (json_object_get(table, "skipped"))
            fprintf(out, "- %s: skipped, %s.\n", title, json_text(table, "skipped", ""));
        if (json_object_get(table, "differs"))
            fprintf(out, "- %s: not the paper's data: %s\n", title, json_text(table, "differs", ""));
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            if (json_object_get(line, "why"))
                fprintf(out, "- %s, %s, %s: %s\n", title, json_text(line, "learner", ""),
                        json_text(line, "verdict", ""), json_text(line, "why", ""));
        }
    }
    json_array_foreach(json_object_get(result, "notes"), i, note)
    {
        fprintf(out, "- %s\n", json_string_value(note));
    }
}

static void figures_print(FILE *out, const json_t *result)
{
    const json_t *figure;
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, figure)
    {
        fprintf(out, "%s![%s](figures/%s.svg)\n", i ? "" : "\n", json_text(figure, "title", ""),
                json_text(figure, "id", ""));
    }
}

static void order_print(FILE *out, const struct view *v, const json_t *order)
{
    if (!order)
        return;
    fputs("\nMedian over all settings:", out);
    order_medians_print(out, order);
    fprintf(out, "; %s. Setting by setting the order is kept at %zu of %zu.\n\n",
            json_is_true(json_object_get(order, "holds")) ? "the paper's order" : "**not the paper's order**",
            order_kept(order), json_array_size(json_object_get(order, "settings")));
    order_breaks_print(out, v, order, "- At ", ".\n");
}

static void result_write(FILE *out, const json_t *result)
{
    struct view v = view_of(result);
    const json_t *tables = json_object_get(result, "tables"), *table;
    size_t i;
    fprintf(out, "\n## %s\n\n%s. %s. **%s**, ", json_text(result, "id", ""), json_text(result, "title", ""),
            json_text(result, "paper", ""), json_text(result, "verdict", ""));
    time_print(out, json_number(result, "processor_seconds", 0));
    fprintf(out, " of processor time, `%s`.\n", json_text(result, "command", ""));
    if (json_text(result, "preparation", NULL))
        fprintf(out, "\n%s\n", json_text(result, "preparation", ""));
    const json_t *fewer = json_object_get(result, "fewer_runs");
    if (fewer)
        fprintf(out, "\n**Fewer runs: at most %d of each learner were made here, not %d.**\n",
                (int)json_integer_value(json_array_get(fewer, 0)), (int)json_integer_value(json_array_get(fewer, 1)));
    if (!v.grid)
        matrix_print(out, &v, tables);
    json_array_foreach(tables, i, table)
    {
        if (v.grid && !json_object_get(table, "skipped"))
            grid_print(out, &v, table);
    }
    order_print(out, &v, json_object_get(result, "order"));
    remarks_print(out, result);
    figures_print(out, result);
}

void markdown_print(FILE *out, const json_t *results)
{
    const json_t *result, *experiments = json_object_get(results, "experiments");
    size_t i;
    fprintf(out, "# Results\n\nMade by `hunch reproduce`, version %s (library %.12s), on %.0f cores",
            json_text(results, "version", ""), json_text(results, "library", ""), json_number(results, "cores", 0));
    if (json_object_get(results, "note"))
        fprintf(out, "; %s", json_text(results, "note", ""));
    fputs(". The page [index.html](index.html) shows the same with all figures; results.json and results.csv have every"
          " number.\n\nCells: ours ± standard deviation over runs or folds (the paper's; the difference), then the"
          " setting. Differences beyond the tolerance are bold; \"(edge)\": the best setting lies at the end of those "
          "tried."
          " An experiment's verdict is that of its worst number.\n\n",
          out);
    if (json_is_true(json_object_get(results, "quick")))
        fputs("**Small versions** (`--quick`): too small to compare with the papers. In brackets are the numbers "
              "committed"
              " for them in quick.json.\n\n",
              out);
    fputs("| experiment | verdict | numbers | processor time |\n|---|---|---|---|\n", out);
    json_array_foreach(experiments, i, result)
    {
        const char *id = json_text(result, "id", "");
        fprintf(out, "| [%s](#%s) | %s | ", id, id, json_text(result, "verdict", ""));
        verdicts_print(out, result);
        fputs(" | ", out);
        time_print(out, json_number(result, "processor_seconds", 0));
        fputs(" |\n", out);
    }
    json_array_foreach(experiments, i, result)
    {
        result_write(out, result);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* index.html: one file that opens from disk, with the figures inside. */
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "results.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>hunch: results</title>\n<style>\n"
    ":root{--ink:#1d2329;--soft:#5b6670;--line:#d9dee3;--back:#fff;--card:#f6f8fa;--good:#0b6e4f;--better:#0059a3;"
    "--worse:#a63f00;--apart:#5b6670}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8eb;--soft:#9aa5ae;--line:#39424a;--back:#14181c;--card:#1d2329;"
    "--good:#4fd1a1;--better:#7cc0ff;--worse:#ffa366;--apart:#9aa5ae}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:1180px;padding:2rem 1.25rem 4rem;background:var(--back);"
    "color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:1.9rem;margin:0 0 .25rem}h2{font-size:1.35rem;margin:3rem 0 .25rem;padding-top:1rem;border-top:1px "
    "solid var(--line)}h3{font-size:1.05rem;margin:1.5rem 0 .4rem}\n"
    "a{color:inherit}p{margin:.4rem 0}.soft{color:var(--soft)}small{color:var(--soft)}\n"
    ".wide{overflow-x:auto;margin:1rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.4rem .8rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top;white-space:"
    "nowrap}th{font-weight:600;vertical-align:bottom}th:first-child,td:first-child{text-align:left;position:sticky;"
    "left:0;background:var(--back)}thead th{border-bottom:2px solid var(--line)}\n"
    "td .paper,td .setting{display:block;font-size:.82em;color:var(--soft)}.summary td,.summary th{text-align:left}\n"
    ".chip{display:inline-block;padding:.05rem .6rem;border-radius:1rem;border:1px solid currentColor;font-size:.85em;"
    "font-weight:600}.reproduced{color:var(--good)}.better{color:var(--better)}.worse{color:var(--worse)}.apart{color:"
    "var(--apart)}\n"
    ".bar{display:flex;gap:1px;width:11rem;max-width:100%;height:.55rem;margin:.35rem 0 .2rem;border-radius:.3rem;"
    "overflow:hidden}.bar i{background:currentColor}.bar "
    "i.better{background:repeating-linear-gradient(45deg,currentColor "
    "0 3px,transparent 3px 5px)}.bar i.worse{background:repeating-linear-gradient(90deg,currentColor 0 2px,transparent "
    "2px 4px)}.bar "
    "i.apart{opacity:.35}th{white-space:normal;min-width:6.5rem}td:first-child{min-width:8rem;max-width:16rem;white-"
    "space:normal}\n"
    "@media(max-width:40rem){body{padding:1rem .8rem 3rem;font-size:15px}h1{font-size:1.5rem}th,td{padding:.35rem "
    ".5rem;"
    "font-size:.9em}td:first-child,th:first-child{min-width:6.5rem;max-width:8.5rem;overflow-wrap:anywhere}.bar{width:"
    "7rem"
    "}.summary td:nth-child(3){white-space:normal;min-width:9rem}}\n"
    "code{font-size:.92em;overflow-wrap:anywhere}summary{cursor:pointer;font-weight:600;color:var(--soft)}\n"
    "ul.why{margin:.6rem 0;padding-left:1.2rem}ul.notes{margin:.6rem "
    "0;padding-left:1.2rem;color:var(--soft);font-size:.92em}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,34rem),1fr));gap:1rem;margin:1rem 0}"
    "figure{margin:0;background:#fff;border:1px solid var(--line);border-radius:.5rem;padding:.4rem}"
    "figure svg{display:block;width:100%;height:auto}\n</style>\n</head>\n<body>\n";

static void text_print(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

/* Text with `code` in it. */
static void prose_print(FILE *out, const char *text)
{
    for (bool code = false; *text; code = !code) {
        size_t n = strcspn(text, "`");
        char *part = strndup(text, n);
        if (part) {
            fputs(code ? "<code>" : "", out);
            text_print(out, part);
            fputs(code ? "</code>" : "", out);
        }
        free(part);
        text += n + (text[n] == '`');
    }
}

static const char *verdict_class(const char *verdict)
{
    return !strcmp(verdict, "not comparable") || !*verdict ? "apart"
           : !strcmp(verdict, "as expected")               ? "reproduced"
           : !strcmp(verdict, "off")                       ? "worse"
                                                           : verdict;
}

static void chip_print(FILE *out, const char *verdict)
{
    fprintf(out, "<span class=\"chip %s\">%s</span>", verdict_class(verdict), verdict);
}

/* --- tables --- */

static void paper_print(FILE *out, const struct view *v, const json_t *line)
{
    static const struct {
        const char *verdict, *sign;
    } signs[] = {{"reproduced", "✓"},     {"better", "▼"},      {"worse", "▲"},
                 {"not comparable", "·"}, {"as expected", "✓"}, {"off", "≠"}};
    const char *verdict = json_text(line, "verdict", ""), *sign = "", *reference = view_reference(line);
    char text[32];
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strcmp(signs[i].verdict, verdict))
            sign = signs[i].sign;
    fprintf(out, "<span class=\"paper\">%s ", reference ? reference : "paper");
    if (json_object_get(line, "paper_text")) {
        text_print(out, json_text(line, "paper_text", ""));
        fputs("</span>", out);
        return;
    }
    view_number(v, json_number(line, reference, 0), false, text);
    fputs(text, out);
    if (json_object_get(line, "paper_sd")) {
        view_number(v, json_number(line, "paper_sd", 0), false, text);
        fprintf(out, " ± %s", text);
    }
    view_number(v, json_number(line, "difference", 0), true, text);
    fprintf(out, "%s <span class=\"%s\" title=\"%s\">%s %s</span></span>", json_text(line, "paper_mark", ""),
            verdict_class(verdict), verdict, sign, text);
}

static void cell_print(FILE *out, const struct view *v, const json_t *line)
{
    char text[32];
    fputs("<td>", out);
    if (line) {
        view_number(v, json_number(line, "mean", 0), false, text);
        fprintf(out, "<b>%s</b>%s", text, json_text(line, "mark", ""));
        if (json_number(line, "runs", 1) > 1) {
            view_number(v, json_number(line, "sd", 0), false, text);
            fprintf(out, " <small>± %s</small>", text);
        }
        if (view_reference(line) || json_object_get(line, "paper_text"))
            paper_print(out, v, line);
        if (!v->grid && *json_text(line, "setting", "")) {
            fputs("<span class=\"setting\">", out);
            text_print(out, json_text(line, "setting", ""));
            fprintf(out, "%s</span>", json_is_true(json_object_get(line, "edge")) ? " (edge)" : "");
        }
    }
    fputs("</td>", out);
}

static void matrix_print(FILE *out, const struct view *v, const json_t *tables)
{
    json_t *names = view_learners(tables);
    const json_t *name, *table;
    size_t i, j;
    fputs("<div class=\"wide\"><table><thead><tr><th>learner</th>", out);
    json_array_foreach(tables, j, table)
    {
        if (json_object_get(table, "skipped"))
            continue;
        fputs("<th>", out);
        text_print(out, json_text(table, "title", ""));
        fprintf(out, "<br><small>%.0f × %.0f, %.0f classes,<br>%.0f runs</small></th>", json_number(table, "rows", 0),
                json_number(table, "features", 0), json_number(table, "classes", 0), json_number(table, "runs", 0));
    }
    fputs("</tr></thead><tbody>\n", out);
    json_array_foreach(names, i, name)
    {
        fputs("<tr><td>", out);
        text_print(out, json_string_value(name));
        fputs("</td>", out);
        json_array_foreach(tables, j, table)
        {
            if (!json_object_get(table, "skipped"))
                cell_print(out, v, view_line(table, json_string_value(name)));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    json_decref(names);
}

static void grid_print(FILE *out, const struct view *v, const json_t *table)
{
    json_t *one = json_pack("[O]", table), *names = view_learners(one);
    const json_t *name;
    size_t i, p;
    fputs("<h3>", out);
    text_print(out, json_text(table, "title", ""));
    fprintf(out, " <small>%.0f rows, %.0f runs</small></h3>\n<div class=\"wide\"><table><thead><tr><th>setting</th>",
            json_number(table, "rows", 0), json_number(table, "runs", 0));
    json_array_foreach(names, i, name)
    {
        fputs("<th>", out);
        text_print(out, json_string_value(name));
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (p = 0; p < view_points(table); p++) {
        fputs("<tr><td>", out);
        text_print(out, view_setting(table, p));
        fputs("</td>", out);
        json_array_foreach(names, i, name)
        {
            cell_print(out, v, view_point(table, json_string_value(name), p));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    json_decref(one);
    json_decref(names);
}

/* --- figures --- */

/* The svg element of gnuplot's file. Its definitions get names of their own: several figures share the page. */
static void svg_print(FILE *out, const char *text, size_t number)
{
    static const char *const uses[] = {"id='gp", "href='#gp", "url(#gp"};
    const char *at = strstr(text, "<svg");
    while (at && *at) {
        bool renamed = false;
        for (size_t i = 0; i < sizeof uses / sizeof *uses && !renamed; i++) {
            size_t length = strlen(uses[i]);
            if (strncmp(at, uses[i], length))
                continue;
            fprintf(out, "%.*sf%zugp", (int)length - 2, uses[i], number);
            at += length;
            renamed = true;
        }
        if (!renamed)
            fputc(*at++, out);
    }
}

static void figure_print(FILE *out, const json_t *figure, const char *folder, size_t number)
{
    char *path, *text = NULL;
    size_t length = 0;
    if (asprintf(&path, "%s/figures/%s.svg", folder, json_text(figure, "id", "")) < 0)
        return;
    FILE *file = fopen(path, "r");
    free(path);
    if (!file)
        return;
    if (getdelim(&text, &length, '\0', file) > 0) {
        fputs("<figure role=\"img\" aria-label=\"", out);
        text_print(out, json_text(figure, "title", ""));
        fputs("\">", out);
        svg_print(out, text, number);
        fputs("</figure>\n", out);
    }
    free(text);
    fclose(file);
}

/* --- the page --- */

static void notes_print(FILE *out, const json_t *result)
{
    const json_t *table, *line, *note;
    size_t i, j;
    fputs("<ul class=\"why\">\n", out);
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        static const char *const keys[] = {"skipped", "differs"}, *const words[] = {"skipped", "not the paper's data"};
        for (j = 0; j < 2; j++)
            if (json_object_get(table, keys[j])) {
                fputs("<li>", out);
                text_print(out, json_text(table, "title", ""));
                fprintf(out, ": %s: ", words[j]);
                text_print(out, json_text(table, keys[j], ""));
                fputs("</li>\n", out);
            }
        json_array_foreach(json_object_get(table, "lines"), j, line)
        {
            if (json_object_get(line, "why")) {
                fputs("<li>", out);
                text_print(out, json_text(table, "title", ""));
                fputs(", ", out);
                text_print(out, json_text(line, "learner", ""));
                fputs(": ", out);
                prose_print(out, json_text(line, "why", ""));
                fputs("</li>\n", out);
            }
        }
    }
    fputs("</ul>\n", out);
    if (json_array_size(json_object_get(result, "notes")))
        fputs("<details open><summary>Notes</summary><ul class=\"notes\">\n", out);
    json_array_foreach(json_object_get(result, "notes"), i, note)
    {
        fputs("<li>", out);
        prose_print(out, json_string_value(note));
        fputs("</li>\n", out);
    }
    if (json_array_size(json_object_get(result, "notes")))
        fputs("</ul></details>\n", out);
}

static void order_print(FILE *out, const struct view *v, const json_t *order)
{
    const json_t *one;
    size_t i, settings = json_array_size(json_object_get(order, "settings"));
    if (!order)
        return;
    fputs("<p>Median over all settings: ", out);
    json_array_foreach(json_object_get(order, "learners"), i, one)
    {
        fputs(i ? " &lt; " : "", out);
        text_print(out, json_text(one, "learner", ""));
        fprintf(out, " <small>(%.1f)</small>", json_number(one, "median", 0));
    }
    bool holds = json_is_true(json_object_get(order, "holds"));
    fprintf(out, ": <b class=\"%s\">%s</b>. Setting by setting the order is kept at %zu of %zu.</p>\n<ul>\n",
            holds ? "reproduced" : "worse", holds ? "the paper's order" : "not the paper's order", order_kept(order),
            settings);
    order_breaks_print(out, v, order, "<li>At ", ".</li>\n");
    fputs("</ul>\n", out);
}

static void section_print(FILE *out, const json_t *result, const char *folder, size_t *number)
{
    struct view v = view_of(result);
    const json_t *tables = json_object_get(result, "tables"), *one;
    size_t i;
    fprintf(out, "<section id=\"%s\">\n<h2>", json_text(result, "id", ""));
    text_print(out, json_text(result, "title", ""));
    fputs("</h2>\n<p>", out);
    chip_print(out, json_text(result, "verdict", ""));
    fprintf(out, " <span class=\"soft\">%s · ", json_text(result, "id", ""));
    text_print(out, json_text(result, "paper", ""));
    fprintf(out, " · %s · ", !strcmp(v.unit, "%") ? "errors in %" : v.unit);
    text_print(out, json_text(result, "command", ""));
    fputs("</span></p>\n<p>", out);
    text_print(out, json_text(result, "preparation", ""));
    fputs("</p>\n", out);
    const json_t *fewer = json_object_get(result, "fewer_runs");
    if (fewer)
        fprintf(out, "<p><b>Fewer runs: at most %d of each learner were made here, not %d.</b></p>\n",
                (int)json_integer_value(json_array_get(fewer, 0)), (int)json_integer_value(json_array_get(fewer, 1)));
    if (!v.grid)
        matrix_print(out, &v, tables);
    json_array_foreach(tables, i, one)
    {
        if (v.grid && !json_object_get(one, "skipped"))
            grid_print(out, &v, one);
    }
    order_print(out, &v, json_object_get(result, "order"));
    notes_print(out, result);
    fputs("<div class=\"figures\">\n", out);
    json_array_foreach(json_object_get(result, "figures"), i, one)
    {
        figure_print(out, one, folder, (*number)++);
    }
    fputs("</div>\n</section>\n", out);
}

/* How the numbers fare, as a bar. */
static void bar_print(FILE *out, const json_t *counts)
{
    const char *word;
    const json_t *number;
    fputs("<span class=\"bar\" aria-hidden=\"true\">", out);
    json_object_foreach((json_t *)counts, word, number)
    {
        if (json_number_value(number) > 0)
            fprintf(out, "<i class=\"%s\" style=\"flex:%.0f\"></i>", verdict_class(word), json_number_value(number));
    }
    fputs("</span>", out);
}

static void summary_print(FILE *out, const json_t *experiments)
{
    const json_t *result;
    size_t i;
    fputs("<div class=\"wide\"><table class=\"summary\"><thead><tr><th>experiment</th><th>verdict</th><th>numbers</th>"
          "<th>processor time</th></tr></thead><tbody>\n",
          out);
    json_array_foreach(experiments, i, result)
    {
        const char *id = json_text(result, "id", "");
        fprintf(out, "<tr><td><a href=\"#%s\">%s</a><br><small>", id, id);
        text_print(out, json_text(result, "paper", ""));
        fputs("</small></td><td>", out);
        chip_print(out, json_text(result, "verdict", ""));
        fputs("</td><td>", out);
        bar_print(out, json_object_get(result, "verdicts"));
        verdicts_print(out, result);
        fputs("</td><td>", out);
        time_print(out, json_number(result, "processor_seconds", 0));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void page_print(FILE *out, const json_t *results, const char *folder)
{
    const json_t *result, *experiments = json_object_get(results, "experiments");
    size_t i, number = 0;
    fputs(head, out);
    fputs("<h1>hunch: the papers' tables and figures, and ours</h1>\n<p class=\"soft\">", out);
    fprintf(out, "version %s · library %.12s · %.0f cores", json_text(results, "version", ""),
            json_text(results, "library", ""), json_number(results, "cores", 0));
    if (json_object_get(results, "note")) {
        fputs(" · ", out);
        text_print(out, json_text(results, "note", ""));
    }
    fputs(
        "</p>\n<p>In the tables: <b>ours</b> <small>± standard deviation over runs or folds</small>, the paper's "
        "number and the difference: <span class=\"reproduced\">✓ within tolerance</span>, <span class=\"better\">▼ "
        "fewer errors than the paper</span>, <span class=\"worse\">▲ more</span>, <span class=\"apart\">· not "
        "comparable</span>. The verdict of an experiment is that of its worst number. <i>(edge)</i>: the best setting "
        "lies at the end of those tried.</p>\n",
        out);
    if (json_is_true(json_object_get(results, "quick")))
        fputs("<p><b>Small versions (--quick)</b>: too small to compare with the papers. The numbers beside ours are "
              "those "
              "committed for them in quick.json: <span class=\"reproduced\">✓ as expected</span>, <span "
              "class=\"worse\">≠ "
              "off</span>.</p>\n",
              out);
    summary_print(out, experiments);
    json_array_foreach(experiments, i, result)
    {
        section_print(out, result, folder, &number);
    }
    fputs("</body>\n</html>\n", out);
}

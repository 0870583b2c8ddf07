/* SPDX-License-Identifier: BSD-3-Clause */
/* index.html: one file that opens from disk, with the figures inside. */
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "results.h"

/* Text with `code` in it. */
static void prose_print(FILE *out, const char *text)
{
    for (bool code = false; *text; code = !code) {
        size_t n = strcspn(text, "`");
        char *part = strndup(text, n);
        if (part) {
            fputs(code ? "<code>" : "", out);
            html_text(out, part);
            fputs(code ? "</code>" : "", out);
        }
        free(part);
        text += n + (text[n] == '`');
    }
}

static const char *verdict_class(enum verdict v)
{
    static const char *const classes[] = {"apart", "reproduced", "better", "worse",      "worse", "order",
                                          "apart", "reproduced", "worse",  "reproduced", "worse"};
    return classes[v];
}

static void chip_print(FILE *out, enum verdict v)
{
    fprintf(out, "<span class=\"chip %s\">%s</span>", verdict_class(v), verdict_words[v]);
}

/* An item of a list: title, other parts, and text with `code` in it. */
static void item_print(FILE *out, const char *title, const char *word, const char *text)
{
    fputs("<li>", out);
    html_text(out, title);
    fputs(*title ? ", " : "", out);
    html_text(out, word);
    fputs(*word ? ": " : "", out);
    prose_print(out, text);
    fputs("</li>\n", out);
}

/* --- tables --- */

static void paper_print(FILE *out, const struct result *r, const struct line *l)
{
    static const char *const signs[] = {"", "✓", "▼", "▲", "≠", "", "·", "✓", "≠", "✓", "▲"};
    char text[32];
    fprintf(out, "<span class=\"paper\">%s ", isnan(l->paper) && !isnan(l->expected) ? "expected" : "paper");
    if (l->paper_text) {
        html_text(out, l->paper_text);
        fputs("</span>", out);
        return;
    }
    result_number(r, line_reference(l), false, text);
    fputs(text, out);
    if (!isnan(l->paper_sd)) {
        result_number(r, l->paper_sd, false, text);
        fprintf(out, " ± %s", text);
    }
    result_number(r, l->difference, true, text);
    fprintf(out, "%s <span class=\"%s\" title=\"%s\">%s %s</span>%s</span>", l->paper_mark ? l->paper_mark : "",
            verdict_class(l->verdict), verdict_words[l->verdict], signs[l->verdict], text,
            l->spread ? ", another spread" : "");
}

static void cell_print(FILE *out, const struct result *r, const struct line *l)
{
    char text[32];
    fputs("<td>", out);
    if (l) {
        result_number(r, l->mean, false, text);
        fprintf(out, "<b>%s</b>%s", text, l->mark ? l->mark : "");
        if (l->runs > 1) {
            result_number(r, l->sd, false, text);
            fprintf(out, " <small>± %s</small>", text);
        }
        if (!isnan(line_reference(l)) || l->paper_text)
            paper_print(out, r, l);
        if (!result_is_grid(r) && *l->setting) {
            fputs("<span class=\"setting\">", out);
            html_text(out, l->setting);
            fprintf(out, "%s</span>", l->edge ? " (edge)" : "");
        }
        if (r->improves && l->rate > 0) {
            fprintf(out, "<span class=\"setting\">%.0f/s, ", l->rate);
            size_print(out, l->bytes);
            if (!isnan(l->balanced))
                fprintf(out, "<br>balanced %.1f, found %.0f", l->balanced, l->discovery);
            fputs("</span>", out);
        }
    }
    fputs("</td>", out);
}

static void name_print(FILE *out, const char *name, const char *form)
{
    fputs("<tr><td>", out);
    html_text(out, name);
    if (form) {
        fputs("<br><small>", out);
        html_text(out, form);
        fputs("</small>", out);
    }
    fputs("</td>", out);
}

static void matrix_print(FILE *out, const struct result *r)
{
    const char *names[LEARNERS];
    size_t n = tables_learners(r->tables.item, r->tables.n, names, LEARNERS);
    fputs("<div class=\"wide\"><table><thead><tr><th>learner</th>", out);
    for (size_t j = 0; j < r->tables.n; j++) {
        const struct table *t = &r->tables.item[j];
        if (t->skipped)
            continue;
        fputs("<th>", out);
        html_text(out, t->title);
        fprintf(out, "<br><small>%llu × %llu, %llu classes,<br>%llu runs</small></th>", (unsigned long long)t->rows,
                (unsigned long long)t->features, (unsigned long long)t->classes, (unsigned long long)t->runs);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct line *first = NULL;
        for (size_t j = 0; j < r->tables.n && !first; j++)
            first = table_best(&r->tables.item[j], names[i]);
        name_print(out, names[i], first ? first->form : NULL);
        for (size_t j = 0; j < r->tables.n; j++)
            if (!r->tables.item[j].skipped)
                cell_print(out, r, table_best(&r->tables.item[j], names[i]));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void grid_print(FILE *out, const struct result *r, const struct table *t)
{
    const char *names[LEARNERS];
    size_t n = tables_learners(t, 1, names, LEARNERS);
    fputs("<h3>", out);
    html_text(out, t->title);
    fprintf(out, " <small>%llu rows, %llu runs</small></h3>\n<div class=\"wide\"><table><thead><tr><th>setting</th>",
            (unsigned long long)t->rows, (unsigned long long)t->runs);
    for (size_t i = 0; i < n; i++) {
        fputs("<th>", out);
        html_text(out, names[i]);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t p = 0; p < table_points(t); p++) {
        name_print(out, table_setting(t, p), NULL);
        for (size_t i = 0; i < n; i++)
            cell_print(out, r, table_point(t, names[i], p));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* --- figures --- */

static void figure_print(FILE *out, const struct drawn *figure, const char *folder)
{
    char *path, *text = NULL;
    size_t length = 0;
    if (asprintf(&path, "%s/figures/%s.svg", folder, figure->id) < 0)
        return;
    FILE *file = fopen(path, "r");
    free(path);
    if (!file)
        return;
    if (getdelim(&text, &length, '\0', file) > 0) {
        fputs("<figure role=\"img\" aria-label=\"", out);
        html_text(out, figure->title);
        fputs("\">", out);
        fputs(text, out);
        fputs("</figure>\n", out);
    }
    free(text);
    fclose(file);
}

/* --- the page --- */

static void notes_print(FILE *out, const struct result *r)
{
    fputs("<ul class=\"why\">\n", out);
    for (size_t i = 0; i < r->tables.n; i++) {
        const struct table *t = &r->tables.item[i];
        if (t->skipped)
            item_print(out, t->title, "skipped", t->skipped);
        if (t->differs)
            item_print(out, t->title, "not the paper's data", t->differs);
        for (size_t j = 0; j < t->lines.n; j++)
            if (t->lines.item[j].why)
                item_print(out, t->title, t->lines.item[j].learner, t->lines.item[j].why);
    }
    fputs("</ul>\n", out);
    if (!r->notes.n)
        return;
    fputs("<details open><summary>Notes</summary><ul class=\"notes\">\n", out);
    for (size_t i = 0; i < r->notes.n; i++)
        item_print(out, "", "", r->notes.item[i]);
    fputs("</ul></details>\n", out);
}

static void order_print(FILE *out, const struct result *r)
{
    const struct result_order *o = r->order;
    fputs("<p>Median over all settings: ", out);
    for (size_t i = 0; i < o->learners.n; i++) {
        fputs(i ? " &lt; " : "", out);
        html_text(out, o->learners.item[i].learner);
        fprintf(out, " <small>(%.1f)</small>", o->learners.item[i].median);
    }
    fprintf(out, ": <b class=\"%s\">%s</b>. Setting by setting the order is kept at %zu of %zu.</p>\n<ul>\n",
            o->holds ? "reproduced" : "worse", o->holds ? "the paper's order" : "not the paper's order", order_kept(o),
            o->settings.n);
    order_breaks_print(out, r, "<li>At ", ".</li>\n");
    fputs("</ul>\n", out);
}

static void paragraph_print(FILE *out, const char *text)
{
    if (!text)
        return;
    fputs("<p>", out);
    html_text(out, text);
    fputs("</p>\n", out);
}

static void section_print(FILE *out, const struct result *r, const char *folder)
{
    fprintf(out, "<section id=\"%s\">\n<h2>", r->id);
    html_text(out, r->title);
    fputs("</h2>\n<p>", out);
    chip_print(out, r->verdict);
    fprintf(out, " <span class=\"soft\">%s · ", r->id);
    html_text(out, r->paper);
    fprintf(out, " · %s · ", !strcmp(result_unit(r), "%") ? "errors in %" : result_unit(r));
    html_text(out, r->command ? r->command : "");
    fputs("</span></p>\n", out);
    paragraph_print(out, r->preparation);
    paragraph_print(out, r->quick ? NULL : r->test);
    runs_made_print(out, r, "<p><b>", "</b></p>\n");
    tables_print(out, r, matrix_print, grid_print);
    if (r->order)
        order_print(out, r);
    if (r->growth.n)
        fprintf(
            out,
            "<div class=\"wide\"><table><thead><tr><th>growth with the %s</th><th>exponent ± error</th><th>proven</th>"
            "<th></th></tr></thead><tbody>\n",
            r->growth_by);
    growth_print(out, r, "<tr><td>", "</td><td>", "</td></tr>\n");
    fputs(r->growth.n ? "</tbody></table></div>\n" : "", out);
    notes_print(out, r);
    fputs("<div class=\"figures\">\n", out);
    for (size_t i = 0; i < r->figures.n; i++)
        figure_print(out, &r->figures.item[i], folder);
    fputs("</div>\n</section>\n", out);
}

/* How the numbers fare, as a bar. */
static void bar_print(FILE *out, const struct result *r)
{
    fputs("<span class=\"bar\" aria-hidden=\"true\">", out);
    for (size_t i = 0; i < VERDICTS; i++)
        if (r->verdicts[i])
            fprintf(out, "<i class=\"%s\" style=\"flex:%zu\"></i>", verdict_class((enum verdict)i), r->verdicts[i]);
    fputs("</span>", out);
}

static void summary_print(FILE *out, const struct results *results)
{
    fputs("<div class=\"wide\"><table class=\"summary\"><thead><tr><th>experiment</th><th>verdict</th><th>numbers</th>"
          "<th>processor time</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < results->experiments.n; i++) {
        const struct result *r = &results->experiments.item[i];
        fprintf(out, "<tr><td><a href=\"#%s\">%s</a><br><small>", r->id, r->id);
        html_text(out, r->paper);
        fputs("</small></td><td>", out);
        chip_print(out, r->verdict);
        fputs("</td><td>", out);
        bar_print(out, r);
        verdicts_print(out, r);
        fputs("</td><td>", out);
        time_print(out, r->processor_seconds);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

void page_print(FILE *out, const struct results *results, const char *folder)
{
    html_begin(out, "hunch: the papers' tables and figures, and ours");
    fputs("<p class=\"soft\">", out);
    fprintf(out, "version %s · library %.12s · %llu cores", results->version ? results->version : "",
            results->library ? results->library : "", (unsigned long long)results->cores);
    if (results->note) {
        fputs(" · ", out);
        html_text(out, results->note);
    }
    fputs("</p>\n<p>In the tables: <b>ours</b> <small>± standard deviation over runs or folds</small>, the paper's "
          "number and the difference: <span class=\"reproduced\">✓ within what chance explains</span>, <span "
          "class=\"better\">▼ fewer errors than the paper</span>, <span class=\"worse\">▲ more</span>, <span "
          "class=\"worse\">≠ another number, with nothing to choose: another protocol</span>, <span class=\"apart\">· "
          "not comparable</span>. The verdict of an experiment is that of its worst number. <i>(edge)</i>: the best "
          "setting lies at the end of those tried.</p>\n",
          out);
    if (results->quick)
        fputs("<p><b>Small versions (--quick)</b>: too small to compare with the papers. The numbers beside ours are "
              "those committed for them in quick.json: <span class=\"reproduced\">✓ as expected</span>, <span "
              "class=\"worse\">≠ off</span>.</p>\n",
              out);
    summary_print(out, results);
    for (size_t i = 0; i < results->experiments.n; i++)
        section_print(out, &results->experiments.item[i], folder);
    html_end(out);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* RESULTS.md: the results for readers of the repository. */
#include <string.h>

#include "paper/results.h"

static const char *text_or(const char *text)
{
    return text ? text : "";
}

static void cell_print(FILE *out, const struct result *r, const struct line *l)
{
    char text[32];
    if (!l) {
        fputs(" |", out);
        return;
    }
    bool grid = result_is_grid(r), off = l->verdict == VERDICT_BETTER || l->verdict == VERDICT_WORSE ||
                                         l->verdict == VERDICT_DIFFERS || l->verdict == VERDICT_OFF;
    result_number(r, l->mean, false, text);
    fprintf(out, " %s", text);
    if (l->runs > 1 && !grid) {
        result_number(r, l->sd, false, text);
        fprintf(out, " ± %s", text);
    }
    fputs(text_or(l->mark), out);
    if (!isnan(line_reference(l))) {
        result_number(r, line_reference(l), false, text);
        fprintf(out, " (%s", text);
        if (!isnan(l->paper_sd)) {
            result_number(r, l->paper_sd, false, text);
            fprintf(out, " ± %s", text);
        }
        fputs(text_or(l->paper_mark), out);
        result_number(r, l->difference, true, text);
        fprintf(out, "; %s%s%s%s)", off ? "**" : "", text, off ? "**" : "", l->spread ? ", another spread" : "");
    } else if (l->paper_text) {
        fprintf(out, " (%s)", l->paper_text);
    }
    if (!grid && *l->setting)
        fprintf(out, "<br>`%s`%s", l->setting, l->edge ? " (edge)" : "");
    if (r->improves && l->bytes > 0) { /* what it cost */
        fputs("<br>", out);
        size_print(out, l->bytes);
        if (!isnan(l->balanced))
            fprintf(out, "<br>balanced %.1f, found %.0f", l->balanced, l->discovery);
    }
    fputs(" |", out);
}

static void head_end(FILE *out, size_t columns)
{
    fputs("\n|---|", out);
    for (size_t i = 0; i < columns; i++)
        fputs("---|", out);
    fputc('\n', out);
}

/* What the experiment says about a learner's form, from any of its tables. */
static const char *learner_form(const struct result *r, const char *learner)
{
    for (size_t i = 0; i < r->tables.n; i++) {
        const struct line *l = table_best(&r->tables.item[i], learner);
        if (l && l->form)
            return l->form;
    }
    return NULL;
}

static void matrix_print(FILE *out, const struct result *r)
{
    const char *names[LEARNERS];
    size_t n = tables_learners(r->tables.item, r->tables.n, names, LEARNERS), columns = 0;
    fputs("\n| learner |", out);
    for (size_t i = 0; i < r->tables.n; i++)
        if (!r->tables.item[i].skipped) {
            fprintf(out, " %s |", r->tables.item[i].title);
            columns++;
        }
    head_end(out, columns);
    for (size_t i = 0; i < n; i++) {
        const char *form = learner_form(r, names[i]);
        fprintf(out, "| %s%s%s |", names[i], form ? "<br>" : "", text_or(form));
        for (size_t j = 0; j < r->tables.n; j++)
            if (!r->tables.item[j].skipped)
                cell_print(out, r, table_best(&r->tables.item[j], names[i]));
        fputc('\n', out);
    }
}

static void grid_print(FILE *out, const struct result *r, const struct table *t)
{
    const char *names[LEARNERS];
    size_t n = tables_learners(t, 1, names, LEARNERS);
    fprintf(out, "\n%s\n\n| setting |", t->title);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %s |", names[i]);
    head_end(out, n);
    for (size_t p = 0; p < table_points(t); p++) {
        fprintf(out, "| %s |", table_setting(t, p));
        for (size_t i = 0; i < n; i++)
            cell_print(out, r, table_point(t, names[i], p));
        fputc('\n', out);
    }
}

static void remarks_print(FILE *out, const struct result *r)
{
    fputc('\n', out);
    for (size_t i = 0; i < r->tables.n; i++) {
        const struct table *t = &r->tables.item[i];
        if (t->skipped)
            fprintf(out, "- %s: skipped, %s.\n", t->title, t->skipped);
        if (t->differs)
            fprintf(out, "- %s: not the paper's data: %s\n", t->title, t->differs);
        for (size_t j = 0; j < t->lines.n; j++) {
            const struct line *l = &t->lines.item[j];
            if (l->why)
                fprintf(out, "- %s, %s, %s: %s\n", t->title, l->learner, verdict_words[l->verdict], l->why);
        }
    }
    for (size_t i = 0; i < r->notes.n; i++)
        fprintf(out, "- %s\n", r->notes.item[i]);
}

static void order_print(FILE *out, const struct result *r)
{
    fputs("\nMedian over all settings:", out);
    order_medians_print(out, r->order);
    fprintf(out, "; %s. Setting by setting the order is kept at %zu of %zu.\n\n",
            r->order->holds ? "the paper's order" : "**not the paper's order**", order_kept(r->order),
            r->order->settings.n);
    order_breaks_print(out, r, "- At ", ".\n");
}

static void result_write(FILE *out, const struct result *r)
{
    fprintf(out, "\n## %s\n\n%s. %s. **%s**, `hunch reproduce %s`.\n", r->id, r->title, r->paper,
            verdict_words[r->verdict], r->id);
    if (r->preparation)
        fprintf(out, "\n%s\n", r->preparation);
    if (r->test && !r->quick)
        fprintf(out, "\n%s.\n", r->test);
    if (r->runs_made)
        fprintf(out, "\n**Fewer runs: at most %llu of each learner were made here, not %llu.**\n",
                (unsigned long long)r->runs_made, (unsigned long long)r->runs_wanted);
    if (!result_is_grid(r))
        matrix_print(out, r);
    for (size_t i = 0; result_is_grid(r) && i < r->tables.n; i++)
        if (!r->tables.item[i].skipped)
            grid_print(out, r, &r->tables.item[i]);
    if (r->order)
        order_print(out, r);
    if (r->growth.n) {
        fprintf(out, "\n| growth with the %s | exponent ± error | proven | |", r->growth_by);
        head_end(out, 3);
    }
    growth_print(out, r, "| ", " | ", " |\n");
    remarks_print(out, r);
    for (size_t i = 0; i < r->figures.n; i++)
        fprintf(out, "%s![%s](figures/%s.svg)\n", i ? "" : "\n", r->figures.item[i].title, r->figures.item[i].id);
}

/* "12 of 16": how many of the tests would notice errors a tenth off with a probability of 80 %. */
static void power_print(FILE *out, const struct result *r)
{
    size_t all = 0, sharp = 0;
    for (size_t i = 0; i < r->tables.n; i++)
        for (size_t j = 0; j < r->tables.item[i].lines.n; j++) {
            const struct line *l = &r->tables.item[i].lines.item[j];
            bool judged = l->verdict && l->verdict != VERDICT_APART && !isnan(l->power);
            all += judged;
            sharp += judged && l->power >= 0.8;
        }
    if (all)
        fprintf(out, "%zu of %zu", sharp, all);
}

void markdown_print(FILE *out, const struct results *results)
{
    fprintf(out, "# Results\n\nMade by `hunch reproduce`, version %s", text_or(results->version));
    if (results->note)
        fprintf(out, "; %s", results->note);
    fputs(
        ". [results.csv](results.csv) has the numbers, and what they are judged by.\n\nCells: ours ± standard deviation over runs or folds (the paper's; the difference), then the"
        " setting. Significant differences are bold; \"(edge)\": the best setting is at the end of those tried. An"
        " experiment's verdict is that of its worst number; *differs*: a learner that had nothing to choose gives"
        " another number, so the paper must have run something else. *Another spread*: the means agree, the standard"
        " deviations do not. The last column counts the tests that can fail: those whose power is at least 80 % against"
        " a true error rate a tenth above or below the printed one. Agreement in the others is weak evidence.\n\n",
        out);
    if (results->quick)
        fputs("**Small versions** (`--quick`): too small to compare with the papers. In brackets are the numbers "
              "committed for them in quick.json.\n\n",
              out);
    fputs("| experiment | verdict | numbers | tests that can fail |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < results->experiments.n; i++) {
        const struct result *r = &results->experiments.item[i];
        fprintf(out, "| [%s](#%s) | %s | ", r->id, r->id, verdict_words[r->verdict]);
        verdicts_print(out, r);
        fputs(" | ", out);
        power_print(out, r);
        fputs(" |\n", out);
    }
    for (size_t i = 0; i < results->experiments.n; i++)
        result_write(out, &results->experiments.item[i]);
}

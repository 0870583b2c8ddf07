/* SPDX-License-Identifier: BSD-3-Clause */
#include "paper/results.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "play/store.h"

/* "15 of 16 reproduced, 1 better; 8 not comparable" */
void verdicts_print(FILE *out, const struct result *r)
{
    enum verdict good = r->quick ? VERDICT_EXPECTED : r->growth_by ? VERDICT_WITHIN : VERDICT_REPRODUCED;
    size_t apart = r->verdicts[VERDICT_APART], all = 0;
    for (size_t i = 0; i < VERDICTS; i++)
        all += i == VERDICT_APART ? 0 : r->verdicts[i];
    if (!all && !apart)
        fputs(!r->order         ? "no numbers to compare with"
              : r->order->holds ? "the paper's order"
                                : "not the paper's order",
              out);
    if (all)
        fprintf(out, "%zu of %zu %s", r->verdicts[good], all, verdict_words[good]);
    for (size_t i = 0; i < VERDICTS; i++)
        if (r->verdicts[i] && i != good && i != VERDICT_APART)
            fprintf(out, ", %zu %s", r->verdicts[i], verdict_words[i]);
    if (apart)
        fprintf(out, "%s%zu not comparable", all ? "; " : "", apart);
}

static void time_print(FILE *out, double seconds)
{
    if (seconds < 60)
        fprintf(out, "%.1f s", seconds);
    else
        fprintf(out, "%d min %d s", (int)(seconds / 60), (int)fmod(seconds, 60));
}

void size_print(FILE *out, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB"};
    size_t i = 0;
    for (; bytes >= 999.5 && i < 3; i++)
        bytes /= 1000;
    fprintf(out, "%.3g %s", bytes, units[i]);
}

/* Which learners stand in the wrong order at a setting: "4 below 3 by 18". */
void order_breaks_print(FILE *out, const struct result *r, const char *before, const char *after)
{
    for (size_t i = 0; i < r->order->settings.n; i++) {
        const struct order_setting *s = &r->order->settings.item[i];
        for (size_t j = 0; j < s->breaks.n; j++) {
            char by[32];
            result_number(r, s->breaks.item[j].by, false, by);
            if (j)
                fputs(", ", out);
            else
                fprintf(out, "%s%s ", before, s->setting);
            fprintf(out, "'%s' is below '%s' by %s", s->breaks.item[j].lower, s->breaks.item[j].higher, by);
        }
        fputs(s->breaks.n ? after : "", out);
    }
}

void order_medians_print(FILE *out, const struct result_order *o)
{
    for (size_t i = 0; i < o->learners.n; i++)
        fprintf(out, "%s %s (%.1f)", i ? " <" : "", o->learners.item[i].learner, o->learners.item[i].median);
}

void growth_print(FILE *out, const struct result *r, const char *before, const char *between, const char *after)
{
    for (size_t i = 0; i < r->growth.n; i++) {
        const struct growth *g = &r->growth.item[i];
        char words[GROWTH_WORDS];
        fprintf(out, "%s%s%s%.3f ± %.3f%s", before, g->learner, between, g->slope, g->error, between);
        if (!isnan(g->bound))
            fprintf(out, "%.3f (%s)%s%s", g->bound, growth_words(g, words), between, verdict_words[g->verdict]);
        else
            fputs(between, out);
        fputs(after, out);
    }
}

/* --- the terminal --- */

static const char *verdict_colour(enum verdict v)
{
    return v == VERDICT_WORSE || v == VERDICT_OFF || v == VERDICT_DIFFERS ? "\033[38;5;166m"
           : v == VERDICT_BETTER                                          ? "\033[38;5;36m"
                                                                          : "";
}

static void line_print(FILE *out, const struct result *r, const struct line *l, int width, bool colours)
{
    const char *colour = colours ? verdict_colour(l->verdict) : "";
    char mean[32], sd[32], paper[32] = "", difference[32] = "";
    result_number(r, l->mean, false, mean);
    result_number(r, l->sd, false, sd);
    if (!isnan(line_reference(l))) {
        result_number(r, line_reference(l), false, paper);
        result_number(r, l->difference, true, difference);
    } else if (l->paper_text) {
        snprintf(paper, sizeof paper, "%s", l->paper_text);
    }
    fprintf(out, "  %-*s %9s ± %-7s %9s %9s  %s%-15s%s %s%s%s%s%s\n", width, l->learner, mean, sd, paper, difference,
            colour, verdict_words[l->verdict], *colour ? "\033[0m" : "", l->setting,
            l->edge && l->best ? " (edge of the grid)" : "", l->spread ? " (another spread)" : "", l->mark ? "  " : "",
            l->mark ? l->mark : "");
}

static void table_print(FILE *out, const struct result *r, const struct table *t, bool colours)
{
    int width = 8;
    fprintf(out, "\n%s%s%s", colours ? "\033[1m" : "", t->title, colours ? "\033[0m" : "");
    if (t->skipped) {
        fprintf(out, ": skipped, %s\n", t->skipped);
        return;
    }
    fprintf(out, "  %llu rows, %llu features, %llu classes, %llu %s\n", (unsigned long long)t->rows,
            (unsigned long long)t->features, (unsigned long long)t->classes, (unsigned long long)t->runs,
            t->folds ? "folds" : "runs");
    if (t->differs)
        fprintf(out, "  not the paper's data: %s\n", t->differs);
    for (size_t i = 0; i < t->lines.n; i++) {
        int length = (int)strlen(t->lines.item[i].learner);
        width = length > width ? length : width;
    }
    fprintf(out, "  %-*s %9s ± %-7s %9s %9s\n", width, "learner", "ours", "sd", r->quick ? "expected" : "paper",
            "diff");
    for (size_t i = 0; i < t->lines.n; i++)
        if (t->lines.item[i].best || t->lines.item[i].verdict)
            line_print(out, r, &t->lines.item[i], width, colours);
}

static void order_print(FILE *out, const struct result *r)
{
    fputs("\n  median over all settings:", out);
    order_medians_print(out, r->order);
    fprintf(out, ": %s\n", r->order->holds ? "as in the paper" : "NOT as in the paper");
    fprintf(out, "  setting by setting: %zu of %zu in the paper's order\n", order_kept(r->order), r->order->settings.n);
    order_breaks_print(out, r, "    ", "\n");
}

void result_print(FILE *out, const struct result *r, bool colours)
{
    fprintf(out, "\n%s%s%s: %s\n  %s; %s\n", colours ? "\033[1m" : "", r->id, colours ? "\033[0m" : "", r->title,
            r->paper, !strcmp(result_unit(r), "%") ? "errors in %" : result_unit(r));
    if (r->test && !r->quick)
        fprintf(out, "  %s\n", r->test);
    for (size_t i = 0; i < r->tables.n; i++)
        table_print(out, r, &r->tables.item[i], colours);
    if (r->order)
        order_print(out, r);
    if (r->growth.n)
        fprintf(out, "\n  growth with the %s: exponent ± error, the proven one\n", r->growth_by);
    growth_print(out, r, "    ", "  ", "\n");
    bool plain = r->verdict == VERDICT_EXPECTED; /* what the counts say, too */
    fprintf(out, "\n  %s: %s", r->id, plain ? "" : verdict_words[r->verdict]);
    fputs(plain ? "" : " (", out);
    verdicts_print(out, r);
    fputs(plain ? ", " : "), ", out);
    time_print(out, r->seconds);
    fputs(" (processor time of all runs, also those kept from before: ", out);
    time_print(out, r->processor_seconds);
    fputs(")\n", out);
}

/* --- files --- */

static hunch_status file_write(const struct results *results, const char *folder, const char *name,
                               void (*print)(FILE *out, const struct results *results), hunch_error *reterr)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return error_memory(reterr);
    print(out, results);
    hunch_status status = fclose(out) ? error_memory(reterr) : store_file(folder, name, text, length, reterr);
    free(text);
    return status;
}

hunch_status results_write(const struct results *results, const char *folder, hunch_error *reterr)
{
    hunch_status status = file_write(results, folder, "results.csv", csv_print, reterr);
    return status ? status : file_write(results, folder, "RESULTS.md", markdown_print, reterr);
}

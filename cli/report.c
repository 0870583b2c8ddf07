/* SPDX-License-Identifier: BSD-3-Clause */
/* What hunch run tells at its end: the table, the curves, JSON. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "play/summary.h"
#include "terminal.h"

struct row {
    const char *learner;
    struct summary summary;
    const struct outcome *results;
};

static int row_compare(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    if (!left->summary.runs != !right->summary.runs) /* those that have not begun come last */
        return left->summary.runs ? -1 : 1;
    if (left->summary.error != right->summary.error)
        return left->summary.error < right->summary.error ? -1 : 1;
    return left->results < right->results ? -1 : left->results > right->results;
}

static struct row *rows_make(const struct run_options *o, const struct progressive *p)
{
    struct row *rows = cli_alloc(p->learners, sizeof *rows);
    for (size_t i = 0; i < p->learners; i++) {
        const struct outcome *results = &p->results[i * p->runs];
        rows[i] = (struct row){o->learners.texts[i], summary_make(results, p->runs), results};
    }
    return rows;
}

/* --- the table --- */

/* Regret, and the exponent of its growth. */
static void regret_print(const struct row *row, size_t runs)
{
    double slope, error;
    printf("  %12.1f", row->summary.regret);
    if (!summary_growth(row->results, runs, &slope, &error))
        return;
    printf("  n^%.2f", slope);
    if (runs > 1)
        printf(" ± %.2f", error);
}

static void line_print(const struct row *row, int width, size_t runs, const struct run_options *o)
{
    const struct summary *s = &row->summary;
    char rate[32];
    if (!s->runs) {
        printf("%-*s  not begun\n", width, row->learner);
        return;
    }
    printf("%-*s  %7.2f", width, row->learner, 100 * s->error);
    if (runs > 1)
        printf(" ± %-5.2f", 100 * s->error_sd);
    if (o->passes > 1)
        printf("  %12.2f", 100 * s->unseen_error);
    printf("  %8.2f  %10.2f  %13s", 100 * s->greedy_error, 100 * s->explored, terminal_count(s->rate, rate));
    if (o->balanced)
        printf("  %10.2f  %8.0f", 100 * s->balanced, s->discovery);
    if (o->regret)
        regret_print(row, runs);
    putchar('\n');
}

/* How much was played: of the learner that played most, when they were interrupted. */
static void foot_print(const struct row *rows, size_t n, const struct progressive *p, uint32_t passes)
{
    const struct row *longest = &rows[0];
    bool differ = false;
    char count[32];
    for (size_t i = 1; i < n; i++) {
        differ = differ || rows[i].summary.rounds != longest->summary.rounds;
        if (rows[i].summary.rounds > longest->summary.rounds)
            longest = &rows[i];
    }
    printf("\n%s%s rounds", differ ? "up to " : "", terminal_count(longest->summary.rounds, count));
    if (p->runs > 1)
        printf(" in each of %zu runs", p->runs);
    if (passes > 1)
        printf(" over %u passes", passes);
    printf(", %u classes, %s features; feedback simulated from the labels%s\n", longest->results->classes,
           terminal_count(longest->results->features, count), p->stopped ? "; interrupted" : "");
    if (passes > 1)
        printf("errors of later passes are on rows that were learned from before\n");
    if (rows->summary.runs)
        printf("calibration error of the confidence %.4f%s%s\n", rows->summary.calibration, n > 1 ? ", of " : "",
               n > 1 ? rows->learner : "");
}

/* Of the choices that could be acted on. */
static void acted_print(const struct row *rows, size_t n, double act_at)
{
    for (size_t i = 0; i < n && act_at > 0; i++)
        printf("acted on %.1f %% of the choices, %.2f %% of these right (promised: %g %%)%s%s\n",
               100 * rows[i].summary.acted, 100 * rows[i].summary.acted_right, 100 * act_at, n > 1 ? ", " : "",
               n > 1 ? rows[i].learner : "");
}

/* The error so far becomes that of the last twentieth of all rounds. */
static void curve_recent(struct curve *c)
{
    double window = c->n ? c->round[c->n - 1] / 20 : 0;
    size_t kept = 0, from = 0;
    double *counts = c->greedy, *rounds = c->explored; /* not drawn */
    for (size_t i = 0; i < c->n; i++) {
        counts[i] = c->error[i] * c->round[i];
        rounds[i] = c->round[i];
    }
    for (size_t i = 1; i < c->n; i++) {
        while (from + 1 < i && rounds[from + 1] <= rounds[i] - window)
            from++;
        if (rounds[i] < window)
            continue;
        c->round[kept] = rounds[i];
        c->error[kept++] = fmax(0, counts[i] - counts[from]) / (rounds[i] - rounds[from]);
    }
    c->n = kept;
}

static void curves_draw(const struct row *rows, size_t n, size_t runs, bool recent)
{
    char title[64] = "error so far, %", count[32];
    if (recent)
        snprintf(title, sizeof title, "error of the last %s rounds, %%",
                 terminal_count(ceil((double)rows[0].summary.rounds / 20), count));
    struct plot_style style = {title, recent, terminal_has_colours(stdout)};
    struct plot_series *series = cli_alloc(n, sizeof *series);
    struct curve *curves = cli_alloc(n, sizeof *curves);
    for (size_t i = 0; i < n; i++) {
        curve_mean(&curves[i], rows[i].results, runs);
        if (recent)
            curve_recent(&curves[i]);
        series[i] = (struct plot_series){rows[i].learner, curves[i].round, curves[i].error, curves[i].n};
    }
    putchar('\n');
    plot_draw(stdout, series, n, &style);
    for (size_t i = 0; i < n; i++)
        curve_free(&curves[i]);
    free(series);
    free(curves);
}

/* What it takes to be better than: the label that most rows have, and any label alike. */
static void baselines_print(const struct stream *data, const struct row *best, int width, bool quiet)
{
    uint32_t labels = names_count(stream_labels(data)), largest = 0;
    uint64_t all = 0;
    for (uint32_t i = 0; i < labels; i++) {
        all += stream_label_rows(data, i);
        if (stream_label_rows(data, i) > stream_label_rows(data, largest))
            largest = i;
    }
    if (!all || labels < 2)
        return;
    double error = 1 - (double)stream_label_rows(data, largest) / (double)all;
    printf("%-*s  %7.2f  (always '%s')\n", width, "largest class", 100 * error,
           names_text(stream_labels(data), largest, NULL));
    printf("%-*s  %7.2f\n", width, "uniform", 100 * (1 - 1 / (double)labels));
    if (!quiet && best->summary.runs && best->summary.rounds >= 100 && best->summary.greedy_error >= error)
        fprintf(stderr, "hunch: no learner is better than always saying '%s'\n",
                names_text(stream_labels(data), largest, NULL));
}

/* Rows that are sorted, or come in batches, by their labels are much easier than the same rows in a random order. The
 * number of rows with the label of the row before is compared with what a random order gives on average. */
static void order_print(const struct stream *data)
{
    double n = 0, pairs = 0, repeats = (double)stream_label_repeats(data);
    uint32_t labels = names_count(stream_labels(data));
    for (uint32_t i = 0; i < labels; i++)
        n += (double)stream_label_rows(data, i);
    for (uint32_t i = 0; i < labels && n > 0; i++) {
        double rows = (double)stream_label_rows(data, i);
        pairs += rows * (rows - 1) / n;
    }
    double run = n / (n - repeats), random = n / (n - pairs);
    if (labels > 1 && n - pairs > 0 && repeats > pairs + 6 * sqrt(pairs + 1) && run > 1.5 * random)
        fprintf(stderr,
                "hunch: labels come in runs of %.1f rows on average, %.1f in a random order: the error is that of "
                "this order; --shuffle uses a random one\n",
                run, random);
}

int report_table(const struct run_options *o, const struct progressive *p, const struct stream *data)
{
    struct row *rows = rows_make(o, p);
    bool runs = p->runs > 1, colours = terminal_has_colours(stdout);
    int width = 13;
    qsort(rows, p->learners, sizeof *rows, row_compare);
    for (size_t i = 0; i < p->learners; i++)
        if ((int)strlen(rows[i].learner) > width)
            width = (int)strlen(rows[i].learner);
    printf("%s%-*s  error %%%s%s  greedy %%  explored %%  %13s%s%s%s\n", colours ? TERMINAL_BOLD : "", width, "learner",
           runs ? " ± sd   " : "", o->passes > 1 ? "  first pass %" : "", "rounds/s",
           o->balanced ? "  balanced %     found" : "", o->regret ? "        regret, growth" : "",
           colours ? TERMINAL_PLAIN : "");
    for (size_t i = 0; i < p->learners; i++)
        line_print(&rows[i], width, p->runs, o);
    baselines_print(data, &rows[0], width, o->quiet);
    if (!o->quiet && !o->shuffle)
        order_print(data);
    foot_print(rows, p->learners, p, o->passes);
    acted_print(rows, p->learners, o->act_at);
    if (o->plot || o->plot_recent)
        curves_draw(rows, p->learners, p->runs, o->plot_recent);
    free(rows);
    return EXIT_DONE;
}

/* --- JSON --- */

static json_t *row_json(const struct row *row, const struct progressive *p, const struct run_options *o)
{
    const struct summary *s = &row->summary;
    json_t *mistakes = json_array();
    for (size_t i = 0; i < p->runs; i++)
        json_array_append_new(mistakes, json_integer((json_int_t)row->results[i].tally.mistakes));
    json_t *mean = p->runs == 1 ? json_integer((json_int_t)row->results->tally.mistakes) : json_real(s->mistakes);
    const char *spec = row->results->spec ? row->results->spec : row->learner;
    json_t *json = json_pack("{s:s, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:b}", "learner", spec,
                             "rounds", (json_int_t)s->rounds, "runs", (json_int_t)s->runs, "mistakes", mean,
                             "run_mistakes", mistakes, "error", s->error, "error_sd", s->error_sd, "greedy_error",
                             s->greedy_error, "explored", s->explored, "seconds", s->seconds, "bytes",
                             (json_int_t)row->results->bytes, "classes", (json_int_t)row->results->classes, "features",
                             (json_int_t)row->results->features, "interrupted", p->stopped);
    double slope, error;
    json_object_set_new(json, "calibration_error", json_real(s->calibration));
    if (o->act_at > 0) {
        json_object_set_new(json, "acted", json_real(s->acted));
        json_object_set_new(json, "acted_right", json_real(s->acted_right));
    }
    if (o->passes > 1)
        json_object_set_new(json, "first_pass_error", json_real(s->unseen_error));
    if (o->balanced) {
        json_object_set_new(json, "balanced_error", json_real(s->balanced));
        json_object_set_new(json, "discovery", json_real(s->discovery));
    }
    if (o->regret)
        json_object_set_new(json, "regret", json_real(s->regret));
    if (o->regret && summary_growth(row->results, p->runs, &slope, &error))
        json_object_set_new(json, "regret_growth", json_real(slope));
    return json;
}

int report_json(const struct run_options *o, const struct progressive *p)
{
    struct row *rows = rows_make(o, p);
    json_t *array = json_array();
    for (size_t i = 0; i < p->learners; i++)
        json_array_append_new(array, row_json(&rows[i], p, o));
    free(rows);
    return cli_json(array, JSON_INDENT(2));
}

/* --- curves as a file --- */

int report_curve(const struct run_options *o, const struct progressive *p)
{
    FILE *file = cli_create(o->curve);
    if (!file)
        return EXIT_SYSTEM;
    fprintf(file, "learner\trun\tround\tmistakes\terror%s\n", o->regret ? "\tregret" : "");
    for (size_t i = 0; i < p->learners * p->runs; i++) {
        const struct tally *t = &p->results[i].tally;
        for (size_t j = 0; j < t->points; j++) {
            const struct tally_point *c = &t->curve[j];
            fprintf(file, "%s\t%zu\t%llu\t%llu\t%.6g", o->learners.texts[i / p->runs], i % p->runs,
                    (unsigned long long)c->round, (unsigned long long)c->mistakes,
                    (double)c->mistakes / (double)c->round);
            if (o->regret)
                fprintf(file, "\t%.6g", c->regret);
            fputc('\n', file);
        }
    }
    return cli_close(file, o->curve);
}

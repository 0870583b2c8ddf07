/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --report: everything about a run on one page. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "confusion.h"
#include "data.h"
#include "report/figure.h"
#include "report/html.h"
#include "run.h"
#include "play/summary.h"
#include "terminal.h"

#define CLASSES_SHOWN 12 /* in the tables of classes: the most frequent ones */
#define FEATURES_SHOWN 8 /* of a class */

/* --- the confusion matrix --- */

struct run_page {
    struct confusion *learners; /* of the first run's predictions; one per learner, so that threads share none */
    size_t n;
};

struct run_page *run_page_new(size_t learners)
{
    struct run_page *p = cli_alloc(1, sizeof *p);
    p->learners = cli_alloc(learners, sizeof *p->learners);
    p->n = learners;
    return p;
}

void run_page_free(struct run_page *p)
{
    for (size_t i = 0; p && i < p->n; i++)
        confusion_free(&p->learners[i]);
    if (p)
        free(p->learners);
    free(p);
}

void run_page_count(struct run_page *p, const struct player_rounds *r)
{
    for (size_t i = 0; i < r->n; i++)
        confusion_count(&p->learners[r->learner], r->labels[i], r->choices[i].label);
}

/* The most frequent classes, largest first. */
static size_t classes_choose(const struct confusion *c, uint32_t ret[CLASSES_SHOWN])
{
    size_t n = 0;
    for (uint32_t k = 0; k < c->classes; k++) {
        size_t at = n;
        uint64_t rows = confusion_rows(c, k);
        while (at > 0 && rows > confusion_rows(c, ret[at - 1]))
            at--;
        if (!rows || at == CLASSES_SHOWN)
            continue;
        n += n < CLASSES_SHOWN;
        memmove(ret + at + 1, ret + at, (n - at - 1) * sizeof *ret);
        ret[at] = k;
    }
    return n;
}

/* --- sections --- */

struct page {
    FILE *out;
    const struct run_options *o;
    const struct progressive *p;
    const struct names *labels, *features;
    const struct confusion *confusion; /* of the best learner */
    size_t best;
};

static const char *name_of(const struct names *names, uint32_t i, char room[16])
{
    if (names && i < names_count(names))
        return names_text(names, i, NULL);
    snprintf(room, 16, "%u", i);
    return room;
}

/* A row of results; without the deviation where there is one run only. */
static void result_row(const struct page *g, const char *const cells[6])
{
    const char *kept[6];
    size_t n = 0;
    for (size_t i = 0; i < 6; i++)
        if (i != 2 || g->p->runs > 1)
            kept[n++] = cells[i];
    html_row(g->out, kept, n);
}

static void baseline_row(const struct page *g, const char *name, double error)
{
    char text[16];
    snprintf(text, sizeof text, "%.2f", 100 * error);
    result_row(g, (const char *const[]){name, text, "", "", "", ""});
}

static void results_print(const struct page *g)
{
    static const char *const heads[] = {"learner", "error %", "greedy %", "explored %", "rounds/s"};
    static const char *const heads_of_runs[] = {"learner", "error %", "± sd", "greedy %", "explored %", "rounds/s"};
    uint32_t shown[CLASSES_SHOWN];
    bool runs = g->p->runs > 1;
    html_table(g->out, runs ? heads_of_runs : heads, runs ? 6 : 5);
    for (size_t i = 0; i < g->p->learners; i++) {
        struct summary s = summary_make(&g->p->results[i * g->p->runs], g->p->runs);
        char numbers[4][16], rate[32];
        snprintf(numbers[0], 16, "%.2f", 100 * s.error);
        snprintf(numbers[1], 16, "%.2f", 100 * s.error_sd);
        snprintf(numbers[2], 16, "%.2f", 100 * s.greedy_error);
        snprintf(numbers[3], 16, "%.2f", 100 * s.explored);
        result_row(g, (const char *const[]){g->o->learners.texts[i], numbers[0], numbers[1], numbers[2], numbers[3],
                                            terminal_count(s.rate, rate)});
    }
    double rounds = (double)g->p->results[g->best * g->p->runs].tally.rounds;
    uint32_t classes = g->p->results[g->best * g->p->runs].classes;
    if (classes_choose(g->confusion, shown))
        baseline_row(g, "largest class", 1 - (double)confusion_rows(g->confusion, shown[0]) / rounds);
    baseline_row(g, "uniform", 1 - 1 / fmax(classes, 1));
    html_table_end(g->out);
    fputs("<p class=\"soft\"><em>error</em>: of the predicted labels; <em>greedy</em>: of the labels with the largest "
          "score; <em>explored</em>: rounds in which the two differ. The feedback was simulated from the labels.</p>\n",
          g->out);
}

/* Point at of one more run, after n others: mean and deviation. Where the first run has no such round it is left
 * out. */
static void beside_point(struct figure_series *s, double runs, size_t at, double round, double error)
{
    if (runs == 0) {
        s->x[s->n] = round;
        s->y[s->n++] = error;
    } else if (at < s->n && s->x[at] == round) {
        double off = error - s->y[at], *sd = &s->sd[at];
        s->y[at] += off / (runs + 1);
        *sd = sqrt((*sd * *sd * (runs - 1) + off * (error - s->y[at])) / runs);
    }
}

/* Curves of a file as --curve writes it: a series for each learner, the mean of its runs with their deviation. */
static int beside_add(struct figure *f, const char *path)
{
    FILE *file = fopen(path, "r");
    char name[128], last[128] = "", *line = NULL;
    struct figure_series *series = NULL;
    unsigned long long run, before = 0, round, mistakes;
    size_t room = 0, at = 0, runs = 0;
    int code = EXIT_DONE;
    if (!file)
        return cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    for (size_t number = 1; !code && getline(&line, &room, file) > 0; number++) {
        if (number == 1)
            continue; /* the heads */
        if (sscanf(line, "%127[^\t]\t%llu\t%llu\t%llu", name, &run, &round, &mistakes) != 4 || !round) {
            code =
                cli_fail(EXIT_INPUT, "%s:%zu: expected learner, run, round, mistakes, separated by tabs", path, number);
        } else if (strcmp(name, last)) {
            series = figure_add(f, strcpy(last, name), TALLY_POINTS);
            if (!series || !(series->sd = calloc(TALLY_POINTS, sizeof(double))))
                code = cli_fail(EXIT_SYSTEM, "out of memory");
            else
                series->n = at = runs = 0;
        } else if (run != before) {
            runs++;
            at = 0;
        }
        before = run;
        if (!code && at == TALLY_POINTS)
            code = cli_fail(EXIT_INPUT, "%s:%zu: a run has more than %d points", path, number, TALLY_POINTS);
        if (!code && round >= 10)
            beside_point(series, (double)runs, at++, (double)round, 100 * (double)mistakes / (double)round);
    }
    free(line);
    fclose(file);
    return code;
}

static int curves_make(struct figure *ret, const struct run_options *o, const struct progressive *p)
{
    if (figure_init(ret, "curves", "Learning curves", "rounds", "error so far, %", NULL))
        return cli_fail(EXIT_SYSTEM, "out of memory");
    ret->log_x = true;
    for (size_t i = 0; i < p->learners; i++) {
        struct curve curve;
        if (!curve_mean(&curve, &p->results[i * p->runs], p->runs))
            continue;
        figure_curve(ret, o->learners.texts[i], &curve, CURVE_ERROR, 10, INFINITY);
        curve_free(&curve);
    }
    return o->beside ? beside_add(ret, o->beside) : EXIT_DONE;
}

int run_figure_write(const struct run_options *o, const struct progressive *p)
{
    struct figure f = {0};
    int code = curves_make(&f, o, p);
    FILE *out = code ? NULL : cli_create(o->figure);
    if (!code && !out)
        code = EXIT_SYSTEM;
    if (out) {
        figure_svg(&f, out);
        code = cli_close(out, o->figure);
    }
    figure_free(&f);
    return code;
}

static int curves_print(const struct page *g)
{
    struct figure f = {0};
    int code = curves_make(&f, g->o, g->p);
    if (!code && f.n) {
        html_figure(g->out, &f);
        if (g->p->runs > 1)
            fputs("<p class=soft>Lines are means over the runs; bands show one standard deviation.</p>\n", g->out);
    }
    figure_free(&f);
    return code;
}

/* The error of the most confident choices, from few to all of them. */
static bool kept_add(struct figure *f, const char *learner, const struct tally *t)
{
    struct figure_series *s = figure_add(f, learner, TALLY_BINS);
    double shown = 0, right = 0;
    if (!s)
        return false;
    s->n = 0;
    for (size_t i = TALLY_BINS; i-- > 0;) {
        shown += (double)t->bins[i].shown;
        right += (double)t->bins[i].right;
        if (t->bins[i].shown) {
            s->x[s->n] = 100 * shown / (double)t->rounds;
            s->y[s->n++] = 100 * (1 - right / shown);
        }
    }
    return true;
}

static int calibration_print(const struct page *g)
{
    struct figure f = {0};
    bool good =
        !figure_init(&f, "kept", "Error of the most confident predictions", "predictions kept, %", "error, %", NULL);
    for (size_t i = 0; good && i < g->p->learners; i++) {
        const struct tally *t = &g->p->results[i * g->p->runs].tally;
        good = !t->rounds || !t->bins || kept_add(&f, g->o->learners.texts[i], t);
    }
    fputs("<h2>Calibration</h2>\n<p>Each prediction has a confidence, the probability that it is correct. The expected "
          "calibration error of <code>",
          g->out);
    html_text(g->out, g->o->learners.texts[g->best]);
    fprintf(
        g->out,
        "</code> is %.1f percentage points. The error is lower if only the most confident predictions are kept and the "
        "others are left to a person:</p>\n",
        100 * tally_calibration(&g->p->results[g->best * g->p->runs].tally));
    if (good && f.n)
        html_figure(g->out, &f);
    figure_free(&f);
    return good ? EXIT_DONE : cli_fail(EXIT_SYSTEM, "out of memory");
}

static void classes_print(const struct page *g)
{
    static const char *const heads[] = {"label", "rows", "rows %", "recall %", "precision %"};
    uint32_t shown[CLASSES_SHOWN];
    const struct confusion *c = g->confusion;
    size_t n = classes_choose(c, shown);
    double all = 0;
    for (uint32_t k = 0; k < c->classes; k++)
        all += (double)confusion_rows(c, k);
    fputs("<h2>Classes</h2>\n<p>Recall and precision of <code>", g->out);
    html_text(g->out, g->o->learners.texts[g->best]);
    fprintf(g->out, n == CLASSES_SHOWN ? "</code> for the %zu most frequent classes.</p>\n" : "</code>.</p>\n", n);
    html_table(g->out, heads, 5);
    for (size_t i = 0; i < n; i++) {
        double rows = (double)confusion_rows(c, shown[i]), as = (double)confusion_answers(c, shown[i]);
        double right = (double)confusion_at(c, shown[i], shown[i]);
        char count[32], numbers[3][16], room[16];
        snprintf(numbers[0], 16, "%.1f", 100 * rows / all);
        snprintf(numbers[1], 16, "%.1f", 100 * right / rows);
        snprintf(numbers[2], 16, as > 0 ? "%.1f" : "-", 100 * right / as);
        html_row(g->out,
                 (const char *const[]){name_of(g->labels, shown[i], room), terminal_count(rows, count), numbers[0],
                                       numbers[1], numbers[2]},
                 5);
    }
    html_table_end(g->out);
}

static void confusion_print(const struct page *g)
{
    uint32_t shown[CLASSES_SHOWN];
    const struct confusion *c = g->confusion;
    size_t n = classes_choose(c, shown);
    char room[16];
    fputs("<h2>Confusion matrix</h2>\n<p>Rows are true labels, columns are predicted labels; in per cent of the row."
          "</p>\n<div class=\"wide\"><table><thead><tr><th>true \\ predicted</th>",
          g->out);
    for (size_t j = 0; j < n; j++) {
        fputs("<th>", g->out);
        html_text(g->out, name_of(g->labels, shown[j], room));
        fputs("</th>", g->out);
    }
    fputs("</tr></thead><tbody>\n", g->out);
    for (size_t i = 0; i < n; i++) {
        double rows = (double)confusion_rows(c, shown[i]);
        fputs("<tr><td>", g->out);
        html_text(g->out, name_of(g->labels, shown[i], room));
        fputs("</td>", g->out);
        for (size_t j = 0; j < n; j++) {
            double part = (double)confusion_at(c, shown[i], shown[j]) / rows;
            fprintf(g->out, "<td class=\"heat\" style=\"background:rgba(%s,%.2f)\">%.*f</td>",
                    i == j ? "0,158,115" : "213,94,0", 0.75 * sqrt(part), part >= 0.1 || part == 0 ? 0 : 1, 100 * part);
        }
        fputs("</tr>\n", g->out);
    }
    html_table_end(g->out);
}

/* --- what was learned --- */

struct effect {
    uint32_t feature;
    float size;
};

static void effect_keep(struct effect *kept, uint32_t feature, float size)
{
    size_t at = FEATURES_SHOWN;
    while (at > 0 && size > kept[at - 1].size)
        at--;
    if (at == FEATURES_SHOWN)
        return;
    memmove(kept + at + 1, kept + at, (FEATURES_SHOWN - 1 - at) * sizeof *kept);
    kept[at] = (struct effect){feature, size};
}

/* The change of each class's score by one unit of each feature alone, minus the mean of all classes: works for every
 * learner. */
static bool effects_find(const hunch *h, struct effect *ret)
{
    uint32_t classes = hunch_classes(h), features = hunch_features(h);
    float *scores = calloc(2 * (size_t)classes, sizeof *scores), one = 1;
    bool good = scores && !hunch_scores(h, &(hunch_vec){0}, scores + classes);
    for (uint32_t j = 0; good && j < features; j++) {
        float mean = 0;
        good = !hunch_scores(h, &(hunch_vec){.index = &j, .value = &one, .n = 1}, scores);
        for (uint32_t k = 0; k < classes; k++)
            mean += (scores[k] - scores[classes + k]) / (float)classes;
        for (uint32_t k = 0; k < classes; k++)
            effect_keep(ret + (size_t)k * FEATURES_SHOWN, j, scores[k] - scores[classes + k] - mean);
    }
    free(scores);
    return good;
}

static void features_print(const struct page *g)
{
    const hunch *h = g->p->results[g->best * g->p->runs].learner;
    uint32_t shown[CLASSES_SHOWN];
    struct effect *effects = h ? calloc((size_t)hunch_classes(h) * FEATURES_SHOWN, sizeof *effects) : NULL;
    if (!effects || !effects_find(h, effects)) {
        free(effects);
        return;
    }
    fputs(
        "<h2>Most important features</h2>\n<p>The features that raise the score of each label most: change of the score "
        "per unit of the feature, minus the mean change of all labels.</p>\n<div class=\"wide\"><table class=\"summary\"><tbody>\n",
        g->out);
    size_t n = classes_choose(g->confusion, shown);
    for (size_t i = 0; i < n; i++) {
        const struct effect *of = effects + (size_t)shown[i] * FEATURES_SHOWN;
        char room[16];
        fputs("<tr><td>", g->out);
        html_text(g->out, name_of(g->labels, shown[i], room));
        fputs("</td><td style=\"white-space:normal\">", g->out);
        for (size_t j = 0; j < FEATURES_SHOWN && of[j].size > 0; j++) {
            uint32_t number = of[j].feature + (uint32_t)(!g->features);
            fputs(j ? " · " : "", g->out);
            html_text(g->out, name_of(g->features, number, room));
            fprintf(g->out, " <small>%+.2g</small>", (double)of[j].size);
        }
        fputs("</td></tr>\n", g->out);
    }
    html_table_end(g->out);
    free(effects);
}

static void next_print(const struct page *g)
{
    const char *spec = g->p->results[g->best * g->p->runs].spec, *data = g->o->files ? g->o->paths[0] : "-";
    const char *learner = g->o->learners.texts[g->best], *name = spec ? spec : "";
    const char *quote = strpbrk(learner, "[]{};* '") ? "'" : "";
    fputs("<h2>Next steps</h2>\n", g->out);
    char *lines;
    if (asprintf(&lines,
                 "# save the model\n"
                 "hunch run %s %s %s%s%s --save model.hunch\n"
                 "# predict the labels of new rows\n"
                 "hunch predict model.hunch new.csv\n"
                 "# continue to learn\n"
                 "hunch run --load model.hunch --save model.hunch more.csv\n"
                 "# serve the model over HTTP\n"
                 "hunch serve --dir state --load desk=model.hunch\n"
                 "# its settings; hunch sweep tries several\n"
                 "hunch learners %.*s",
                 data, g->o->load ? "--load" : "-l", quote, g->o->load ? g->o->load : learner, quote,
                 (int)strcspn(name, ":"), name) < 0)
        return;
    html_commands(g->out, lines);
    free(lines);
    fprintf(g->out, "<p class=\"soft\">seed %llu · hunch %s</p>\n<details><summary>All settings of ",
            (unsigned long long)g->o->seed, hunch_version());
    html_text(g->out, learner);
    fputs("</summary>\n<p><code>", g->out);
    html_text(g->out, name);
    fputs("</code></p></details>\n", g->out);
}

static size_t best_of(const struct progressive *p)
{
    size_t best = 0;
    for (size_t i = 1; i < p->learners; i++)
        if (summary_make(&p->results[i * p->runs], p->runs).error <
            summary_make(&p->results[best * p->runs], p->runs).error)
            best = i;
    return best;
}

int run_page_write(const struct run_page *page, const struct run_options *o, const struct progressive *p,
                   const struct stream *stream)
{
    struct page g = {.o = o, .p = p, .labels = stream_labels(stream), .features = stream_features(stream)};
    char rounds[32];
    g.best = best_of(p);
    g.confusion = &page->learners[g.best];
    const struct outcome *first = &p->results[g.best * p->runs];
    if (g.confusion->failed)
        return cli_fail(EXIT_SYSTEM, "out of memory");
    if (!(g.out = cli_create(o->report)))
        return EXIT_SYSTEM;
    html_begin(g.out, "hunch run");
    fputs("<p class=\"soft\">", g.out);
    for (size_t i = 0; i < o->files; i++) {
        fputs(i ? ", " : "", g.out);
        html_text(g.out, o->paths[i]);
    }
    fprintf(g.out, " · %s rounds · %u classes · %u features%s</p>\n",
            terminal_count((double)first->tally.rounds, rounds), first->classes, first->features,
            p->stopped ? " · interrupted" : "");
    results_print(&g);
    int code = curves_print(&g);
    if (!code)
        code = calibration_print(&g);
    classes_print(&g);
    confusion_print(&g);
    features_print(&g);
    data_schema_html(stream_schema(stream), g.out);
    next_print(&g);
    html_end(g.out);
    int closed = cli_close(g.out, o->report);
    return code ? code : closed;
}

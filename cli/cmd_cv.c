/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch cv: cross-validation with tuning and label noise, as in the Confidit papers. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "play/cv.h"
#include "report/html.h"
#include "laboratory.h"

struct command {
    struct laboratory lab;
    uint32_t folds, epochs;
    double tune, noise;
    struct cv cv;
};

/* --- options --- */

static bool tune_take(void *at, const char *argument)
{
    struct command *c = at;
    double a, b;
    char rest;
    if (!strcmp(argument, "none")) {
        c->tune = 0;
        return true;
    }
    if (sscanf(argument, "%lf/%lf%c", &a, &b, &rest) != 2 || !(a > 0) || !(b > 0) || !isfinite(a + b)) {
        cli_fail(EXIT_USAGE, "--tune=%s: must be none or two percentages such as 80/20", argument);
        return false;
    }
    c->tune = a / (a + b);
    return true;
}

static const struct command_text help = {
    .usage = "hunch cv [OPTION ...] FILE ...",
    .common = "learner folds tune",
    .about = "Cross-validate learners: tune their settings on one split of the training data,\n"
             "train on all folds but one, and test the label with the largest score on the\n"
             "remaining fold.",
    .notes = LABORATORY_GRIDS "Noise is in the labels that tuning and training are given, never in those of the\n"
                              "test. A dagger marks a learner that is better than the next one at p < 0.01\n"
                              "(paired t test over the folds), a star at p < 0.001. Finished work is kept:\n"
                              "after Ctrl-C the same command continues where it stopped.",
    .examples = "hunch cv syn.svm --folds 5 -l 'banditron:gamma=2^-8..2^-2' -l 'confidit:eta=10^-3..10^1'\n"
                "hunch cv syn.svm --noise 0.3 --epochs 2 -l 'arow:r=10^-2..10^2' -l 'perceptron2:a=10^-2..10^2'",
};

static const struct cli_option option_table[] = {
    {"folds", 'k', "K", "10", "number of folds", TO_NUMBER(struct command, folds, 2, 1000000)},
    {"tune", 0, "A/B", "80/20",
     "percentages of the training rows for tuning and for validation; none: use each learner's first setting",
     TO_CALL(tune_take)},
    {"noise", 0, "SHARE", "0", "fraction of the training labels that are replaced by random ones",
     TO_REAL(struct command, noise, 0, 1)},
    {"epochs", 0, "N", "10", "number of passes over the training rows, each in a new order",
     TO_NUMBER(struct command, epochs, 1, 1000000)},
    {0}};

/* --- reports --- */

static const struct grid_point *point_of(const struct command *c, size_t i)
{
    return &c->lab.learners.grids[i].points[c->cv.learner[i].point];
}

static const char *spec_of(const struct command *c, size_t i)
{
    return point_of(c, i)->spec;
}

static int rank_compare(const void *a, const void *b, void *context)
{
    const struct cv *cv = context;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    double difference = cv->learner[left].error - cv->learner[right].error;
    return difference < 0 ? -1 : difference > 0 ? 1 : left < right ? -1 : left > right;
}

static const char *mark_of(double p)
{
    return p < 0.001 ? "⋆" : p < 0.01 ? "†" : " ";
}

static void table_print(const void *command)
{
    const struct command *c = command;
    const struct cv *cv = &c->cv;
    size_t *rank = cli_alloc(cv->learners, sizeof *rank);
    bool colours = terminal_has_colours(stdout);
    int width = 16;
    for (size_t i = 0; i < cv->learners; i++) {
        rank[i] = i;
        int length = (int)strlen(spec_of(c, i));
        width = length > width ? length : width;
    }
    qsort_r(rank, cv->learners, sizeof *rank, rank_compare, (void *)cv);
    printf("%s%-*s  test error %% ± sd    tuning %%  p to the next%s\n", colours ? TERMINAL_BOLD : "", width,
           "learner as tuned", colours ? TERMINAL_PLAIN : "");
    for (size_t i = 0; i < cv->learners; i++) {
        const struct cv_learner *l = &cv->learner[rank[i]];
        bool last = i + 1 == cv->learners;
        double p = last ? 1 : cv->p[rank[i] * cv->learners + rank[i + 1]];
        printf("%-*s  %10.2f%s ± %-5.2f  %9.2f", width, spec_of(c, rank[i]), 100 * l->error, mark_of(p), 100 * l->sd,
               100 * l->tuning_error);
        if (!last)
            printf("  %-13.2g", p);
        else
            printf("  %-13s", "");
        printf("%s\n", l->edge ? "  at the edge of the grid; widen the range" : "");
    }
    printf("\n%zu rows, %zu folds, %u epoch%s, %g %% label noise\n", c->lab.corpus.data.rows.n, cv->folds, c->epochs,
           c->epochs == 1 ? "" : "s", 100 * c->noise);
    lab_baselines(&c->lab.corpus);
    free(rank);
}

static int json_print(const void *command)
{
    const struct command *c = command;
    const struct cv *cv = &c->cv;
    json_t *all = json_array();
    for (size_t i = 0; i < cv->learners; i++) {
        const struct cv_learner *l = &cv->learner[i];
        json_t *errors = json_array(), *p = json_array();
        for (size_t f = 0; f < cv->folds; f++)
            json_array_append_new(errors, json_real(l->errors[f]));
        for (size_t j = 0; j < cv->learners; j++)
            json_array_append_new(p, json_real(cv->p[i * cv->learners + j]));
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:b, s:f, s:f, s:f, s:o, s:o}", "grid",
                                             c->lab.learners.grids[i].text, "learner", spec_of(c, i), "setting",
                                             c->lab.learners.grids[i].points[l->point].setting, "edge", l->edge,
                                             "tuning_error", l->tuning_error, "error", l->error, "error_sd", l->sd,
                                             "fold_errors", errors, "p", p));
    }
    return cli_json(all, JSON_INDENT(2));
}

static int csv_write(const void *command)
{
    const struct command *c = command;
    FILE *file = cli_create(c->lab.csv);
    if (!file)
        return EXIT_SYSTEM;
    fputs("learner,fold,error\n", file);
    for (size_t i = 0; i < c->cv.learners; i++)
        for (size_t f = 0; f < c->cv.folds; f++)
            fprintf(file, "\"%s\",%zu,%.8g\n", spec_of(c, i), f, c->cv.learner[i].errors[f]);
    return cli_close(file, c->lab.csv);
}

static hunch_status curve_draw(const struct command *c, bool explored, hunch_error *reterr)
{
    struct figure f;
    hunch_status status =
        figure_init(&f, explored ? "explored" : "error",
                    explored ? "Rounds explored while learning" : "Error of the greedy label while learning", "rounds",
                    explored ? "rounds explored so far, %" : "error so far, %", reterr);
    if (status)
        return status;
    f.log_x = true;
    for (size_t i = 0; i < c->cv.learners; i++) {
        struct curve curve;
        if (!curve_mean(&curve, c->cv.learner[i].outcomes, c->cv.folds))
            continue;
        figure_curve(&f, spec_of(c, i), &curve, explored ? CURVE_EXPLORED : CURVE_GREEDY, 10, INFINITY);
        curve_free(&curve);
    }
    if (f.n)
        status = lab_figure(&c->lab, &f, reterr);
    figure_free(&f);
    return status;
}

static hunch_status curves_draw(const void *command, hunch_error *reterr)
{
    hunch_status status = curve_draw(command, false, reterr);
    return status ? status : curve_draw(command, true, reterr);
}

static void page_table(const void *command)
{
    static const char *const heads[] = {"learner as tuned", "test error %", "± sd", "tuning %", "of the grid"};
    const struct command *c = command;
    html_table(c->lab.page, heads, 5);
    for (size_t i = 0; i < c->cv.learners; i++) {
        const struct cv_learner *l = &c->cv.learner[i];
        lab_page_row(&c->lab, point_of(c, i), (double[]){l->error, l->sd, l->tuning_error}, 3);
    }
    html_table_end(c->lab.page);
}

static const struct laboratory_report report = {
    .title = "hunch cv",
    .next = "# train with the tuned setting\n"
            "hunch run FILE -l SPEC --save model.hunch",
    .table = table_print,
    .json = json_print,
    .csv = csv_write,
    .page_table = page_table,
    .figures = curves_draw,
};

static int play(struct command *c)
{
    struct cv_options options = {
        .folds = c->folds, .epochs = c->epochs, .tune = c->tune, .noise = c->noise, .seed = c->lab.seed};
    hunch_error error;
    int code = lab_begin(&c->lab, &options.trials);
    if (code)
        return code;
    hunch_status status = cv_play(&c->cv, &c->lab.corpus, c->lab.learners.grids, c->lab.learners.n, &options, &error);
    meter_end(&c->lab.meter);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    if (c->cv.stopped)
        return cli_fail(EXIT_INTERRUPTED, "interrupted; the same command continues where it stopped");
    return lab_report(&c->lab, &report, c);
}

int cmd_cv(int argc, char **argv)
{
    struct command c = {.lab = LABORATORY_INIT};
    int code = lab_parse(&c.lab, &help, (struct option_group){NULL, option_table, &c}, argc, argv);
    if (code < 0)
        code = play(&c);
    cv_free(&c.cv);
    lab_free(&c.lab);
    return code;
}

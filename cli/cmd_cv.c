/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch cv: cross-validation with tuning and label noise, as in the Confidit papers. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cv.h"
#include "laboratory.h"
#include "sweep.h"

static const char help[] =
    "Usage: hunch cv [OPTION ...] FILE ...\n"
    "Cross-validate learners: tune their settings on one split of the training data, learn from all folds but\n"
    "one, and test the label that the model believes in on that one.\n\n" LAB_GRID_HELP
    "  -k, --folds K         parts of the rows (10)\n"
    "      --tune A/B        shares of the rows to tune on and to judge by (80/20); none: take every\n"
    "                        learner's first setting\n"
    "      --noise SHARE     of the training labels that are replaced by random ones (0)\n"
    "      --epochs N        passes over the training rows, each in a new order (10)\n"
    "  -s, --seed N          of noise, splits, orders and learners (0)\n"
    "      --rows N          use only so many rows, drawn at random\n"
    "      --ties T          first or random; this and the next two hold for every learner that does\n"
    "                        not set them itself\n"
    "      --normalize N     none, or l2: scale every example to length 1\n"
    "      --bias V          add a constant feature of this value\n"
    "      --json            print the results as JSON\n"
    "      --csv FILE        write the folds' test errors as CSV\n"
    "      --plot-dir DIR    draw mistakes and exploration against rounds, as SVG and PNG\n"
    "      --max-features N  refuse larger feature numbers\n" LAB_PLAY_HELP "\n" DATA_HELP "\n"
    "Noise is in the labels that tuning and training are told, never in those of the test. A dagger marks a\n"
    "learner that is better than the next one at p < 0.01 (paired t test over the folds), a star at p < 0.001.\n"
    "Finished work is kept: after Ctrl-C the same command goes on where it stopped.\n\n"
    "Examples:\n"
    "  hunch cv syn.svm --folds 5 --epochs 2 -l 'banditron:gamma=2^-8..2^-2' -l 'confidit:eta=10^-3..10^1'\n"
    "  hunch cv syn.svm --noise 0.3 -l 'arow:r=10^-2..10^2' -l 'perceptron2:a=10^-2..10^2'\n";

enum { CV_TUNE = LAB_END, CV_NOISE, CV_EPOCHS };

static const struct option options_known[] = {{"folds", required_argument, NULL, 'k'},
                                              {"tune", required_argument, NULL, CV_TUNE},
                                              {"noise", required_argument, NULL, CV_NOISE},
                                              {"epochs", required_argument, NULL, CV_EPOCHS},
                                              LAB_PLAY_OPTIONS,
                                              LAB_DATA_OPTIONS,
                                              {0}};

struct command {
    struct laboratory lab;
    uint64_t folds, epochs;
    double tune, noise;
    struct corpus corpus;
    struct cv cv;
};

/* --- options --- */

static bool share_take(const char *argument, double *ret)
{
    char *end;
    double share = strtod(argument, &end);
    if (end == argument || *end || !(share >= 0 && share <= 1)) {
        cli_fail(EXIT_USAGE, "--noise=%s: must be a number from 0 to 1", argument);
        return false;
    }
    *ret = share;
    return true;
}

static bool tune_take(const char *argument, double *ret)
{
    double a, b;
    char rest;
    if (!strcmp(argument, "none")) {
        *ret = 0;
        return true;
    }
    if (sscanf(argument, "%lf/%lf%c", &a, &b, &rest) != 2 || !(a > 0) || !(b > 0) || !isfinite(a + b)) {
        cli_fail(EXIT_USAGE, "--tune=%s: must be none, or two parts like 80/20", argument);
        return false;
    }
    *ret = a / (a + b);
    return true;
}

static bool option_take(struct command *c, int option, const char *argument)
{
    switch (option) {
    case 'k':
        return cli_number("folds", argument, 2, 1000000, &c->folds);
    case CV_EPOCHS:
        return cli_number("epochs", argument, 1, 1000000, &c->epochs);
    case CV_TUNE:
        return tune_take(argument, &c->tune);
    case CV_NOISE:
        return share_take(argument, &c->noise);
    default:
        return lab_option(&c->lab, option, argument);
    }
}

/* --- reports --- */

static const char *spec_of(const struct command *c, size_t i)
{
    return c->lab.grids[i].points[c->cv.learner[i].point].spec;
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

static void table_print(struct command *c)
{
    const struct cv *cv = &c->cv;
    size_t *rank = cli_alloc(cv->learners, sizeof *rank);
    bool colours = terminal_has_colours(stdout);
    int width = 16;
    for (size_t i = 0; i < cv->learners; i++) {
        rank[i] = i;
        int length = (int)strlen(spec_of(c, i));
        width = length > width ? length : width;
    }
    qsort_r(rank, cv->learners, sizeof *rank, rank_compare, &c->cv);
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
        printf("%s\n", l->edge ? "  at the grid's edge: widen it" : "");
    }
    printf("\n%zu rows, %zu folds, %llu epoch%s, %g %% label noise\n", c->corpus.data.block.rows, cv->folds,
           (unsigned long long)c->epochs, c->epochs == 1 ? "" : "s", 100 * c->noise);
    free(rank);
}

static int json_print(const struct command *c)
{
    const struct cv *cv = &c->cv;
    json_t *all = json_array();
    for (size_t i = 0; i < cv->learners; i++) {
        const struct cv_learner *l = &cv->learner[i];
        json_t *errors = json_array(), *p = json_array();
        for (size_t f = 0; f < cv->folds; f++)
            json_array_append_new(errors, json_real(l->errors[f]));
        for (size_t j = 0; j < cv->learners; j++)
            json_array_append_new(p, json_real(cv->p[i * cv->learners + j]));
        json_array_append_new(all,
                              json_pack("{s:s, s:s, s:s, s:b, s:f, s:f, s:f, s:o, s:o}", "grid", c->lab.grids[i].text,
                                        "learner", spec_of(c, i), "setting", c->lab.grids[i].points[l->point].setting,
                                        "edge", l->edge, "tuning_error", l->tuning_error, "error", l->error, "error_sd",
                                        l->sd, "fold_errors", errors, "p", p));
    }
    int failed = json_dumpf(all, stdout, JSON_INDENT(2));
    json_decref(all);
    putchar('\n');
    return failed ? cli_fail(EXIT_SYSTEM, "writing the results as JSON failed") : EXIT_DONE;
}

static int csv_write(const struct command *c)
{
    FILE *file = strcmp(c->lab.csv, "-") ? fopen(c->lab.csv, "w") : stdout;
    if (!file)
        return cli_fail(EXIT_SYSTEM, "%s: %s", c->lab.csv, strerror(errno));
    fputs("learner,fold,error\n", file);
    for (size_t i = 0; i < c->cv.learners; i++)
        for (size_t f = 0; f < c->cv.folds; f++)
            fprintf(file, "\"%s\",%zu,%.8g\n", spec_of(c, i), f, c->cv.learner[i].errors[f]);
    bool failed = ferror(file) || fflush(file);
    if (file != stdout && fclose(file))
        failed = true;
    return failed ? cli_fail(EXIT_SYSTEM, "%s: writing failed", c->lab.csv) : EXIT_DONE;
}

static hunch_status curves_draw(const struct command *c, bool explored, hunch_error *reterr)
{
    struct figure f;
    hunch_status status = figure_init(&f, explored ? "explored" : "mistakes",
                                      explored ? "Rounds explored so far" : "Mistakes of the greedy label so far",
                                      "rounds", explored ? "rounds explored" : "mistakes", reterr);
    if (status)
        return status;
    f.log_x = f.log_y = !explored;
    for (size_t i = 0; i < c->cv.learners; i++) {
        struct curve curve;
        if (!curve_mean(&curve, c->cv.learner[i].outcomes, c->cv.folds))
            continue;
        struct figure_series *series = figure_add(&f, spec_of(c, i), curve.n);
        for (size_t j = 0; series && j < curve.n; j++) {
            series->x[j] = curve.round[j];
            series->y[j] = (explored ? curve.explored[j] : curve.greedy[j]) * curve.round[j];
        }
        curve_free(&curve);
    }
    if (f.n)
        status = figure_write(&f, c->lab.plot_dir, reterr);
    figure_free(&f);
    return status;
}

static int report(struct command *c)
{
    hunch_error error;
    int code = EXIT_DONE;
    if (c->cv.stopped)
        return cli_fail(EXIT_INTERRUPTED, "interrupted; the same command goes on where it stopped");
    if (c->lab.json)
        code = json_print(c);
    else
        table_print(c);
    if (!code && c->lab.csv)
        code = csv_write(c);
    if (!code && c->lab.plot_dir &&
        (store_folder(c->lab.plot_dir, &error) || curves_draw(c, false, &error) || curves_draw(c, true, &error)))
        code = cli_fail(EXIT_SYSTEM, "%s", error.message);
    return code;
}

static int play(struct command *c)
{
    struct cv_options options = {.folds = (uint32_t)c->folds,
                                 .epochs = (uint32_t)c->epochs,
                                 .tune = c->tune,
                                 .noise = c->noise,
                                 .seed = c->lab.seed};
    hunch_error error;
    int code = lab_begin(&c->lab, &options.cells);
    if (code)
        return code;
    hunch_status status = cv_play(&c->cv, &c->corpus, c->lab.grids, c->lab.n, &options, &error);
    meter_end(&c->lab.meter);
    return status ? cli_fail(cli_code(status), "%s", error.message) : report(c);
}

static int options_parse(struct command *c, int argc, char **argv)
{
    for (int option; (option = cli_getopt(argc, argv, "l:s:k:qh", options_known)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option == '?' || !option_take(c, option, optarg))
            return cli_bad_option(argv[0]);
    }
    return lab_grids(&c->lab, argv[0]);
}

int cmd_cv(int argc, char **argv)
{
    struct command c = {.lab = LABORATORY_INIT, .folds = 10, .epochs = 10, .tune = 0.8};
    int code = options_parse(&c, argc, argv);
    if (code < 0)
        code = lab_data(&c.lab, argv[0], argv + optind, (size_t)(argc - optind), &c.corpus);
    if (!code && c.corpus.data.start) {
        code = play(&c);
        cv_free(&c.cv);
        corpus_free(&c.corpus);
    }
    lab_free(&c.lab);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch sweep: every setting of learners over shuffled orders, and the best of each. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laboratory.h"
#include "sweep.h"

static const char help[] =
    "Usage: hunch sweep [OPTION ...] FILE ...\n"
    "Try settings of learners over shuffled orders of labelled data, and report the best of each.\n\n" LAB_GRID_HELP
    "  -r, --runs N          orders of the rows; run r has seed N + r (10)\n"
    "  -s, --seed N          of run 0 (0)\n"
    "      --no-shuffle      keep the order of the input in every run\n"
    "      --passes N        over the data in every run (1)\n"
    "      --rows N          use only so many rows, drawn at random\n"
    "      --ties T          first or random; this and the next two hold for every learner that does\n"
    "                        not set them itself\n"
    "      --normalize N     none, or l2: scale every example to length 1\n"
    "      --bias V          add a constant feature of this value\n"
    "      --json            print the results as JSON\n"
    "      --csv FILE        write every setting's results as CSV\n"
    "      --plot-dir DIR    draw error against setting and the best ones' learning curves, as SVG and PNG\n"
    "      --max-features N  refuse larger feature numbers\n" LAB_PLAY_HELP "\n" DATA_HELP "\n"
    "Finished runs are kept: after Ctrl-C the same command goes on where it stopped.\n\n"
    "Examples:\n"
    "  hunch sweep syn.svm -l 'banditron:gamma=2^-13..2^-3' -l 'confidit:eta=10^-3..10^3' --runs 5\n"
    "  hunch sweep syn.svm -l 'cova:base={pa,pa1,pa2},C={0.1,1,10}' --csv grid.csv --plot-dir plots\n";

enum { SWEEP_NO_SHUFFLE = LAB_END, SWEEP_PASSES };

static const struct option options_known[] = {{"runs", required_argument, NULL, 'r'},
                                              {"no-shuffle", no_argument, NULL, SWEEP_NO_SHUFFLE},
                                              {"passes", required_argument, NULL, SWEEP_PASSES},
                                              LAB_PLAY_OPTIONS,
                                              LAB_DATA_OPTIONS,
                                              {0}};

struct command {
    struct laboratory lab;
    uint64_t runs, passes;
    bool no_shuffle;
    struct corpus corpus;
    struct sweep sweep;
};

static const struct summary *entry_of(const struct sweep *s, size_t learner, size_t point)
{
    return &s->entries[s->first[learner] + point];
}

/* --- the table --- */

static void line_print(const struct sweep *s, size_t i, int width)
{
    if (s->best[i] == SIZE_MAX) {
        printf("%-*s  nothing is finished\n", width, s->grids[i].text);
        return;
    }
    const struct summary *e = entry_of(s, i, s->best[i]);
    const struct grid_point *p = &s->grids[i].points[s->best[i]];
    printf("%-*s  %7.2f ± %-5.2f  %8.2f  %10.2f  %s\n", width, p->spec, 100 * e->error, 100 * e->error_sd,
           100 * e->greedy_error, 100 * e->explored, p->edge ? "at the grid's edge: widen it" : "");
}

static void table_print(const struct command *c)
{
    const struct sweep *s = &c->sweep;
    bool colours = terminal_has_colours(stdout), *printed = cli_alloc(s->learners, sizeof *printed);
    int width = 7;
    char count[32];
    for (size_t i = 0; i < s->learners; i++) {
        size_t length = strlen(s->best[i] == SIZE_MAX ? s->grids[i].text : s->grids[i].points[s->best[i]].spec);
        width = (int)length > width ? (int)length : width;
    }
    printf("%s%-*s  error %% ± sd     greedy %%  explored %%%s\n", colours ? TERMINAL_BOLD : "", width, "best setting",
           colours ? TERMINAL_PLAIN : "");
    for (size_t n = 0; n < s->learners; n++) { /* lowest error first */
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < s->learners; i++)
            if (!printed[i] && (next == SIZE_MAX || s->best[next] == SIZE_MAX ||
                                (s->best[i] != SIZE_MAX &&
                                 entry_of(s, i, s->best[i])->error < entry_of(s, next, s->best[next])->error)))
                next = i;
        printed[next] = true;
        line_print(s, next, width);
    }
    printf("\n%s rows, %zu setting%s, %zu run%s each%s\n", terminal_count((double)c->corpus.data.block.rows, count),
           s->first[s->learners], s->first[s->learners] == 1 ? "" : "s", s->runs, s->runs == 1 ? "" : "s",
           s->stopped ? "; interrupted: the same command goes on" : "");
    free(printed);
}

/* --- JSON and CSV --- */

static int json_print(const struct command *c)
{
    const struct sweep *s = &c->sweep;
    json_t *all = json_array();
    for (size_t i = 0; i < s->learners; i++)
        for (size_t p = 0; p < s->grids[i].n; p++) {
            const struct summary *e = entry_of(s, i, p);
            const struct grid_point *point = &s->grids[i].points[p];
            json_t *errors = json_array();
            for (size_t r = 0; r < s->runs; r++) {
                const struct tally *t = &s->outcomes[(s->first[i] + p) * s->runs + r].tally;
                if (t->rounds)
                    json_array_append_new(errors, json_real((double)t->mistakes / (double)t->rounds));
            }
            json_array_append_new(all,
                                  json_pack("{s:s, s:s, s:s, s:b, s:b, s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "grid",
                                            s->grids[i].text, "learner", point->spec, "setting", point->setting, "best",
                                            p == s->best[i], "edge", point->edge, "runs", (json_int_t)e->runs, "error",
                                            e->error, "error_sd", e->error_sd, "greedy_error", e->greedy_error,
                                            "explored", e->explored, "seconds", e->seconds, "run_errors", errors));
        }
    int failed = json_dumpf(all, stdout, JSON_INDENT(2));
    json_decref(all);
    putchar('\n');
    return failed ? cli_fail(EXIT_SYSTEM, "writing the results as JSON failed") : EXIT_DONE;
}

static int csv_write(const struct command *c)
{
    const struct sweep *s = &c->sweep;
    FILE *file = strcmp(c->lab.csv, "-") ? fopen(c->lab.csv, "w") : stdout;
    if (!file)
        return cli_fail(EXIT_SYSTEM, "%s: %s", c->lab.csv, strerror(errno));
    fputs("grid,learner,setting,best,edge,runs,error,error_sd,greedy_error,explored,seconds\n", file);
    for (size_t i = 0; i < s->learners; i++)
        for (size_t p = 0; p < s->grids[i].n; p++) {
            const struct summary *e = entry_of(s, i, p);
            const struct grid_point *point = &s->grids[i].points[p];
            fprintf(file, "\"%s\",\"%s\",\"%s\",%d,%d,%zu,%.8g,%.8g,%.8g,%.8g,%.4g\n", s->grids[i].text, point->spec,
                    point->setting, p == s->best[i], point->edge, e->runs, e->error, e->error_sd, e->greedy_error,
                    e->explored, e->seconds);
        }
    bool failed = ferror(file) || fflush(file);
    if (file != stdout && fclose(file))
        failed = true;
    return failed ? cli_fail(EXIT_SYSTEM, "%s: writing failed", c->lab.csv) : EXIT_DONE;
}

/* --- figures --- */

static hunch_status settings_draw(const struct command *c, hunch_error *reterr)
{
    const struct sweep *s = &c->sweep;
    struct figure f;
    hunch_status status = figure_init(&f, "setting", "Error against setting", "setting", "error, %", reterr);
    for (size_t i = 0; i < s->learners && !status; i++) {
        const struct grid *grid = &s->grids[i];
        struct figure_series *series = grid->n > 1 ? figure_add(&f, grid->text, grid->n) : NULL;
        if (!series)
            continue;
        series->marks = true;
        series->sd = calloc(grid->n + 1, sizeof(double));
        for (size_t p = 0; series->sd && p < grid->n; p++) {
            const struct summary *e = entry_of(s, i, p);
            series->x[p] = grid->points[p].x;
            series->y[p] = e->runs ? 100 * e->error : NAN;
            series->sd[p] = 100 * e->error_sd;
        }
    }
    if (status)
        return status;
    f.log_x = true;
    bool some = false;
    for (size_t i = 0; i < f.n; i++)
        for (size_t j = 0; j < f.series[i].n; j++)
            some = some || (f.series[i].x[j] > 0 && isfinite(f.series[i].y[j]));
    if (some)
        status = figure_write(&f, c->lab.plot_dir, reterr);
    figure_free(&f);
    return status;
}

static hunch_status curves_draw(const struct command *c, hunch_error *reterr)
{
    const struct sweep *s = &c->sweep;
    struct figure f;
    hunch_status status =
        figure_init(&f, "curves", "Learning curves of the best settings", "rounds", "error, %", reterr);
    if (status)
        return status;
    f.log_x = true;
    for (size_t i = 0; i < s->learners; i++) {
        struct curve curve;
        if (s->best[i] == SIZE_MAX || !sweep_curve(s, i, s->best[i], &curve))
            continue;
        struct figure_series *series = figure_add(&f, s->grids[i].points[s->best[i]].spec, curve.n);
        size_t n = 0;
        for (size_t j = 0; series && j < curve.n; j++)
            if (curve.round[j] >= 10 || curve.n < 20) {
                series->x[n] = curve.round[j];
                series->y[n++] = 100 * curve.error[j];
            }
        if (series)
            series->n = n;
        curve_free(&curve);
    }
    if (f.n)
        status = figure_write(&f, c->lab.plot_dir, reterr);
    figure_free(&f);
    return status;
}

static int figures_draw(const struct command *c)
{
    hunch_error error;
    hunch_status status = store_folder(c->lab.plot_dir, &error);
    if (!status)
        status = settings_draw(c, &error);
    if (!status)
        status = curves_draw(c, &error);
    return status ? cli_fail(EXIT_SYSTEM, "%s", error.message) : EXIT_DONE;
}

/* --- the command --- */

static int report(const struct command *c)
{
    int code = EXIT_DONE;
    if (c->lab.json)
        code = json_print(c);
    else
        table_print(c);
    if (!code && c->lab.csv)
        code = csv_write(c);
    if (!code && c->lab.plot_dir)
        code = figures_draw(c);
    return code ? code : c->sweep.stopped ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int play(struct command *c)
{
    struct sweep_options options = {
        .runs = (uint32_t)c->runs, .passes = (uint32_t)c->passes, .seed = c->lab.seed, .shuffle = !c->no_shuffle};
    const struct corpus *corpora[] = {&c->corpus};
    hunch_error error;
    int code = lab_begin(&c->lab, &options.cells);
    if (code)
        return code;
    hunch_status status = sweep_play(&c->sweep, corpora, 1, c->lab.grids, c->lab.n, &options, &error);
    meter_end(&c->lab.meter);
    return status ? cli_fail(cli_code(status), "%s", error.message) : report(c);
}

static int options_parse(struct command *c, int argc, char **argv)
{
    for (int option; (option = cli_getopt(argc, argv, "l:s:r:qh", options_known)) != -1;) {
        bool good = true;
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option == 'r')
            good = cli_number("runs", optarg, 1, 1000000, &c->runs);
        else if (option == SWEEP_PASSES)
            good = cli_number("passes", optarg, 1, 1000000, &c->passes);
        else if (option == SWEEP_NO_SHUFFLE)
            c->no_shuffle = true;
        else if (option != '?')
            good = lab_option(&c->lab, option, optarg);
        if (option == '?' || !good)
            return cli_bad_option(argv[0]);
    }
    return lab_grids(&c->lab, argv[0]);
}

int cmd_sweep(int argc, char **argv)
{
    struct command c = {.lab = LABORATORY_INIT, .runs = 10, .passes = 1};
    int code = options_parse(&c, argc, argv);
    if (code < 0)
        code = lab_data(&c.lab, argv[0], argv + optind, (size_t)(argc - optind), &c.corpus);
    if (!code && c.corpus.data.start) {
        code = play(&c);
        if (c.sweep.first)
            sweep_free(&c.sweep);
        corpus_free(&c.corpus);
    }
    lab_free(&c.lab);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch sweep: every setting of learners over shuffled orders, and the best of each. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "laboratory.h"
#include "play/sweep.h"

struct command {
    struct laboratory lab;
    uint32_t runs, passes;
    bool no_shuffle;
    struct sweep sweep;
};

static const struct command_text help = {
    .usage = "hunch sweep [OPTION ...] FILE ...",
    .common = "learner runs plot-dir",
    .about = "Try settings of learners over shuffled orders of labelled data, and report the\n"
             "best of each.",
    .notes = LABORATORY_GRIDS "Finished runs are kept: after Ctrl-C the same command goes on where it stopped.",
    .examples = "hunch sweep syn.svm -l confidit\n"
                "hunch sweep syn.svm -l 'banditron:gamma=2^-13..2^-3' -l 'confidit:eta=10^-3..10^3' --runs 5\n"
                "hunch sweep syn.svm -l 'cova:base={pa,pa1,pa2},C={0.1,1,10}' --csv grid.csv --plot-dir plots",
};

static const struct cli_option option_table[] = {
    {"runs", 'r', "N", "10", "number of runs of every setting, each in its own shuffled order",
     TO_NUMBER(struct command, runs, 1, 1000000)},
    {"no-shuffle", 0, NULL, NULL, "keep the order of the input in every run", TO_SET(struct command, no_shuffle, true)},
    {"passes", 0, "N", "1", "number of passes over the data in every run",
     TO_NUMBER(struct command, passes, 1, 1000000)},
    {0}};

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
           100 * e->greedy_error, 100 * e->explored, p->edge ? "at the edge of the grid; widen the range" : "");
}

static void table_print(const void *command)
{
    const struct command *c = command;
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
    printf("\n%s rows, %zu setting%s, %zu run%s each%s\n", terminal_count((double)c->lab.corpus.data.rows.n, count),
           s->first[s->learners], s->first[s->learners] == 1 ? "" : "s", s->runs, s->runs == 1 ? "" : "s",
           s->stopped ? "; interrupted: the same command continues" : "");
    lab_baselines(&c->lab.corpus);
    free(printed);
}

/* --- JSON and CSV --- */

static int json_print(const void *command)
{
    const struct command *c = command;
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
    return cli_json(all, JSON_INDENT(2));
}

static int csv_write(const void *command)
{
    const struct command *c = command;
    const struct sweep *s = &c->sweep;
    FILE *file = cli_create(c->lab.csv);
    if (!file)
        return EXIT_SYSTEM;
    fputs("grid,learner,setting,best,edge,runs,error,error_sd,greedy_error,explored,seconds\n", file);
    for (size_t i = 0; i < s->learners; i++)
        for (size_t p = 0; p < s->grids[i].n; p++) {
            const struct summary *e = entry_of(s, i, p);
            const struct grid_point *point = &s->grids[i].points[p];
            fprintf(file, "\"%s\",\"%s\",\"%s\",%d,%d,%zu,%.8g,%.8g,%.8g,%.8g,%.4g\n", s->grids[i].text, point->spec,
                    point->setting, p == s->best[i], point->edge, e->runs, e->error, e->error_sd, e->greedy_error,
                    e->explored, e->seconds);
        }
    return cli_close(file, c->lab.csv);
}

/* --- figures --- */

static void setting_add(struct figure *f, const struct sweep *s, size_t learner)
{
    const struct grid *grid = &s->grids[learner];
    struct figure_series *series = figure_add(f, grid->text, grid->n);
    if (!series || !(series->sd = calloc(grid->n + 1, sizeof(double))))
        return;
    series->marks = true;
    for (size_t p = 0; p < grid->n; p++) {
        const struct summary *e = entry_of(s, learner, p);
        series->x[p] = grid->points[p].x;
        series->y[p] = e->runs ? 100 * e->error : NAN;
        series->sd[p] = 100 * e->error_sd;
    }
    f->log_x = f->log_x && grid->points[0].x > 0;
    f->powers = f->powers && strstr(grid->points[0].setting, "=2^");
}

/* The learners that have a grid over the setting called axis: gamma and eta are different things. */
static hunch_status setting_draw(const struct command *c, const char *axis, hunch_error *reterr)
{
    const struct sweep *s = &c->sweep;
    struct figure f;
    char id[64], title[64];
    snprintf(id, sizeof id, "setting-%s", axis);
    snprintf(title, sizeof title, "Error against %s", axis);
    hunch_status status = figure_init(&f, id, title, axis, "error, %", reterr);
    if (status)
        return status;
    f.log_x = f.powers = true;
    for (size_t i = 0; i < s->learners; i++)
        if (s->grids[i].axis && !strcmp(s->grids[i].axis, axis) && s->grids[i].n > 1)
            setting_add(&f, s, i);
    bool some = false;
    for (size_t i = 0; i < f.n; i++)
        for (size_t j = 0; j < f.series[i].n; j++)
            some = some || figure_drawable(&f, &f.series[i], j);
    if (some)
        status = lab_figure(&c->lab, &f, reterr);
    figure_free(&f);
    return status;
}

static hunch_status settings_draw(const struct command *c, hunch_error *reterr)
{
    const struct grid *grids = c->sweep.grids;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < c->sweep.learners && !status; i++) {
        bool drawn = !grids[i].axis;
        for (size_t j = 0; j < i && !drawn; j++)
            drawn = grids[j].axis && !strcmp(grids[i].axis, grids[j].axis);
        if (!drawn)
            status = setting_draw(c, grids[i].axis, reterr);
    }
    return status;
}

static hunch_status curves_draw(const struct command *c, hunch_error *reterr)
{
    const struct sweep *s = &c->sweep;
    struct figure f;
    hunch_status status =
        figure_init(&f, "curves", "Learning curves of the best settings", "rounds", "error so far, %", reterr);
    if (status)
        return status;
    f.log_x = true;
    for (size_t i = 0; i < s->learners; i++) {
        struct curve curve;
        if (s->best[i] == SIZE_MAX || !sweep_curve(s, i, s->best[i], &curve))
            continue;
        figure_curve(&f, s->grids[i].points[s->best[i]].spec, &curve, CURVE_ERROR, 10, INFINITY);
        curve_free(&curve);
    }
    if (f.n)
        status = lab_figure(&c->lab, &f, reterr);
    figure_free(&f);
    return status;
}

static hunch_status figures_draw(const void *command, hunch_error *reterr)
{
    hunch_status status = settings_draw(command, reterr);
    return status ? status : curves_draw(command, reterr);
}

static void page_table(const void *command)
{
    static const char *const heads[] = {"best setting", "error %", "± sd", "greedy %", "explored %", "of the grid"};
    const struct command *c = command;
    const struct sweep *s = &c->sweep;
    html_table(c->lab.page, heads, 6);
    for (size_t i = 0; i < s->learners; i++) {
        if (s->best[i] == SIZE_MAX)
            continue;
        const struct summary *e = entry_of(s, i, s->best[i]);
        lab_page_row(&c->lab, &s->grids[i].points[s->best[i]],
                     (double[]){e->error, e->error_sd, e->greedy_error, e->explored}, 4);
    }
    html_table_end(c->lab.page);
}

/* --- the command --- */

static const struct laboratory_report report = {
    .title = "hunch sweep",
    .next = "# train with the best setting\n"
            "hunch run FILE -l SPEC --save model.hunch\n"
            "# tune and test on different rows\n"
            "hunch cv FILE -l GRID ...",
    .table = table_print,
    .json = json_print,
    .csv = csv_write,
    .page_table = page_table,
    .figures = figures_draw,
};

static int play(struct command *c)
{
    struct sweep_options options = {
        .runs = c->runs, .passes = c->passes, .seed = c->lab.seed, .shuffle = !c->no_shuffle};
    struct sweep_input input = {&c->lab.corpus, 1, c->lab.learners.grids, c->lab.learners.n};
    hunch_error error;
    int code = lab_begin(&c->lab, &options.trials);
    if (code)
        return code;
    hunch_status status = sweep_play(&c->sweep, &input, &options, &error);
    meter_end(&c->lab.meter);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    code = lab_report(&c->lab, &report, c);
    return code ? code : c->sweep.stopped ? EXIT_INTERRUPTED : EXIT_DONE;
}

int cmd_sweep(int argc, char **argv)
{
    struct command c = {.lab = LABORATORY_INIT};
    c.lab.widen = true;
    int code = lab_parse(&c.lab, &help, (struct option_group){NULL, option_table, &c}, argc, argv);
    if (code < 0)
        code = play(&c);
    if (c.sweep.first)
        sweep_free(&c.sweep);
    lab_free(&c.lab);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch reproduce: the papers' tables and figures, ours beside theirs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "laboratory.h"
#include "paper/reproduce.h"
#include "paper/results.h"

struct command {
    struct laboratory lab;
    bool list, quick, no_figures;
    uint32_t runs;
    const char *out, *experiments, *write_quick, *note;
    char *folder; /* of the experiments */
    struct experiment *all;
    size_t n, number, chosen; /* number: which of the chosen is being worked on */
    char what[96];
    struct arena arena;
    struct results results;
    json_t *expected; /* quick.json */
    size_t off;       /* numbers that differ from quick.json */
};

static const struct command_text help = {
    .usage = "hunch reproduce [OPTION ...] [ID ...]",
    .common = "list quick out",
    .about = "Run the experiments of the papers (all, or those named), print our numbers\n"
             "next to the papers', and write RESULTS.md, results.csv and figures. Results of\n"
             "other experiments in the results.csv of the same folder are kept.",
    .notes = "Data are searched in the folders of HUNCH_DATA; experiments without data are\n"
             "reported as skipped. Finished runs are kept: after Ctrl-C the same\n"
             "command continues where it stopped.\n\n"
             "Exit code 2 with --quick: some numbers differ from quick.json.",
    .examples = "hunch reproduce --list\n"
                "hunch reproduce cova-table-1\n"
                "hunch reproduce --quick --out quick-results",
};

static const struct cli_option option_table[] = {
    {"list", 0, NULL, NULL, "list the experiments and whether their data were found",
     TO_SET(struct command, list, true)},
    {"quick", 0, NULL, NULL, "run small versions and compare them with quick.json; takes a few minutes",
     TO_SET(struct command, quick, true)},
    {"runs", 'r', "N", NULL, "at most N runs of each learner; the number of folds does not change",
     TO_NUMBER(struct command, runs, 1, 1000000)},
    {"out", 'o', "DIR", "hunch-results", "output folder", TO_TEXT(struct command, out)},
    {"no-figures", 0, NULL, NULL, "draw no figures", TO_SET(struct command, no_figures, true)},
    {"note", 0, "TEXT", NULL, "remark for the head of the results, such as the commit", TO_TEXT(struct command, note)},
    {"experiments", 0, "DIR", NULL,
     "folder of the experiments (default: HUNCH_EXPERIMENTS, ./experiments, or the installed ones)",
     TO_TEXT(struct command, experiments)},
    {"write-quick", 0, "FILE", NULL, "with --quick: write the numbers as a new quick.json instead of comparing",
     TO_TEXT(struct command, write_quick)},
    {0}};

/* --- which experiments --- */

/* By its name, or by the first word of it: "regret" is all of regret-linear, regret-margin ... */
static bool named(const struct experiment *e, const char *id)
{
    size_t length = strlen(id);
    return !strncmp(id, e->id, length) && (!e->id[length] || (length && e->id[length] == '-'));
}

static bool chosen(const struct experiment *e, char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (named(e, ids[i]))
            return true;
    return n == 0;
}

static int ids_check(const struct command *c, char *const *ids, size_t n)
{
    const char **names = cli_alloc(c->n, sizeof *names);
    int code = EXIT_DONE;
    for (size_t i = 0; i < c->n; i++)
        names[i] = c->all[i].id;
    for (size_t i = 0; i < n && !code; i++) {
        bool known = false;
        for (size_t j = 0; j < c->n; j++)
            known = known || named(&c->all[j], ids[i]);
        if (!known)
            code = cli_unknown("experiment", ids[i], names, c->n, "'hunch reproduce --list' lists them");
    }
    free(names);
    return code;
}

static bool data_list(const struct experiment_data *data)
{
    if (data->synth) {
        printf("    %-16s made by 'hunch synth %s'\n", data->id, data->synth);
        return true;
    }
    bool found = true;
    for (size_t i = 0; i < data->files.n; i++) {
        char *path = stream_find(data->files.item[i]);
        found = found && path;
        free(path);
    }
    printf("    %-16s %s", data->id, found ? "found:" : "NOT FOUND:");
    for (size_t i = 0; i < data->files.n; i++)
        printf(" %s", data->files.item[i]);
    putchar('\n');
    return found;
}

static int list(const struct command *c, char *const *ids, size_t n)
{
    bool missing = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct experiment *e = &c->all[i];
        if (!chosen(e, ids, n))
            continue;
        printf("%s: %s\n    %s%s\n", e->id, e->title, e->paper, experiment_skipped(e, true) ? "" : " (also --quick)");
        for (size_t j = 0; j < e->data.n; j++)
            missing = !data_list(&e->data.item[j]) || missing;
    }
    if (missing)
        puts("\nMissing data sets are skipped. 'hunch data' lists those that can be fetched; HUNCH_DATA names the "
             "folders "
             "to look in.");
    return EXIT_DONE;
}

/* --- the work --- */

static void begin_show(void *context, const struct experiment *e, const char *data)
{
    struct command *c = context;
    meter_end(&c->lab.meter);
    meter_begin(&c->lab.meter, !c->lab.quiet);
    snprintf(c->what, sizeof c->what, "%zu/%zu %s %s", c->number + 1, c->chosen, e->id, data);
    c->lab.what = c->what;
    meter_draw(&c->lab.meter, c->what, -1, 0);
}

static int experiments_play(struct command *c, char *const *ids, size_t n, struct reproduce_options *options)
{
    bool stopped = false;
    hunch_error error;
    for (size_t i = 0; i < c->n; i++) {
        const struct experiment *e = &c->all[i];
        struct result *result = &c->results.experiments.item[c->results.experiments.n];
        if (!chosen(e, ids, n) || experiment_skipped(e, c->quick))
            continue;
        hunch_status status = experiment_play(e, options, &c->arena, result, &stopped, &error);
        meter_end(&c->lab.meter);
        if (status)
            return cli_fail(cli_code(status), "%s", error.message);
        if (stopped)
            return cli_fail(EXIT_INTERRUPTED, "interrupted; the same command continues where it stopped");
        if (c->quick)
            c->off += quick_mark(result, c->expected, c->write_quick ? NULL : stderr);
        result->command = c->results.command;
        result->library = c->results.library;
        c->results.experiments.n++;
        if (!c->lab.json)
            result_print(stdout, result, terminal_has_colours(stdout));
        fflush(stdout);
        c->number++;
    }
    return EXIT_DONE;
}

static int results_begin(struct command *c, char *const *ids, size_t n)
{
    struct arena *a = &c->arena;
    const char *command = c->quick ? "hunch reproduce --quick" : "hunch reproduce";
    if (c->runs)
        command = arena_print(a, "%s --runs %llu", command, (unsigned long long)c->runs);
    for (size_t i = 0; i < n && command; i++)
        command = arena_print(a, "%s %s", command, ids[i]);
    c->results = (struct results){.version = hunch_version(),
                                  .library = store_fingerprint(),
                                  .command = command,
                                  .note = c->note,
                                  .cores = pool_processors(),
                                  .quick = c->quick};
    c->results.experiments.item = arena_zeros(a, c->n, sizeof *c->results.experiments.item);
    return a->failed ? cli_fail(EXIT_SYSTEM, "out of memory") : EXIT_DONE;
}

/* --- quick.json --- */

static int quick_write(const struct command *c)
{
    json_t *quick =
        json_pack("{s:s, s:f, s:f, s:f, s:o}", "about",
                  "Expected results of hunch reproduce --quick: mean and standard deviation of each learner's "
                  "best setting; written by --write-quick.",
                  "relative", 0.2, "points", 0.5, "deviations", 3.0, "numbers", quick_make(&c->results));
    int failed = json_dump_file(quick, c->write_quick, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    json_decref(quick);
    return failed ? cli_fail(EXIT_SYSTEM, "%s: %s", c->write_quick, strerror(errno)) : EXIT_DONE;
}

static int quick_read(struct command *c)
{
    char *path;
    json_error_t why;
    int code = EXIT_DONE;
    if (asprintf(&path, "%s/quick.json", c->folder) < 0)
        return cli_fail(EXIT_SYSTEM, "out of memory");
    c->expected = json_load_file(path, 0, &why);
    if (!c->expected && !c->write_quick)
        code = cli_fail(EXIT_INPUT, "%s:%d: %s", path, why.line, why.text);
    free(path);
    return code;
}

static int quick_check(const struct command *c)
{
    if (c->off)
        return cli_fail(
            EXIT_INPUT,
            "%zu numbers differ from quick.json. If a learner or an experiment was changed on purpose, rewrite the file "
            "with --write-quick and review the difference",
            c->off);
    if (!c->lab.json)
        puts("all numbers are those of quick.json, within its tolerance");
    return EXIT_DONE;
}

static const struct result *result_find(const struct results *results, const char *id)
{
    for (size_t i = 0; i < results->experiments.n; i++)
        if (!strcmp(results->experiments.item[i].id, id))
            return &results->experiments.item[i];
    return NULL;
}

/* What an earlier run has written to the same folder stays, but for the experiments that were run now. */
static struct results results_merge(struct command *c)
{
    struct results before = {0}, all = c->results;
    bool same = !c->quick && results_read(&before, c->all, c->n, c->out, &c->arena);
    all.experiments.item = arena_zeros(&c->arena, c->n, sizeof *all.experiments.item);
    all.experiments.n = 0;
    for (size_t i = 0; i < c->n && all.experiments.item; i++) {
        const struct result *result = result_find(&c->results, c->all[i].id);
        if (!result && same)
            result = result_find(&before, c->all[i].id);
        if (result)
            all.experiments.item[all.experiments.n++] = *result;
    }
    return all;
}

static int report(struct command *c)
{
    hunch_error error;
    struct results merged = results_merge(c);
    hunch_status status = results_write(&merged, c->out, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    int code = EXIT_DONE;
    if (c->lab.json)
        code = cli_json(results_encode(&c->results), JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    else
        printf("\nwritten: %s/RESULTS.md, results.csv\n", c->out);
    if (code || !c->quick)
        return code;
    return c->write_quick ? quick_write(c) : quick_check(c);
}

static int play(struct command *c, char *const *ids, size_t n)
{
    struct reproduce_options options = {.quick = c->quick, .runs = c->runs, .begin = begin_show, .context = c};
    hunch_error error;
    char *figures;
    double began = clock_seconds();
    if (asprintf(&figures, "%s/figures", c->out) < 0)
        return cli_fail(EXIT_SYSTEM, "out of memory");
    for (size_t i = 0; i < c->n; i++)
        c->chosen += chosen(&c->all[i], ids, n) && !experiment_skipped(&c->all[i], c->quick);
    options.figures = c->no_figures ? NULL : figures;
    int code = c->quick ? quick_read(c) : EXIT_DONE;
    if (!code)
        code = store_folder(figures, &error) ? cli_fail(EXIT_SYSTEM, "%s", error.message) : EXIT_DONE;
    if (!code)
        code = lab_begin(&c->lab, &options.trials);
    if (!code)
        code = results_begin(c, ids, n);
    if (!code)
        code = experiments_play(c, ids, n, &options);
    if (!code) {
        c->results.seconds = clock_seconds() - began;
        code = report(c);
    }
    arena_free(&c->arena);
    json_decref(c->expected);
    free(figures);
    return code;
}

int cmd_reproduce(int argc, char **argv)
{
    struct command c = {.lab = LABORATORY_INIT};
    const struct option_group groups[] = {{NULL, option_table, &c}, {NULL, laboratory_play_options, &c.lab}, {0}};
    hunch_error error;
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    char *const *ids = argv + optind;
    size_t n = (size_t)(argc - optind);
    c.folder = experiments_folder(c.experiments);
    hunch_status status = experiments_read(&c.all, &c.n, c.folder, &error);
    code = status ? cli_fail(cli_code(status), "%s", error.message) : ids_check(&c, ids, n);
    if (!code)
        code = c.list ? list(&c, ids, n) : play(&c, ids, n);
    experiments_free(c.all, c.n);
    free(c.folder);
    lab_free(&c.lab);
    return code;
}

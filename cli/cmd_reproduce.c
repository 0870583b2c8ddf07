/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch reproduce: the papers' tables and figures, ours beside theirs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "laboratory.h"
#include "ranks.h"
#include "reproduce.h"
#include "results.h"

struct command {
    struct laboratory lab;
    bool list, quick, no_figures;
    uint32_t runs;
    const char *out, *experiments, *write_quick, *note;
    char *folder; /* of the experiments */
    struct experiment *all;
    size_t n, number, chosen; /* number: which of the chosen is being worked on */
    char what[96];
    json_t *results, *expected; /* expected: quick.json */
};

static const struct command_text help = {
    .usage = "hunch reproduce [OPTION ...] [ID ...]",
    .about = "Run the experiments of the papers (all, or those named), print our numbers\n"
             "beside the printed ones, and write results.json, results.csv, RESULTS.md,\n"
             "figures and a page to look at, index.html.",
    .notes = "Data are looked for in the folders of HUNCH_DATA; experiments whose data are not\n"
             "there are reported as skipped. Finished runs are kept: after Ctrl-C the same\n"
             "command goes on where it stopped.\n\n"
             "Exit code 2 with --quick: some numbers are not those of quick.json.",
    .examples = "hunch reproduce --list\n"
                "hunch reproduce cova-table-1\n"
                "hunch reproduce --quick --out quick-results",
};

static const struct cli_option option_table[] = {
    {"list", 0, NULL, NULL, "the experiments, and whether their data were found", TO_SET(struct command, list, true)},
    {"quick", 0, NULL, NULL, "small versions, compared with the numbers in quick.json: a few minutes in all",
     TO_SET(struct command, quick, true)},
    {"runs", 'r', "N", NULL, "at most so many runs of each learner; folds of cross-validation stay",
     TO_NUMBER(struct command, runs, 1, 1000000)},
    {"out", 'o', "DIR", "hunch-results", "where to write", TO_TEXT(struct command, out)},
    {"no-figures", 0, NULL, NULL, "draw nothing", TO_SET(struct command, no_figures, true)},
    {"note", 0, "TEXT", NULL, "a remark for the head of what is written: the commit, say",
     TO_TEXT(struct command, note)},
    {"experiments", 0, "DIR", NULL,
     "read the experiments from there; otherwise HUNCH_EXPERIMENTS, ./experiments, or those installed",
     TO_TEXT(struct command, experiments)},
    {"write-quick", 0, "FILE", NULL, "with --quick: write our numbers as a new quick.json instead of comparing",
     TO_TEXT(struct command, write_quick)},
    {0}};

/* --- which experiments --- */

static bool chosen(const struct experiment *e, char *const *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(ids[i], e->id))
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
            known = known || !strcmp(ids[i], names[j]);
        if (!known)
            code = cli_unknown("experiment", ids[i], names, c->n, "--list tells which there are");
    }
    free(names);
    return code;
}

static bool data_list(const json_t *data)
{
    const json_t *file;
    size_t i;
    if (json_object_get(data, "synth")) {
        printf("    %-16s made by 'hunch synth %s'\n", json_text(data, "id", ""), json_text(data, "synth", ""));
        return true;
    }
    bool found = true;
    json_array_foreach(json_object_get(data, "files"), i, file)
    {
        char *path = stream_find(json_string_value(file));
        found = found && path;
        free(path);
    }
    printf("    %-16s %s", json_text(data, "id", ""), found ? "found:" : "NOT FOUND:");
    json_array_foreach(json_object_get(data, "files"), i, file)
    {
        printf(" %s", json_string_value(file));
    }
    putchar('\n');
    return found;
}

static int list(const struct command *c, char *const *ids, size_t n)
{
    const json_t *data;
    bool missing = false;
    size_t j;
    for (size_t i = 0; i < c->n; i++) {
        const struct experiment *e = &c->all[i];
        if (!chosen(e, ids, n))
            continue;
        printf("%s: %s\n    %s%s\n", e->id, e->title, e->paper, experiment_skipped(e, true) ? "" : " (also --quick)");
        json_array_foreach(experiment_data(e), j, data)
        {
            missing = !data_list(data) || missing;
        }
    }
    if (missing)
        puts("\nWhat was not found is skipped. 'hunch data' tells which sets can be fetched; HUNCH_DATA names the "
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
    json_t *results = json_object_get(c->results, "experiments");
    bool stopped = false;
    hunch_error error;
    for (size_t i = 0; i < c->n; i++) {
        const struct experiment *e = &c->all[i];
        json_t *result;
        if (!chosen(e, ids, n) || experiment_skipped(e, c->quick))
            continue;
        hunch_status status = experiment_play(e, options, &result, &stopped, &error);
        meter_end(&c->lab.meter);
        if (status)
            return cli_fail(cli_code(status), "%s", error.message);
        if (stopped)
            return cli_fail(EXIT_INTERRUPTED, "interrupted; the same command goes on where it stopped");
        if (c->quick)
            quick_mark(result, c->expected);
        json_object_set(result, "command", json_object_get(c->results, "command"));
        json_object_set(result, "library", json_object_get(c->results, "library"));
        json_array_append_new(results, result);
        if (!c->lab.json)
            result_print(stdout, result, terminal_has_colours(stdout));
        fflush(stdout);
        c->number++;
    }
    return EXIT_DONE;
}

static json_t *results_begin(const struct command *c, char *const *ids, size_t n)
{
    char *command = NULL;
    size_t length;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    FILE *out = open_memstream(&command, &length);
    if (!out)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    fprintf(out, "hunch reproduce%s", c->quick ? " --quick" : "");
    if (c->runs)
        fprintf(out, " --runs %llu", (unsigned long long)c->runs);
    for (size_t i = 0; i < n; i++)
        fprintf(out, " %s", ids[i]);
    fclose(out);
    json_t *results =
        json_pack("{s:s, s:s, s:s, s:I, s:b, s:[]}", "version", hunch_version(), "library", store_fingerprint(),
                  "command", command, "cores", (json_int_t)cores, "quick", c->quick, "experiments");
    free(command);
    if (c->note)
        json_object_set_new(results, "note", json_string(c->note));
    return results;
}

/* --- quick.json --- */

static int quick_write(const struct command *c)
{
    json_t *quick = json_pack("{s:s, s:f, s:f, s:o}", "about",
                              "What hunch reproduce --quick should find: mean and standard deviation of each learner's "
                              "best setting; written by --write-quick.",
                              "relative", 0.05, "deviations", 3.0, "numbers",
                              quick_make(json_object_get(c->results, "experiments")));
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
    json_t *remarks = json_array();
    int code = quick_compare(json_object_get(c->results, "experiments"), c->expected, remarks) ? EXIT_INPUT : EXIT_DONE;
    const json_t *remark;
    size_t i;
    json_array_foreach(remarks, i, remark)
    {
        cli_fail(code, "%s", json_string_value(remark));
    }
    if (code)
        cli_fail(code,
                 "%zu numbers are not those of quick.json. A change of a learner or an experiment that is meant: "
                 "write them anew with --write-quick, and look at the difference",
                 json_array_size(remarks));
    else if (!c->lab.json)
        puts("all numbers are those of quick.json, within its tolerance");
    json_decref(remarks);
    return code;
}

static const json_t *result_find(const json_t *experiments, const char *id)
{
    const json_t *result;
    size_t i;
    json_array_foreach(experiments, i, result)
    {
        if (!strcmp(json_text(result, "id", ""), id))
            return result;
    }
    return NULL;
}

/* What an earlier run has written to the same folder stays, but for the experiments that were run now. */
static json_t *results_merge(const struct command *c)
{
    char *path;
    json_t *all = json_copy(c->results), *merged = json_array();
    if (asprintf(&path, "%s/results.json", c->out) < 0)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    json_t *before = json_load_file(path, 0, NULL);
    bool same = json_is_true(json_object_get(before, "quick")) == c->quick;
    free(path);
    for (size_t i = 0; i < c->n; i++) {
        const json_t *result = result_find(json_object_get(c->results, "experiments"), c->all[i].id);
        if (!result && same)
            result = result_find(json_object_get(before, "experiments"), c->all[i].id);
        if (result)
            json_array_append(merged, (json_t *)result);
    }
    json_object_set_new(all, "experiments", merged);
    json_decref(before);
    return all;
}

static int report(struct command *c)
{
    hunch_error error;
    if (!ranks_first())
        return EXIT_DONE;
    json_t *merged = results_merge(c);
    hunch_status status = results_write(merged, c->out, &error);
    json_decref(merged);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    int code = EXIT_DONE;
    if (c->lab.json)
        code = cli_json(json_incref(c->results), JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    else
        printf("\nwritten: %s/index.html, RESULTS.md, results.json, results.csv\n", c->out);
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
    options.figures = c->no_figures || !ranks_first() ? NULL : figures;
    int code = c->quick ? quick_read(c) : EXIT_DONE;
    if (!code)
        code = store_folder(figures, &error) ? cli_fail(EXIT_SYSTEM, "%s", error.message) : EXIT_DONE;
    if (!code)
        code = lab_begin(&c->lab, &options.cells);
    if (!code) {
        c->results = results_begin(c, ids, n);
        code = experiments_play(c, ids, n, &options);
    }
    if (!code) {
        json_object_set_new(c->results, "seconds", json_real(clock_seconds() - began));
        code = report(c);
    }
    json_decref(c->results);
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

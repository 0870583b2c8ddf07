/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static const struct command_text help = {
    .usage = "hunch run [OPTION ...] FILE ...",
    .common = "learner save report",
    .about = "Simulate right/wrong feedback from labelled data: predict each row, compare with\n"
             "its label, and learn from one bit. Print the error rate of each learner.",
    .notes = "Ctrl-C stops, prints the table so far and saves with --save; the exit code is\n"
             "then 130.",
    .examples = "hunch run syn.svm --report report.html\n"
                "hunch run -l banditron:gamma=0.05 -l confidit:eta=0.1 --runs 10 --plot syn.svm\n"
                "hunch run syn.svm --save model.hunch\n"
                "hunch run --load model.hunch --save model.hunch syn.svm\n"
                "xzcat more.svm.xz | hunch run --json -",
};

static bool seed_take(void *at, const char *argument)
{
    struct run_options *o = at;
    o->seed_given = true;
    return cli_number("seed", argument, 0, UINT64_MAX, &o->seed);
}

static const struct cli_option rounds[] = {
    {"seed", 's', "N", NULL,
     "seed of run 0; run r uses seed N + r. With --load, reseed the model's generator (default 0)", TO_CALL(seed_take)},
    {"runs", 'r', "N", "1", "number of runs, each in its own shuffled order",
     TO_NUMBER(struct run_options, runs, 1, 1000000)},
    {"shuffle", 0, NULL, NULL, "shuffle the rows also for one run", TO_SET(struct run_options, shuffle, true)},
    {"no-shuffle", 0, NULL, NULL,
     "keep the order of the input in every run; runs then differ only in the learners' seeds",
     TO_SET(struct run_options, no_shuffle, true)},
    {"passes", 0, "N", "1", "number of passes over the data in every run; shuffled rows are reshuffled for each pass",
     TO_NUMBER(struct run_options, passes, 1, 1000000)},
    {"eligible", 0, "C", NULL,
     "column of the table with the eligible labels of each row, separated by |; empty: all labels; it is no feature",
     TO_TEXT(struct run_options, eligible)},
    {"classes", 0, "K", NULL, "expected number of classes; learning starts when this many labels have been seen",
     TO_NUMBER(struct run_options, classes, 1, HUNCH_MAX_CLASSES)},
    {"max-features", 0, "N", NULL, "refuse feature numbers above N",
     TO_NUMBER(struct run_options, max_features, 1, UINT32_MAX - 1)},
    {"threads", 0, "N", NULL, "number of learning threads (default: the number of cores)",
     TO_NUMBER(struct run_options, threads, 1, 1024)},
    {0}};

static const struct cli_option models[] = {
    {"act-at", 0, "P", NULL,
     "report how many predictions can be acted on if a fraction P of them, such as 0.95, must be right; --save stores the threshold",
     TO_REAL(struct run_options, act_at, 0.001, 0.9999)},
    {"teach", 0, "FILE", NULL,
     "before the run, teach every learner the true labels of the rows of FILE; these rows are not counted",
     TO_TEXT(struct run_options, teach)},
    {"load", 0, "MODEL", NULL, "resume from a saved model instead of creating a learner",
     TO_TEXT(struct run_options, load)},
    {"save", 0, "MODEL", NULL, "save the trained model; needs one learner and one run",
     TO_TEXT(struct run_options, save)},
    {0}};

static const struct cli_option results[] = {
    {"trace", 0, "FILE", NULL,
     "write every round as tab-separated round, label, greedy, prob, right; needs one learner and one run",
     TO_TEXT(struct run_options, trace)},
    {"log", 0, "FILE", NULL,
     "write every round for replay: x, the predicted label, its probability, right or wrong; CSV if FILE ends in .csv, "
     "else JSON lines; needs one learner and one run",
     TO_TEXT(struct run_options, log)},
    {"confusion", 0, NULL, NULL, "print errors by class and the confusion matrix; needs one learner and one run",
     TO_SET(struct run_options, confusion, true)},
    {"curve", 0, "FILE", NULL, "write learning curves as tab-separated learner, run, round, mistakes, error",
     TO_TEXT(struct run_options, curve)},
    {"regret", 0, "FILE", NULL,
     "measure regret against the true label probabilities (hunch synth --chances) and its growth; rows keep their order",
     TO_TEXT(struct run_options, regret)},
    {"balanced", 0, NULL, NULL,
     "also print the mean of the error rates by class, and the mean number of rounds until a class is first predicted correctly",
     TO_SET(struct run_options, balanced, true)},
    {"json", 0, NULL, NULL, "print the results as JSON", TO_SET(struct run_options, json, true)},
    {"report", 0, "FILE", NULL,
     "write a self-contained HTML page; it has learning curves, baselines, confusion matrix and important features",
     TO_TEXT(struct run_options, report)},
    {"plot", 0, NULL, NULL, "draw the learning curves below the table", TO_SET(struct run_options, plot, true)},
    {"plot-recent", 0, NULL, NULL, "draw the error over the latest twentieth of all rounds instead, which shows drift",
     TO_SET(struct run_options, plot_recent, true)},
    {"figure", 0, "FILE", NULL, "write the learning curves as a figure (SVG)", TO_TEXT(struct run_options, figure)},
    {"beside", 0, "FILE", NULL, "also draw these curves, written by --curve or by another program",
     TO_TEXT(struct run_options, beside)},
    {"quiet", 'q', NULL, NULL, "print no progress bar and no remarks", TO_SET(struct run_options, quiet, true)},
    {0}};

/* What does not go together. */
static int options_check(const struct run_options *o, const char *command)
{
    const struct learners *l = &o->learners;
    bool one = l->n == 1 && o->runs == 1;
    if (o->load && (o->runs > 1 || l->ties || l->normalize || l->bias))
        return cli_usage(
            command, "--load continues one model with its settings; leave out --runs, --ties, --normalize and --bias");
    if (o->trace && !one)
        return cli_usage(command, "--trace needs one learner and one run");
    if ((o->log || o->confusion) && !one)
        return cli_usage(command, "--%s needs one learner and one run", o->log ? "log" : "confusion");
    if (o->save && !one)
        return cli_usage(command, "--save needs one learner and one run");
    if (o->shuffle && o->no_shuffle)
        return cli_usage(command, "use either --shuffle or --no-shuffle, not both");
    if (o->regret && (o->load || o->shuffle))
        return cli_usage(command, "--regret needs the input's order and new learners; leave out --load and --shuffle");
    if (o->eligible && run_in_memory(o))
        return cli_usage(command, "--eligible needs the input's order; leave out --runs, --passes and --shuffle");
    if (o->eligible && o->log && strlen(o->log) > 4 && !strcmp(o->log + strlen(o->log) - 4, ".csv"))
        return cli_usage(command, "--log FILE.csv has no eligible labels; write JSON lines");
    if (o->json && (o->plot || o->plot_recent))
        return cli_usage(command, "use either --json or --plot, not both");
    return -1;
}

static int specs_make(struct run_options *o, const char *command)
{
    int code = learners_check(&o->learners, command);
    o->specs = cli_alloc(o->learners.n, sizeof *o->specs);
    for (size_t i = 0; i < o->learners.n && code < 0; i++) {
        const struct grid *grid = &o->learners.grids[i];
        o->specs[i] = grid->points[0].spec;
        if (grid->n > 1)
            code = cli_usage(command, "%s: a run takes one value per setting; use 'hunch sweep' to try several",
                             grid->text);
    }
    return code;
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
    *o = (struct run_options){.stream = STREAM_OPTIONS_INIT};
    const struct option_group groups[] = {{"Learners", learners_options, &o->learners},
                                          {"Rounds", rounds, o},
                                          {"Models", models, o},
                                          {"Results", results, o},
                                          {DATA_TITLE, data_options, &o->stream},
                                          {0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (o->load && o->learners.n)
        return cli_usage(argv[0], "use either --load or --learner, not both");
    if (!o->learners.n)
        learners_add(&o->learners, o->load ? o->load : hunch_default_learner());
    code = options_check(o, argv[0]);
    if (code < 0 && !o->load)
        code = specs_make(o, argv[0]);
    if (code >= 0)
        return code;
    if (optind == argc)
        return cli_usage(argv[0], "expected a data file ('-' for standard input)");
    o->shuffle = (o->shuffle || o->runs > 1) && !o->no_shuffle && !o->regret;
    if (o->eligible) {
        struct schema_options *c = &o->stream.columns;
        if (asprintf(&o->ignore, "%s%s%s", c->ignore ? c->ignore : "", c->ignore ? "," : "", o->eligible) < 0)
            return cli_fail(EXIT_SYSTEM, "out of memory");
        c->ignore = o->ignore;
        c->with = o->eligible;
    }
    o->files = (size_t)(argc - optind);
    o->paths = data_paths(argv + optind, o->files);
    return -1;
}

void run_options_free(struct run_options *o)
{
    learners_free(&o->learners);
    free(o->ignore);
    free(o->specs);
    truth_free(&o->truth);
    names_free(o->truth_labels);
    data_free(o->paths, o->files);
    *o = (struct run_options){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static const struct command_text help = {
    .usage = "hunch run [OPTION ...] FILE ...",
    .about = "Play learners over labelled data: predict, be told right or wrong, learn.\n"
             "Report their errors.",
    .notes = "Ctrl-C stops, prints the table so far and saves with --save; the exit code is\n"
             "then 130.",
    .examples = "hunch run syn.svm\n"
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

static const struct cli_option option_table[] = {
    {"seed", 's', "N", NULL, "of run 0; run r has seed N + r; with --load its generator starts anew (default 0)",
     TO_CALL(seed_take)},
    {"runs", 'r', "N", "1", "that many runs, each in its own shuffled order",
     TO_NUMBER(struct run_options, runs, 1, 1000000)},
    {"shuffle", 0, NULL, NULL, "shuffle the rows also for one run", TO_SET(struct run_options, shuffle, true)},
    {"no-shuffle", 0, NULL, NULL, "keep the order of the input in every run: they differ in the learners' seeds only",
     TO_SET(struct run_options, no_shuffle, true)},
    {"passes", 0, "N", "1", "over the data in every run; a shuffled order is shuffled anew for each",
     TO_NUMBER(struct run_options, passes, 1, 1000000)},
    {"classes", 0, "K", NULL, "there are so many classes, or more: learning begins when that many labels were seen",
     TO_NUMBER(struct run_options, classes, 1, HUNCH_MAX_CLASSES)},
    {"max-features", 0, "N", NULL, "refuse larger feature numbers",
     TO_NUMBER(struct run_options, max_features, 1, UINT32_MAX - 1)},
    {"threads", 0, "N", NULL, "that learn; as many as there are cores otherwise",
     TO_NUMBER(struct run_options, threads, 1, 1024)},
    {"load", 0, "MODEL", NULL, "go on with a saved model instead of --learner, as if it had never stopped",
     TO_TEXT(struct run_options, load)},
    {"save", 0, "MODEL", NULL, "save what has been learned; needs one learner and one run",
     TO_TEXT(struct run_options, save)},
    {"trace", 0, "FILE", NULL,
     "every round as tab-separated round, label, greedy, prob, right; needs one learner and one run",
     TO_TEXT(struct run_options, trace)},
    {"log", 0, "FILE", NULL,
     "every round as JSON lines that replay reads: x, the label shown, its probability, right or wrong; needs one "
     "learner and one run",
     TO_TEXT(struct run_options, log)},
    {"confusion", 0, NULL, NULL, "errors by class and the confusion matrix; needs one learner and one run",
     TO_SET(struct run_options, confusion, true)},
    {"curve", 0, "FILE", NULL, "learning curves as tab-separated learner, run, round, mistakes, error",
     TO_TEXT(struct run_options, curve)},
    {"regret", 0, "FILE", NULL,
     "count regret against what is known of the rows (hunch synth --chances), and how it grows; rows keep their order",
     TO_TEXT(struct run_options, regret)},
    {"balanced", 0, NULL, NULL,
     "also the mean of the classes' errors, and the rounds until a class is first answered right, on average",
     TO_SET(struct run_options, balanced, true)},
    {"json", 0, NULL, NULL, "print the results as JSON", TO_SET(struct run_options, json, true)},
    {"report", 0, "FILE", NULL,
     "write a page (HTML, self-contained): curves, baselines, classes, what was shown for what, what was learned",
     TO_TEXT(struct run_options, report)},
    {"plot", 0, NULL, NULL, "draw the learning curves below the table", TO_SET(struct run_options, plot, true)},
    {"plot-recent", 0, NULL, NULL, "draw the error of recent rounds instead, which shows drift",
     TO_SET(struct run_options, plot_recent, true)},
    {"figure", 0, "FILE", NULL, "write the learning curves as a figure (SVG)", TO_TEXT(struct run_options, figure)},
    {"beside", 0, "FILE", NULL, "draw also these curves, written by --curve or by another program",
     TO_TEXT(struct run_options, beside)},
    {"quiet", 'q', NULL, NULL, "no progress bar, no remarks", TO_SET(struct run_options, quiet, true)},
    {0}};

/* What does not go together. */
static int options_check(const struct run_options *o, const char *command)
{
    const struct learners *l = &o->learners;
    bool one = l->n == 1 && o->runs == 1;
    if (o->load && (o->runs > 1 || l->ties || l->normalize || l->bias))
        return cli_usage(command, "--load goes on with one model as it is: no --runs, --ties, --normalize, --bias");
    if (o->trace && !one)
        return cli_usage(command, "--trace needs one learner and one run");
    if ((o->log || o->confusion) && !one)
        return cli_usage(command, "--%s needs one learner and one run", o->log ? "log" : "confusion");
    if (o->save && !one)
        return cli_usage(command, "--save needs one learner and one run");
    if (o->shuffle && o->no_shuffle)
        return cli_usage(command, "--shuffle and --no-shuffle contradict each other");
    if (o->regret && (o->load || o->shuffle))
        return cli_usage(command,
                         "--regret is of rows in their order and learners from the start: no --load, --shuffle");
    if (o->json && (o->plot || o->plot_recent))
        return cli_usage(command, "--json and --plot do not go together");
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
            code = cli_usage(command, "%s: one setting at a time; 'hunch sweep' tries several", grid->text);
    }
    return code;
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
    *o = (struct run_options){.stream = STREAM_OPTIONS_INIT};
    const struct option_group groups[] = {
        {NULL, learners_options, &o->learners}, {NULL, option_table, o}, {DATA_TITLE, data_options, &o->stream}, {0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (o->load && o->learners.n)
        return cli_usage(argv[0], "--load and --learner do not go together");
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
    o->files = (size_t)(argc - optind);
    o->paths = data_paths(argv + optind, o->files);
    return -1;
}

void run_options_free(struct run_options *o)
{
    learners_free(&o->learners);
    free(o->specs);
    truth_free(&o->truth);
    names_free(o->truth_labels);
    data_free(o->paths, o->files);
    *o = (struct run_options){0};
}

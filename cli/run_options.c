/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static const char help[] =
    "Usage: hunch run [OPTION ...] FILE ...\n"
    "Play learners over labelled data: predict, be told right or wrong, learn. Report their errors.\n\n"
    "  -l, --learner SPEC    a learner: name or name:setting=value,... (see 'hunch learners');\n"
    "                        may be given several times; 'all' is every learner\n"
    "  -s, --seed N          of run 0; run r has seed N + r (0)\n"
    "  -r, --runs N          that many runs, each in its own shuffled order (1)\n"
    "      --shuffle         shuffle the rows also for one run\n"
    "      --no-shuffle      keep the order of the input in every run\n"
    "      --passes N        over the data in every run (1)\n"
    "      --ties T          first or random; this and the next two hold for every learner that does\n"
    "                        not set them itself\n"
    "      --normalize N     none, or l2: scale every example to length 1\n"
    "      --bias V          add a constant feature of this value\n"
    "      --classes K       there are so many classes, or more\n"
    "      --max-features N  refuse larger feature numbers\n"
    "      --threads N       to use (as many as there are cores)\n"
    "      --load MODEL      go on with a saved model instead of --learner\n"
    "      --save MODEL      save what has been learned\n"
    "      --trace FILE      every round as tab-separated round, label, greedy, prob, right\n"
    "      --curve FILE      learning curves as tab-separated learner, run, round, mistakes, error\n"
    "      --json            print the results as JSON\n"
    "      --plot            draw the learning curves below the table\n"
    "  -q, --quiet           no progress bar, no remarks\n"
    "  -h, --help            this text\n\n" DATA_HELP "\n"
    "Ctrl-C stops, prints the table so far and saves with --save; the exit code is then 130.\n\n"
    "Examples:\n"
    "  hunch run syn.svm\n"
    "  hunch run -l banditron:gamma=0.05 -l confidit:eta=0.1 --runs 10 --plot syn.svm\n"
    "  hunch run syn.svm --save model.hunch\n"
    "  hunch run --load model.hunch --save model.hunch syn.svm\n"
    "  xzcat more.svm.xz | hunch run --json -\n";

enum {
    RUN_SHUFFLE = DATA_END,
    RUN_NO_SHUFFLE,
    RUN_PASSES,
    RUN_TIES,
    RUN_NORMALIZE,
    RUN_BIAS,
    RUN_CLASSES,
    RUN_THREADS,
    RUN_LOAD,
    RUN_SAVE,
    RUN_TRACE,
    RUN_CURVE,
    RUN_JSON,
    RUN_PLOT,
};

static const struct option options_known[] = {{"learner", required_argument, NULL, 'l'},
                                              {"seed", required_argument, NULL, 's'},
                                              {"runs", required_argument, NULL, 'r'},
                                              {"shuffle", no_argument, NULL, RUN_SHUFFLE},
                                              {"no-shuffle", no_argument, NULL, RUN_NO_SHUFFLE},
                                              {"passes", required_argument, NULL, RUN_PASSES},
                                              {"ties", required_argument, NULL, RUN_TIES},
                                              {"normalize", required_argument, NULL, RUN_NORMALIZE},
                                              {"bias", required_argument, NULL, RUN_BIAS},
                                              {"classes", required_argument, NULL, RUN_CLASSES},
                                              {"max-features", required_argument, NULL, DATA_MAX_FEATURES},
                                              {"threads", required_argument, NULL, RUN_THREADS},
                                              {"load", required_argument, NULL, RUN_LOAD},
                                              {"save", required_argument, NULL, RUN_SAVE},
                                              {"trace", required_argument, NULL, RUN_TRACE},
                                              {"curve", required_argument, NULL, RUN_CURVE},
                                              {"json", no_argument, NULL, RUN_JSON},
                                              {"plot", no_argument, NULL, RUN_PLOT},
                                              {"quiet", no_argument, NULL, 'q'},
                                              {"help", no_argument, NULL, 'h'},
                                              DATA_OPTIONS,
                                              {0}};

/* --- specs --- */

static void learner_add(struct run_options *o, const char *text)
{
    o->learners = realloc(o->learners, (o->n + 1) * sizeof *o->learners);
    char *copy = strdup(text);
    if (!o->learners || !copy)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    o->learners[o->n++] = copy;
}

static void learners_add(struct run_options *o, const char *text)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    if (strcmp(text, "all")) {
        learner_add(o, text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        learner_add(o, all[i]->name);
}

/* Whether the spec itself sets this setting; what is in brackets belongs to another learner. */
static bool spec_sets(const char *spec, const char *name)
{
    size_t length = strlen(name);
    int depth = 0;
    for (const char *at = strchr(spec, ':'); at && *at; at++) {
        bool before_setting = depth == 0 && (*at == ',' || *at == ':');
        if (before_setting && !strncmp(at + 1, name, length) && at[1 + length] == '=')
            return true;
        depth += (*at == '[') - (*at == ']');
    }
    return false;
}

static char *spec_with(char *spec, const char *name, const char *value)
{
    char *longer;
    if (!value || spec_sets(spec, name))
        return spec;
    size_t length = strlen(spec);
    const char *glue = !strchr(spec, ':') ? ":" : spec[length - 1] == ':' ? "" : ",";
    if (asprintf(&longer, "%s%s%s=%s", spec, glue, name, value) < 0)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    free(spec);
    return longer;
}

/* Bad specs are found here, before any data is read. */
static int specs_make(struct run_options *o, const char *command)
{
    o->specs = cli_alloc(o->n, sizeof *o->specs);
    for (size_t i = 0; i < o->n; i++) {
        hunch_options options = HUNCH_OPTIONS_INIT;
        hunch_error error;
        hunch *h;
        char *spec = strdup(o->learners[i]);
        if (!spec)
            return cli_fail(EXIT_SYSTEM, "out of memory");
        spec = spec_with(spec, "ties", o->ties);
        spec = spec_with(spec, "normalize", o->normalize);
        spec = spec_with(spec, "bias", o->bias);
        options.learner = o->specs[i] = spec;
        hunch_status status = hunch_create(&h, &options, &error);
        if (status == HUNCH_ENOMEM)
            return cli_fail(EXIT_SYSTEM, "%s: %s", spec, error.message);
        if (status)
            return cli_usage(command, "%s: %s", spec, error.message);
        hunch_free(h);
    }
    return -1;
}

/* --- options --- */

static bool number_option(struct run_options *o, int option, const char *argument)
{
    switch (option) {
    case 's':
        o->seed_given = true;
        return cli_number("seed", argument, 0, UINT64_MAX, &o->seed);
    case 'r':
        return cli_number("runs", argument, 1, 1000000, &o->runs);
    case RUN_PASSES:
        return cli_number("passes", argument, 1, 1000000, &o->passes);
    case RUN_CLASSES:
        return cli_number("classes", argument, 1, HUNCH_MAX_CLASSES, &o->classes);
    case DATA_MAX_FEATURES:
        return cli_number("max-features", argument, 1, UINT32_MAX - 1, &o->max_features);
    default:
        return cli_number("threads", argument, 1, 1024, &o->threads);
    }
}

/* Options whose argument is kept, or that are a yes. */
static bool plain_option(struct run_options *o, int option, const char *argument)
{
    const char **text = option == RUN_TIES        ? &o->ties
                        : option == RUN_NORMALIZE ? &o->normalize
                        : option == RUN_BIAS      ? &o->bias
                        : option == RUN_LOAD      ? &o->load
                        : option == RUN_SAVE      ? &o->save
                        : option == RUN_TRACE     ? &o->trace
                        : option == RUN_CURVE     ? &o->curve
                                                  : NULL;
    bool *flag = option == RUN_SHUFFLE      ? &o->shuffle
                 : option == RUN_NO_SHUFFLE ? &o->no_shuffle
                 : option == RUN_JSON       ? &o->json
                 : option == RUN_PLOT       ? &o->plot
                 : option == 'q'            ? &o->quiet
                                            : NULL;
    if (text)
        *text = argument;
    if (flag)
        *flag = true;
    return text || flag;
}

static bool option_take(struct run_options *o, int option, const char *argument)
{
    if (option == 'l') {
        learners_add(o, argument);
        return true;
    }
    if (plain_option(o, option, argument))
        return true;
    if (option >= DATA_FORMAT && option <= DATA_ON_ERROR)
        return data_option(option, argument, &o->stream);
    return number_option(o, option, argument);
}

/* What does not go together. */
static int options_check(const struct run_options *o, const char *command)
{
    bool one = o->n == 1 && o->runs == 1;
    if (o->load && (o->runs > 1 || o->ties || o->normalize || o->bias))
        return cli_usage(command, "--load goes on with one model as it is: no --runs, --ties, --normalize, --bias");
    if (o->trace && !one)
        return cli_usage(command, "--trace needs one learner and one run");
    if (o->save && !one)
        return cli_usage(command, "--save needs one learner and one run");
    if (o->shuffle && o->no_shuffle)
        return cli_usage(command, "--shuffle and --no-shuffle contradict each other");
    if (o->json && o->plot)
        return cli_usage(command, "--json and --plot do not go together");
    return -1;
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
    *o = (struct run_options){.runs = 1, .passes = 1, .stream = STREAM_OPTIONS_INIT};
    for (int option; (option = cli_getopt(argc, argv, "l:s:r:qh", options_known)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option == '?' || !option_take(o, option, optarg))
            return cli_bad_option(argv[0]);
    }
    if (o->load && o->n)
        return cli_usage(argv[0], "--load and --learner do not go together");
    if (!o->n)
        learner_add(o, o->load ? o->load : hunch_default_learner());
    int code = options_check(o, argv[0]);
    if (code < 0 && !o->load)
        code = specs_make(o, argv[0]);
    if (code >= 0)
        return code;
    if (optind == argc)
        return cli_usage(argv[0], "expected a data file ('-' for standard input)");
    o->shuffle = (o->shuffle || o->runs > 1) && !o->no_shuffle;
    o->files = (size_t)(argc - optind);
    o->paths = data_paths(argv + optind, o->files);
    return -1;
}

void run_options_free(struct run_options *o)
{
    for (size_t i = 0; i < o->n; i++) {
        free(o->learners[i]);
        if (o->specs)
            free(o->specs[i]);
    }
    free(o->learners);
    free(o->specs);
    data_free(o->paths, o->files);
    *o = (struct run_options){0};
}

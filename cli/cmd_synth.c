/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch synth: a synthetic data set as svmlight text or as a cache. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "synth.h"

enum { OPTION_NONZEROS = CLI_OWN, OPTION_EXPONENT, OPTION_LIST, OPTION_ZSTD };

static const struct option options_known[] = {
    {"rows", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, 's'},
    {"noise", required_argument, NULL, 'p'},
    {"features", required_argument, NULL, 'd'},
    {"classes", required_argument, NULL, 'k'},
    {"nonzeros", required_argument, NULL, OPTION_NONZEROS},
    {"exponent", required_argument, NULL, OPTION_EXPONENT},
    {"output", required_argument, NULL, 'o'},
    {"zstd", no_argument, NULL, OPTION_ZSTD},
    {"list", no_argument, NULL, OPTION_LIST},
    {"help", no_argument, NULL, CLI_HELP},
    {NULL, 0, NULL, 0},
};

/* What the user gave; NULL: nothing. */
struct given {
    const char *rows, *seed, *noise, *features, *classes, *nonzeros, *exponent, *output;
    bool compress, list, help;
};

static void sets_print(FILE *out, const char *indent)
{
    const struct synth_kind *kinds;
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%-17s %s\n", indent, kinds[i].name, kinds[i].help);
}

static void help(void)
{
    puts("Usage: hunch synth SET [OPTION ...]\n"
         "Generate a data set, as svmlight text on standard output or into a file.\n\n"
         "Sets:");
    sets_print(stdout, "  ");
    puts("\nOptions:\n"
         "  -n, --rows=N        rows to make\n"
         "  -s, --seed=N        of the generator; the same seed makes the same rows\n"
         "      --noise=SHARE   share of the rows whose label is drawn anew\n"
         "      --features=N    (zipf, dense)\n"
         "      --classes=N     (zipf, dense)\n"
         "      --nonzeros=N    features in a row, on average (zipf)\n"
         "      --exponent=X    of the law of the features' frequencies (zipf)\n"
         "  -o, --output=FILE   write to FILE: svmlight text, or a cache when it ends in .hc\n"
         "      --zstd          compress the cache\n"
         "      --list          list the sets with their defaults");
}

static void list_print(void)
{
    const struct synth_kind *kinds;
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n; i++) {
        const struct synth_options *o = &kinds[i].defaults;
        printf("%-17s %s (rows %llu, features %u, classes %u, seed %llu", kinds[i].name, kinds[i].help,
               (unsigned long long)o->rows, o->features, o->classes, (unsigned long long)o->seed);
        if (o->noise > 0)
            printf(", noise %g", o->noise);
        puts(")");
    }
}

static bool options_take(int argc, char **argv, struct given *given)
{
    int option;
    optind = 0; /* another command may have used getopt before */
    while ((option = getopt_long(argc, argv, "n:s:o:", options_known, NULL)) != -1) {
        switch (option) {
        case 'n':
            given->rows = optarg;
            break;
        case 's':
            given->seed = optarg;
            break;
        case 'p':
            given->noise = optarg;
            break;
        case 'd':
            given->features = optarg;
            break;
        case 'k':
            given->classes = optarg;
            break;
        case OPTION_NONZEROS:
            given->nonzeros = optarg;
            break;
        case OPTION_EXPONENT:
            given->exponent = optarg;
            break;
        case 'o':
            given->output = optarg;
            break;
        case OPTION_ZSTD:
            given->compress = true;
            break;
        case OPTION_LIST:
            given->list = true;
            break;
        case CLI_HELP:
            given->help = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool real_take(const char *name, const char *text, double low, double high, double *ret)
{
    char *end;
    if (!text)
        return true;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= low && value <= high)) {
        cli_fail(EXIT_USAGE, "--%s=%s: must be a number from %g to %g", name, text, low, high);
        return false;
    }
    *ret = value;
    return true;
}

static bool whole_take(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
    return !text || cli_number(name, text, low, high, ret);
}

static bool sizes_take(const struct given *given, struct synth_options *o)
{
    uint64_t features = o->features, classes = o->classes;
    if (!whole_take("rows", given->rows, 1, UINT64_MAX / 64, &o->rows) ||
        !whole_take("seed", given->seed, 0, UINT64_MAX, &o->seed) ||
        !whole_take("features", given->features, 1, HUNCH_MAX_FEATURES, &features) ||
        !whole_take("classes", given->classes, 1, HUNCH_MAX_CLASSES, &classes) ||
        !real_take("noise", given->noise, 0, 1, &o->noise) ||
        !real_take("nonzeros", given->nonzeros, 1, (double)features, &o->nonzeros) ||
        !real_take("exponent", given->exponent, 0, 10, &o->exponent))
        return false;
    o->features = (uint32_t)features;
    o->classes = (uint32_t)classes;
    if (!given->nonzeros && o->nonzeros > (double)features)
        o->nonzeros = (double)features;
    return true;
}

static hunch_status rows_write(struct synth *s, const struct given *given, hunch_error *reterr)
{
    struct output *out;
    struct stream_batch batch = {0};
    hunch_status status = output_open(&out, given->output, given->compress, reterr);
    if (status)
        return status;
    do {
        status = synth_next(s, 0, &batch, reterr);
        if (!status && batch.rows > 0)
            status = output_add(out, &batch, synth_labels(s), reterr);
    } while (!status && batch.rows > 0);
    if (!status)
        status = output_finish(out, synth_labels(s), NULL, 1, reterr);
    stream_batch_free(&batch);
    output_free(out);
    return status;
}

static int set_unknown(const char *name)
{
    const struct synth_kind *kinds;
    const char *names[16];
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n && i < 16; i++)
        names[i] = kinds[i].name;
    const char *near = cli_nearest(name, names, n < 16 ? n : 16);
    if (near)
        return cli_usage("synth", "there is no set '%s'; did you mean '%s'?", name, near);
    return cli_usage("synth", "there is no set '%s'", name);
}

int cmd_synth(int argc, char **argv)
{
    struct given given = {0};
    struct synth *s;
    hunch_error error;
    if (!options_take(argc, argv, &given))
        return cli_bad_option("synth");
    if (given.help || given.list) {
        if (given.help)
            help();
        else
            list_print();
        return EXIT_DONE;
    }
    if (optind >= argc)
        return cli_usage("synth", "which set?");
    if (optind + 1 < argc)
        return cli_usage("synth", "one set at a time: '%s'", argv[optind + 1]);
    const struct synth_kind *kind = synth_find(argv[optind]);
    if (!kind)
        return set_unknown(argv[optind]);
    if (given.compress && !output_is_cache(given.output))
        return cli_usage("synth", "--zstd is for caches: --output=FILE.hc");
    struct synth_options options = kind->defaults;
    if (!sizes_take(&given, &options))
        return EXIT_USAGE;
    hunch_status status = synth_open(&s, kind->name, &options, &error);
    if (status)
        return cli_fail(status == HUNCH_EINVAL ? EXIT_USAGE : cli_code(status), "%s", error.message);
    status = rows_write(s, &given, &error);
    synth_close(s);
    return status ? cli_fail(cli_code(status), "%s", error.message) : EXIT_DONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch synth: a synthetic data set as svmlight text or as a cache. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options.h"
#include "stream.h"

#define LINE 80

struct command {
    struct synth_options set;
    const char *output, *chances;
    bool compress, list;
    struct truth truth;
};

static void sets_print(bool all)
{
    const struct synth_kind *const *kinds;
    size_t n = synth_kinds(&kinds);
    puts(all ? "Sets:" : "Sets ('hunch synth --list' describes them):");
    for (size_t i = 0, at = 0; i < n; i++) {
        if (all) {
            printf("  %-17s %s\n", kinds[i]->name, kinds[i]->help);
            continue;
        }
        at = at + strlen(kinds[i]->name) + 1 < LINE ? at : 0;
        at += (size_t)printf("%s%s", at ? " " : i ? "\n  " : "  ", kinds[i]->name);
    }
    if (!all)
        putchar('\n');
}

static const struct command_text help = {
    .usage = "hunch synth SET [OPTION ...]",
    .common = "rows seed output",
    .about = "Generate a data set, as svmlight text on standard output or into a file. The\n"
             "same set, options and seed give the same rows everywhere.",
    .lists = sets_print,
    .examples = "hunch synth synnonsep --rows 100000 -o syn.svm\n"
                "hunch synth zipf --rows 1000 --classes 20 | hunch run -\n"
                "hunch synth --list",
};

static const struct cli_option option_table[] = {
    {"rows", 'n', "N", NULL, "number of rows", TO_NUMBER(struct command, set.rows, 1, UINT64_MAX / 64)},
    {"seed", 's', "N", NULL, "seed of the generator", TO_NUMBER(struct command, set.seed, 0, UINT64_MAX)},
    {"noise", 0, "SHARE", NULL, "fraction of the rows whose label is redrawn uniformly",
     TO_REAL(struct command, set.noise, 0, 1)},
    {"margin", 0, "X", NULL, "leave out rows whose best two labels differ by less than X (linear to rotating)",
     TO_REAL(struct command, set.margin, 0, 1)},
    {"features", 0, "N", NULL, "number of features (not for the papers' own sets)",
     TO_NUMBER(struct command, set.features, 1, HUNCH_MAX_FEATURES)},
    {"classes", 0, "N", NULL, "number of classes (not for the papers' own sets)",
     TO_NUMBER(struct command, set.classes, 1, HUNCH_MAX_CLASSES)},
    {"nonzeros", 0, "N", NULL, "mean number of nonzero features in a row (zipf)",
     TO_REAL(struct command, set.nonzeros, 1, HUNCH_MAX_FEATURES)},
    {"exponent", 0, "X", NULL, "exponent of the feature frequencies (zipf)",
     TO_REAL(struct command, set.exponent, 0, 10)},
    {"output", 'o', "FILE", NULL, "output file: svmlight text, or the format of the ending .hc, .csv, .jsonl or .vw",
     TO_TEXT(struct command, output)},
    {"chances", 0, "FILE", NULL,
     "write the true label probabilities of every row, for hunch run --regret (linear to rotating)",
     TO_TEXT(struct command, chances)},
    {"zstd", 0, NULL, NULL, "compress the cache", TO_SET(struct command, compress, true)},
    {"list", 0, NULL, NULL, "list the sets with their defaults", TO_SET(struct command, list, true)},
    {0}};

static void list_print(void)
{
    const struct synth_kind *const *kinds;
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n; i++) {
        const struct synth_options *o = &kinds[i]->defaults;
        printf("%-17s %s (rows %llu, features %u, classes %u, seed %llu", kinds[i]->name, kinds[i]->help,
               (unsigned long long)o->rows, o->features, o->classes, (unsigned long long)o->seed);
        if (o->noise > 0)
            printf(", noise %g", o->noise);
        puts(")");
    }
}

static hunch_status rows_write(struct synth *s, const struct command *c, hunch_error *reterr)
{
    struct output *out;
    struct rows batch = {0};
    hunch_status status = output_open(&out, c->output, c->compress, reterr);
    struct row_names names = {synth_labels(s), NULL, 1};
    if (status)
        return status;
    do {
        status = synth_next(s, 0, &batch, reterr);
        if (!status && batch.n > 0)
            status = output_add(out, &batch, &names, reterr);
    } while (!status && batch.n > 0);
    if (!status)
        status = output_finish(out, &names, reterr);
    rows_free(&batch);
    output_free(out);
    return status;
}

static int set_unknown(const char *name)
{
    const struct synth_kind *const *kinds;
    const char *names[16];
    size_t n = synth_kinds(&kinds);
    for (size_t i = 0; i < n && i < 16; i++)
        names[i] = kinds[i]->name;
    return cli_unknown("set", name, names, n < 16 ? n : 16, "'hunch synth --list' lists them");
}

static int set_make(struct command *c, const struct synth_kind *kind)
{
    struct synth *s;
    hunch_error error;
    if (c->compress && !output_is_cache(c->output))
        return cli_usage("synth", "--zstd needs a cache: --output=FILE.hc");
    if (c->set.nonzeros > c->set.features)
        c->set.nonzeros = c->set.features;
    hunch_status status = synth_open(&s, kind->name, &c->set, &error);
    if (status)
        return cli_fail(status == HUNCH_EINVAL ? EXIT_USAGE : cli_code(status), "%s", error.message);
    if (c->chances)
        status = synth_record(s, &c->truth, &error);
    if (!status)
        status = rows_write(s, c, &error);
    int code = status ? cli_fail(cli_code(status), "%s", error.message) : EXIT_DONE;
    FILE *file = !code && c->chances ? cli_create(c->chances) : NULL;
    if (file) {
        truth_write(&c->truth, synth_labels(s), file);
        code = cli_close(file, c->chances);
    } else if (!code && c->chances) {
        code = EXIT_SYSTEM;
    }
    truth_free(&c->truth);
    synth_close(s);
    return code;
}

int cmd_synth(int argc, char **argv)
{
    struct command c = {0};
    const struct option_group groups[] = {{NULL, option_table, &c}, {0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (c.list) {
        list_print();
        return EXIT_DONE;
    }
    if (optind >= argc)
        return cli_usage("synth", "expected the name of a set; 'hunch synth --list' lists them");
    if (optind + 1 < argc)
        return cli_usage("synth", "only one set may be given; unexpected '%s'", argv[optind + 1]);
    const struct synth_kind *kind = synth_find(argv[optind]);
    if (!kind)
        return set_unknown(argv[optind]);
    c.set = kind->defaults; /* the set's own, and once more what the user gave */
    options_parse(&help, groups, argc, argv);
    return set_make(&c, kind);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch convert: data of any format into the binary cache or into svmlight text. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "stream.h"

enum { OPTION_ZSTD = CLI_OWN, OPTION_LABEL, OPTION_BASE, OPTION_ERROR };

static const struct option options_known[] = {
    {"output", required_argument, NULL, 'o'},
    {"zstd", no_argument, NULL, OPTION_ZSTD},
    {"format", required_argument, NULL, 'f'},
    {"label-column", required_argument, NULL, OPTION_LABEL},
    {"index-base", required_argument, NULL, OPTION_BASE},
    {"on-error", required_argument, NULL, OPTION_ERROR},
    {"help", no_argument, NULL, CLI_HELP},
    {NULL, 0, NULL, 0},
};

/* In the order of enum stream_format. */
static const char *const formats[] = {"auto", "svmlight", "csv", "tsv", "vw", "jsonl", "cache", NULL};
static const char *const bases[] = {"0", "1", "auto", NULL};
static const char *const reactions[] = {"fail", "skip", NULL};

struct given {
    struct stream_options options;
    const char *output;
    bool compress, help;
};

static void help(void)
{
    puts(
        "Usage: hunch convert [OPTION ...] FILE ... -o FILE.hc\n"
        "       hunch convert [OPTION ...] FILE ... [-o FILE.svm]\n"
        "Turn data into the binary cache, which is read many times faster, or into svmlight text.\n"
        "FILE - is standard input; gz, bz2, xz and zst are unpacked on the way.\n\n"
        "Options:\n"
        "  -o, --output=FILE        a cache when it ends in .hc, else svmlight text; default: text on standard output\n"
        "      --zstd               compress the cache\n"
        "  -f, --format=FORMAT      of the input: auto, svmlight, csv, tsv, vw, jsonl, cache\n"
        "      --label-column=NAME  of CSV and TSV: its name, or its number from 1\n"
        "      --index-base=N       of svmlight: 0, 1 or auto\n"
        "      --on-error=WHAT      at a malformed row: fail (the default), or skip and count it");
}

/* EXIT_DONE, or what to end with. */
static int options_take(int argc, char **argv, struct given *given)
{
    int option, word;
    optind = 0; /* another command may have used getopt before */
    while ((option = getopt_long(argc, argv, "o:f:", options_known, NULL)) != -1) {
        switch (option) {
        case 'o':
            given->output = optarg;
            break;
        case OPTION_ZSTD:
            given->compress = true;
            break;
        case 'f':
            if ((word = cli_word("format", optarg, formats)) < 0)
                return EXIT_USAGE;
            given->options.format = (enum stream_format)word;
            break;
        case OPTION_LABEL:
            given->options.label_column = optarg;
            break;
        case OPTION_BASE:
            if ((word = cli_word("index-base", optarg, bases)) < 0)
                return EXIT_USAGE;
            given->options.index_base = word == 2 ? -1 : word;
            break;
        case OPTION_ERROR:
            if ((word = cli_word("on-error", optarg, reactions)) < 0)
                return EXIT_USAGE;
            given->options.skip_bad_rows = word == 1;
            break;
        case CLI_HELP:
            given->help = true;
            break;
        default:
            return cli_bad_option("convert");
        }
    }
    return EXIT_DONE;
}

static hunch_status rows_copy(struct stream *s, struct output *out, hunch_error *reterr)
{
    struct stream_batch batch = {0};
    hunch_status status;
    do {
        status = stream_next(s, &batch, reterr);
        if (!status && batch.rows > 0)
            status = output_add(out, &batch, stream_labels(s), reterr);
    } while (!status && batch.rows > 0);
    if (!status)
        status = output_finish(out, stream_labels(s), stream_features(s), stream_index_base(s), reterr);
    stream_batch_free(&batch);
    return status;
}

int cmd_convert(int argc, char **argv)
{
    struct given given = {.options = STREAM_OPTIONS_INIT};
    struct stream *s = NULL;
    struct output *out = NULL;
    hunch_error error;
    int code = options_take(argc, argv, &given);
    if (code)
        return code;
    if (given.help) {
        help();
        return EXIT_DONE;
    }
    if (optind >= argc)
        return cli_usage("convert", "which files?");
    if (given.compress && !output_is_cache(given.output))
        return cli_usage("convert", "--zstd is for caches: --output=FILE.hc");
    hunch_status status =
        stream_open(&s, (const char *const *)argv + optind, (size_t)(argc - optind), &given.options, &error);
    if (!status)
        status = output_open(&out, given.output, given.compress, &error);
    if (!status)
        status = rows_copy(s, out, &error);
    output_free(out);
    if (!status && stream_skipped(s) > 0)
        fprintf(stderr, "hunch: %" PRIu64 " malformed rows skipped\n", stream_skipped(s));
    stream_close(s);
    return status ? cli_fail(cli_code(status), "%s", error.message) : EXIT_DONE;
}

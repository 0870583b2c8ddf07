/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch convert: data of any format into the binary cache or into svmlight text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"

struct convert {
    struct stream_options stream;
    const char *output;
    bool compress;
};

static const struct command_text help = {
    .usage = "hunch convert [OPTION ...] FILE ... -o FILE.hc\n"
             "       hunch convert [OPTION ...] FILE ... [-o FILE.svm]",
    .common = "output format label",
    .about = "Turn data into the binary cache, which is read many times faster, or into\n"
             "text: svmlight, a table, JSON lines or VW text.",
    .examples = "hunch convert syn.svm -o syn.hc\n"
                "hunch convert --zstd syn.svm -o small.hc\n"
                "hunch convert syn.hc | head -n 2\n"
                "hunch convert syn.svm -o syn.csv",
};

static const struct cli_option option_table[] = {
    {"output", 'o', "FILE", NULL,
     "output file; its ending selects the format: cache (.hc), table (.csv), JSON lines (.jsonl), VW text (.vw), else "
     "svmlight text (default: standard output)",
     TO_TEXT(struct convert, output)},
    {"zstd", 0, NULL, NULL, "compress the cache", TO_SET(struct convert, compress, true)},
    {0}};

static struct row_names names_of(const struct stream *s)
{
    return (struct row_names){stream_labels(s), stream_features(s), stream_index_base(s) > 0};
}

static hunch_status rows_copy(struct stream *s, struct output *out, hunch_error *reterr)
{
    struct pipeline_options reading = {0};
    struct pipeline *pipeline;
    struct rows *rows;
    hunch_status status = pipeline_start(&pipeline, s, &reading, reterr);
    if (status)
        return status;
    while (!status && !(status = pipeline_next(pipeline, &rows, reterr)) && rows) {
        struct row_names names = names_of(s);
        status = output_add(out, rows, &names, reterr);
        pipeline_return(pipeline, rows);
    }
    pipeline_stop(pipeline);
    struct row_names names = names_of(s);
    return status ? status : output_finish(out, &names, reterr);
}

int cmd_convert(int argc, char **argv)
{
    struct convert c = {.stream = STREAM_OPTIONS_INIT};
    const struct option_group groups[] = {{NULL, option_table, &c}, {DATA_TITLE, data_options, &c.stream}, {0}};
    struct stream *s = NULL;
    struct output *out = NULL;
    hunch_error error;
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (optind >= argc)
        return cli_usage("convert", "expected a data file");
    if (c.compress && !output_is_cache(c.output))
        return cli_usage("convert", "--zstd needs a cache: --output=FILE.hc");
    size_t n = (size_t)(argc - optind);
    char **paths = data_paths(argv + optind, n);
    code = data_schema_load(&c.stream);
    if (code)
        return code;
    hunch_status status = stream_open(&s, (const char *const *)paths, n, &c.stream, &error);
    if (!status)
        status = output_open(&out, c.output, c.compress, &error);
    if (!status)
        status = rows_copy(s, out, &error);
    output_free(out);
    if (!status) {
        data_remarks(s);
        code = data_schema_save(&c.stream, s);
    }
    stream_close(s);
    data_free(paths, n);
    return status ? cli_fail(cli_code(status), "%s", error.message) : code < 0 ? EXIT_DONE : code;
}

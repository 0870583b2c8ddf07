/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run: progressive evaluation of learners over labelled data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_model.h"
#include "run.h"
#include "terminal.h"

struct run {
    struct run_options options;
    struct model model;             /* with --load */
    struct stream *stream, *lesson; /* lesson: with --teach */
    struct schema *columns;         /* likewise, those of the data */
    struct dataset taught;          /* likewise */
    struct trace *trace;
    struct run_page *page;
    struct run_log *log;
    struct meter meter;
    struct progressive results;
    const atomic_bool *stop;
};

static void progress_show(void *context, const struct progress *p)
{
    struct run *r = context;
    meter_draw(&r->meter, p->reading ? "reading" : "", p->fraction, p->rows);
}

static void reading_show(void *context, uint64_t rows, uint64_t done, uint64_t total)
{
    struct run *r = context;
    meter_draw(&r->meter, "reading", total ? (double)done / (double)total : -1, rows);
}

static void rounds_watch(void *context, const struct player_rounds *rounds)
{
    struct run *r = context;
    if (r->trace)
        trace_write(r->trace, rounds->choices, rounds->labels, rounds->n);
    if (r->log)
        run_log_write(r->log, rounds);
    if (r->page && rounds->run == 0)
        run_page_count(r->page, rounds);
}

static int model_take(struct run *r)
{
    struct run_options *o = &r->options;
    int code = model_load(&r->model, o->load);
    if (code)
        return code;
    model_read_data(&r->model, &o->stream);
    if (o->seed_given)
        hunch_reseed(r->model.learner, o->seed);
    return EXIT_DONE;
}

static struct progressive_options play_options(struct run *r)
{
    const struct run_options *o = &r->options;
    return (struct progressive_options){.specs = (const char *const *)o->specs,
                                        .learners = o->learners.n,
                                        .loaded = r->model.learner,
                                        .seed = o->seed,
                                        .runs = o->runs,
                                        .passes = o->passes,
                                        .shuffle = o->shuffle,
                                        .classes = o->classes,
                                        .max_features = o->max_features,
                                        .threads = o->threads,
                                        .keep = o->save || (o->report && o->runs == 1),
                                        .per_class = o->balanced || o->confusion,
                                        .act_at = o->act_at,
                                        .eligible = o->eligible,
                                        .stop = r->stop,
                                        .taught = o->teach ? &r->taught.rows : NULL,
                                        .truth = o->regret ? &o->truth : NULL,
                                        .progress = r->meter.out ? progress_show : NULL,
                                        .watch = r->trace || r->page || r->log ? rounds_watch : NULL,
                                        .context = r};
}

static hunch_status play_in_memory(struct run *r, hunch_error *reterr)
{
    struct dataset data;
    hunch_status status = dataset_read(&data, r->stream, NULL, r->meter.out ? reading_show : NULL, r, reterr);
    if (status)
        return status;
    r->stop = cli_catch_interrupts(); /* before, there was nothing to print */
    meter_end(&r->meter);
    meter_begin(&r->meter, !r->options.quiet);
    struct progressive_options options = play_options(r);
    status = progressive_memory(&r->results, &data, &options, reterr);
    dataset_free(&data);
    return status;
}

static hunch_status play_as_stream(struct run *r, hunch_error *reterr)
{
    r->stop = cli_catch_interrupts();
    struct progressive_options options = play_options(r);
    return progressive_stream(&r->results, r->stream, &options, reterr);
}

static int truth_take(struct run_options *o)
{
    hunch_error error;
    if (!(o->truth_labels = names_new()))
        return cli_fail(EXIT_SYSTEM, "out of memory");
    hunch_status status = truth_read(&o->truth, o->truth_labels, o->regret, &error);
    o->stream.labels = o->truth_labels; /* so that labels have the numbers of its columns */
    return status ? cli_fail(cli_code(status), "%s", error.message) : EXIT_DONE;
}

/* A few rows do not tell what their columns mean: the data do, if they can be read twice. */
static int columns_take(struct run *r)
{
    struct run_options *o = &r->options;
    struct stream *data;
    hunch_error error;
    if (o->stream.schema || !strcmp(o->paths[0], "-"))
        return EXIT_DONE;
    hunch_status status = stream_open(&data, (const char *const *)o->paths, 1, &o->stream, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    const struct schema *schema = stream_schema(data);
    r->columns = schema ? schema_copy(schema) : NULL;
    stream_close(data);
    if (schema && !r->columns)
        return cli_fail(EXIT_SYSTEM, "out of memory");
    o->stream.schema = r->columns;
    return EXIT_DONE;
}

/* The data go on with the names of what is taught. */
static int lesson_take(struct run *r)
{
    struct run_options *o = &r->options;
    struct stream_options *s = &o->stream, taught;
    hunch_error error;
    int code = columns_take(r);
    if (code)
        return code;
    taught = *s;
    if (s->schema)
        taught.columns.with = NULL; /* what is taught needs no eligible labels */
    char **path = data_paths((char *const *)&o->teach, 1);
    hunch_status status = stream_open(&r->lesson, (const char *const *)path, 1, &taught, &error);
    if (!status)
        status = dataset_read(&r->taught, r->lesson, NULL, NULL, NULL, &error);
    data_free(path, 1);
    if (status)
        return cli_fail(cli_code(status), "--teach: %s", error.message);
    s->labels = stream_labels(r->lesson);
    s->features = stream_features(r->lesson);
    s->schema = stream_schema(r->lesson);
    s->index_base = stream_index_base(r->lesson);
    return EXIT_DONE;
}

/* Rows and their truth must belong together. */
static int truth_check(const struct run *r)
{
    const struct run_options *o = &r->options;
    uint64_t rounds = r->results.results[0].tally.rounds, expected = (uint64_t)o->truth.n * o->passes;
    if (!o->regret || r->results.stopped || rounds == expected)
        return EXIT_DONE;
    return cli_fail(EXIT_INPUT, "%s has %zu rows, the data have %llu", o->regret, o->truth.n,
                    (unsigned long long)(rounds / o->passes));
}

static int play(struct run *r)
{
    struct run_options *o = &r->options;
    hunch_error error;
    if (o->classes && r->model.learner && o->classes > hunch_classes(r->model.learner) &&
        hunch_add_classes(r->model.learner, o->classes - hunch_classes(r->model.learner)))
        return cli_fail(EXIT_SYSTEM, "%s", hunch_reason(r->model.learner));
    struct progressive_options options = play_options(r);
    o->stream.behind_bytes = run_in_memory(o) ? 0 : progressive_reach(&options);
    o->stream.labelled = true;
    o->stream.max_features = o->max_features ? o->max_features : HUNCH_MAX_FEATURES;
    int code = o->teach ? lesson_take(r) : EXIT_DONE;
    if (code)
        return code;
    hunch_status status = stream_open(&r->stream, (const char *const *)o->paths, o->files, &o->stream, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    if (r->trace)
        trace_stream(r->trace, r->stream);
    if (r->log)
        run_log_stream(r->log, r->stream);
    if (!o->quiet && !o->load)
        data_schema_print(stream_schema(r->stream));
    meter_begin(&r->meter, !o->quiet);
    status = run_in_memory(o) ? play_in_memory(r, &error) : play_as_stream(r, &error);
    meter_end(&r->meter);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    r->model.learner = NULL; /* it is in the results, or has been freed */
    return truth_check(r);
}

static int first_failure(int a, int b)
{
    return a ? a : b;
}

static int report(struct run *r)
{
    const struct run_options *o = &r->options;
    int code = o->json ? report_json(o, &r->results) : report_table(o, &r->results, r->stream);
    if (o->confusion && !o->json)
        run_log_report(r->log, &r->results.results[0].tally);
    if (!o->quiet)
        data_remarks(r->stream);
    code = first_failure(code, data_schema_save(&o->stream, r->stream));
    if (o->curve)
        code = first_failure(code, report_curve(o, &r->results));
    if (o->figure)
        code = first_failure(code, run_figure_write(o, &r->results));
    if (r->page)
        code = first_failure(code, run_page_write(r->page, o, &r->results, r->stream));
    hunch *learner = r->results.results[0].learner;
    if (o->save && learner)
        code = first_failure(code, model_save(learner, r->stream, o->save));
    return code;
}

static int run(struct run *r)
{
    const struct run_options *o = &r->options;
    int code = o->load ? model_take(r) : o->regret ? truth_take(&r->options) : EXIT_DONE;
    const char *const results[] = {o->save, o->report, o->figure, o->curve};
    for (size_t i = 0; i < sizeof results / sizeof *results && !code; i++)
        code = results[i] && strcmp(results[i], "-") != 0 ? cli_check_path(results[i]) : EXIT_DONE;
    if (!code)
        code = data_schema_load(&r->options.stream);
    if (!code && o->trace && !(r->trace = trace_open(o->trace)))
        code = EXIT_SYSTEM;
    if (o->report)
        r->page = run_page_new(o->learners.n);
    if (!code && (o->log || o->confusion) && !(r->log = run_log_open(o->log)))
        code = EXIT_SYSTEM;
    if (!code)
        code = play(r);
    if (!code)
        code = report(r);
    code = first_failure(code, trace_close(r->trace));
    code = first_failure(code, run_log_close(r->log));
    if (!code && r->results.stopped)
        code = EXIT_INTERRUPTED;
    return code;
}

int cmd_run(int argc, char **argv)
{
    struct run r = {0};
    int code = run_options_parse(&r.options, argc, argv);
    if (code < 0) {
        code = run(&r);
        if (code)
            cli_leave(code);
        run_page_free(r.page);
        progressive_free(&r.results);
        stream_close(r.stream);
        stream_close(r.lesson);
        schema_free(r.columns);
        dataset_free(&r.taught);
        model_free(&r.model);
    }
    run_options_free(&r.options);
    return code;
}

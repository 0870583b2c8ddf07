/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch predict: the labels with the largest scores of a saved model. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "model.h"

enum form { FORM_LABELS, FORM_SCORES, FORM_JSON };

struct predict {
    enum form form;
    bool error, probabilities, confidence;
    struct stream_options stream;
    struct model model;
    uint32_t *label; /* of a batch */
    float *score;
    double *chance; /* of the labels, for one row */
    size_t room;
    const struct names *with; /* columns whose cells stand before the labels; NULL: none */
    uint64_t labelled, wrong;
};

/* Rows are scored a few at a time: a batch may hold many, and each has K scores. */
#define SCORES_AT_ONCE ((size_t)1 << 16)

/* The cells that go along, a tab after each; what would end a cell or a line is a blank. */
static void row_with(const struct predict *p, const struct rows *rows, size_t row)
{
    for (uint32_t i = 0; p->with && i < names_count(p->with); i++) {
        for (const char *c = rows_cell(rows, row, i); *c; c++)
            putchar(strchr("\t\r\n", *c) ? ' ' : *c);
        putchar('\t');
    }
}

static json_t *with_json(const struct predict *p, const struct rows *rows, size_t row)
{
    json_t *with = json_object();
    for (uint32_t i = 0; i < names_count(p->with); i++)
        json_object_set_new(with, names_text(p->with, i, NULL), json_string(rows_cell(rows, row, i)));
    return with;
}

static void row_json(const struct predict *p, uint32_t label, const float *score, json_t *with)
{
    uint32_t classes = hunch_classes(p->model.learner);
    json_t *scores = json_object();
    for (uint32_t k = 0; k < classes; k++)
        json_object_set_new(scores, model_label(&p->model, k), json_real((double)score[k]));
    json_t *row = json_pack("{s:s, s:o}", "label", model_label(&p->model, label), "scores", scores);
    if (row && p->confidence)
        json_object_set_new(row, "confidence", json_real(p->chance[label]));
    if (row && with)
        json_object_set_new(row, "with", with);
    if (row)
        json_dumpf(row, stdout, JSON_COMPACT);
    json_decref(row);
    putchar('\n');
}

static void row_text(const struct predict *p, uint32_t label, const float *score)
{
    uint32_t classes = hunch_classes(p->model.learner);
    fputs(model_label(&p->model, label), stdout);
    if (p->confidence)
        printf("\t%.4f", p->chance[label]);
    for (uint32_t k = 0; p->form == FORM_SCORES && k < classes; k++)
        printf("\t%.9g", (double)score[k]);
    putchar('\n');
}

/* The chances of a row's labels; they take the scores' place if so asked for. */
static void row_chances(struct predict *p, float *score)
{
    uint32_t classes = hunch_classes(p->model.learner);
    if (hunch_probabilities(p->model.learner, score, p->chance)) /* a score is not finite: nothing is known */
        for (uint32_t k = 0; k < classes; k++)
            p->chance[k] = 1.0 / classes;
    for (uint32_t k = 0; p->probabilities && k < classes; k++)
        score[k] = (float)p->chance[k];
}

static void rows_print(struct predict *p, const struct rows *rows, size_t from, size_t n)
{
    uint32_t classes = hunch_classes(p->model.learner);
    const uint32_t *truth = rows->label + from;
    for (size_t i = 0; i < n; i++) {
        if (p->form != FORM_JSON)
            row_with(p, rows, from + i);
        if (truth[i] == STREAM_BAD_ROW) { /* its place is kept, so that lines go with rows */
            puts(p->form == FORM_JSON ? "null" : "");
            continue;
        }
        if (p->probabilities || p->confidence)
            row_chances(p, p->score + i * classes);
        if (p->form == FORM_JSON)
            row_json(p, p->label[i], p->score + i * classes, p->with ? with_json(p, rows, from + i) : NULL);
        else
            row_text(p, p->label[i], p->score + i * classes);
        p->labelled += truth[i] != STREAM_NO_LABEL;
        p->wrong += truth[i] != STREAM_NO_LABEL && truth[i] != p->label[i];
    }
}

static int batch_predict(struct predict *p, const struct rows *batch)
{
    for (size_t from = 0; from < batch->n; from += p->room) {
        size_t n = batch->n - from < p->room ? batch->n - from : p->room;
        hunch_batch rows = {n, batch->start + from, batch->index, batch->value, 0};
        bool scores = p->form != FORM_LABELS || p->confidence;
        hunch_status status = hunch_score_batch(p->model.learner, &rows, p->label, scores ? p->score : NULL);
        if (status)
            return cli_fail(cli_code(status), "scoring failed: %s", hunch_status_text(status));
        rows_print(p, batch, from, n);
    }
    return EXIT_DONE;
}

static void head_print(const struct predict *p)
{
    uint32_t classes = hunch_classes(p->model.learner);
    for (uint32_t i = 0; p->with && i < names_count(p->with); i++)
        printf("%s\t", names_text(p->with, i, NULL));
    fputs(p->confidence ? "label\tconfidence" : "label", stdout);
    for (uint32_t k = 0; p->form == FORM_SCORES && k < classes; k++)
        printf("\t%s", model_label(&p->model, k));
    putchar('\n');
}

static int stream_predict(struct predict *p, struct stream *stream)
{
    struct pipeline_options reading = {0};
    struct pipeline *pipeline;
    struct rows *rows = NULL;
    hunch_error error;
    int code = EXIT_DONE;
    hunch_status status = pipeline_start(&pipeline, stream, &reading, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    while (!code && !(status = pipeline_next(pipeline, &rows, &error)) && rows) {
        code = batch_predict(p, rows);
        fflush(stdout); /* whoever asks through a pipe waits for the answer */
        pipeline_return(pipeline, rows);
    }
    pipeline_stop(pipeline);
    if (status)
        code = cli_fail(cli_code(status), "%s", error.message);
    data_remarks(stream);
    return code;
}

static void error_print(const struct predict *p)
{
    if (!p->labelled)
        fputs("hunch: no row has a label to compare with\n", stderr);
    else
        fprintf(stderr, "error %.2f %% (%llu of %llu rows)\n", 100 * (double)p->wrong / (double)p->labelled,
                (unsigned long long)p->wrong, (unsigned long long)p->labelled);
}

static int predict(struct predict *p, const char *model, char **paths, size_t n)
{
    struct stream *stream;
    hunch_error error;
    int code = model_load(&p->model, model);
    if (code)
        return code;
    model_read_data(&p->model, &p->stream);
    p->stream.fixed_features = true;
    p->stream.mark_bad_rows = true;
    if (p->probabilities && p->form == FORM_LABELS)
        p->form = FORM_SCORES;
    code = data_schema_load(&p->stream);
    if (code)
        return code;
    p->room = SCORES_AT_ONCE / hunch_classes(p->model.learner) + 1;
    p->label = cli_alloc(p->room, sizeof *p->label);
    p->score = cli_alloc(p->room * hunch_classes(p->model.learner), sizeof *p->score);
    p->chance = cli_alloc(hunch_classes(p->model.learner), sizeof *p->chance);
    hunch_status status = stream_open(&stream, (const char *const *)paths, n, &p->stream, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    p->with = stream_with(stream);
    if (p->form == FORM_SCORES || (p->with && p->form != FORM_JSON))
        head_print(p);
    code = stream_predict(p, stream);
    stream_close(stream);
    if (code)
        return code;
    if (p->error)
        error_print(p);
    return code;
}

static const struct command_text help = {
    .usage = "hunch predict [OPTION ...] MODEL FILE ...",
    .about = "Print the label with the largest score of a saved model, one line for each row.\n"
             "Labels in FILE are not used.",
    .examples = "hunch predict model.hunch new.svm\n"
                "hunch predict --scores model.hunch new.svm\n"
                "hunch predict --error model.hunch syn.svm > labels.txt",
};

static const struct cli_option option_table[] = {
    {"scores", 0, NULL, NULL, "tab-separated: the label, then the score of each class, under a header",
     TO_SET(struct predict, form, FORM_SCORES)},
    {"probabilities", 0, NULL, NULL,
     "probabilities instead of scores: the best label has its confidence, the others share the rest as a softmax does",
     TO_SET(struct predict, probabilities, true)},
    {"confidence", 0, NULL, NULL,
     "after the label the chance that it is right: the share of right answers so far at such margins",
     TO_SET(struct predict, confidence, true)},
    {"with", 0, "C,...", NULL,
     "of tables: the cells of these columns before the label, tab-separated, under a header; names, positions or globs",
     TO_TEXT(struct predict, stream.columns.with)},
    {"json", 0, NULL, NULL, "one JSON object for each row: label, scores", TO_SET(struct predict, form, FORM_JSON)},
    {"error", 0, NULL, NULL, "tell the share of wrong labels on standard error, when FILE has labels",
     TO_SET(struct predict, error, true)},
    {0}};

int cmd_predict(int argc, char **argv)
{
    struct predict p = {.stream = STREAM_OPTIONS_INIT};
    const struct option_group groups[] = {{NULL, option_table, &p}, {DATA_TITLE, data_options, &p.stream}, {0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (optind == argc)
        return cli_usage(argv[0], "expected a model file");
    if (optind + 1 == argc)
        return cli_usage(argv[0], "expected a data file ('-' for standard input)");
    size_t n = (size_t)(argc - optind - 1);
    char **paths = data_paths(argv + optind + 1, n);
    code = predict(&p, argv[optind], paths, n);
    if (code)
        cli_leave(code);
    data_free(paths, n);
    model_free(&p.model);
    free(p.label);
    free(p.score);
    free(p.chance);
    return code;
}

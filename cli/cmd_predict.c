/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch predict: the labels with the largest scores of a saved model. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "data.h"
#include "cli_model.h"

enum form { FORM_LABELS, FORM_SCORES, FORM_JSON };

struct predict {
    enum form form;
    bool error, probabilities, confidence;
    double act_at;    /* 0: whether to act is not asked for */
    uint32_t explain; /* that many features; 0: none */
    struct stream_options stream;
    struct model model;
    uint32_t *label; /* of a batch */
    float *score;
    double *chance; /* of the labels, for one row */
    float *loss;    /* of the features of one row, see hunch_explain */
    size_t room, loss_room;
    const struct names *with;     /* columns whose cells stand before the labels; NULL: none */
    const char *eligible;         /* the column that names the labels of a row that may be shown; NULL: none */
    char *columns;                /* those of with, and it */
    uint32_t with_n, eligible_at; /* which cells those are */
    uint64_t labelled, wrong;
    uint64_t rows, acted, acted_labelled, acted_wrong; /* with act_at */
};

/* Rows are scored a few at a time: a batch may hold many, and each has K scores. */
#define SCORES_AT_ONCE ((size_t)1 << 16)

/* The cells that go along, a tab after each; what would end a cell or a line is a blank. */
static void row_with(const struct predict *p, const struct rows *rows, size_t row)
{
    for (uint32_t i = 0; i < p->with_n; i++) {
        for (const char *c = rows_cell(rows, row, i); *c; c++)
            putchar(strchr("\t\r\n", *c) ? ' ' : *c);
        putchar('\t');
    }
}

static json_t *with_json(const struct predict *p, const struct rows *rows, size_t row)
{
    json_t *with = json_object();
    for (uint32_t i = 0; i < p->with_n; i++)
        json_object_set_new(with, names_text(p->with, i, NULL), json_string(rows_cell(rows, row, i)));
    return with;
}

/* Whether the row's choice is to be acted on; always without act_at. */
static bool row_act(const struct predict *p, uint32_t label)
{
    hunch_choice c = {.label = label, .confidence = p->act_at > 0 ? p->chance[label] : 1};
    uint32_t mark = HUNCH_ACT;
    return p->act_at == 0 || (hunch_act(p->model.learner, &c, p->act_at, &mark) == HUNCH_OK && mark & HUNCH_ACT);
}

/* The name of the strongest feature that is left, or its number in text; its loss is taken out. NULL: there is none. */
static const char *why_next(const struct predict *p, const hunch_vec *x, float *ret_loss, char text[16])
{
    size_t best = 0;
    for (size_t i = 1; i < x->n; i++)
        best = fabsf(p->loss[i]) > fabsf(p->loss[best]) ? i : best;
    if (!x->n || p->loss[best] == 0)
        return NULL;
    *ret_loss = p->loss[best];
    p->loss[best] = 0;
    uint32_t feature = x->index[best];
    if (p->model.features && feature < names_count(p->model.features))
        return names_text(p->model.features, feature, NULL);
    snprintf(text, 16, "%u", feature + (p->model.index_base > 0));
    return text;
}

static void why_text(const struct predict *p, const hunch_vec *x)
{
    char number[16];
    const char *name;
    float loss;
    putchar('\t');
    for (uint32_t i = 0; i < p->explain && (name = why_next(p, x, &loss, number)); i++)
        printf("%s%+.3g %s", i ? ", " : "", (double)loss, name);
}

static json_t *why_json(const struct predict *p, const hunch_vec *x)
{
    json_t *why = json_array();
    char number[16];
    const char *name;
    float loss;
    for (uint32_t i = 0; i < p->explain && (name = why_next(p, x, &loss, number)); i++)
        json_array_append_new(why, json_pack("{s:s, s:f}", "feature", name, "amount", (double)loss));
    return why;
}

static void row_json(const struct predict *p, const hunch_vec *x, uint32_t label, const float *score, json_t *with)
{
    uint32_t classes = hunch_classes(p->model.learner);
    json_t *scores = json_object();
    for (uint32_t k = 0; k < classes; k++)
        json_object_set_new(scores, model_label(&p->model, k), json_real((double)score[k]));
    json_t *row = json_pack("{s:s, s:o}", "label", model_label(&p->model, label), "scores", scores);
    if (row && p->confidence)
        json_object_set_new(row, "confidence", json_real(p->chance[label]));
    if (row && p->act_at > 0)
        json_object_set_new(row, "act", json_boolean(row_act(p, label)));
    if (row && p->explain)
        json_object_set_new(row, "explanation", why_json(p, x));
    if (row && with)
        json_object_set_new(row, "with", with);
    if (row)
        json_dumpf(row, stdout, JSON_COMPACT);
    json_decref(row);
    putchar('\n');
}

static void row_text(const struct predict *p, const hunch_vec *x, uint32_t label, const float *score)
{
    uint32_t classes = hunch_classes(p->model.learner);
    fputs(model_label(&p->model, label), stdout);
    if (p->confidence)
        printf("\t%.4f", p->chance[label]);
    if (p->act_at > 0)
        fputs(row_act(p, label) ? "\tyes" : "\tno", stdout);
    if (p->explain)
        why_text(p, x);
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

/* Length bytes of text as one of the model's labels; K: it has no such label. */
static uint32_t label_find(const struct predict *p, const char *text, size_t length)
{
    uint32_t k = 0, classes = hunch_classes(p->model.learner);
    while (k < classes &&
           (strlen(model_label(&p->model, k)) != length || memcmp(model_label(&p->model, k), text, length) != 0))
        k++;
    return k;
}

/* The best of the labels that the row's cell names, with | between them; of all where the cell is empty. */
static int row_choose(const struct predict *p, const struct rows *rows, size_t row, const float *score,
                      uint32_t *ret_label)
{
    const char *cell = rows_cell(rows, row, p->eligible_at);
    uint32_t classes = hunch_classes(p->model.learner), best = classes;
    if (!*cell)
        return EXIT_DONE;
    for (const char *end; cell; cell = *end ? end + 1 : NULL) {
        end = strchrnul(cell, '|');
        uint32_t k = label_find(p, cell, (size_t)(end - cell));
        if (k == classes)
            return cli_fail(EXIT_INPUT, "%s: the model has no label \"%.*s\"", p->eligible, (int)(end - cell), cell);
        if (!hunch_is_retired(p->model.learner, k) && (best == classes || score[k] > score[best]))
            best = k;
    }
    if (best == classes)
        return cli_fail(EXIT_INPUT, "%s: every label of \"%s\" is retired", p->eligible,
                        rows_cell(rows, row, p->eligible_at));
    *ret_label = best;
    return EXIT_DONE;
}

static int row_explain(struct predict *p, const hunch_vec *x, uint32_t label)
{
    if (!p->explain)
        return EXIT_DONE;
    hunch_status status = array_reserve(&p->loss, &p->loss_room, x->n, sizeof *p->loss)
                              ? hunch_explain(p->model.learner, x, label, p->loss)
                              : HUNCH_ENOMEM;
    return status ? cli_fail(cli_code(status), "explaining failed: %s", hunch_status_text(status)) : EXIT_DONE;
}

static int rows_print(struct predict *p, const struct rows *rows, size_t from, size_t n)
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
        if (p->probabilities || p->confidence || p->act_at > 0)
            row_chances(p, p->score + i * classes);
        int64_t start = rows->start[from + i];
        hunch_vec x = {rows->index + start, rows->value + start, (size_t)(rows->start[from + i + 1] - start)};
        int code = row_explain(p, &x, p->label[i]);
        if (code)
            return code;
        if (p->form == FORM_JSON)
            row_json(p, &x, p->label[i], p->score + i * classes, p->with_n ? with_json(p, rows, from + i) : NULL);
        else
            row_text(p, &x, p->label[i], p->score + i * classes);
        bool act = row_act(p, p->label[i]);
        p->rows++;
        p->acted += act;
        p->acted_labelled += act && truth[i] != STREAM_NO_LABEL;
        p->acted_wrong += act && truth[i] != STREAM_NO_LABEL && truth[i] != p->label[i];
        p->labelled += truth[i] != STREAM_NO_LABEL;
        p->wrong += truth[i] != STREAM_NO_LABEL && truth[i] != p->label[i];
    }
    return EXIT_DONE;
}

static int batch_predict(struct predict *p, const struct rows *batch)
{
    for (size_t from = 0; from < batch->n; from += p->room) {
        size_t n = batch->n - from < p->room ? batch->n - from : p->room;
        hunch_batch rows = {n, batch->start + from, batch->index, batch->value, 0};
        bool scores = p->form != FORM_LABELS || p->confidence || p->eligible || p->act_at > 0;
        hunch_status status = hunch_score_batch(p->model.learner, &rows, p->label, scores ? p->score : NULL);
        if (status)
            return cli_fail(cli_code(status), "scoring failed: %s", hunch_status_text(status));
        int code = EXIT_DONE;
        for (size_t i = 0; p->eligible && !code && i < n; i++)
            if (batch->label[from + i] != STREAM_BAD_ROW)
                code = row_choose(p, batch, from + i, p->score + i * hunch_classes(p->model.learner), &p->label[i]);
        if (!code)
            code = rows_print(p, batch, from, n);
        if (code)
            return code;
    }
    return EXIT_DONE;
}

static void head_print(const struct predict *p)
{
    uint32_t classes = hunch_classes(p->model.learner);
    for (uint32_t i = 0; i < p->with_n; i++)
        printf("%s\t", names_text(p->with, i, NULL));
    fputs(p->confidence ? "label\tconfidence" : "label", stdout);
    fputs(p->act_at > 0 ? "\tact" : "", stdout);
    fputs(p->explain ? "\twhy" : "", stdout);
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
        fflush(stdout); /* a program that asks through a pipe waits for the answer */
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
    if (p->labelled && p->act_at > 0)
        fprintf(stderr, "acted on %.1f %% of the rows, %.2f %% of these right (promised: %g %%)\n",
                100 * (double)p->acted / (double)p->rows,
                p->acted_labelled ? 100 - 100 * (double)p->acted_wrong / (double)p->acted_labelled : 100.0,
                100 * p->act_at);
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
    if (p->eligible) {
        const char *with = p->stream.columns.with, *there = with ? strstr(with, p->eligible) : NULL;
        if (there && strchr(",", there[strlen(p->eligible)]) && (there == with || there[-1] == ','))
            return cli_fail(EXIT_USAGE, "--eligible %s: --with cannot have the same column", p->eligible);
        if (asprintf(&p->columns, "%s%s%s", with ? with : "", with ? "," : "", p->eligible) < 0)
            return cli_fail(EXIT_SYSTEM, "out of memory");
        p->stream.columns.with = p->columns;
    }
    uint32_t mark;
    if (p->act_at > 0 && hunch_act(p->model.learner, &(hunch_choice){0}, p->act_at, &mark))
        return cli_fail(EXIT_USAGE, "--act-at %g: %s", p->act_at, hunch_reason(p->model.learner));
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
    p->with_n = p->with ? names_count(p->with) : 0;
    if (p->eligible) { /* it was added behind the others, and is not printed */
        if (!p->with_n)
            return cli_fail(EXIT_USAGE, "--eligible %s: the data have no columns", p->eligible);
        p->eligible_at = --p->with_n;
    }
    if (p->form == FORM_SCORES || (p->with_n && p->form != FORM_JSON))
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
    .common = "confidence json output",
    .about = "Print the label with the largest score of a saved model, one line for each row.\n"
             "Labels in FILE are not used.",
    .examples = "hunch predict model.hunch new.svm\n"
                "hunch predict --scores model.hunch new.svm\n"
                "hunch predict --error model.hunch syn.svm > labels.txt",
};

static const struct cli_option option_table[] = {
    {"scores", 0, NULL, NULL, "print the label and the score of each class, tab-separated, with a header",
     TO_SET(struct predict, form, FORM_SCORES)},
    {"probabilities", 0, NULL, NULL,
     "print probabilities instead of scores: the confidence for the best label, a softmax of the rest for the others",
     TO_SET(struct predict, probabilities, true)},
    {"confidence", 0, NULL, NULL, "also print the calibrated probability that the label is correct",
     TO_SET(struct predict, confidence, true)},
    {"act-at", 0, "P", NULL,
     "also print whether to act on the label (yes) or hand it over (no), such that a fraction P of the labels acted on, such as 0.95, is right; the model's threshold applies if it was trained with --act-at P, else P",
     TO_REAL(struct predict, act_at, 0.001, 0.9999)},
    {"with", 0, "C,...", NULL,
     "print these columns of the table before the label, tab-separated, with a header; names, positions or globs",
     TO_TEXT(struct predict, stream.columns.with)},
    {"eligible", 0, "C", NULL,
     "column of the table with the eligible labels of each row, separated by |; empty: all labels",
     TO_TEXT(struct predict, eligible)},
    {"explain", 0, "N", NULL,
     "also print the N features with the largest effect on the label's score, and by how much it would fall without each",
     TO_NUMBER(struct predict, explain, 1, 1000000)},
    {"json", 0, NULL, NULL, "print one JSON object for each row: label, scores",
     TO_SET(struct predict, form, FORM_JSON)},
    {"error", 0, NULL, NULL, "print the error rate on standard error, if FILE has labels",
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
    free(p.loss);
    free(p.columns);
    return code;
}

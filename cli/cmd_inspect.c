/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch inspect: what is in a model file. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cli_model.h"
#include "learners.h"
#include "options.h"

#define LABELS_SHOWN 20
#define COLUMNS_PRINTED 3

struct command {
    const char *tensor;
    uint32_t top;
    bool json, columns;
};

static const struct command_text help = {
    .usage = "hunch inspect [OPTION ...] MODEL",
    .about = "Show the contents of a model file.",
    .examples = "hunch inspect model.hunch\n"
                "hunch inspect model.hunch --tensor W | head\n"
                "hunch inspect model.hunch --top 10",
};

static const struct cli_option option_table[] = {
    {"json", 0, NULL, NULL, "as JSON, with the full spec of the learner", TO_SET(struct command, json, true)},
    {"columns", 0, NULL, NULL,
     "relevance weight of each column, largest first: 1 is full weight, "
     "smaller for irrelevant columns",
     TO_SET(struct command, columns, true)},
    {"tensor", 0, "NAME", NULL, "print this array of the model as tab-separated rows", TO_TEXT(struct command, tensor)},
    {"top", 0, "N", NULL,
     "print the N largest weights (feature, label, change of the score "
     "when the feature is 1) and the most important columns",
     TO_NUMBER(struct command, top, 1, 1000000)},
    {0}};

static void tensors_print(const hunch *h)
{
    hunch_tensor tensor;
    size_t n = hunch_tensors(h, 0, NULL);
    for (size_t i = 0; i < n; i++) {
        hunch_tensors(h, i, &tensor);
        printf("%s%-8s %zu x %zu\n", i ? "           " : "tensors    ", tensor.name, tensor.rows, tensor.columns);
    }
}

static void labels_print(const struct names *labels)
{
    uint32_t n = names_count(labels), shown = n > LABELS_SHOWN ? LABELS_SHOWN : n;
    fputs("labels    ", stdout);
    for (uint32_t i = 0; i < shown; i++)
        printf(" %s", names_text(labels, i, NULL));
    if (shown < n)
        printf(" ... and %u more", n - shown);
    putchar('\n');
}

static void drift_print(const hunch *h)
{
    hunch_drift d;
    if (hunch_get_drift(h, &d))
        return;
    printf("drift      %llu restarts", (unsigned long long)d.restarts);
    if (d.last_restart)
        printf(", the last in round %llu", (unsigned long long)d.last_restart);
    printf("; forgetting %g\n", d.forgetting);
}

/* --- how much features count --- */

struct counted {
    uint32_t feature;
    double weight;
};

static const char *feature_text(const struct model *m, uint32_t feature, char number[16])
{
    const char *text = m->features ? names_text(m->features, feature, NULL) : NULL;
    snprintf(number, 16, "%u", feature + (m->index_base > 0));
    return text ? text : number;
}

static int counted_compare(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return (left->feature > right->feature) - (left->feature < right->feature);
}

/* All features, the largest weight first, to be freed. NULL: the learner weighs none, or there are none. */
static struct counted *counted_list(const hunch *h, size_t *ret_n)
{
    uint32_t features = hunch_features(h);
    double weight;
    if (!features || hunch_get_weight(h, 0, &weight))
        return NULL;
    struct counted *list = cli_alloc(features, sizeof *list);
    for (uint32_t j = 0; j < features; j++) {
        list[j].feature = j;
        hunch_get_weight(h, j, &list[j].weight);
    }
    qsort(list, features, sizeof *list, counted_compare);
    *ret_n = features;
    return list;
}

static void counted_line(const struct model *m, const struct counted *list, size_t n)
{
    char number[16];
    for (size_t i = 0; i < n; i++)
        printf("%s %s %.2f", i ? "," : "", feature_text(m, list[i].feature, number), list[i].weight);
}

/* The first and the last few, unless all are alike still. */
static void relevance_print(const struct model *m)
{
    size_t n = 0;
    struct counted *list = counted_list(m->learner, &n);
    size_t few = n / 2 < COLUMNS_PRINTED ? n / 2 : COLUMNS_PRINTED;
    if (n && list[0].weight > list[n - 1].weight) {
        fputs("columns   ", stdout);
        counted_line(m, list, few);
        fputs(" count most,", stdout);
        counted_line(m, list + n - few, few);
        puts(" least");
    }
    free(list);
}

static int counted_print(const struct model *m)
{
    size_t n = 0;
    struct counted *list = counted_list(m->learner, &n);
    char number[16];
    if (!list)
        return cli_fail(EXIT_USAGE, "this learner has no column weights");
    puts("feature\tweight");
    for (size_t i = 0; i < n; i++)
        printf("%s\t%.6g\n", feature_text(m, list[i].feature, number), list[i].weight);
    free(list);
    return EXIT_DONE;
}

static void model_print(const struct model *m)
{
    const hunch *h = m->learner;
    char *spec = learner_short_spec(h);
    printf("learner    %s\n", spec);
    free(spec);
    printf("classes    %u\n", hunch_classes(h));
    labels_print(m->labels);
    printf("features   %u", hunch_features(h));
    if (m->features)
        printf(" (%u names)", names_count(m->features));
    else if (m->index_base >= 0)
        printf(" (numbered from %d)", m->index_base);
    printf("\nrounds     %llu\n", (unsigned long long)hunch_rounds(h));
    printf("bytes      %llu\n", (unsigned long long)hunch_bytes(h));
    drift_print(h);
    relevance_print(m);
    tensors_print(h);
}

/* Text that is not UTF-8 cannot be a JSON string; a question mark stands for it. */
static json_t *name_json(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string("?");
}

static json_t *names_json(const struct names *names)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < names_count(names); i++)
        json_array_append_new(array, name_json(names_text(names, i, NULL)));
    return array;
}

static json_t *tensors_json(const hunch *h)
{
    json_t *array = json_array();
    hunch_tensor tensor;
    for (size_t i = 0; i < hunch_tensors(h, i, &tensor); i++)
        json_array_append_new(array, json_pack("{s:s, s:I, s:I}", "name", tensor.name, "rows", (json_int_t)tensor.rows,
                                               "columns", (json_int_t)tensor.columns));
    return array;
}

/* By feature. NULL: the learner weighs none. */
static json_t *weights_json(const hunch *h)
{
    double weight;
    if (hunch_get_weight(h, 0, &weight) == HUNCH_EUNSUPPORTED)
        return NULL;
    json_t *array = json_array();
    for (uint32_t j = 0; !hunch_get_weight(h, j, &weight); j++)
        json_array_append_new(array, json_real(weight));
    return array;
}

static int model_json(const struct model *m)
{
    const hunch *h = m->learner;
    json_t *object = json_pack("{s:s, s:I, s:o, s:I, s:I, s:I, s:o}", "learner", hunch_spec(h), "classes",
                               (json_int_t)hunch_classes(h), "labels", names_json(m->labels), "features",
                               (json_int_t)hunch_features(h), "rounds", (json_int_t)hunch_rounds(h), "bytes",
                               (json_int_t)hunch_bytes(h), "tensors", tensors_json(h));
    hunch_drift d;
    if (!hunch_get_drift(h, &d))
        json_object_set_new(object, "drift",
                            json_pack("{s:I, s:I, s:f}", "restarts", (json_int_t)d.restarts, "last_restart",
                                      (json_int_t)d.last_restart, "forgetting", d.forgetting));
    if (m->features)
        json_object_set_new(object, "feature_names", names_json(m->features));
    json_t *weights = weights_json(h);
    if (weights)
        json_object_set_new(object, "column_weights", weights);
    if (m->index_base >= 0)
        json_object_set_new(object, "index_base", json_integer(m->index_base));
    return cli_json(object, JSON_INDENT(2));
}

/* --- weights --- */

struct weight {
    uint32_t feature, label;
    float value;
};

static int weight_compare(const void *a, const void *b)
{
    const struct weight *left = a, *right = b;
    float x = fabsf(left->value), y = fabsf(right->value);
    if (x != y)
        return x > y ? -1 : 1;
    return left->feature != right->feature ? (left->feature < right->feature ? -1 : 1)
                                           : (left->label > right->label) - (left->label < right->label);
}

/* The column of the schema that the feature was made from; NULL: not known. */
static const struct schema_column *column_of(const struct model *m, const char *feature)
{
    size_t length = strlen(feature);
    const struct schema_column *column = m->schema ? schema_find(m->schema, feature, length) : NULL;
    for (size_t i = 0; m->schema && !column && i < length; i++)
        if (feature[i] == '=' || feature[i] == '.')
            column = schema_find(m->schema, feature, i);
    return column;
}

static void columns_print(const struct model *m, const struct weight *weights, size_t n)
{
    double *sum = cli_alloc(m->schema->n, sizeof *sum);
    char number[16];
    for (size_t i = 0; i < n; i++) {
        const struct schema_column *c = column_of(m, feature_text(m, weights[i].feature, number));
        if (c)
            sum[c - m->schema->columns] += (double)fabsf(weights[i].value);
    }
    puts("\ncolumn\tsum of weights");
    for (size_t printed = 0; printed < m->schema->n; printed++) {
        size_t best = 0;
        for (size_t i = 1; i < m->schema->n; i++)
            best = sum[i] > sum[best] ? i : best;
        if (sum[best] <= 0)
            break;
        printf("%s\t%.6g\n", m->schema->columns[best].name, sum[best]);
        sum[best] = -1;
    }
    free(sum);
}

/* What each feature alone adds to each score: the weights of a linear learner, in the units of its input. */
static int weights_print(const struct model *m, uint32_t top)
{
    const hunch *h = m->learner;
    uint32_t classes = hunch_classes(h), features = hunch_features(h);
    struct weight *weights = cli_alloc((size_t)features * classes, sizeof *weights);
    float *base = cli_alloc(classes, sizeof *base), *score = cli_alloc(classes, sizeof *score), one = 1;
    size_t n = 0;
    char number[16];
    hunch_vec nothing = {NULL, NULL, 0};
    hunch_status status = hunch_scores(h, &nothing, base);
    for (uint32_t j = 0; j < features && !status; j++) {
        hunch_vec x = {&j, &one, 1};
        status = hunch_scores(h, &x, score);
        for (uint32_t k = 0; k < classes && !status; k++)
            if (score[k] != base[k])
                weights[n++] = (struct weight){j, k, score[k] - base[k]};
    }
    qsort(weights, n, sizeof *weights, weight_compare);
    puts("feature\tlabel\tweight");
    for (size_t i = 0; i < n && i < top; i++)
        printf("%s\t%s\t%.6g\n", feature_text(m, weights[i].feature, number), model_label(m, weights[i].label),
               (double)weights[i].value);
    if (m->schema && m->schema->n && m->features)
        columns_print(m, weights, n);
    free(weights);
    free(base);
    free(score);
    return status ? cli_fail(cli_code(status), "scoring failed: %s", hunch_status_text(status)) : EXIT_DONE;
}

static int tensor_print(const hunch *h, const char *name)
{
    hunch_tensor tensor;
    for (size_t i = 0; i < hunch_tensors(h, i, &tensor); i++) {
        if (strcmp(tensor.name, name))
            continue;
        for (size_t row = 0; row < tensor.rows; row++)
            for (size_t column = 0; column < tensor.columns; column++) {
                double number = 0;
                hunch_get(h, name, row, column, &number);
                printf("%.9g%c", number, column + 1 < tensor.columns ? '\t' : '\n');
            }
        return EXIT_DONE;
    }
    fprintf(stderr, "hunch: the model has no tensor '%s', only", name);
    for (size_t i = 0; i < hunch_tensors(h, i, &tensor); i++)
        fprintf(stderr, " %s", tensor.name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int cmd_inspect(int argc, char **argv)
{
    struct command c = {0};
    int code = options_parse(&help, (struct option_group[]){{NULL, option_table, &c}, {0}}, argc, argv);
    if (code >= 0)
        return code;
    if (optind + 1 != argc)
        return cli_usage(argv[0], "expected one model file");
    struct model model;
    code = model_load(&model, argv[optind]);
    if (code)
        return code;
    if (c.top)
        code = weights_print(&model, c.top);
    else if (c.tensor)
        code = tensor_print(model.learner, c.tensor);
    else if (c.columns)
        code = counted_print(&model);
    else if (c.json)
        code = model_json(&model);
    else
        model_print(&model);
    model_free(&model);
    return code;
}

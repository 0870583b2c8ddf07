/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --log: every round of one learner as JSON lines or CSV that replay reads; --confusion: its errors by class. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "confusion.h"
#include "run.h"

#define MATRIX_CLASSES 20 /* more do not fit on a screen */

struct run_log {
    FILE *file;     /* or NULL */
    bool is_table;  /* CSV */
    FILE *features; /* of CSV: a row's features as JSON, in text, before they are quoted */
    char *text;
    size_t size;
    const char *path;
    const struct stream *stream;
    struct confusion greedy; /* of the first MATRIX_CLASSES labels */
};

struct run_log *run_log_open(const char *path)
{
    struct run_log *l = cli_alloc(1, sizeof *l);
    l->path = path;
    if (path && !(l->file = cli_create(path))) {
        free(l);
        return NULL;
    }
    size_t length = path ? strlen(path) : 0;
    l->is_table = length > 4 && !strcmp(path + length - 4, ".csv");
    if (l->is_table && !(l->features = open_memstream(&l->text, &l->size)))
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    if (l->is_table)
        fputs("label,prob,right,x\n", l->file);
    return l;
}

void run_log_stream(struct run_log *l, const struct stream *stream)
{
    l->stream = stream;
}

static void features_write(FILE *out, const struct rows *rows, size_t row, const struct row_names *names)
{
    size_t begin = (size_t)rows->start[row], n = (size_t)rows->start[row + 1] - begin;
    text_write_features(out, rows->columns ? NULL : rows->index + begin, rows->value + begin, n, names);
}

static void round_write_table(struct run_log *l, const char *label, const char *prob, bool right,
                              const struct rows *rows, size_t row, const struct row_names *names)
{
    rewind(l->features);
    features_write(l->features, rows, row, names);
    fputc('\0', l->features);
    fflush(l->features);
    text_write_cell(l->file, label);
    fprintf(l->file, ",%s,%d,", prob, right);
    text_write_cell(l->file, l->text);
    fputc('\n', l->file);
}

/* With --eligible: the labels that the cell names, with | between them. */
static void eligible_write(FILE *out, const struct rows *rows, size_t row)
{
    const char *cell = rows->cells.n ? rows_cell(rows, row, 0) : "";
    const char *before = ", \"eligible\": [";
    if (!*cell)
        return;
    for (size_t n; cell; cell = cell[n] ? cell + n + 1 : NULL, before = ", ") {
        n = strcspn(cell, "|");
        char *label = strndup(cell, n);
        if (!label)
            exit(cli_fail(EXIT_SYSTEM, "out of memory"));
        fputs(before, out);
        text_write_string(out, label);
        free(label);
    }
    fputs("]", out);
}

static void rounds_write(struct run_log *l, const struct player_rounds *r)
{
    struct row_names names = {stream_labels(l->stream), stream_features(l->stream), stream_index_base(l->stream) > 0};
    char prob[NUMBER_TEXT];
    for (size_t i = 0; i < r->n; i++) {
        const hunch_choice *c = &r->choices[i];
        const char *known = names_text(names.labels, c->label, NULL), *label = known ? known : "?";
        bool right = c->label == r->labels[i];
        number_print(c->prob, prob);
        if (l->is_table) {
            round_write_table(l, label, prob, right, r->rows, r->from + i, &names);
            continue;
        }
        fputs("{\"label\": ", l->file);
        text_write_string(l->file, label);
        fprintf(l->file, ", \"prob\": %s, \"right\": %d", prob, right);
        eligible_write(l->file, r->rows, r->from + i);
        fputs(", \"x\": ", l->file);
        features_write(l->file, r->rows, r->from + i, &names);
        fputs("}\n", l->file);
    }
}

void run_log_write(struct run_log *l, const struct player_rounds *r)
{
    if (l->file)
        rounds_write(l, r);
    for (size_t i = 0; i < r->n; i++)
        if (r->labels[i] < MATRIX_CLASSES && r->choices[i].greedy < MATRIX_CLASSES)
            confusion_count(&l->greedy, r->labels[i], r->choices[i].greedy);
}

static void class_print(const struct tally_class *c)
{
    double rows = c->rows ? (double)c->rows : 1;
    printf("  %10llu  %7.2f  %8.2f  ", (unsigned long long)c->rows, 100 * (double)c->mistakes / rows,
           100 * (double)c->greedy_mistakes / rows);
    if (c->found)
        printf("%11llu\n", (unsigned long long)c->found);
    else
        printf("%11s\n", "never");
}

void run_log_report(const struct run_log *l, const struct tally *t)
{
    const struct names *labels = stream_labels(l->stream);
    uint32_t n = names_count(labels);
    int width = 5;
    for (uint32_t k = 0; k < n; k++) {
        int length = (int)strlen(names_text(labels, k, NULL));
        width = length > width && length <= 24 ? length : width;
    }
    printf("\n%-*s  %10s  error %%  greedy %%  first right\n", width, "label", "rows");
    for (uint32_t k = 0; k < n; k++) {
        printf("%-*s", width, names_text(labels, k, NULL));
        class_print(k < t->classes_n ? &t->classes[k] : &(struct tally_class){0});
    }
    if (n > MATRIX_CLASSES)
        return;
    printf("\nrows are true labels, columns those with the largest score\n%-*s", width, "");
    for (uint32_t k = 0; k < n; k++)
        printf("  %8.8s", names_text(labels, k, NULL));
    putchar('\n');
    for (uint32_t i = 0; i < n; i++) {
        printf("%-*s", width, names_text(labels, i, NULL));
        for (uint32_t j = 0; j < n; j++)
            printf("  %8llu", (unsigned long long)confusion_at(&l->greedy, i, j));
        putchar('\n');
    }
}

int run_log_close(struct run_log *l)
{
    if (!l)
        return EXIT_DONE;
    int code = l->file ? cli_close(l->file, l->path) : EXIT_DONE;
    if (l->features)
        fclose(l->features);
    free(l->text);
    confusion_free(&l->greedy);
    free(l);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --log: every round of one learner as JSON lines that replay reads; --confusion: its errors by class. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "confusion.h"
#include "run.h"

#define MATRIX_CLASSES 20 /* more do not fit on a screen */

struct run_log {
    FILE *file; /* or NULL */
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
    return l;
}

void run_log_stream(struct run_log *l, const struct stream *stream)
{
    l->stream = stream;
}

static void rounds_write(struct run_log *l, const struct player_rounds *r)
{
    struct row_names names = {stream_labels(l->stream), stream_features(l->stream), stream_index_base(l->stream) > 0};
    char prob[NUMBER_TEXT];
    for (size_t i = 0; i < r->n; i++) {
        const hunch_choice *c = &r->choices[i];
        const char *label = names_text(names.labels, c->label, NULL);
        fputs("{\"label\": ", l->file);
        text_write_string(l->file, label ? label : "?");
        number_print(c->prob, prob);
        fprintf(l->file, ", \"prob\": %s, \"right\": %d, \"x\": ", prob, c->label == r->labels[i]);
        size_t begin = (size_t)r->rows->start[r->from + i], n = (size_t)r->rows->start[r->from + i + 1] - begin;
        const uint32_t *index = r->rows->columns ? NULL : r->rows->index + begin;
        text_write_features(l->file, index, r->rows->value + begin, n, &names);
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
    confusion_free(&l->greedy);
    free(l);
    return code;
}

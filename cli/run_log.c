/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --log: every round of one learner as JSON lines that replay reads; --confusion: its errors by class. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "run.h"

#define MATRIX_CLASSES 20 /* more do not fit on a screen */

struct class_count {
    uint64_t rows, mistakes, greedy_mistakes, first_right; /* the round; 0: never */
};

struct run_log {
    FILE *file; /* or NULL */
    const char *path;
    const struct stream *stream;
    bool confusion;
    struct class_count *classes;
    uint64_t *matrix; /* [truth * n + greedy] */
    uint32_t n;
    uint64_t rounds;
};

struct run_log *run_log_open(const char *path, bool confusion)
{
    struct run_log *l = cli_alloc(1, sizeof *l);
    l->path = path;
    l->confusion = confusion;
    if (path && !(l->file = strcmp(path, "-") ? fopen(path, "w") : stdout)) {
        cli_fail(EXIT_SYSTEM, "%s: %s", path, strerror(errno));
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

static void classes_grow(struct run_log *l, uint32_t n)
{
    if (n <= l->n)
        return;
    n += 16;
    struct class_count *classes = cli_alloc(n, sizeof *classes);
    uint64_t *matrix = n <= 2 * MATRIX_CLASSES ? cli_alloc((size_t)n * n, sizeof *matrix) : NULL;
    for (uint32_t i = 0; i < l->n; i++) {
        classes[i] = l->classes[i];
        for (uint32_t j = 0; matrix && j < l->n; j++)
            matrix[(size_t)i * n + j] = l->matrix[(size_t)i * l->n + j];
    }
    free(l->classes);
    free(l->matrix);
    l->classes = classes;
    l->matrix = matrix;
    l->n = n;
}

static void rounds_count(struct run_log *l, const struct player_rounds *r)
{
    for (size_t i = 0; i < r->n; i++) {
        uint32_t truth = r->labels[i], greedy = r->choices[i].greedy, shown = r->choices[i].label;
        uint32_t most = truth > greedy ? truth : greedy;
        classes_grow(l, most + 1);
        struct class_count *c = &l->classes[truth];
        l->rounds++;
        c->rows++;
        c->mistakes += shown != truth;
        c->greedy_mistakes += greedy != truth;
        if (shown == truth && !c->first_right)
            c->first_right = l->rounds;
        if (l->matrix)
            l->matrix[(size_t)truth * l->n + greedy]++;
    }
}

void run_log_write(struct run_log *l, const struct player_rounds *rounds)
{
    if (l->file)
        rounds_write(l, rounds);
    if (l->confusion)
        rounds_count(l, rounds);
}

void run_log_report(const struct run_log *l)
{
    const struct names *labels = stream_labels(l->stream);
    uint32_t n = names_count(labels) < l->n ? names_count(labels) : l->n;
    int width = 5;
    for (uint32_t k = 0; k < n; k++) {
        int length = (int)strlen(names_text(labels, k, NULL));
        width = length > width && length <= 24 ? length : width;
    }
    printf("\n%-*s  %10s  error %%  greedy %%  first right\n", width, "label", "rows");
    for (uint32_t k = 0; k < n; k++) {
        const struct class_count *c = &l->classes[k];
        double rows = c->rows ? (double)c->rows : 1;
        printf("%-*s  %10llu  %7.2f  %8.2f  ", width, names_text(labels, k, NULL), (unsigned long long)c->rows,
               100 * (double)c->mistakes / rows, 100 * (double)c->greedy_mistakes / rows);
        if (c->first_right)
            printf("%11llu\n", (unsigned long long)c->first_right);
        else
            printf("%11s\n", "never");
    }
    if (!l->matrix || n > MATRIX_CLASSES)
        return;
    printf("\nrows are true labels, columns what the learner believed\n%-*s", width, "");
    for (uint32_t k = 0; k < n; k++)
        printf("  %8.8s", names_text(labels, k, NULL));
    putchar('\n');
    for (uint32_t i = 0; i < n; i++) {
        printf("%-*s", width, names_text(labels, i, NULL));
        for (uint32_t j = 0; j < n; j++)
            printf("  %8llu", (unsigned long long)l->matrix[(size_t)i * l->n + j]);
        putchar('\n');
    }
}

int run_log_close(struct run_log *l)
{
    int code = EXIT_DONE;
    if (!l)
        return code;
    if (l->file && (l->file == stdout ? fflush(l->file) : fclose(l->file)))
        code = cli_fail(EXIT_SYSTEM, "%s: %s", l->path, strerror(errno));
    free(l->classes);
    free(l->matrix);
    free(l);
    return code;
}

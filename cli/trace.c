/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --trace: every round of one learner as a line of text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

struct trace {
    FILE *file;
    char *path;
    struct source *source;
    char **label; /* copies of the names that were needed so far */
    size_t labels;
};

struct trace *trace_open(const char *path)
{
    struct trace *t = cli_alloc(1, sizeof *t);
    t->path = strdup(path);
    t->file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!t->file || !t->path) {
        cli_fail(EXIT_SYSTEM, "%s: %s", path, strerror(errno));
        free(t->path);
        free(t);
        return NULL;
    }
    fputs("round\tlabel\tgreedy\tprob\tright\n", t->file);
    return t;
}

void trace_source(struct trace *t, struct source *source)
{
    t->source = source;
}

static const char *label_text(struct trace *t, uint32_t number)
{
    if (number >= t->labels) {
        size_t labels = number + (size_t)16;
        char **label = realloc(t->label, labels * sizeof *label);
        if (!label)
            return "?";
        memset(label + t->labels, 0, (labels - t->labels) * sizeof *label);
        t->label = label;
        t->labels = labels;
    }
    if (!t->label[number])
        t->label[number] = source_label(t->source, number);
    return t->label[number] ? t->label[number] : "?"; /* a class that no row has had yet */
}

/* The shortest text that reads back as the same number. */
static void number_print(FILE *file, double number)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fputs(text, file);
}

void trace_write(struct trace *t, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hunch_choice *c = &choices[i];
        fprintf(t->file, "%llu\t%s\t", (unsigned long long)c->round, label_text(t, c->label));
        fprintf(t->file, "%s\t", label_text(t, c->greedy));
        number_print(t->file, c->prob);
        fprintf(t->file, "\t%d\n", c->label == labels[i]);
    }
}

int trace_close(struct trace *t)
{
    int code = EXIT_DONE;
    if (!t)
        return code;
    bool failed = ferror(t->file) || fflush(t->file);
    if (t->file != stdout && fclose(t->file))
        failed = true;
    if (failed)
        code = cli_fail(EXIT_SYSTEM, "%s: writing failed", t->path);
    for (size_t i = 0; i < t->labels; i++)
        free(t->label[i]);
    free(t->label);
    free(t->path);
    free(t);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch run --trace: every round of one learner as a line of text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "run.h"

struct trace {
    FILE *file;
    const char *path;
    const struct stream *stream;
};

struct trace *trace_open(const char *path)
{
    struct trace *t = cli_alloc(1, sizeof *t);
    t->path = path;
    if (!(t->file = cli_create(path))) {
        free(t);
        return NULL;
    }
    fputs("round\tlabel\tgreedy\tprob\tright\n", t->file);
    return t;
}

void trace_stream(struct trace *t, const struct stream *stream)
{
    t->stream = stream;
}

static const char *label_text(const struct trace *t, uint32_t number)
{
    const char *text = names_text(stream_labels(t->stream), number, NULL);
    return text ? text : "?"; /* a class that no row has had yet */
}

static void number_write(FILE *file, double number)
{
    char text[NUMBER_TEXT];
    number_print(number, text);
    fputs(text, file);
}

void trace_write(struct trace *t, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hunch_choice *c = &choices[i];
        fprintf(t->file, "%llu\t%s\t", (unsigned long long)c->round, label_text(t, c->label));
        fprintf(t->file, "%s\t", label_text(t, c->greedy));
        number_write(t->file, c->prob);
        fprintf(t->file, "\t%d\n", c->label == labels[i]);
    }
}

int trace_close(struct trace *t)
{
    if (!t)
        return EXIT_DONE;
    int code = cli_close(t->file, t->path);
    free(t);
    return code;
}

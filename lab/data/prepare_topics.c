/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vectors of documents (svmlight text whose labels are the documents' numbers) and a list of their topics, as RCV1-v2
 * comes: "TOPIC NUMBER 1" a line. Documents with exactly one of the step's labels as a topic are written with it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/number.h"
#include "data/prepare_sink.h"

#define DOCUMENT_MAX 10000000 /* largest number of a document */
enum { NONE, SEVERAL, FIRST_LABEL };

struct topics {
    const json_t *labels;
    unsigned char *of; /* by document: NONE, SEVERAL or a label's place + FIRST_LABEL */
    size_t n;
    size_t left_out;
};

static bool document_read(const char *text, uint32_t *ret)
{
    double number;
    if (!number_is(text, &number) || number < 0 || number > DOCUMENT_MAX || number != (uint32_t)number)
        return false;
    *ret = (uint32_t)number;
    return true;
}

static hunch_status topic_add(struct topics *t, const char *topic, const char *text, hunch_error *reterr)
{
    size_t label = 0, labels = json_array_size(t->labels), before = t->n, room = t->n;
    uint32_t document;
    while (label < labels && strcmp(json_string_value(json_array_get(t->labels, label)), topic))
        label++;
    if (label == labels)
        return HUNCH_OK;
    if (!document_read(text, &document))
        return error_set(reterr, HUNCH_EINVAL, "topic %s: '%s' is not a document's number", topic,
                         quote(text, strlen(text)).text);
    if (document >= t->n) {
        if (!array_reserve(&t->of, &room, (size_t)document + 1, 1))
            return error_memory(reterr);
        memset(t->of + before, NONE, room - before);
        t->n = room;
    }
    t->of[document] = t->of[document] == NONE ? (unsigned char)(FIRST_LABEL + label) : SEVERAL;
    return HUNCH_OK;
}

static hunch_status topics_read(struct topics *t, const char *path, hunch_error *reterr)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct stream *stream;
    struct rows rows = {0};
    options.format = STREAM_CSV;
    options.label_column = "3";
    options.columns = (struct schema_options){.ignore = "*", .with = "*", .delimiter = " ", .no_header = true};
    hunch_status status = stream_open(&stream, &path, 1, &options, reterr);
    if (status)
        return status;
    if (names_count(stream_with(stream)) != 3)
        status = error_set(reterr, HUNCH_EINVAL, "%s: lines are not \"TOPIC NUMBER 1\"", path);
    do {
        status = status ? status : stream_next(stream, &rows, reterr);
        for (size_t i = 0; i < rows.n && !status; i++)
            status = topic_add(t, rows_cell(&rows, i, 0), rows_cell(&rows, i, 1), reterr);
    } while (!status && rows.n);
    rows_free(&rows);
    stream_close(stream);
    return status;
}

static hunch_status vector_take(struct sink *s, struct topics *t, const struct rows *rows, size_t row, const char *text,
                                hunch_error *reterr)
{
    uint32_t document;
    if (!document_read(text, &document))
        return error_set(reterr, HUNCH_EINVAL, "'%s' is not a document's number", quote(text, strlen(text)).text);
    unsigned char topic = document < t->n ? t->of[document] : NONE;
    if (topic < FIRST_LABEL) {
        t->left_out++;
        return HUNCH_OK;
    }
    hunch_status status = sink_row(s, json_string_value(json_array_get(t->labels, topic - FIRST_LABEL)), reterr);
    for (int64_t i = rows->start[row]; i < rows->start[row + 1] && !status; i++)
        status = sink_value(s, rows->index[i] + 1, (double)rows->value[i], reterr);
    return status ? status : sink_end(s, reterr);
}

static hunch_status vectors_take(struct sink *s, struct topics *t, const char *path, hunch_error *reterr)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct stream *stream;
    struct rows rows = {0};
    options.format = STREAM_SVMLIGHT;
    options.index_base = 1;
    hunch_status status = stream_open(&stream, &path, 1, &options, reterr);
    if (status)
        return status;
    do {
        status = stream_next(stream, &rows, reterr);
        for (size_t i = 0; i < rows.n && !status; i++)
            status = vector_take(s, t, &rows, i, names_text(stream_labels(stream), rows.label[i], NULL), reterr);
    } while (!status && rows.n);
    rows_free(&rows);
    stream_close(stream);
    return status;
}

hunch_status prepare_topics(struct sink *s, const char *const *from, size_t n, hunch_error *reterr)
{
    struct topics t = {.labels = json_object_get(s->step, "labels")};
    hunch_status status = HUNCH_OK;
    if (n < 2 || !json_array_size(t.labels) || json_array_size(t.labels) > 200)
        return error_set(reterr, HUNCH_EINVAL, "a preparation 'topics' needs labels, a list of topics, and vectors");
    status = topics_read(&t, from[0], reterr);
    for (size_t i = 1; i < n && !status; i++)
        status = vectors_take(s, &t, from[i], reterr);
    snprintf(s->done.what, sizeof s->done.what, "%zu documents without exactly one of the topics are left out",
             t.left_out);
    free(t.of);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* svmlight text to svmlight text: other labels, scaled, binary or normalised values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/error.h"
#include "data/prepare_sink.h"
#include "stream.h"

struct change {
    double multiply, add;
    uint32_t width; /* not 0: also features that are not there, which are 0 */
    bool binary, normalise;
};

static double number_or(const json_t *step, const char *key, double fallback)
{
    const json_t *number = json_object_get(step, key);
    return json_is_number(number) ? json_number_value(number) : fallback;
}

/* The decimal that was written, and not the float nearest to it: 0.1 * 10 is to be 1. */
static double decimal(float value)
{
    char text[NUMBER_TEXT];
    double number = 0;
    number_print_float(value, text);
    number_read(text, &number);
    return number;
}

static double changed(const struct change *c, float value)
{
    double v = c->multiply == 1 && c->add == 0 ? (double)value : decimal(value) * c->multiply + c->add;
    return c->binary ? v > 0 : v;
}

static hunch_status row_take(struct sink *s, const struct change *c, const uint32_t *index, const float *value,
                             size_t n, hunch_error *reterr)
{
    double squares = 0;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; c->normalise && i < n; i++)
        squares += changed(c, value[i]) * changed(c, value[i]);
    double scale = c->normalise && squares > 0 ? 1 / sqrt(squares) : 1;
    size_t at = 0;
    for (uint32_t f = 0; f < c->width && !status; f++) {
        bool there = at < n && index[at] == f;
        status = sink_value(s, f + 1, scale * changed(c, there ? value[at] : 0), reterr);
        at += there;
    }
    for (; at < n && !status; at++)
        status = sink_value(s, index[at] + 1, scale * changed(c, value[at]), reterr);
    return status ? status : sink_end(s, reterr);
}

static hunch_status batch_take(struct sink *s, const struct change *c, const struct rows *b, const struct names *labels,
                               hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < b->n && !status; i++) {
        size_t from = (size_t)b->start[i], n = (size_t)b->start[i + 1] - from;
        if (b->label[i] == STREAM_NO_LABEL)
            return error_set(reterr, HUNCH_EINVAL, "row %zu has no label", i + 1);
        status = sink_row(s, names_text(labels, b->label[i], NULL), reterr);
        if (!status)
            status = row_take(s, c, b->index + from, b->value + from, n, reterr);
    }
    return status;
}

static void expected_name(struct sink *s, const struct change *c)
{
    snprintf(s->done.what, sizeof s->done.what, "%s%s%s%s",
             json_object_get(s->step, "labels") ? "labels numbered from 0; " : "",
             c->multiply != 1 || c->add != 0 ? "values scaled; " : "", c->binary ? "values above 0 became 1; " : "",
             c->normalise ? "rows scaled to length 1; " : "");
    size_t length = strlen(s->done.what);
    if (length)
        s->done.what[length - 2] = '\0';
    else
        snprintf(s->done.what, sizeof s->done.what, "rows as they were");
}

hunch_status prepare_svmlight(struct sink *s, const char *const *from, size_t n, hunch_error *reterr)
{
    const char *normalise = json_string_value(json_object_get(s->step, "normalise"));
    struct change c = {number_or(s->step, "multiply", 1), number_or(s->step, "add", 0),
                       (uint32_t)number_or(s->step, "width", 0), json_is_true(json_object_get(s->step, "binary")),
                       normalise && !strcmp(normalise, "l2")};
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct rows batch = {0};
    struct stream *stream;
    options.format = STREAM_SVMLIGHT;
    options.index_base = 1;
    hunch_status status = stream_open(&stream, from, n, &options, reterr);
    if (status)
        return status;
    do {
        status = stream_next(stream, &batch, reterr);
        if (!status)
            status = batch_take(s, &c, &batch, stream_labels(stream), reterr);
    } while (!status && batch.n);
    rows_free(&batch);
    stream_close(stream);
    expected_name(s, &c);
    return status;
}

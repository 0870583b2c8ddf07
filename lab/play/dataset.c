/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/dataset.h"

#include <stdlib.h>

#include "base/error.h"

static hunch_status rows_take(struct dataset *d, const struct rows *rows, hunch_error *reterr)
{
    if (d->rows.n + rows->n >= UINT32_MAX)
        return error_set(reterr, HUNCH_ELIMIT, "more than %u rows do not fit in memory at once", UINT32_MAX);
    d->width = rows->width;
    return rows_append(&d->rows, rows, reterr);
}

static hunch_status stream_read(struct dataset *d, struct stream *stream, const atomic_bool *stop,
                                dataset_progress progress, void *context, hunch_error *reterr)
{
    struct pipeline_options reading = {0};
    struct pipeline *pipeline;
    struct rows *rows;
    hunch_status status = pipeline_start(&pipeline, stream, &reading, reterr);
    if (status)
        return status;
    while (!(stop && atomic_load(stop)) && !(status = pipeline_next(pipeline, &rows, reterr)) && rows) {
        status = rows_take(d, rows, reterr);
        if (progress)
            progress(context, d->rows.n, rows->bytes, stream_bytes_total(stream));
        pipeline_return(pipeline, rows);
        if (status)
            break;
    }
    pipeline_stop(pipeline);
    return status;
}

/* The numbers that the labels get by their order. */
static hunch_status labels_sort(struct dataset *d, struct stream *stream, hunch_error *reterr)
{
    uint32_t *number;
    hunch_status status = stream_sort_labels(stream, &number, reterr);
    if (status)
        return status;
    for (size_t i = 0; number && i < d->rows.n; i++)
        d->rows.label[i] = number[d->rows.label[i]];
    free(number);
    d->classes = names_count(stream_labels(stream));
    return HUNCH_OK;
}

hunch_status dataset_read(struct dataset *ret, struct stream *stream, const atomic_bool *stop,
                          dataset_progress progress, void *context, hunch_error *reterr)
{
    struct dataset d = {0};
    hunch_status status = stream_read(&d, stream, stop, progress, context, reterr);
    if (!status && !d.rows.n && !(stop && atomic_load(stop)))
        status = error_set(reterr, HUNCH_EINVAL, "the input has no usable rows");
    if (!status)
        status = labels_sort(&d, stream, reterr);
    if (status)
        dataset_free(&d);
    else
        *ret = d;
    return status;
}

void dataset_free(struct dataset *data)
{
    rows_free(&data->rows);
    *data = (struct dataset){0};
}

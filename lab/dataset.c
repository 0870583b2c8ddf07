/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataset.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

static bool grow(void *pointer, size_t count, size_t size)
{
    void *old, *grown;
    if (count > SIZE_MAX / 2 / size)
        return false;
    memcpy(&old, pointer, sizeof old);
    grown = realloc(old, count * size);
    if (grown)
        memcpy(pointer, &grown, sizeof grown);
    return grown;
}

static size_t room_for(size_t room, size_t need)
{
    return room + room / 2 > need ? room + room / 2 : need;
}

static bool dataset_reserve(struct dataset *d, size_t rows, size_t values)
{
    if (rows > d->rows_room || !d->start) {
        size_t room = room_for(d->rows_room, rows);
        if (!grow(&d->start, room + 1, sizeof *d->start) || !grow(&d->label, room + 1, sizeof *d->label))
            return false;
        d->rows_room = room;
        d->start[0] = 0;
    }
    if (values > d->values_room || !d->index) {
        size_t room = room_for(d->values_room, values);
        if (!grow(&d->index, room + 1, sizeof *d->index) || !grow(&d->value, room + 1, sizeof *d->value))
            return false;
        d->values_room = room;
    }
    return true;
}

static hunch_status dataset_append(struct dataset *d, const struct block *b, hunch_error *reterr)
{
    size_t rows = d->block.rows;
    int64_t begin = b->start[0], values = b->start[b->rows] - begin, at = rows ? d->start[rows] : 0;
    if (rows + b->rows >= UINT32_MAX)
        return fail_with(reterr, HUNCH_ELIMIT, "more than %u rows do not fit in memory at once", UINT32_MAX);
    if (!dataset_reserve(d, rows + b->rows, (size_t)(at + values)))
        return fail_memory(reterr);
    memcpy(d->label + rows, b->label, b->rows * sizeof *d->label);
    memcpy(d->index + at, b->index + begin, (size_t)values * sizeof *d->index);
    memcpy(d->value + at, b->value + begin, (size_t)values * sizeof *d->value);
    for (size_t i = 0; i < b->rows; i++)
        d->start[rows + i + 1] = b->start[i + 1] - begin + at;
    d->block.columns = !rows || d->block.columns == b->columns ? b->columns : 0;
    d->block.rows = rows + b->rows;
    return HUNCH_OK;
}

/* The numbers that the labels get by their order; the piece is only a view of ours. */
static void labels_renumber(struct dataset *d, const struct source *source)
{
    struct piece view = {.block = {.rows = d->block.rows}, .label = d->label};
    source_renumber(source, &view);
}

static hunch_status pieces_read(struct dataset *d, struct source *source, const atomic_bool *stop,
                                dataset_progress progress, void *context, hunch_error *reterr)
{
    struct piece piece = {0};
    hunch_status status = HUNCH_OK;
    while (!status && !(stop && atomic_load(stop))) {
        status = source_read(source, &piece, reterr);
        if (!status)
            status = source_accept(source, &piece, reterr);
        if (status || piece.batch.rows == 0)
            break;
        if (piece.block.rows)
            status = dataset_append(d, &piece.block, reterr);
        if (progress)
            progress(context, d->block.rows, piece.bytes_read, source_bytes_total(source));
    }
    piece_free(&piece);
    return status;
}

hunch_status dataset_read(struct dataset *ret, struct source *source, const atomic_bool *stop,
                          dataset_progress progress, void *context, hunch_error *reterr)
{
    struct dataset d = {0};
    hunch_status status = dataset_reserve(&d, 0, 0) ? HUNCH_OK : fail_memory(reterr);
    if (!status)
        status = pieces_read(&d, source, stop, progress, context, reterr);
    if (!status && !d.block.rows && !(stop && atomic_load(stop)))
        status = fail_with(reterr, HUNCH_EINVAL, "no row of the input could be used");
    if (!status)
        status = source_rank(source, reterr);
    if (status) {
        dataset_free(&d);
        return status;
    }
    labels_renumber(&d, source);
    d.classes = names_count(source_labels(source));
    d.width = source_width(source);
    d.block = (struct block){d.block.rows, d.start, d.index, d.value, d.label, d.block.columns};
    *ret = d;
    return HUNCH_OK;
}

void dataset_free(struct dataset *data)
{
    free(data->start);
    free(data->index);
    free(data->label);
    free(data->value);
    *data = (struct dataset){0};
}

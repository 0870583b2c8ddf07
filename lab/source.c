/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

struct source {
    struct stream *stream;
    pthread_mutex_t mutex;           /* of the labels, for source_label */
    struct names *labels, *features; /* in the order of their numbers; ours, so that no reading thread changes them */
    uint32_t *number;                /* of each of the stream's labels; NULL: the same */
    uint32_t numbers;                /* how many it holds; later ones are the same */
    uint32_t width, max_features;
    bool skip_bad_rows, known, described;
    uint32_t file; /* the one that rows are counted in */
    uint64_t file_rows, skipped, stream_skipped;
    int base;
};

hunch_status source_open(struct source **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         uint32_t max_features, hunch_error *reterr)
{
    struct source *s = calloc(1, sizeof *s);
    if (!s)
        return fail_memory(reterr);
    pthread_mutex_init(&s->mutex, NULL);
    s->max_features = max_features ? max_features : HUNCH_MAX_FEATURES;
    s->skip_bad_rows = options->skip_bad_rows;
    s->known = options->labels;
    hunch_status status = stream_open(&s->stream, paths, n, options, reterr);
    if (status)
        goto fail;
    const struct names *features = stream_features(s->stream);
    s->labels = names_copy(stream_labels(s->stream));
    s->features = features ? names_copy(features) : NULL;
    s->base = stream_index_base(s->stream);
    uint64_t width = stream_width(s->stream);
    s->described = width > 0;
    s->width = width < s->max_features ? (uint32_t)width : s->max_features;
    if (!s->labels || (features && !s->features)) {
        status = fail_memory(reterr);
        goto fail;
    }
    *ret = s;
    return HUNCH_OK;
fail:
    source_close(s);
    return status;
}

void source_close(struct source *s)
{
    if (!s)
        return;
    stream_close(s->stream);
    names_free(s->labels);
    names_free(s->features);
    free(s->number);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

void piece_free(struct piece *piece)
{
    stream_batch_free(&piece->batch);
    gather_free(&piece->kept);
    free(piece->label);
    *piece = (struct piece){0};
}

hunch_status source_read(struct source *s, struct piece *piece, hunch_error *reterr)
{
    piece->block.rows = 0;
    return stream_next(s->stream, &piece->batch, reterr);
}

/* Copies of the names that are new; ours are as many as the stream's, in another order at most. */
static hunch_status names_follow(struct names *ours, const struct names *theirs, hunch_error *reterr)
{
    for (uint32_t i = names_count(ours); i < names_count(theirs); i++) {
        size_t length;
        const char *text = names_text(theirs, i, &length);
        if (names_add(ours, text, length) == NAMES_NONE)
            return fail_memory(reterr);
    }
    return HUNCH_OK;
}

/* The row's largest feature index + 1. */
static uint64_t row_width(const struct stream_batch *batch, size_t row)
{
    int64_t end = batch->start[row + 1];
    return end > batch->start[row] ? (uint64_t)batch->index[end - 1] + 1 : 0;
}

static bool row_is_good(const struct source *s, const struct stream_batch *batch, size_t row)
{
    return batch->label[row] != STREAM_NO_LABEL && row_width(batch, row) <= s->max_features;
}

static hunch_status row_refuse(const struct source *s, const struct stream_batch *batch, size_t row,
                               hunch_error *reterr)
{
    char where[32], what[96];
    if (batch->line)
        snprintf(where, sizeof where, "%llu", (unsigned long long)batch->line[row]);
    else
        snprintf(where, sizeof where, "row %llu", (unsigned long long)(s->file_rows + row + 1));
    if (batch->label[row] == STREAM_NO_LABEL)
        snprintf(what, sizeof what, "the row has no label");
    else
        snprintf(what, sizeof what, "feature %llu is beyond the limit of %u features",
                 (unsigned long long)row_width(batch, row) - (s->base == 0), s->max_features);
    return fail_with(reterr, HUNCH_EINVAL, "%s:%s: %s", stream_path(s->stream, batch->file), where, what);
}

static bool labels_reserve(struct piece *piece, size_t rows)
{
    if (rows <= piece->label_room && piece->label)
        return true;
    uint32_t *label = malloc((rows + 1) * sizeof *label);
    if (!label)
        return false;
    free(piece->label);
    piece->label = label;
    piece->label_room = rows;
    return true;
}

/* The good rows alone; their numbers pass through the label buffer. */
static hunch_status rows_keep(struct source *s, struct piece *piece, hunch_error *reterr)
{
    const struct stream_batch *batch = &piece->batch;
    struct block all = {batch->rows, batch->start, batch->index, batch->value, batch->label, batch->columns};
    size_t kept = 0;
    for (size_t i = 0; i < batch->rows; i++)
        if (row_is_good(s, batch, i))
            piece->label[kept++] = (uint32_t)i;
    if (!gather_rows(&piece->kept, &all, piece->label, kept))
        return fail_memory(reterr);
    s->skipped += batch->rows - kept;
    piece->block = piece->kept.block;
    return HUNCH_OK;
}

static hunch_status rows_check(struct source *s, struct piece *piece, hunch_error *reterr)
{
    const struct stream_batch *batch = &piece->batch;
    bool all_good = true;
    for (size_t i = 0; i < batch->rows; i++) {
        bool good = row_is_good(s, batch, i);
        if (!good && !s->skip_bad_rows)
            return row_refuse(s, batch, i, reterr);
        all_good = all_good && good;
        if (good && row_width(batch, i) > s->width)
            s->width = (uint32_t)row_width(batch, i);
    }
    if (!all_good)
        return rows_keep(s, piece, reterr);
    piece->block = (struct block){batch->rows, batch->start, batch->index, batch->value, batch->label, batch->columns};
    return HUNCH_OK;
}

static void rows_count(struct source *s, const struct stream_batch *batch)
{
    if (batch->file != s->file)
        s->file_rows = 0;
    s->file = batch->file;
}

hunch_status source_accept(struct source *s, struct piece *piece, hunch_error *reterr)
{
    rows_count(s, &piece->batch);
    if (!labels_reserve(piece, piece->batch.rows))
        return fail_memory(reterr);
    hunch_status status = rows_check(s, piece, reterr);
    pthread_mutex_lock(&s->mutex);
    if (!status)
        status = names_follow(s->labels, stream_labels(s->stream), reterr);
    pthread_mutex_unlock(&s->mutex);
    if (!status && s->features)
        status = names_follow(s->features, stream_features(s->stream), reterr);
    if (status)
        return status;
    for (size_t i = 0; i < piece->block.rows; i++)
        piece->label[i] = piece->block.label[i];
    piece->block.label = piece->label;
    source_renumber(s, piece);
    s->file_rows += piece->batch.rows;
    s->base = stream_index_base(s->stream);
    s->stream_skipped = stream_skipped(s->stream);
    piece->classes = names_count(s->labels);
    piece->bytes_read = stream_bytes_read(s->stream);
    return HUNCH_OK;
}

/* --- the labels' order --- */

static bool is_number(const char *text)
{
    char *end;
    if (isspace((unsigned char)*text))
        return false;
    return isfinite(strtod(text, &end)) && end != text && !*end;
}

struct ranked {
    const char *text;
    uint32_t was;
    double number;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return strcmp(left->text, right->text);
}

/* false: the labels are not all numbers, or are in order. */
static bool rank_make(const struct names *names, struct ranked *ranked)
{
    uint32_t n = names_count(names);
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = names_text(names, i, NULL);
        if (!is_number(text))
            return false;
        ranked[i] = (struct ranked){text, i, strtod(text, NULL)};
        sorted = sorted && (!i || ranked_compare(&ranked[i - 1], &ranked[i]) < 0);
    }
    if (!sorted)
        qsort(ranked, n, sizeof *ranked, ranked_compare);
    return !sorted;
}

static bool rank_take(struct source *s, const struct ranked *ranked, uint32_t n)
{
    struct names *labels = names_new();
    uint32_t *number = malloc((n + (size_t)1) * sizeof *number);
    for (uint32_t i = 0; labels && number && i < n; i++) {
        number[ranked[i].was] = i;
        if (names_add(labels, ranked[i].text, strlen(ranked[i].text)) == NAMES_NONE) {
            names_free(labels);
            labels = NULL;
        }
    }
    if (!labels || !number) {
        names_free(labels);
        free(number);
        return false;
    }
    names_free(s->labels);
    s->labels = labels;
    s->number = number;
    s->numbers = n;
    return true;
}

hunch_status source_rank(struct source *s, hunch_error *reterr)
{
    uint32_t n = names_count(s->labels);
    if (s->known)
        return HUNCH_OK;
    s->known = true;
    struct ranked *ranked = malloc((n + (size_t)1) * sizeof *ranked);
    if (!ranked)
        return fail_memory(reterr);
    bool taken = !rank_make(s->labels, ranked) || rank_take(s, ranked, n);
    free(ranked);
    return taken ? HUNCH_OK : fail_memory(reterr);
}

void source_renumber(const struct source *s, struct piece *piece)
{
    for (size_t i = 0; s->number && i < piece->block.rows; i++)
        if (piece->label[i] < s->numbers)
            piece->label[i] = s->number[piece->label[i]];
}

/* --- what is known --- */

const struct names *source_labels(const struct source *s)
{
    return s->labels;
}

char *source_label(struct source *s, uint32_t i)
{
    pthread_mutex_lock(&s->mutex);
    char *copy = i < names_count(s->labels) ? strdup(names_text(s->labels, i, NULL)) : NULL;
    pthread_mutex_unlock(&s->mutex);
    return copy;
}

const struct names *source_features(const struct source *s)
{
    return s->features;
}

uint32_t source_width(const struct source *s)
{
    return s->width;
}

bool source_is_described(const struct source *s)
{
    return s->described;
}

int source_index_base(const struct source *s)
{
    return s->base;
}

uint64_t source_skipped(const struct source *s)
{
    return s->skipped + s->stream_skipped;
}

uint64_t source_bytes_total(const struct source *s)
{
    return stream_bytes_total(s->stream);
}

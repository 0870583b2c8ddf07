/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consuming side of a stream. The producer reads and parses, maybe in its own thread and then a few batches ahead.
 * Nothing is shared between the two but what a parcel carries: a batch and the names that it is the first to use, so
 * the tables of names that callers see change only while they call.
 */
#include "stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "fail.h"
#include "producer.h"
#include "queue.h"

#define THREAD_BYTES ((uint64_t)1 << 20) /* below this, starting a thread costs more than it saves */
#define PARCELS 4

/* Names with their NULs, in order. */
struct news {
    char *text;
    size_t size, capacity;
};

struct parcel {
    struct stream_batch batch;
    struct news labels, features;
    uint64_t skipped;
    hunch_status status;
    hunch_error error;
};

struct stream {
    struct stream_options options;
    char **paths;
    size_t n;
    uint64_t total;
    struct names *labels, *features;
    int base;
    uint64_t width; /* told by the header; or 0 */
    uint64_t skipped;
    bool ended;
    hunch_status status; /* of the failure that ended the stream */
    hunch_error error;
    struct producer producer;
    uint32_t labels_told, features_told; /* the producer's count of names that have been handed over */
    bool threaded;
    pthread_t thread;
    struct queue full, empty;
    struct parcel parcels[PARCELS];
};

static hunch_status news_collect(const struct names *names, uint32_t *told, struct news *news, hunch_error *reterr)
{
    news->size = 0;
    if (!names || names_count(names) == *told)
        return HUNCH_OK;
    size_t all;
    const char *block = names_block(names, &all), *first = names_text(names, *told, NULL);
    size_t size = all - (size_t)(first - block);
    if (size > news->capacity) {
        char *text = realloc(news->text, size);
        if (!text)
            return fail_memory(reterr);
        news->text = text;
        news->capacity = size;
    }
    memcpy(news->text, first, size);
    news->size = size;
    *told = names_count(names);
    return HUNCH_OK;
}

static hunch_status news_add(struct names *names, const struct news *news, hunch_error *reterr)
{
    for (size_t at = 0; at < news->size;) {
        size_t length = strlen(news->text + at);
        if (names_add(names, news->text + at, length) == NAMES_NONE)
            return fail_memory(reterr);
        at += length + 1;
    }
    return HUNCH_OK;
}

static void parcel_fill(struct stream *s, struct parcel *parcel)
{
    parcel->status = producer_fill(&s->producer, &parcel->batch, &parcel->error);
    if (!parcel->status)
        parcel->status = news_collect(s->producer.parser.labels, &s->labels_told, &parcel->labels, &parcel->error);
    if (!parcel->status)
        parcel->status =
            news_collect(s->producer.parser.features, &s->features_told, &parcel->features, &parcel->error);
    parcel->skipped = s->producer.parser.skipped;
}

static void *produce(void *context)
{
    struct stream *s = context;
    struct parcel *parcel;
    while ((parcel = queue_pop(&s->empty))) {
        parcel_fill(s, parcel);
        bool more = !parcel->status && parcel->batch.rows > 0;
        if (!queue_push(&s->full, parcel) || !more)
            break;
    }
    return NULL;
}

static hunch_status thread_start(struct stream *s, hunch_error *reterr)
{
    if (!queue_init(&s->full, PARCELS))
        return fail_memory(reterr);
    if (!queue_init(&s->empty, PARCELS)) {
        queue_destroy(&s->full);
        return fail_memory(reterr);
    }
    for (int i = 0; i < PARCELS; i++)
        queue_push(&s->empty, &s->parcels[i]);
    s->threaded = pthread_create(&s->thread, NULL, produce, s) == 0;
    if (s->threaded)
        return HUNCH_OK;
    queue_destroy(&s->full);
    queue_destroy(&s->empty);
    return HUNCH_OK; /* reading without a thread gives the same rows */
}

static bool threads_pay(const struct stream *s)
{
    if (s->options.threads == STREAM_THREADS_NONE || s->options.threads == STREAM_THREADS_ALWAYS)
        return s->options.threads == STREAM_THREADS_ALWAYS;
    return (s->total == 0 || s->total >= THREAD_BYTES) && sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

static hunch_status paths_take(struct stream *s, const char *const *paths, size_t n, hunch_error *reterr)
{
    bool known = true;
    s->paths = calloc(n, sizeof *s->paths);
    if (!s->paths)
        return fail_memory(reterr);
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        s->paths[i] = strdup(paths[i]);
        if (!s->paths[i])
            return fail_memory(reterr);
        hunch_status status = input_size(paths[i], &size, reterr);
        if (status)
            return status;
        known = known && size > 0;
        s->total += size;
    }
    if (!known)
        s->total = 0;
    return HUNCH_OK;
}

hunch_status stream_open(struct stream **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         hunch_error *reterr)
{
    if (n == 0 || n > UINT32_MAX)
        return fail_with(reterr, HUNCH_EINVAL, "no input files");
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return fail_memory(reterr);
    s->options = options ? *options : (struct stream_options)STREAM_OPTIONS_INIT;
    hunch_status status = paths_take(s, paths, n, reterr);
    if (status)
        goto fail;
    bool threads = threads_pay(s);
    status = producer_init(&s->producer, &s->options, s->paths, n, threads, reterr);
    if (status)
        goto fail;
    s->base = s->producer.parser.base;
    s->width = n == 1 && s->producer.cache ? cache_width(s->producer.cache) : 0;
    s->labels_told = s->options.labels ? names_count(s->options.labels) : 0;
    s->labels = s->options.labels ? names_copy(s->options.labels) : names_new();
    if (producer_is_named(&s->producer)) {
        s->features_told = s->options.features ? names_count(s->options.features) : 0;
        s->features = s->options.features ? names_copy(s->options.features) : names_new();
    }
    s->options.labels = s->options.features = NULL; /* the caller may free them now */
    if (!s->labels || (producer_is_named(&s->producer) && !s->features))
        status = fail_memory(reterr);
    if (!status && threads && s->options.threads != STREAM_THREADS_INPUT)
        status = thread_start(s, reterr);
    if (status)
        goto fail;
    *ret = s;
    return HUNCH_OK;
fail:
    stream_close(s);
    return status;
}

static hunch_status parcel_take(struct stream *s, struct parcel *parcel, struct stream_batch *batch)
{
    hunch_status status = parcel->status;
    s->skipped = parcel->skipped;
    if (status)
        s->error = parcel->error;
    else
        status = news_add(s->labels, &parcel->labels, &s->error);
    if (!status && s->features)
        status = news_add(s->features, &parcel->features, &s->error);
    if (!status) {
        /* the caller's old buffers go back to be filled again */
        struct stream_batch old = *batch;
        *batch = parcel->batch;
        parcel->batch = old;
    }
    s->status = status;
    s->ended = status || batch->rows == 0;
    return status;
}

hunch_status stream_next(struct stream *s, struct stream_batch *batch, hunch_error *reterr)
{
    if (!s->ended) {
        struct parcel *parcel = &s->parcels[0];
        if (s->threaded)
            parcel = queue_pop(&s->full);
        else
            parcel_fill(s, parcel);
        parcel_take(s, parcel, batch);
        if (s->threaded)
            queue_push(&s->empty, parcel);
    } else {
        batch_clear(batch);
    }
    if (!s->status)
        return HUNCH_OK;
    batch_clear(batch);
    return fail_with(reterr, s->status, "%s", s->error.message);
}

void stream_close(struct stream *s)
{
    if (!s)
        return;
    if (s->threaded) {
        queue_close(&s->full);
        queue_close(&s->empty);
        pthread_join(s->thread, NULL);
        queue_destroy(&s->full);
        queue_destroy(&s->empty);
    }
    for (int i = 0; i < PARCELS; i++) {
        stream_batch_free(&s->parcels[i].batch);
        free(s->parcels[i].labels.text);
        free(s->parcels[i].features.text);
    }
    producer_free(&s->producer);
    for (size_t i = 0; s->paths && i < s->n; i++)
        free(s->paths[i]);
    free(s->paths);
    names_free(s->labels);
    names_free(s->features);
    free(s);
}

const struct names *stream_labels(const struct stream *s)
{
    return s->labels;
}

const struct names *stream_features(const struct stream *s)
{
    return s->features;
}

uint64_t stream_width(const struct stream *s)
{
    return s->width;
}

int stream_index_base(const struct stream *s)
{
    return s->base;
}

uint64_t stream_skipped(const struct stream *s)
{
    return s->skipped;
}

uint64_t stream_bytes_read(const struct stream *s)
{
    return atomic_load_explicit(&s->producer.bytes, memory_order_relaxed);
}

uint64_t stream_bytes_total(const struct stream *s)
{
    return s->total;
}

const char *stream_path(const struct stream *s, uint32_t file)
{
    return file < s->n ? input_name(s->paths[file]) : "?";
}

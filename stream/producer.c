/* SPDX-License-Identifier: BSD-3-Clause */
#include "producer.h"

#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "detect.h"
#include "fail.h"

#define BATCH_BYTES ((size_t)1 << 18)

static void bytes_count(struct producer *p)
{
    uint64_t bytes = p->cache ? cache_bytes(p->cache) : p->input ? input_bytes(p->input) : 0;
    atomic_store_explicit(&p->bytes, p->done_bytes + bytes, memory_order_relaxed);
}

static void file_close(struct producer *p)
{
    bytes_count(p);
    p->done_bytes = atomic_load_explicit(&p->bytes, memory_order_relaxed);
    if (p->parser.format && p->parser.format->end)
        p->parser.format->end(&p->parser);
    p->parser.format = NULL;
    p->parser.state = NULL;
    lines_free(&p->lines);
    input_close(p->input);
    p->input = NULL;
    p->cache = NULL;
    free(p->label_map);
    free(p->feature_map);
    p->label_map = p->feature_map = NULL;
    p->open = false;
}

/* What number each of the cache's names has in this stream; NULL when it is the same. */
static hunch_status map_make(struct parser *parser, const struct names *from, bool labels, uint32_t **ret,
                             hunch_error *reterr)
{
    uint32_t count = names_count(from);
    bool same = true;
    uint32_t *map = malloc((count + 1) * sizeof *map);
    if (!map)
        return fail_memory(reterr);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *text = names_text(from, i, &length);
        hunch_status status = labels ? parser_label(parser, text, length, 0, &map[i], reterr)
                                     : parser_feature(parser, text, length, 0, &map[i], reterr);
        if (status) {
            free(map);
            return status;
        }
        same = same && map[i] == i;
    }
    if (same) {
        free(map);
        map = NULL;
    }
    *ret = map;
    return HUNCH_OK;
}

static hunch_status named_check(struct producer *p, bool named, hunch_error *reterr)
{
    if (p->file > 0 && named != (p->parser.features != NULL))
        return fail_with(reterr, HUNCH_EINVAL, "%s: its features have %s, unlike those of %s", p->parser.path,
                         named ? "names" : "numbers", input_name(p->paths[0]));
    if (named && !p->parser.features) {
        p->parser.features = p->options->features ? names_copy(p->options->features) : names_new();
        if (!p->parser.features)
            return fail_memory(reterr);
    }
    return HUNCH_OK;
}

static hunch_status cache_begin(struct producer *p, hunch_error *reterr)
{
    hunch_status status;
    input_close(p->input);
    p->input = NULL;
    if (strcmp(p->paths[p->file], "-") == 0)
        return fail_with(reterr, HUNCH_EINVAL, "a cache cannot be read from standard input");
    status = cache_open(&p->caches[p->file], p->paths[p->file], reterr);
    if (status)
        return status;
    p->cache = p->caches[p->file];
    cache_keep_behind(p->cache, p->options->behind_bytes);
    const struct names *features = cache_features(p->cache);
    status = named_check(p, features, reterr);
    if (!status)
        status = map_make(&p->parser, cache_labels(p->cache), true, &p->label_map, reterr);
    if (!status && features)
        status = map_make(&p->parser, features, false, &p->feature_map, reterr);
    if (p->parser.base < 0)
        p->parser.base = cache_index_base(p->cache);
    return status;
}

/* What a format learns from the first block must not depend on how its bytes arrive. With nothing to be learned there,
 * whoever writes a line into a pipe is answered at once. */
static bool block_is_needed(const struct producer *p, enum stream_format format)
{
    bool based = p->parser.base >= 0 || p->options->index_base >= 0;
    return format == STREAM_CSV || format == STREAM_TSV || (format == STREAM_SVMLIGHT && !based);
}

static hunch_status text_begin(struct producer *p, hunch_error *reterr)
{
    enum stream_format format = p->options->format;
    hunch_status status = lines_begin(&p->lines, p->input, p->parser.path, reterr);
    if (status)
        return status;
    if (p->lines.end == 0)
        return fail_with(reterr, HUNCH_EINVAL, "%s: the file is empty", p->parser.path);
    if (format == STREAM_CACHE)
        return fail_with(reterr, HUNCH_EINVAL, "%s: is not a cache", p->parser.path);
    if (format == STREAM_AUTO)
        format = detect_by_name(p->paths[p->file]);
    if (format == STREAM_AUTO)
        format = detect_by_text(p->lines.buffer, p->lines.end);
    const struct format *f = detect_format(format);
    status = named_check(p, f->named, reterr);
    if (status)
        return status;
    if (block_is_needed(p, format))
        status = lines_fill(&p->lines, reterr);
    if (status)
        return status;
    p->parser.format = f;
    p->parser.line = 1;
    const char *text = p->lines.buffer, *newline = memrchr(text, '\n', p->lines.end);
    return f->begin ? f->begin(&p->parser, text, (size_t)(newline - text) + 1, p->lines.ended, reterr) : HUNCH_OK;
}

static hunch_status file_open(struct producer *p, hunch_error *reterr)
{
    const char *path = p->paths[p->file];
    const unsigned char *head;
    p->parser.path = input_name(path);
    p->file_rows = 0;
    p->skipped_before = p->parser.skipped;
    hunch_status status = input_open(&p->input, path, p->threaded, reterr);
    if (status)
        return status;
    p->open = true;
    size_t size = input_peek(p->input, &head);
    bool cache = !input_is_compressed(p->input) && size >= 6 && memcmp(head, CACHE_MAGIC, 6) == 0 &&
                 (p->options->format == STREAM_AUTO || p->options->format == STREAM_CACHE);
    return cache ? cache_begin(p, reterr) : text_begin(p, reterr);
}

hunch_status producer_init(struct producer *p, const struct stream_options *options, char *const *paths, size_t n,
                           bool threaded, hunch_error *reterr)
{
    p->options = options;
    p->paths = paths;
    p->n = n;
    p->threaded = threaded;
    p->parser.options = options;
    p->parser.base = -1;
    p->parser.labels = options->labels ? names_copy(options->labels) : names_new();
    p->caches = calloc(n, sizeof *p->caches);
    if (!p->parser.labels || !p->caches)
        return fail_memory(reterr);
    return file_open(p, reterr);
}

/* A record that goes on beyond the window asks for a larger one. */
static hunch_status text_fill(struct producer *p, struct stream_batch *batch, bool *ret_last, hunch_error *reterr)
{
    size_t target = p->options->batch_bytes ? p->options->batch_bytes : BATCH_BYTES;
    for (;;) {
        const char *text;
        size_t size, used;
        hunch_status status = lines_window(&p->lines, target, &text, &size, ret_last, reterr);
        if (status || size == 0) {
            *ret_last = true;
            return status;
        }
        status = p->parser.format->parse(&p->parser, text, size, *ret_last, batch, &used, reterr);
        if (status)
            return status;
        lines_use(&p->lines, used);
        if (used > 0)
            return HUNCH_OK;
        target = 2 * (size > target ? size : target);
    }
}

hunch_status producer_fill(struct producer *p, struct stream_batch *batch, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    batch_clear(batch);
    while (!status && batch->rows == 0) {
        bool last = false;
        if (!p->open) {
            if (p->file == p->n)
                return HUNCH_OK;
            status = file_open(p, reterr);
            continue;
        }
        if (p->cache) {
            status = cache_read(p->cache, p->label_map, p->feature_map, batch, reterr);
            last = batch->rows == 0;
        } else {
            status = text_fill(p, batch, &last, reterr);
            batch_measure(batch);
        }
        if (status)
            break;
        p->file_rows += batch->rows;
        batch->file = (uint32_t)p->file;
        bytes_count(p);
        if (!last)
            continue;
        if (p->file_rows == 0 && p->parser.skipped == p->skipped_before)
            return fail_with(reterr, HUNCH_EINVAL, "%s: there are no examples in it", p->parser.path);
        file_close(p);
        p->file++;
    }
    return status;
}

void producer_free(struct producer *p)
{
    file_close(p);
    for (size_t i = 0; p->caches && i < p->n; i++)
        cache_close(p->caches[i]);
    free(p->caches);
    names_free(p->parser.labels);
    names_free(p->parser.features);
}

bool producer_is_named(const struct producer *p)
{
    return p->parser.features;
}

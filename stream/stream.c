/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the files in turn, has their formats parse them, and checks and counts the rows. */
#include "stream.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/pool.h"
#include "cache/cache.h"
#include "format/detect.h"
#include "base/error.h"
#include "bytes/input.h"
#include "bytes/lines.h"
#include "table/parser.h"
#include "stream_private.h"
#include "stream_state.h"

#define ROWS_BYTES ((size_t)1 << 18)     /* of text that make the rows of one call */
#define AHEAD_BYTES ((size_t)64 << 20)   /* of rows, to find the labels in, */
#define AHEAD_MIN ((size_t)8 << 20)      /* or as many if no label is new in the last three quarters */
#define THREAD_BYTES ((uint64_t)1 << 20) /* below this, a thread for decompression costs more than it saves */

/* --- waiting for input --- */

/* Whoever reads says when it may have to wait. While it does, another thread may take the stream away from it for
 * good: what has been read is then the other one's, and the reader does not come back. */
enum { GATE_OPEN, GATE_WAITING, GATE_ABANDONED };

static void input_enter(struct stream *s)
{
    int open = GATE_OPEN;
    atomic_compare_exchange_strong(&s->gate, &open, GATE_WAITING);
}

static void input_leave(struct stream *s)
{
    int waiting = GATE_WAITING;
    if (!atomic_compare_exchange_strong(&s->gate, &waiting, GATE_OPEN))
        for (;;)
            pause();
}

bool stream_abandon(struct stream *s)
{
    int waiting = GATE_WAITING;
    return s->total == 0 && atomic_compare_exchange_strong(&s->gate, &waiting, GATE_ABANDONED);
}

/* --- files --- */

static void bytes_count(struct stream *s)
{
    uint64_t bytes = s->cache ? cache_bytes(s->cache) : s->input ? input_bytes(s->input) : 0;
    atomic_store_explicit(&s->bytes, s->done_bytes + bytes, memory_order_relaxed);
}

static void file_close(struct stream *s)
{
    bytes_count(s);
    s->done_bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    if (s->parser.format && s->parser.format->end)
        s->parser.format->end(&s->parser);
    s->parser.format = NULL;
    s->parser.state = NULL;
    lines_free(&s->lines);
    input_close(s->input);
    s->input = NULL;
    s->cache = NULL;
    free(s->label_map);
    free(s->feature_map);
    s->label_map = s->feature_map = NULL;
    s->open = false;
}

/* What number each of the cache's names has in this stream; NULL when it is the same. */
static hunch_status map_make(struct parser *parser, const struct names *from, bool labels, uint32_t **ret,
                             hunch_error *reterr)
{
    uint32_t count = names_count(from);
    bool same = true;
    uint32_t *map = malloc((count + (size_t)1) * sizeof *map);
    if (!map)
        return error_memory(reterr);
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

hunch_status stream_map_labels(struct stream *s, hunch_error *reterr)
{
    free(s->label_map);
    s->label_map = NULL;
    return s->cache ? map_make(&s->parser, cache_labels(s->cache), true, &s->label_map, reterr) : HUNCH_OK;
}

static hunch_status named_check(struct stream *s, bool named, hunch_error *reterr)
{
    struct parser *p = &s->parser;
    const struct stream_options *o = &s->options;
    if (s->file > 0 && named != s->named)
        return error_set(reterr, HUNCH_EINVAL, "%s: its features have %s, unlike those of %s", p->path,
                         named ? "names" : "numbers", input_name(s->paths[0]));
    bool hashed = o->hash_bits || o->columns.hash_bits || (o->schema && o->schema->hash_bits);
    if (!named && (o->features || hashed))
        return error_set(reterr, HUNCH_EINVAL, "%s: it has numbered features, but the model was trained on named ones",
                         p->path);
    s->named = named;
    if (named && !p->features && !hashed && !o->numbered) {
        p->features = s->options.features ? names_copy(s->options.features) : names_new();
        if (!p->features)
            return error_memory(reterr);
    }
    return HUNCH_OK;
}

static hunch_status cache_begin(struct stream *s, hunch_error *reterr)
{
    input_close(s->input);
    s->input = NULL;
    if (s->options.log)
        return error_set(reterr, HUNCH_EINVAL, "%s: a cache is not a log of rounds", s->parser.path);
    if (strcmp(s->paths[s->file], "-") == 0)
        return error_set(reterr, HUNCH_EINVAL, "a cache cannot be read from standard input");
    hunch_status status = cache_open(&s->caches[s->file], s->paths[s->file], reterr);
    if (status)
        return status;
    s->cache = s->caches[s->file];
    cache_keep_behind(s->cache, s->options.behind_bytes);
    const struct names *features = cache_features(s->cache);
    status = named_check(s, features, reterr);
    if (!status)
        status = stream_map_labels(s, reterr);
    if (!status && features)
        status = map_make(&s->parser, features, false, &s->feature_map, reterr);
    if (s->parser.base < 0)
        s->parser.base = cache_index_base(s->cache);
    return status;
}

static bool has_columns(const struct stream *s)
{
    return s->parser.schema && s->parser.schema->n;
}

/* What a format learns from the first block must not depend on how its bytes arrive. If there is
 * nothing to learn, a program that writes a line into a pipe gets its answer at once. */
static bool block_is_needed(const struct stream *s, enum stream_format format)
{
    bool based = s->parser.base >= 0 || s->options.index_base >= 0;
    if (format == STREAM_JSONL)
        return !has_columns(s) && jsonl_is_flat(s->lines.buffer, s->lines.end);
    if (format == STREAM_CSV || format == STREAM_TSV || format == STREAM_ARFF)
        return !has_columns(s);
    return format == STREAM_SVMLIGHT && !based;
}

static hunch_status text_begin(struct stream *s, hunch_error *reterr)
{
    enum stream_format format = s->options.format;
    input_enter(s);
    hunch_status status = lines_begin(&s->lines, s->input, s->parser.path, reterr);
    input_leave(s);
    if (status)
        return status;
    if (s->lines.end == 0)
        return error_set(reterr, HUNCH_EINVAL, "%s: the file is empty", s->parser.path);
    if (format == STREAM_CACHE)
        return error_set(reterr, HUNCH_EINVAL, "%s: is not a cache", s->parser.path);
    status = detect_refuse(s->parser.path, s->lines.buffer, s->lines.end, reterr);
    if (status)
        return status;
    if (format == STREAM_AUTO)
        format = detect_by_name(s->paths[s->file]);
    if (format == STREAM_AUTO)
        format = detect_by_text(s->lines.buffer, s->lines.end);
    const struct format *f = detect_format(format);
    if (s->options.log && f == &format_svmlight)
        return error_set(reterr, HUNCH_EINVAL, "%s: svmlight text is not a log of rounds", s->parser.path);
    bool is_table = f == &format_csv || f == &format_tsv || f == &format_jsonl || f == &format_arff;
    if ((s->options.columns.label || s->options.label_column) && !is_table)
        return error_set(reterr, HUNCH_EINVAL, "%s: --label needs a table: this is %s", s->parser.path, f->name);
    if (s->options.columns.with && !is_table)
        return error_set(reterr, HUNCH_EINVAL, "%s: --with and --eligible need a table: this is %s", s->parser.path,
                         f->name);
    status = named_check(s, f->named, reterr);
    bool is_document = f == &format_jsonl && detect_document(s->lines.buffer, s->lines.end);
    input_enter(s);
    if (!status && (is_document || block_is_needed(s, format)))
        status = lines_fill(&s->lines, reterr);
    input_leave(s);
    if (!status && is_document)
        status = detect_refuse_document(s->parser.path, s->lines.buffer, s->lines.end, reterr);
    if (status)
        return status;
    s->parser.format = f;
    s->parser.line = 1;
    const char *text = s->lines.buffer, *newline = memrchr(text, '\n', s->lines.end);
    char *further = NULL;
    if (block_is_needed(s, format) && !s->lines.raw && !s->lines.returns)
        further = input_sample(s->input, s->lines.end, LINES_PADDING, &s->parser.further_size);
    s->parser.further = further;
    if (f->begin)
        status = f->begin(&s->parser, text, (size_t)(newline - text) + 1, reterr);
    s->parser.further = NULL;
    free(further);
    return status;
}

static hunch_status file_open(struct stream *s, hunch_error *reterr)
{
    const char *path = s->paths[s->file];
    const unsigned char *head;
    s->parser.path = input_name(path);
    s->file_rows = 0;
    s->skipped_before = s->parser.skipped;
    input_enter(s);
    hunch_status status = s->options.source ? input_open_source(&s->input, s->options.source, path, reterr)
                                            : input_open(&s->input, path, s->threaded, reterr);
    input_leave(s);
    if (status)
        return status;
    s->open = true;
    size_t size = input_peek(s->input, &head);
    bool cache = !input_is_compressed(s->input) && size >= 6 && memcmp(head, CACHE_MAGIC, 6) == 0 &&
                 (s->options.format == STREAM_AUTO || s->options.format == STREAM_CACHE);
    if (cache)
        return cache_begin(s, reterr);
    if (!input_is_compressed(s->input)) /* bytes that are no text are not as they were once they count as text */
        status = detect_refuse(s->parser.path, (const char *)head, size, reterr);
    return status ? status : text_begin(s, reterr);
}

static hunch_status paths_take(struct stream *s, const char *const *paths, size_t n, hunch_error *reterr)
{
    bool known = true;
    s->paths = calloc(n, sizeof *s->paths);
    s->caches = calloc(n, sizeof *s->caches);
    if (!s->paths || !s->caches)
        return error_memory(reterr);
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        s->paths[i] = strdup(paths[i]);
        if (!s->paths[i])
            return error_memory(reterr);
        hunch_status status = input_size(paths[i], &size, reterr);
        if (status)
            return status;
        known = known && size > 0;
        s->total += size;
    }
    if (!known)
        s->total = 0;
    s->threaded = (s->total == 0 || s->total >= THREAD_BYTES) && pool_processors() > 1;
    return HUNCH_OK;
}

hunch_status stream_open(struct stream **ret, const char *const *paths, size_t n, const struct stream_options *options,
                         hunch_error *reterr)
{
    if (n == 0 || n > UINT32_MAX)
        return error_set(reterr, HUNCH_EINVAL, "no input files");
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(reterr);
    s->options = options ? *options : (struct stream_options)STREAM_OPTIONS_INIT;
    if (!s->options.max_features)
        s->options.max_features = UINT32_MAX;
    s->parser = (struct parser){.options = &s->options, .base = -1};
    s->last_label = STREAM_NO_LABEL;
    s->parser.labels = s->options.labels ? names_copy(s->options.labels) : names_new();
    s->parser.remarks = names_new();
    bool described = s->options.schema || s->options.columns.hash_bits;
    if (described)
        s->parser.schema = s->options.schema ? schema_copy(s->options.schema) : schema_new();
    bool good = s->parser.labels && s->parser.remarks && (!described || s->parser.schema);
    if (good && s->options.columns.hash_bits)
        s->parser.schema->hash_bits = s->options.columns.hash_bits;
    hunch_status status = good ? paths_take(s, paths, n, reterr) : error_memory(reterr);
    if (!status)
        status = file_open(s, reterr);
    if (status) {
        stream_close(s);
        return status;
    }
    s->described = n == 1 && s->cache ? cache_width(s->cache) : 0;
    s->width = s->described < s->options.max_features ? (uint32_t)s->described : s->options.max_features;
    *ret = s;
    return HUNCH_OK;
}

void stream_close(struct stream *s)
{
    if (!s || atomic_load(&s->gate) == GATE_ABANDONED)
        return;
    file_close(s);
    for (size_t i = s->ahead_next; i < s->ahead_n; i++)
        rows_free(&s->ahead[i]);
    free(s->ahead);
    rows_free(&s->kept);
    free(s->which);
    free(s->label_rows);
    for (size_t i = 0; i < s->n; i++) {
        cache_close(s->caches[i]);
        free(s->paths[i]);
    }
    free(s->caches);
    free(s->paths);
    names_free(s->parser.labels);
    names_free(s->parser.features);
    names_free(s->parser.remarks);
    names_free(s->parser.with);
    free(s->parser.roles);
    schema_free(s->parser.schema);
    free(s);
}

/* --- rows --- */

/* Widens the window until a whole record is in it. */
static hunch_status text_fill(struct stream *s, struct rows *rows, bool *ret_last, hunch_error *reterr)
{
    size_t target = s->options.batch_bytes ? s->options.batch_bytes : ROWS_BYTES;
    for (;;) {
        const char *text;
        size_t size, used;
        input_enter(s);
        hunch_status status = lines_window(&s->lines, target, &text, &size, ret_last, reterr);
        input_leave(s);
        if (status || size == 0) {
            *ret_last = true;
            return status;
        }
        s->parser.last = *ret_last;
        status = s->parser.format->parse(&s->parser, text, size, rows, &used, reterr);
        if (status)
            return status;
        lines_use(&s->lines, used);
        if (used > 0)
            return HUNCH_OK;
        target = 2 * (size > target ? size : target);
    }
}

/* The row's largest feature index + 1. */
static uint64_t row_width(const struct rows *rows, size_t row)
{
    int64_t end = rows->start[row + 1];
    return end > rows->start[row] ? (uint64_t)rows->index[end - 1] + 1 : 0;
}

static bool row_is_good(const struct stream *s, const struct rows *rows, size_t row)
{
    return (rows->label[row] != STREAM_NO_LABEL || !s->options.labelled) &&
           row_width(rows, row) <= s->options.max_features;
}

/* Of tables, rows whose label is missing are left out and counted; elsewhere the label is part of the format. */
static bool row_is_unlabelled(const struct stream *s, const struct rows *rows, size_t row)
{
    return rows->label[row] == STREAM_NO_LABEL && s->options.labelled && has_columns(s) && !s->cache;
}

static hunch_status row_refuse(const struct stream *s, const struct rows *rows, size_t row, hunch_error *reterr)
{
    if (row_width(rows, row) > s->options.max_features)
        return parser_fail(&s->parser, rows->line ? rows->line[row] : s->file_rows + row + 1, reterr,
                           "feature %llu is beyond the limit of %u features",
                           (unsigned long long)row_width(rows, row) - (s->parser.base == 0), s->options.max_features);
    return parser_fail(&s->parser, rows->line ? rows->line[row] : s->file_rows + row + 1, reterr,
                       "the row has no label");
}

/* The good rows alone. */
static hunch_status rows_keep(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    size_t kept = 0, unlabelled = 0;
    if (!array_reserve(&s->which, &s->which_capacity, rows->n, sizeof *s->which))
        return error_memory(reterr);
    for (size_t i = 0; i < rows->n; i++) {
        if (row_is_good(s, rows, i))
            s->which[kept++] = (uint32_t)i;
        unlabelled += row_is_unlabelled(s, rows, i);
    }
    if (!rows_gather(&s->kept, rows, s->which, kept))
        return error_memory(reterr);
    s->parser.skipped += rows->n - kept - unlabelled;
    s->parser.unlabelled += unlabelled;
    struct rows all = *rows;
    *rows = s->kept;
    s->kept = all;
    return HUNCH_OK;
}

static hunch_status rows_check(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    bool all_good = true;
    for (size_t i = 0; i < rows->n; i++) {
        bool good = row_is_good(s, rows, i);
        if (!good && !s->options.skip_bad_rows && !row_is_unlabelled(s, rows, i))
            return row_refuse(s, rows, i, reterr);
        all_good = all_good && good;
        if (good && row_width(rows, i) > s->width)
            s->width = (uint32_t)row_width(rows, i);
    }
    return all_good ? HUNCH_OK : rows_keep(s, rows, reterr);
}

static hunch_status labels_count(struct stream *s, const struct rows *rows, hunch_error *reterr)
{
    size_t labels = names_count(s->parser.labels), had = s->label_rows_n;
    if (labels > had) {
        if (!array_reserve(&s->label_rows, &s->label_rows_n, labels, sizeof *s->label_rows))
            return error_memory(reterr);
        memset(s->label_rows + had, 0, (s->label_rows_n - had) * sizeof *s->label_rows);
    }
    for (size_t i = 0; i < rows->n; i++)
        if (rows->label[i] < STREAM_BAD_ROW) {
            s->label_rows[rows->label[i]]++;
            s->label_repeats += rows->label[i] == s->last_label;
            s->last_label = rows->label[i];
        }
    return HUNCH_OK;
}

/* What a cache says its features are, with its first rows. */
static hunch_status cache_roles(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    uint64_t features = s->file_rows ? 0 : cache_width(s->cache);
    for (uint32_t j = 0; j < features && !status; j++) {
        hunch_role role = cache_role(s->cache, j);
        if (role)
            status = parser_role(&s->parser, rows, s->feature_map ? s->feature_map[j] : j, role, reterr);
    }
    return status;
}

/* Rows of the file that is open; *ret_last: it has ended. */
static hunch_status file_read(struct stream *s, struct rows *rows, bool *ret_last, hunch_error *reterr)
{
    hunch_status status;
    rows_clear(rows);
    if (s->cache) {
        status = cache_read(s->cache, s->label_map, s->feature_map, rows, reterr);
        *ret_last = rows->n == 0;
        if (!status)
            status = cache_roles(s, rows, reterr);
    } else {
        status = text_fill(s, rows, ret_last, reterr);
        rows_measure(rows);
    }
    size_t n = rows->n;
    if (!status)
        status = rows_check(s, rows, reterr);
    if (!status)
        status = labels_count(s, rows, reterr);
    s->file_rows += n;
    bytes_count(s);
    rows->file = (uint32_t)s->file;
    rows->classes = names_count(s->parser.labels);
    rows->width = s->width;
    rows->bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->rows, rows->n, memory_order_relaxed);
    return status;
}

/* Tables are not taken whose label column holds one label only: it is hardly the right one. */
static hunch_status labels_check(const struct stream *s, hunch_error *reterr)
{
    if (!has_columns(s) || !s->options.labelled || s->options.labels || names_count(s->parser.labels) != 1)
        return HUNCH_OK;
    const struct schema_column *label = schema_role(s->parser.schema, ROLE_LABEL);
    return error_set(reterr, HUNCH_EINVAL, "%s: every row has the label '%s' (column '%s'): there is nothing to learn",
                     input_name(s->paths[0]), names_text(s->parser.labels, 0, NULL), label ? label->name : "?");
}

static hunch_status rows_read(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    while (!status && rows->n == 0 && s->file < s->n) {
        bool last = false;
        if (!s->open) {
            status = file_open(s, reterr);
            continue;
        }
        status = file_read(s, rows, &last, reterr);
        if (status || !last)
            continue;
        if (s->file_rows == 0 && s->parser.skipped == s->skipped_before)
            return error_set(reterr, HUNCH_EINVAL, "%s: contains no examples", s->parser.path);
        file_close(s);
        s->file++;
        if (s->file == s->n)
            status = labels_check(s, reterr);
    }
    return status;
}

static hunch_status rows_next(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    rows_clear(rows);
    if (!s->ended) {
        s->status = rows_read(s, rows, &s->error);
        s->ended = s->status || rows->n == 0;
    }
    if (!s->status)
        return HUNCH_OK;
    rows_clear(rows);
    return error_set(reterr, s->status, "%s", s->error.message);
}

bool stream_has_ahead(const struct stream *s)
{
    return s->ahead_next < s->ahead_n;
}

hunch_status stream_next(struct stream *s, struct rows *rows, hunch_error *reterr)
{
    if (!stream_has_ahead(s))
        return rows_next(s, rows, reterr);
    rows_free(rows);
    *rows = s->ahead[s->ahead_next++];
    return HUNCH_OK;
}

/* --- reading ahead --- */

/* have: of rows so far, in bytes; newest: of those before the last that brought a new label. */
static bool ahead_is_enough(const struct stream *s, size_t have, size_t newest, uint32_t classes)
{
    uint32_t labels = names_count(s->parser.labels);
    bool settled = have >= AHEAD_MIN && have >= 4 * newest && labels > 1;
    return s->ended || (s->ahead_n && s->described) || settled || have >= AHEAD_BYTES || (classes && labels >= classes);
}

static size_t rows_size(const struct rows *rows)
{
    return rows->n * 24 + (size_t)(rows->n ? rows->start[rows->n] - rows->start[0] : 0) * 8;
}

hunch_status stream_ahead(struct stream *s, uint32_t classes, const atomic_bool *stop, hunch_error *reterr)
{
    size_t have = 0, newest = 0;
    uint32_t labels = 0;
    while (!ahead_is_enough(s, have, newest, classes) && !(stop && atomic_load(stop))) {
        struct rows rows = {0};
        if (!array_reserve(&s->ahead, &s->ahead_capacity, s->ahead_n + 1, sizeof *s->ahead))
            return error_memory(reterr);
        hunch_status status = rows_next(s, &rows, reterr);
        if (status || rows.n == 0) {
            rows_free(&rows);
            if (status)
                return status;
            break;
        }
        have += rows_size(&rows);
        s->ahead[s->ahead_n++] = rows;
        newest = names_count(s->parser.labels) > labels ? have : newest;
        labels = names_count(s->parser.labels);
    }
    return stream_settle(s, reterr);
}

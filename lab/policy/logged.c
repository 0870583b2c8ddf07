/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/logged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "policy/logged_server.h"

struct logged {
    struct logged_options options;
    char **paths;
    size_t n, file; /* the next one to be opened */
    /* those of the stream that is open, and what the ones before left */
    struct stream *stream;
    struct pipeline *pipeline;
    struct rows *rows;
    size_t at;
    struct logged_server *server;
    struct stream_source source;
    struct names *labels, *features; /* before the stream's */
    struct schema *schema;
    uint32_t width, classes;
    uint64_t unanswered, skipped, bytes;
};

/* A folder stands for the log in it. */
static char *path_take(const char *path)
{
    struct stat status;
    char *inside;
    if (strcmp(path, "-") && !stat(path, &status) && S_ISDIR(status.st_mode))
        return asprintf(&inside, "%s/log.db", path) < 0 ? NULL : inside;
    return strdup(path);
}

static bool is_server(const struct logged *l, size_t file)
{
    return l->options.server || (l->options.stream.format == STREAM_AUTO && logged_is_server(l->paths[file]));
}

hunch_status logged_open(struct logged **ret, const char *const *paths, size_t n, const struct logged_options *options,
                         hunch_error *reterr)
{
    struct logged *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(reterr);
    l->options = *options;
    l->options.stream.log = true;
    l->n = n;
    l->paths = calloc(n + 1, sizeof *l->paths);
    const struct names *labels = options->stream.labels;
    l->labels = labels ? names_copy(labels) : names_new();
    bool good = l->paths && l->labels;
    for (size_t i = 0; good && i < n; i++)
        good = (l->paths[i] = path_take(paths[i]));
    hunch_status status = good ? HUNCH_OK : error_memory(reterr);
    for (size_t i = 0; i < n && !status; i++) {
        struct stat there;
        if (strcmp(l->paths[i], "-") && stat(l->paths[i], &there))
            status = error_set(reterr, HUNCH_EINVAL, "%s: there is no such file", l->paths[i]);
    }
    l->classes = good ? names_count(l->labels) : 0;
    if (status)
        logged_close(l);
    else
        *ret = l;
    return status;
}

static int names_compare(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* given first, then the others of all, sorted. */
static struct names *labels_sort(const struct names *given, const struct names *all)
{
    uint32_t n = names_count(all), first = given ? names_count(given) : 0;
    struct names *sorted = given ? names_copy(given) : names_new();
    const char **text = calloc(n + 1, sizeof *text);
    for (uint32_t i = first; text && i < n; i++)
        text[i] = names_text(all, i, NULL);
    if (text && n > first)
        qsort(text + first, n - first, sizeof *text, names_compare);
    bool good = sorted && text;
    for (uint32_t i = first; good && i < n; i++)
        good = names_add(sorted, text[i], strlen(text[i])) == i;
    free(text);
    if (good)
        return sorted;
    names_free(sorted);
    return NULL;
}

hunch_status logged_all_labels(struct names **ret, const char *const *paths, size_t n,
                               const struct logged_options *options, hunch_error *reterr)
{
    struct logged *l;
    struct logged_row row;
    bool more = true;
    hunch_status status = logged_open(&l, paths, n, options, reterr);
    if (status)
        return status;
    while (more && !status)
        status = logged_next(l, &row, &more, reterr);
    if (!status && !(*ret = labels_sort(options->stream.labels, logged_labels(l))))
        status = error_memory(reterr);
    logged_close(l);
    return status;
}

/* The names and counts of the stream that has ended stay. */
static hunch_status stream_leave(struct logged *l, hunch_error *reterr)
{
    if (!l->stream)
        return HUNCH_OK;
    pipeline_stop(l->pipeline);
    l->pipeline = NULL;
    l->unanswered += stream_unanswered(l->stream);
    l->skipped += stream_skipped(l->stream);
    l->bytes += stream_bytes_read(l->stream);
    const struct names *features = stream_features(l->stream);
    const struct schema *schema = stream_schema(l->stream);
    names_free(l->labels);
    names_free(l->features);
    schema_free(l->schema);
    l->labels = names_copy(stream_labels(l->stream));
    l->features = features ? names_copy(features) : NULL;
    l->schema = schema ? schema_copy(schema) : NULL;
    bool good = l->labels && (!features || l->features) && (!schema || l->schema);
    stream_close(l->stream);
    l->stream = NULL;
    logged_server_close(l->server);
    l->server = NULL;
    return good ? HUNCH_OK : error_memory(reterr);
}

/* The next log of the server's, or all files up to it. */
static hunch_status stream_enter(struct logged *l, hunch_error *reterr)
{
    struct stream_options o = l->options.stream;
    struct pipeline_options reading = {0};
    const char *const *paths = (const char *const *)l->paths + l->file;
    size_t n = 1;
    hunch_status status = HUNCH_OK;
    bool first = l->file == 0;
    if (!first) {
        o.labels = l->labels;
        o.features = o.numbered ? NULL : l->features;
        o.schema = l->schema ? l->schema : o.schema;
    }
    if (is_server(l, l->file)) {
        status = logged_server_open(&l->server, *paths, l->labels, reterr);
        l->source = (struct stream_source){logged_server_read, l->server};
        o.labels = l->labels;
        o.source = &l->source;
        o.format = STREAM_JSONL;
        o.hash_bits = o.numbered && !status ? logged_server_hash_bits(l->server) : 0;
    } else {
        while (l->file + n < l->n && !is_server(l, l->file + n))
            n++;
    }
    l->file += n;
    if (!status)
        status = stream_open(&l->stream, paths, n, &o, reterr);
    return status ? status : pipeline_start(&l->pipeline, l->stream, &reading, reterr);
}

static hunch_status rows_next(struct logged *l, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (l->rows)
        pipeline_return(l->pipeline, l->rows);
    l->rows = NULL;
    l->at = 0;
    while (!status && !l->rows) {
        if (!l->stream && l->file == l->n)
            break;
        if (!l->stream)
            status = stream_enter(l, reterr);
        if (!status)
            status = pipeline_next(l->pipeline, &l->rows, reterr);
        if (!status && !l->rows && l->file < l->n)
            status = stream_leave(l, reterr);
        else if (!status && !l->rows)
            break;
    }
    return status;
}

hunch_status logged_next(struct logged *l, struct logged_row *ret, bool *ret_more, hunch_error *reterr)
{
    hunch_status status = l->rows && l->at < l->rows->n ? HUNCH_OK : rows_next(l, reterr);
    *ret_more = !status && l->rows;
    if (!*ret_more)
        return status;
    const struct rows *rows = l->rows;
    size_t begin = (size_t)rows->start[l->at], n = (size_t)rows->start[l->at + 1] - begin;
    const struct row_log *log = &rows->log[l->at];
    if (n && rows->index[begin + n - 1] >= HUNCH_MAX_FEATURES)
        return error_set(reterr, HUNCH_EINVAL, "there are more than %u features", HUNCH_MAX_FEATURES);
    if (n && rows->index[begin + n - 1] >= l->width)
        l->width = rows->index[begin + n - 1] + 1;
    l->classes = log->classes;
    *ret = (struct logged_row){.x = {rows->index + begin, rows->value + begin, n},
                               .label = rows->label[l->at],
                               .truth = log->truth,
                               .prob = log->prob,
                               .unjudged = log->unjudged,
                               .eligible = log->eligible_n ? rows->eligible + log->eligible : NULL,
                               .eligible_n = log->eligible_n,
                               .right = log->right == 1};
    l->at++;
    return HUNCH_OK;
}

const struct rows *logged_rows(const struct logged *l)
{
    return l->at == 1 ? l->rows : NULL;
}

void logged_close(struct logged *l)
{
    if (!l)
        return;
    if (l->rows)
        pipeline_return(l->pipeline, l->rows);
    pipeline_stop(l->pipeline);
    stream_close(l->stream);
    logged_server_close(l->server);
    for (size_t i = 0; l->paths && i < l->n; i++)
        free(l->paths[i]);
    free(l->paths);
    names_free(l->labels);
    names_free(l->features);
    schema_free(l->schema);
    free(l);
}

const struct names *logged_labels(const struct logged *l)
{
    return l->stream ? stream_labels(l->stream) : l->labels;
}

uint32_t logged_classes(const struct logged *l)
{
    return l->classes;
}

uint32_t logged_label(const struct logged *l, const char *name)
{
    for (uint32_t i = 0; i < l->classes; i++) /* names_find is for the reading thread */
        if (!strcmp(names_text(logged_labels(l), i, NULL), name))
            return i;
    return LOGGED_NONE;
}

const struct names *logged_features(const struct logged *l)
{
    return l->stream ? stream_features(l->stream) : l->features;
}

const struct stream *logged_stream(const struct logged *l)
{
    return l->stream;
}

uint32_t logged_width(const struct logged *l)
{
    return l->width;
}

uint64_t logged_unanswered(const struct logged *l)
{
    return l->unanswered + (l->stream ? stream_unanswered(l->stream) : 0);
}

uint64_t logged_skipped(const struct logged *l)
{
    return l->skipped + (l->stream ? stream_skipped(l->stream) : 0);
}

uint64_t logged_bytes(const struct logged *l)
{
    return l->bytes + (l->stream ? stream_bytes_read(l->stream) : 0);
}

uint64_t logged_bytes_total(const struct logged *l)
{
    uint64_t total = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct stat status;
        if (!strcmp(l->paths[i], "-") || stat(l->paths[i], &status) || !S_ISREG(status.st_mode) || !status.st_size)
            return 0;
        total += (uint64_t)status.st_size;
    }
    return total;
}

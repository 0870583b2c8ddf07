/* SPDX-License-Identifier: BSD-3-Clause */
#include "logged.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "rows.h"
#include "base/error.h"
#include "logged_row.h"

static struct names *names_begin(const struct names *known)
{
    return known ? names_copy(known) : names_new();
}

static hunch_status parser_start(struct logged *l, struct parser *p, const struct format *format, hunch_error *reterr)
{
    *p = (struct parser){.format = format, .options = &l->stream, .labels = l->labels, .features = l->features};
    return format->begin(p, "", 0, true, reterr);
}

/* A folder stands for the log in it. */
static char *path_take(const char *path)
{
    struct stat status;
    char *inside;
    if (strcmp(path, "-") && !stat(path, &status) && S_ISDIR(status.st_mode))
        return asprintf(&inside, "%s/log.db", path) < 0 ? NULL : inside;
    return strdup(path);
}

hunch_status logged_open(struct logged **ret, const char *const *paths, size_t n, const struct logged_options *options,
                         hunch_error *reterr)
{
    struct logged *l = calloc(1, sizeof *l);
    if (!l)
        return error_memory(reterr);
    l->options = *options;
    l->n = n;
    l->paths = calloc(n + 1, sizeof *l->paths);
    l->labels = names_begin(options->labels);
    l->features = names_begin(options->numbered ? NULL : options->features);
    bool good = l->paths && l->labels && l->features;
    for (size_t i = 0; good && i < n; i++)
        good = (l->paths[i] = path_take(paths[i]));
    hunch_status status = good ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = parser_start(l, &l->json, &format_jsonl, reterr);
    if (!status)
        status = parser_start(l, &l->vw, &format_vw, reterr);
    for (size_t i = 0; i < n && !status; i++) {
        uint64_t size;
        status = input_size(l->paths[i], &size, reterr);
    }
    if (status)
        logged_close(l);
    else
        *ret = l;
    return status;
}

static void file_close(struct logged *l)
{
    struct table *t = &l->table;
    l->done_bytes += l->input ? input_bytes(l->input) : 0;
    lines_free(&l->lines);
    input_close(l->input);
    l->input = NULL;
    for (size_t i = 0; i < t->columns; i++)
        free(t->name[i]);
    free(t->name);
    free(t->kind);
    free(t->scratch.bytes);
    free(t->text.bytes);
    *t = (struct table){0};
    logged_server_close(l);
}

void logged_close(struct logged *l)
{
    if (!l)
        return;
    file_close(l);
    if (l->json.format)
        l->json.format->end(&l->json);
    if (l->vw.format)
        l->vw.format->end(&l->vw);
    for (size_t i = 0; l->paths && i < l->n; i++)
        free(l->paths[i]);
    free(l->paths);
    names_free(l->labels);
    names_free(l->features);
    rows_free(&l->batch);
    free(l->number);
    free(l);
}

/* --- which format --- */

static bool ends_with(const char *name, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length >= n && !memcmp(name + length - n, ending, n);
}

static enum logged_format format_by_name(const char *path)
{
    static const char *const packed[] = {".gz", ".xz", ".zst", ".bz2"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (ends_with(path, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    return ends_with(path, length, ".tsv")     ? LOGGED_TSV
           : ends_with(path, length, ".csv")   ? LOGGED_CSV
           : ends_with(path, length, ".jsonl") ? LOGGED_JSONL
           : ends_with(path, length, ".vw")    ? LOGGED_VW
                                               : LOGGED_AUTO;
}

static enum logged_format format_by_text(const char *text, size_t size)
{
    text += strspn(text, " \t\r\n");
    size_t length = strcspn(text, "\n");
    if (size == 0)
        return LOGGED_TSV; /* nothing at all: its error is as good as any */
    if (*text == '{')
        return LOGGED_JSONL;
    if (memchr(text, '|', length))
        return LOGGED_VW;
    return memchr(text, '\t', length) ? LOGGED_TSV : memchr(text, ',', length) ? LOGGED_CSV : LOGGED_AUTO;
}

static hunch_status text_begin(struct logged *l, const char *path, hunch_error *reterr)
{
    enum logged_format format = l->options.format;
    hunch_status status = input_open(&l->input, path, false, reterr);
    if (!status)
        status = lines_begin(&l->lines, l->input, input_name(path), reterr);
    if (status)
        return status;
    if (format == LOGGED_AUTO)
        format = format_by_name(path);
    if (format == LOGGED_AUTO)
        format = format_by_text(l->lines.buffer, l->lines.end);
    if (format == LOGGED_AUTO)
        return error_set(reterr, HUNCH_EINVAL, "%s: not a log in one of the known formats", input_name(path));
    l->table.delimiter = format == LOGGED_CSV ? ',' : '\t';
    l->read = format == LOGGED_VW ? logged_vw : format == LOGGED_JSONL ? logged_json : logged_table;
    l->line = 1;
    return HUNCH_OK;
}

static hunch_status file_begin(struct logged *l, hunch_error *reterr)
{
    const char *path = l->paths[l->file];
    l->json.path = l->vw.path = input_name(path);
    bool server = l->options.format == LOGGED_SERVER || (l->options.format == LOGGED_AUTO && logged_is_server(path));
    return server ? logged_server_open(l, path, reterr) : text_begin(l, path, reterr);
}

/* --- rows --- */

/* The next line that is not empty; *ret_size 0: the file has ended. */
static hunch_status line_next(struct logged *l, const char **ret, size_t *ret_size, hunch_error *reterr)
{
    for (;;) {
        size_t size;
        bool last;
        hunch_status status = lines_window(&l->lines, 1, ret, &size, &last, reterr);
        if (status || size == 0) {
            *ret_size = 0;
            return status;
        }
        const char *newline = memchr(*ret, '\n', size);
        *ret_size = (size_t)(newline - *ret) + 1;
        lines_use(&l->lines, *ret_size);
        logged_at(l, l->line++);
        if (*ret + strspn(*ret, " \t\r") < newline)
            return HUNCH_OK;
    }
}

static hunch_status text_next(struct logged *l, struct logged_row *ret, bool *ret_more, bool *ret_answered,
                              hunch_error *reterr)
{
    const char *text;
    size_t size;
    hunch_status status = line_next(l, &text, &size, reterr);
    if (!status && size && l->read == logged_table && !l->table.columns) {
        l->line--;
        status = logged_header(l, text, text + size - 1, reterr);
        l->line++;
        if (status == HUNCH_EINVAL)
            return HUNCH_EUNSUPPORTED; /* not a row that could be left out */
        if (!status)
            status = line_next(l, &text, &size, reterr);
    }
    *ret_more = !status && size;
    return *ret_more ? l->read(l, text, size, ret, ret_answered, reterr) : status;
}

/* A name's number: itself, or where it is hashed to. */
static hunch_status name_number(struct logged *l, uint32_t name, uint32_t *ret, hunch_error *reterr)
{
    size_t length;
    const char *text = names_text(l->features, name, &length);
    char *end;
    if (l->hash_bits) {
        *ret = (uint32_t)(XXH3_64bits(text, length) & ((UINT64_C(1) << l->hash_bits) - 1));
        return HUNCH_OK;
    }
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : UINT64_MAX;
    if (number == UINT64_MAX || *end || number < l->options.index_base || number > HUNCH_MAX_FEATURES)
        return parser_fail(&l->json, l->json.line, reterr,
                           "the model's features have numbers from %u on, and '%s' is none of them",
                           l->options.index_base, quote(text, length).text);
    *ret = (uint32_t)number - l->options.index_base;
    return HUNCH_OK;
}

static bool numbers_grow(struct logged *l)
{
    uint32_t count = names_count(l->features);
    if (count <= l->numbers)
        return true;
    uint32_t room = count + count / 2 + 64;
    uint32_t *number = realloc(l->number, room * sizeof *number);
    if (!number)
        return false;
    memset(number + l->numbers, 0xff, (room - l->numbers) * sizeof *number);
    l->number = number;
    l->numbers = room;
    return true;
}

/* Names' numbers to the model's; those that meet are added up. */
static hunch_status row_number(struct logged *l, hunch_error *reterr)
{
    struct rows *b = &l->batch;
    size_t n = (size_t)b->start[1], m = 0;
    if (!numbers_grow(l))
        return error_memory(reterr);
    for (size_t i = 0; i < n; i++) {
        uint32_t *number = &l->number[b->index[i]];
        hunch_status status = *number == NAMES_NONE ? name_number(l, b->index[i], number, reterr) : HUNCH_OK;
        if (status)
            return status;
        b->index[i] = *number;
    }
    rows_sort_row(b, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (m && b->index[m - 1] == b->index[i]) {
            b->value[m - 1] += b->value[i];
            if (!isfinite(b->value[m - 1]))
                return parser_fail(&l->json, l->json.line, reterr, "value out of range");
            continue;
        }
        b->index[m] = b->index[i];
        b->value[m++] = b->value[i];
    }
    b->start[1] = (int64_t)m;
    return HUNCH_OK;
}

static hunch_status row_finish(struct logged *l, struct logged_row *ret, hunch_error *reterr)
{
    struct rows *b = &l->batch;
    hunch_status status = l->options.numbered ? row_number(l, reterr) : HUNCH_OK;
    if (status)
        return status;
    size_t n = (size_t)b->start[1];
    if (n && b->index[n - 1] >= HUNCH_MAX_FEATURES)
        return parser_fail(&l->json, l->json.line, reterr, "there are more than %u features", HUNCH_MAX_FEATURES);
    if (n && b->index[n - 1] >= l->width)
        l->width = b->index[n - 1] + 1;
    ret->x = (hunch_vec){b->index, b->value, n};
    return HUNCH_OK;
}

/* One row of the file that is open; *ret_more false: there is none left. */
static hunch_status row_next(struct logged *l, struct logged_row *ret, bool *ret_more, bool *ret_answered,
                             hunch_error *reterr)
{
    *ret = (struct logged_row){.label = LOGGED_NONE, .truth = LOGGED_NONE, .prob = 1};
    rows_clear(&l->batch);
    *ret_answered = false;
    hunch_status status = l->db ? logged_server_next(l, ret, ret_more, ret_answered, reterr)
                                : text_next(l, ret, ret_more, ret_answered, reterr);
    return status || !*ret_more || !*ret_answered ? status : row_finish(l, ret, reterr);
}

hunch_status logged_next(struct logged *l, struct logged_row *ret, bool *ret_more, hunch_error *reterr)
{
    while (l->file < l->n) {
        bool more = false, answered = false;
        hunch_status status = l->input || l->db ? HUNCH_OK : file_begin(l, reterr);
        if (status)
            return status;
        status = row_next(l, ret, &more, &answered, reterr);
        if (status == HUNCH_EINVAL && l->options.skip_bad_rows && more) {
            l->skipped++;
            continue;
        }
        if (status)
            return status == HUNCH_EUNSUPPORTED ? HUNCH_EINVAL : status;
        if (!more) {
            file_close(l);
            l->file++;
        } else if (!answered) {
            l->unanswered++;
        } else {
            *ret_more = true;
            return HUNCH_OK;
        }
    }
    *ret_more = false;
    return HUNCH_OK;
}

const struct names *logged_labels(const struct logged *l)
{
    return l->labels;
}

const struct names *logged_features(const struct logged *l)
{
    return l->options.numbered ? NULL : l->features;
}

uint32_t logged_width(const struct logged *l)
{
    return l->width;
}

uint64_t logged_unanswered(const struct logged *l)
{
    return l->unanswered;
}

uint64_t logged_skipped(const struct logged *l)
{
    return l->skipped;
}

uint64_t logged_bytes(const struct logged *l)
{
    return l->done_bytes + (l->input ? input_bytes(l->input) : 0);
}

uint64_t logged_bytes_total(const struct logged *l)
{
    uint64_t total = 0, size;
    for (size_t i = 0; i < l->n; i++) {
        if (input_size(l->paths[i], &size, NULL) || size == 0)
            return 0;
        total += size;
    }
    return total;
}

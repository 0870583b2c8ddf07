/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's log.db: decisions with their answers, and lessons, in the order in which they happened. */
#include "policy/logged_server.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/number.h"
#include "stream.h"

#define FORMAT 1

/* Feedback and lessons that were taken back are as if they had never come. With ?1, late feedback replaces the default
 * answer. What a control has shown for certain tells nothing of other policies; without it, the log is what the model, or
 * chance, has shown. The last kind of row, with a value in the last column, retires or restores a label. */
#define KEPT(seq) " " seq " NOT IN (SELECT seq FROM excluded)"
static const char rows[] =
    "SELECT d.seq AS seq, d.label, d.probability, coalesce(r.was_right, f.was_right),"
    " CASE WHEN r.seq IS NULL THEN f.true_label ELSE r.true_label END, d.x, d.eligible, d.chosen_by = 2, NULL"
    " FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq AND" KEPT("f.seq") " LEFT JOIN late r ON ?1 AND r.decision = d.seq AND" KEPT(
        "r.seq") " UNION ALL SELECT seq, NULL, NULL, NULL, label, x, NULL, 0, NULL FROM lessons l WHERE" KEPT("l.seq") " UNION ALL SELECT seq, label, NULL, NULL, NULL, NULL, NULL, 0, retired FROM label_states ORDER BY seq";

struct logged_server {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *statement;
    char **label;  /* their names as JSON, by the file's numbers */
    bool *retired; /* by the same numbers: at the current row */
    uint32_t labels, retired_n;
    unsigned hash_bits;
    bool late_replaces;
    char *line; /* being handed out from at on */
    size_t at, size;
    bool ended; /* a further step would start over */
};

bool logged_is_server(const char *path)
{
    const unsigned char *head;
    struct input *in;
    if (!strcmp(path, "-") || input_open(&in, path, false, NULL))
        return false;
    bool is = input_peek(in, &head) == 6 && !memcmp(head, "SQLite", 6);
    input_close(in);
    return is;
}

static hunch_status db_fail(const struct logged_server *l, hunch_error *reterr)
{
    int code = l->db ? sqlite3_errcode(l->db) : SQLITE_NOMEM;
    hunch_status status = code == SQLITE_NOMEM                                                 ? HUNCH_ENOMEM
                          : code == SQLITE_IOERR || code == SQLITE_BUSY || code == SQLITE_FULL ? HUNCH_EIO
                                                                                               : HUNCH_EINVAL;
    return error_set(reterr, status, "%s: not a log of the server's, or damaged: %s", l->path,
                     l->db ? sqlite3_errmsg(l->db) : "out of memory");
}

/* Read-only, beside a server that writes; where even that needs to write (a read-only folder), as it is there. */
static hunch_status db_open(struct logged_server *l, const char *path, hunch_error *reterr)
{
    char *uri;
    if (sqlite3_open_v2(path, &l->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(l->db, 10000);
        if (sqlite3_exec(l->db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK)
            return HUNCH_OK;
        if (sqlite3_errcode(l->db) != SQLITE_CANTOPEN && sqlite3_errcode(l->db) != SQLITE_READONLY)
            return db_fail(l, reterr);
    }
    sqlite3_close(l->db);
    l->db = NULL;
    if (strpbrk(path, "?#%") || asprintf(&uri, "file:%s?immutable=1", path) < 0)
        return error_set(reterr, HUNCH_EIO, "%s: cannot be opened", path);
    int code = sqlite3_open_v2(uri, &l->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(uri);
    return code == SQLITE_OK ? HUNCH_OK : db_fail(l, reterr);
}

static hunch_status settings_read(struct logged_server *l, hunch_error *reterr)
{
    sqlite3_stmt *q;
    hunch_status status = HUNCH_OK;
    if (sqlite3_prepare_v2(l->db, "SELECT key, value FROM about WHERE key IN ('format', 'settings')", -1, &q, NULL))
        return db_fail(l, reterr);
    while (!status && sqlite3_step(q) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(q, 0), *value = (const char *)sqlite3_column_text(q, 1);
        if (key && !strcmp(key, "format") && sqlite3_column_int64(q, 1) != FORMAT) {
            status = error_set(reterr, HUNCH_EINVAL, "%s: was written by %s version", l->path,
                               sqlite3_column_int64(q, 1) > FORMAT ? "a newer" : "an older");
        } else if (key && !strcmp(key, "settings")) {
            json_t *settings = json_loads(value ? value : "", 0, NULL);
            const char *kind = json_string_value(json_object_get(settings, "features"));
            const char *late = json_string_value(json_object_get(settings, "late_feedback"));
            json_int_t bits = json_integer_value(json_object_get(settings, "hash_bits"));
            l->hash_bits = kind && !strcmp(kind, "hashed") && bits > 0 && bits < 32 ? (unsigned)bits : 0;
            l->late_replaces = late && !strcmp(late, "replace");
            json_decref(settings);
        }
    }
    sqlite3_finalize(q);
    return status;
}

static hunch_status labels_read(struct logged_server *l, struct names *labels, hunch_error *reterr)
{
    sqlite3_stmt *q;
    int code = SQLITE_OK;
    hunch_status status = HUNCH_OK;
    if (sqlite3_prepare_v2(l->db, "SELECT label, name FROM labels ORDER BY label", -1, &q, NULL))
        return db_fail(l, reterr);
    while (!status && (code = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 1);
        json_t *text = name ? json_string(name) : NULL;
        bool room = array_resize(&l->label, l->labels + 1, sizeof *l->label);
        char *quoted = text && room ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
        json_decref(text);
        if (!quoted || names_add(labels, name, strlen(name)) == NAMES_NONE)
            status = error_memory(reterr);
        else if (sqlite3_column_int64(q, 0) != l->labels)
            status = error_set(reterr, HUNCH_EINVAL, "%s: its labels are not numbered 0, 1, 2 ...", l->path);
        if (status)
            free(quoted);
        else
            l->label[l->labels++] = quoted;
    }
    sqlite3_finalize(q);
    return status || code == SQLITE_DONE ? status : db_fail(l, reterr);
}

hunch_status logged_server_open(struct logged_server **ret, const char *path, struct names *labels, hunch_error *reterr)
{
    struct logged_server *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return error_memory(reterr);
    }
    hunch_status status = db_open(s, path, reterr);
    if (!status)
        status = settings_read(s, reterr);
    if (!status)
        status = labels_read(s, labels, reterr);
    if (!status && !(s->retired = calloc(s->labels + 1, sizeof *s->retired)))
        status = error_memory(reterr);
    if (!status && (sqlite3_prepare_v2(s->db, rows, -1, &s->statement, NULL) ||
                    sqlite3_bind_int(s->statement, 1, s->late_replaces)))
        status = db_fail(s, reterr);
    if (status)
        logged_server_close(s);
    else
        *ret = s;
    return status;
}

/* null where there is none; NULL: the log does not name it. */
static const char *label_at(const struct logged_server *s, int column)
{
    if (sqlite3_column_type(s->statement, column) == SQLITE_NULL)
        return "null";
    sqlite3_int64 label = sqlite3_column_int64(s->statement, column);
    return label >= 0 && label < s->labels ? s->label[label] : NULL;
}

static hunch_status unnamed(const struct logged_server *s, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "%s:%lld: a label that the log does not name", s->path,
                     (long long)sqlite3_column_int64(s->statement, 0));
}

static hunch_status label_retire(struct logged_server *s, hunch_error *reterr)
{
    sqlite3_int64 label = sqlite3_column_int64(s->statement, 1);
    bool retired = sqlite3_column_int(s->statement, 8);
    if (label < 0 || label >= s->labels)
        return unnamed(s, reterr);
    s->retired_n += (uint32_t)retired - (uint32_t)s->retired[label];
    s->retired[label] = retired;
    return HUNCH_OK;
}

static bool range_write(const struct logged_server *s, unsigned long low, unsigned long high, bool *inout_first,
                        FILE *out)
{
    if (high >= s->labels)
        return false;
    for (; low <= high; low++)
        if (!s->retired[low]) {
            fprintf(out, "%s%s", *inout_first ? "" : ",", s->label[low]);
            *inout_first = false;
        }
    return true;
}

/* The labels that could be shown, as names: those of the set, whose numbers and ranges are such as 1,3-7 (NULL: all),
 * that are not retired. False: the log does not name one of them. */
static bool eligible_write(const struct logged_server *s, const char *set, FILE *out)
{
    bool first = true, named = true;
    if (!set && !s->retired_n)
        return fprintf(out, "null") > 0;
    fprintf(out, "[");
    if (!set)
        named = range_write(s, 0, s->labels - 1, &first, out);
    for (; named && set && *set; set += *set == ',') {
        char *end;
        unsigned long low = strtoul(set, &end, 10), high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
        named = end != set && (!*end || *end == ',') && range_write(s, low, high, &first, out);
        set = end;
    }
    fprintf(out, "]");
    return named;
}

static hunch_status line_make(struct logged_server *s, hunch_error *reterr)
{
    sqlite3_stmt *q = s->statement;
    const char *label = label_at(s, 1), *truth = label_at(s, 4), *x = (const char *)sqlite3_column_text(q, 5);
    const char *right = sqlite3_column_type(q, 3) == SQLITE_NULL ? "null" : sqlite3_column_int64(q, 3) ? "1" : "0";
    char prob[NUMBER_TEXT] = "null";
    if (!label || !truth)
        return unnamed(s, reterr);
    if (sqlite3_column_type(q, 1) != SQLITE_NULL && !strcmp(right, "null"))
        truth = "null"; /* no answer came */
    if (sqlite3_column_type(q, 2) != SQLITE_NULL)
        number_print(sqlite3_column_double(q, 2), prob);
    free(s->line);
    s->line = NULL;
    s->at = s->size = 0;
    FILE *out = open_memstream(&s->line, &s->size);
    if (!out)
        return error_memory(reterr);
    const char *set = (const char *)sqlite3_column_text(q, 6);
    fprintf(out, "{\"label\":%s,\"prob\":%s,\"right\":%s,\"true_label\":%s,\"eligible\":", label, prob, right, truth);
    bool named = eligible_write(s, set, out);
    fprintf(out, ",\"unjudged\":%s,\"x\":%s}\n", sqlite3_column_int(q, 7) ? "true" : "false", x ? x : "null");
    bool whole = !ferror(out);
    if (fclose(out) || !whole)
        return error_memory(reterr);
    return named ? HUNCH_OK : unnamed(s, reterr);
}

static hunch_status row_take(struct logged_server *s, hunch_error *reterr)
{
    return sqlite3_column_type(s->statement, 8) == SQLITE_NULL ? line_make(s, reterr) : label_retire(s, reterr);
}

hunch_status logged_server_read(void *context, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    struct logged_server *s = context;
    size_t got = 0;
    while (got < size && !s->ended) {
        if (s->at == s->size) {
            int code = sqlite3_step(s->statement);
            s->ended = code == SQLITE_DONE;
            if (s->ended)
                break;
            hunch_status status = code == SQLITE_ROW ? row_take(s, reterr) : db_fail(s, reterr);
            if (status)
                return status;
            if (s->at == s->size)
                continue;
        }
        size_t n = s->size - s->at < size - got ? s->size - s->at : size - got;
        memcpy(buffer + got, s->line + s->at, n);
        s->at += n;
        got += n;
    }
    *ret_got = got;
    return HUNCH_OK;
}

unsigned logged_server_hash_bits(const struct logged_server *s)
{
    return s->hash_bits;
}

void logged_server_close(struct logged_server *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->statement);
    sqlite3_close(s->db);
    for (uint32_t i = 0; i < s->labels; i++)
        free(s->label[i]);
    free(s->label);
    free(s->retired);
    free(s->line);
    free(s->path);
    free(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's log.db: decisions that have been answered, and lessons, in the order in which they happened. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "logged_row.h"

#define FORMAT 1 /* the newest that is known here */

static const char rows[] =
    "SELECT d.seq AS seq, d.label, d.probability, f.was_right, f.true_label, d.x FROM decisions d"
    " LEFT JOIN feedback f ON f.decision = d.seq"
    " UNION ALL SELECT seq, NULL, NULL, NULL, label, x FROM lessons ORDER BY seq";

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

static hunch_status db_fail(const struct logged *l, hunch_error *reterr)
{
    int code = l->db ? sqlite3_errcode(l->db) : SQLITE_NOMEM;
    hunch_status status = code == SQLITE_NOMEM                                                 ? HUNCH_ENOMEM
                          : code == SQLITE_IOERR || code == SQLITE_BUSY || code == SQLITE_FULL ? HUNCH_EIO
                                                                                               : HUNCH_EUNSUPPORTED;
    return error_set(reterr, status, "%s: not a log of the server's, or damaged: %s", l->json.path,
                     l->db ? sqlite3_errmsg(l->db) : "out of memory");
}

/* Read-only, beside a server that writes; where even that needs to write (a read-only folder), as it lies there. */
static hunch_status db_open(struct logged *l, const char *path, hunch_error *reterr)
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

static hunch_status settings_read(struct logged *l, hunch_error *reterr)
{
    sqlite3_stmt *q;
    hunch_status status = HUNCH_OK;
    if (sqlite3_prepare_v2(l->db, "SELECT key, value FROM about WHERE key IN ('format', 'settings')", -1, &q, NULL))
        return db_fail(l, reterr);
    while (!status && sqlite3_step(q) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(q, 0), *value = (const char *)sqlite3_column_text(q, 1);
        if (key && !strcmp(key, "format") && sqlite3_column_int64(q, 1) > FORMAT) {
            status = error_set(reterr, HUNCH_EUNSUPPORTED, "%s: was written by a newer version", l->json.path);
        } else if (key && !strcmp(key, "settings")) {
            json_t *settings = json_loads(value ? value : "", 0, NULL);
            const char *kind = json_string_value(json_object_get(settings, "features"));
            json_int_t bits = json_integer_value(json_object_get(settings, "hash_bits"));
            l->hash_bits = kind && !strcmp(kind, "hashed") && bits > 0 && bits < 32 ? (unsigned)bits : 0;
            json_decref(settings);
        }
    }
    sqlite3_finalize(q);
    return status;
}

static hunch_status labels_read(struct logged *l, hunch_error *reterr)
{
    sqlite3_stmt *q;
    int code = SQLITE_OK;
    hunch_status status = HUNCH_OK;
    if (sqlite3_prepare_v2(l->db, "SELECT label, name FROM labels ORDER BY label", -1, &q, NULL))
        return db_fail(l, reterr);
    while (!status && (code = sqlite3_step(q)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(q, 1);
        uint32_t *map = realloc(l->label_map, (l->label_maps + 1) * sizeof *map);
        if (map)
            l->label_map = map;
        if (!map || !name)
            status = error_memory(reterr);
        else if (sqlite3_column_int64(q, 0) != l->label_maps)
            status = error_set(reterr, HUNCH_EUNSUPPORTED, "%s: its labels are not numbered 0, 1, 2 ...", l->json.path);
        else
            status = parser_label(&l->json, name, strlen(name), 0, &map[l->label_maps++], reterr);
    }
    sqlite3_finalize(q);
    return status || code == SQLITE_DONE ? status : db_fail(l, reterr);
}

hunch_status logged_server_open(struct logged *l, const char *path, hunch_error *reterr)
{
    hunch_status status = db_open(l, path, reterr);
    if (!status)
        status = settings_read(l, reterr);
    if (!status)
        status = labels_read(l, reterr);
    if (!status && sqlite3_prepare_v2(l->db, rows, -1, &l->statement, NULL))
        status = db_fail(l, reterr);
    return status == HUNCH_EUNSUPPORTED ? HUNCH_EINVAL : status;
}

static bool label_at(const struct logged *l, int column, uint32_t *ret)
{
    *ret = LOGGED_NONE;
    if (sqlite3_column_type(l->statement, column) == SQLITE_NULL)
        return true;
    sqlite3_int64 label = sqlite3_column_int64(l->statement, column);
    if (label < 0 || label >= l->label_maps)
        return false;
    *ret = l->label_map[label];
    return true;
}

hunch_status logged_server_next(struct logged *l, struct logged_row *ret, bool *ret_more, bool *ret_answered,
                                hunch_error *reterr)
{
    sqlite3_stmt *q = l->statement;
    int code = sqlite3_step(q);
    *ret_more = code == SQLITE_ROW;
    if (code == SQLITE_DONE)
        return HUNCH_OK;
    if (code != SQLITE_ROW)
        return db_fail(l, reterr);
    logged_at(l, (uint64_t)sqlite3_column_int64(q, 0)); /* messages name the place in the log */
    bool told = sqlite3_column_type(q, 3) != SQLITE_NULL;
    const char *x = (const char *)sqlite3_column_text(q, 5);
    if (!label_at(l, 1, &ret->label) || !label_at(l, 4, &ret->truth))
        return parser_fail(&l->json, l->json.line, reterr, "a label that the log does not name");
    if (ret->label != LOGGED_NONE && !told)
        return HUNCH_OK; /* no answer came */
    hunch_status status = HUNCH_OK;
    if (ret->label != LOGGED_NONE)
        status = logged_prob(l, sqlite3_column_double(q, 2), ret, reterr);
    *ret_answered = true;
    ret->right = told && sqlite3_column_int64(q, 3);
    return status ? status : logged_json_x(l, x ? x : "", (size_t)sqlite3_column_bytes(q, 5), reterr);
}

void logged_server_close(struct logged *l)
{
    sqlite3_finalize(l->statement);
    sqlite3_close(l->db);
    free(l->label_map);
    l->statement = NULL;
    l->db = NULL;
    l->label_map = NULL;
    l->label_maps = 0;
    l->hash_bits = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/log_vfs.h"
#include "storage/store_shared.h"

/* Origins that have been silent for longest are forgotten beyond that many: a node's producer sends again within minutes.
 */
#define ORIGINS 1024

static const char tables[] = "BEGIN IMMEDIATE;"
                             "CREATE TABLE IF NOT EXISTS handles(seq INTEGER PRIMARY KEY, handle INTEGER NOT NULL);"
                             "CREATE INDEX IF NOT EXISTS handles_handle ON handles(handle);"
                             "CREATE TABLE IF NOT EXISTS origins(origin INTEGER PRIMARY KEY, counter INTEGER NOT NULL,"
                             " seq INTEGER NOT NULL);"
                             "DELETE FROM origins; DROP VIEW IF EXISTS log;" LOG_VIEW(
                                 "ifnull((SELECT handle FROM handles WHERE seq = d.seq), d.seq)");

static bool run(sqlite3 *db, const char *sql, struct http_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || event_store_error(db, err);
}

bool store_share(const char *dir, const char *topic, uint64_t arithmetic, struct http_error *err)
{
    char path[4096];
    sqlite3 *db = NULL;
    if (snprintf(path, sizeof path, "%s/%s", dir, STORE_FILE) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path is too long");
    char *sql = sqlite3_mprintf(
        "%sINSERT OR REPLACE INTO about(key, value) VALUES('topic', %Q), ('place', '0 ' || max("
        "coalesce((SELECT max(time_ms) FROM decisions), 0), coalesce((SELECT max(time_ms) FROM feedback), 0),"
        " coalesce((SELECT max(time_ms) FROM lessons), 0))),"
        " ('arithmetic', %lld); COMMIT;",
        tables, topic, (long long)arithmetic);
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, log_vfs()) == SQLITE_OK || event_store_error(db, err);
    ok = ok && run(db, "PRAGMA synchronous=FULL", err) && run(db, sql, err);
    sqlite3_free(sql);
    sqlite3_close(db);
    return ok;
}

static bool prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct http_error *err)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK ||
           event_store_error(db, err);
}

static bool read_origins(struct event_store *s, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int code;
    if (!prepare(s->db, "SELECT origin, counter FROM origins ORDER BY seq", &q, err))
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        store_shared_count(s, (uint64_t)sqlite3_column_int64(q, 0), (uint64_t)sqlite3_column_int64(q, 1));
    sqlite3_finalize(q);
    return code == SQLITE_DONE || event_store_error(s->db, err);
}

/* The decisions by their handles. */
static bool open_reader(struct event_store *s, struct http_error *err)
{
    struct store_shared *h = &s->shared;
    pthread_mutex_init(&h->lock, NULL);
    return (sqlite3_open_v2(s->path, &h->reader, SQLITE_OPEN_READWRITE, log_vfs()) == SQLITE_OK ||
            event_store_error(h->reader, err)) &&
           run(h->reader, "PRAGMA query_only=1; PRAGMA busy_timeout=10000", err) &&
           prepare(h->reader,
                   "SELECT h.seq FROM handles h JOIN decisions d ON d.seq = h.seq WHERE h.handle = ? AND d.key = ?",
                   &h->find, err) &&
           prepare(h->reader, "SELECT handle FROM handles WHERE seq = ?", &h->handle, err);
}

/* Of a log that was shared once, the handles alone; nothing for one that never was. */
bool event_store_open_shared(struct event_store *s, struct http_error *err)
{
    struct text topic = {0}, place = {0}, arithmetic = {0}, upto = {0};
    struct store_shared *h = &s->shared;
    bool alone = event_store_about(s, "shared_upto", &upto);
    h->upto = alone ? strtoull(upto.data, NULL, 10) : 0;
    text_free(&upto);
    bool shared = event_store_about(s, "topic", &topic) && event_store_about(s, "place", &place) &&
                  event_store_about(s, "arithmetic", &arithmetic);
    if (shared) {
        h->topic = strdup(topic.data);
        char *rest;
        h->offset = strtoull(place.data, &rest, 10);
        h->log_ms = strtoll(rest, NULL, 10);
        h->arithmetic = strtoull(arithmetic.data, NULL, 10);
        h->origins = calloc(ORIGINS, sizeof *h->origins);
        h->upto = UINT64_MAX;
    }
    text_free(&topic);
    text_free(&place);
    text_free(&arithmetic);
    if (!shared)
        return !alone || open_reader(s, err);
    if (!h->topic || !h->origins)
        return http_error_no_memory(err);
    return read_origins(s, err) && open_reader(s, err) &&
           prepare(s->db, "INSERT OR REPLACE INTO origins(origin, counter, seq) VALUES(?, ?, ?)", &h->put_origin,
                   err) &&
           prepare(s->db, "INSERT INTO handles(seq, handle) VALUES(?, ?)", &h->put_handle, err) &&
           prepare(s->db, "UPDATE about SET value = printf('%d %d', ?, ?) WHERE key = 'place'", &h->put_position, err);
}

void event_store_close_shared(struct event_store *s)
{
    struct store_shared *h = &s->shared;
    sqlite3_stmt *const all[] = {h->find, h->handle, h->put_origin, h->put_handle, h->put_position};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sqlite3_finalize(all[i]);
    if (h->reader)
        pthread_mutex_destroy(&h->lock);
    sqlite3_close(h->reader);
    free(h->origins);
    free(h->topic);
    *h = (struct store_shared){0};
}

static bool put(struct event_store *s, sqlite3_stmt *q, const uint64_t *values, int n, struct http_error *err)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(q, i + 1, (int64_t)values[i]);
    bool ok = sqlite3_step(q) == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_reset(q);
    return ok;
}

bool event_store_append_shared(struct event_store *s, struct event *const *events, size_t n, struct http_error *err)
{
    struct store_shared *h = &s->shared;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        const struct event *e = events[i];
        const uint64_t handle[] = {e->seq, e->source.handle}, origin[] = {e->source.origin, e->source.counter, e->seq};
        bool newest = i + 1 == n || events[i + 1]->source.origin != e->source.origin;
        ok = (e->kind != EVENT_DECISION || put(s, h->put_handle, handle, 2, err)) &&
             (!newest || put(s, h->put_origin, origin, 3, err));
    }
    const struct event *last = n ? events[n - 1] : NULL;
    const uint64_t place[] = {last ? last->source.offset + 1 : 0, last ? (uint64_t)last->time_ms : 0};
    return ok && (!last || put(s, h->put_position, place, 2, err));
}

/* --- who proposed what last: a list, the latest in front --- */

uint64_t store_shared_counter(struct event_store *s, uint64_t origin)
{
    const struct store_shared *h = &s->shared;
    for (size_t i = 0; i < h->origins_n; i++)
        if (h->origins[i].origin == origin)
            return h->origins[i].counter;
    return 0;
}

void store_shared_count(struct event_store *s, uint64_t origin, uint64_t counter)
{
    struct store_shared *h = &s->shared;
    size_t i = 0;
    while (i < h->origins_n && h->origins[i].origin != origin)
        i++;
    if (i == h->origins_n)
        h->origins_n < ORIGINS ? h->origins_n++ : i--;
    memmove(h->origins + 1, h->origins, i * sizeof *h->origins);
    h->origins[0] = (struct origin){origin, counter};
}

/* --- looking --- */

static bool look(struct event_store *s, sqlite3_stmt *q, const uint64_t *values, int n, uint64_t *ret,
                 struct http_error *err)
{
    pthread_mutex_lock(&s->shared.lock);
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(q, i + 1, (int64_t)values[i]);
    int code = sqlite3_step(q);
    *ret = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || event_store_error(s->shared.reader, err);
    sqlite3_reset(q);
    pthread_mutex_unlock(&s->shared.lock);
    return ok;
}

bool store_shared_decision(struct event_store *s, uint64_t handle, uint64_t key, struct event **ret,
                           struct http_error *err)
{
    const uint64_t values[] = {handle, key};
    uint64_t seq = 0;
    *ret = NULL;
    if (!s->shared.find)
        return true;
    if (!(handle & HANDLE_BIT)) { /* an id from before the journal was shared: the decision's place */
        if (!event_store_decision(s, handle, ret, err))
            return false;
        if (*ret && (*ret)->key != key) {
            event_free(*ret);
            *ret = NULL;
        }
        return true;
    }
    if (!look(s, s->shared.find, values, 2, &seq, err) || (seq && !event_store_decision(s, seq, ret, err)))
        return false;
    if (*ret)
        (*ret)->source.handle = handle;
    return true;
}

uint64_t store_shared_handle(struct event_store *s, uint64_t seq)
{
    struct http_error ignored;
    uint64_t handle = 0;
    if (s->shared.handle)
        look(s, s->shared.handle, &seq, 1, &handle, &ignored);
    return handle;
}

uint64_t store_shared_seq(struct event_store *s, uint64_t handle, uint64_t key)
{
    struct http_error ignored;
    const uint64_t values[] = {handle, key};
    uint64_t seq = 0;
    if (s->shared.find)
        look(s, s->shared.find, values, 2, &seq, &ignored);
    return seq;
}

bool store_unshare(const char *dir, struct http_error *err)
{
    struct event_store store;
    char sql[256];
    if (!event_store_open(&store, dir, false, err))
        return false;
    sqlite3_snprintf(sizeof sql, sql,
                     "BEGIN IMMEDIATE; INSERT OR REPLACE INTO about(key, value) VALUES('shared_upto', '%lld');"
                     "DELETE FROM about WHERE key IN ('topic', 'place', 'arithmetic'); DELETE FROM origins; COMMIT",
                     (long long)store.last_seq);
    bool ok = !store.shared.topic || run(store.db, sql, err);
    event_store_close(&store);
    return ok;
}

bool store_shared_copy(struct event_store *s, const char *path, struct http_error *err)
{
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", path);
    bool ok =
        sqlite3_open_v2(s->path, &db, SQLITE_OPEN_READWRITE, log_vfs()) == SQLITE_OK || event_store_error(db, err);
    ok = ok && run(db, "PRAGMA busy_timeout=10000", err) && run(db, sql, err);
    sqlite3_free(sql);
    sqlite3_close(db);
    return ok;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hunch.h"
#include "names.h"
#include "event_store.h"

/* Names of columns are meant to be read by people who query the file; docs/serve.md tells what they hold. */
static const char schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE versions(version INTEGER PRIMARY KEY, hunch TEXT NOT NULL, learner TEXT NOT NULL,"
    " UNIQUE(hunch, learner));"
    "CREATE TABLE labels(label INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL);"
    "CREATE TABLE decisions(seq INTEGER PRIMARY KEY, key INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    " round INTEGER NOT NULL, label INTEGER NOT NULL, greedy INTEGER NOT NULL, probability REAL NOT NULL,"
    " note INTEGER NOT NULL, version INTEGER NOT NULL, seen INTEGER NOT NULL, x TEXT NOT NULL);"
    "CREATE TABLE feedback(seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL UNIQUE, time_ms INTEGER NOT NULL,"
    " was_right INTEGER NOT NULL, true_label INTEGER);"
    "CREATE TABLE lessons(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, label INTEGER NOT NULL, x TEXT NOT NULL);"
    "CREATE VIEW log AS SELECT printf('%016x-%016x', d.seq, d.key) AS id, d.seq AS seq, d.time_ms AS time_ms, d.x AS x,"
    " (SELECT name FROM labels WHERE label = d.label) AS label,"
    " (SELECT name FROM labels WHERE label = d.greedy) AS greedy,"
    " d.probability AS probability, d.round AS round, d.note AS note, d.seen AS seen, v.hunch AS hunch, v.learner AS "
    "learner,"
    " f.was_right AS was_right, (SELECT name FROM labels WHERE label = f.true_label) AS true_label,"
    " f.time_ms AS feedback_time_ms, f.time_ms - d.time_ms AS delay_ms, f.seq AS feedback_seq"
    " FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq LEFT JOIN versions v ON v.version = d.version;";

static const char *const inserts[INSERTS] = {
    "INSERT INTO decisions(seq, key, time_ms, round, label, greedy, probability, version, seen, x, note)"
    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO feedback(seq, decision, time_ms, was_right, true_label) VALUES(?, ?, ?, ?, ?)",
    "INSERT INTO lessons(seq, time_ms, label, x) VALUES(?, ?, ?, ?)",
    "INSERT INTO labels(label, name, seq) VALUES((SELECT count(*) FROM labels), ?, ?)",
};

#define DECISION                                                                                                       \
    "SELECT d.seq, d.key, d.time_ms, d.round, d.label, d.greedy, d.probability, d.seen, d.x, d.note,"                  \
    " f.seq, f.time_ms, f.was_right, f.true_label FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq "

bool event_store_error(sqlite3 *db, struct http_error *err)
{
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    const char *what = db ? sqlite3_errmsg(db) : "out of memory";
    if ((code & 255) == SQLITE_FULL)
        what = "the disk is full";
    else if ((code & 255) == SQLITE_READONLY)
        what = "the disk is read-only";
    return http_error_set(err, 503, "storage", "the log can't be written or read: %s (SQLite %d)", what, code);
}

static bool run(sqlite3 *db, const char *sql, struct http_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || event_store_error(db, err);
}

static bool prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct http_error *err)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK ||
           event_store_error(db, err);
}

static bool open_db(const char *path, int flags, sqlite3 **ret, struct http_error *err)
{
    /* The library's checkpoints would stop a commit for long if the log of changes grew without bounds. */
    static const char settings[] = "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-4096;"
                                   "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF;";
    if (sqlite3_open_v2(path, ret, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return event_store_error(*ret, err);
    sqlite3_extended_result_codes(*ret, 1);
    sqlite3_busy_timeout(*ret, 10000); /* for readers that people run beside the server */
    return run(*ret, settings, err);
}

static bool put_about(sqlite3 *db, const char *key, const char *text, int64_t number, struct http_error *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = prepare(db, "INSERT OR REPLACE INTO about(key, value) VALUES(?, ?)", &s, err);
    if (ok) {
        sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
        if (text)
            sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(s, 2, number);
        ok = sqlite3_step(s) == SQLITE_DONE || event_store_error(db, err);
    }
    sqlite3_finalize(s);
    return ok;
}

static bool put_labels(sqlite3 *db, const struct names *labels, struct http_error *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = prepare(db, inserts[INSERT_LABEL], &s, err);
    for (uint32_t i = 0; ok && i < names_count(labels); i++) {
        size_t length;
        const char *name = names_text(labels, i, &length);
        sqlite3_bind_text(s, 1, name, (int)length, SQLITE_STATIC);
        sqlite3_bind_int64(s, 2, 0);
        ok = sqlite3_step(s) == SQLITE_DONE || event_store_error(db, err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return ok;
}

static char *path_in(const char *dir)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", dir, STORE_FILE) < 0 ? NULL : path;
}

bool event_store_create(const char *dir, const char *name, const char *settings, const struct names *labels,
                        int64_t now_ms, struct http_error *err)
{
    sqlite3 *db = NULL;
    char *path = path_in(dir);
    if (!path)
        return http_error_set(err, 503, "out_of_memory", "out of memory");
    bool ok = open_db(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db, err) &&
              run(db, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE;", err) &&
              run(db, schema, err) && put_about(db, "format", NULL, STORE_FORMAT, err) &&
              put_about(db, "model", name, 0, err) && put_about(db, "settings", settings, 0, err) &&
              put_about(db, "created_ms", NULL, now_ms, err) && put_about(db, "created_by", hunch_version(), 0, err) &&
              put_about(db, "expired", NULL, 0, err) && put_about(db, "expired_upto", NULL, 0, err) &&
              put_about(db, "trimmed", NULL, 0, err) && put_labels(db, labels, err) && run(db, "COMMIT", err);
    sqlite3_close(db);
    free(path);
    return ok;
}

bool event_store_about(struct event_store *s, const char *key, struct text *ret)
{
    sqlite3_stmt *q = NULL;
    bool there = sqlite3_prepare_v2(s->db, "SELECT value FROM about WHERE key = ?", -1, &q, NULL) == SQLITE_OK &&
                 sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW;
    if (there)
        text_puts(ret, (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return there && !ret->failed;
}

static bool number(struct event_store *s, const char *sql, int64_t *ret, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    bool ok = prepare(s->db, sql, &q, err) && (sqlite3_step(q) == SQLITE_ROW || event_store_error(s->db, err));
    if (ok)
        *ret = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return ok;
}

static bool read_state(struct event_store *s, struct http_error *err)
{
    int64_t format = 0, seq = 0, time = 0, expired = 0, upto = 0, trimmed = 0;
    bool ok = number(s, "SELECT value FROM about WHERE key = 'format'", &format, err);
    if (ok && format > STORE_FORMAT)
        return http_error_set(err, 503, "newer", "the log was written by a newer version (format %lld)",
                              (long long)format);
    ok =
        ok &&
        number(s,
               "SELECT max(coalesce((SELECT max(seq) FROM decisions), 0), coalesce((SELECT max(seq) FROM feedback), 0),"
               " coalesce((SELECT max(seq) FROM lessons), 0), coalesce((SELECT max(seq) FROM labels), 0))",
               &seq, err) &&
        number(s,
               "SELECT max(coalesce((SELECT time_ms FROM decisions ORDER BY seq DESC LIMIT 1), 0),"
               " coalesce((SELECT time_ms FROM feedback ORDER BY seq DESC LIMIT 1), 0),"
               " coalesce((SELECT time_ms FROM lessons ORDER BY seq DESC LIMIT 1), 0))",
               &time, err) &&
        number(s, "SELECT value FROM about WHERE key = 'expired'", &expired, err) &&
        number(s, "SELECT value FROM about WHERE key = 'expired_upto'", &upto, err) &&
        number(s, "SELECT value FROM about WHERE key = 'trimmed'", &trimmed, err);
    s->trimmed = (uint64_t)trimmed;
    s->last_seq = (uint64_t)(seq > trimmed ? seq : trimmed);
    s->last_time_ms = time;
    s->expired = (uint64_t)expired;
    s->expired_upto = (uint64_t)upto;
    return ok;
}

static bool open_reader(const char *path, const char *sql, struct reader *r, struct http_error *err)
{
    return open_db(path, SQLITE_OPEN_READWRITE, &r->db, err) && run(r->db, "PRAGMA query_only=1", err) &&
           prepare(r->db, sql, &r->statement, err) && prepare(r->db, "BEGIN", &r->begin, err) &&
           prepare(r->db, "COMMIT", &r->end, err);
}

/* Can be opened again. */
static void close_reader(struct reader *r)
{
    sqlite3_finalize(r->statement);
    sqlite3_finalize(r->begin);
    sqlite3_finalize(r->end);
    sqlite3_close(r->db);
    r->statement = r->begin = r->end = NULL;
    r->db = NULL;
}

/* The folder may have been moved away since, and another model's may stand under the same path. */
static bool same_file(const struct event_store *s, struct http_error *err)
{
    struct stat st;
    if (stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode)
        return true;
    return http_error_set(err, 503, "storage", "the log is no longer where it was");
}

bool event_store_open_finder(struct event_store *s, struct reader *r, struct http_error *err)
{
    if (open_reader(s->path, DECISION "WHERE d.seq = ?", r, err) && same_file(s, err))
        return true;
    close_reader(r);
    return false;
}

bool event_store_open(struct event_store *ret, const char *dir, struct http_error *err)
{
    struct event_store s = {.dir = strdup(dir), .path = path_in(dir)};
    if (!s.dir || !s.path)
        return http_error_set(err, 503, "out_of_memory", "out of memory");
    for (size_t i = 0; i < FINDERS; i++)
        pthread_mutex_init(&s.find[i].lock, NULL);
    pthread_mutex_init(&s.recent.lock, NULL);
    struct stat st = {0};
    bool ok = open_db(s.path, SQLITE_OPEN_READWRITE, &s.db, err) && run(s.db, "PRAGMA journal_mode=WAL", err) &&
              (stat(s.path, &st) == 0 || event_store_error(s.db, err)) && read_state(&s, err) &&
              prepare(s.db, "BEGIN IMMEDIATE", &s.begin, err) && prepare(s.db, "COMMIT", &s.commit, err) &&
              prepare(s.db, "ROLLBACK", &s.rollback, err);
    for (size_t i = 0; ok && i < INSERTS; i++)
        ok = prepare(s.db, inserts[i], &s.insert[i], err);
    s.device = st.st_dev;
    s.inode = st.st_ino;
    ok = ok && event_store_open_finder(&s, &s.find[0], err) &&
         open_reader(s.path, DECISION "WHERE d.seq < ? ORDER BY d.seq DESC LIMIT ?", &s.recent, err);
    *ret = s;
    if (!ok)
        event_store_close(ret);
    return ok;
}

void event_store_close(struct event_store *s)
{
    sqlite3_stmt *const all[] = {s->begin, s->commit, s->rollback};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sqlite3_finalize(all[i]);
    for (size_t i = 0; i < INSERTS; i++)
        sqlite3_finalize(s->insert[i]);
    for (size_t i = 0; i < FINDERS; i++)
        close_reader(&s->find[i]);
    close_reader(&s->recent);
    sqlite3_close(s->db);
    for (size_t i = 0; s->path && i < FINDERS; i++)
        pthread_mutex_destroy(&s->find[i].lock);
    if (s->path)
        pthread_mutex_destroy(&s->recent.lock);
    free(s->dir);
    free(s->path);
    *s = (struct event_store){0};
}

bool event_store_set_version(struct event_store *s, const char *learner, struct http_error *err)
{
    sqlite3_stmt *add = NULL, *get = NULL;
    bool ok = prepare(s->db, "INSERT OR IGNORE INTO versions(hunch, learner) VALUES(?, ?)", &add, err) &&
              prepare(s->db, "SELECT version FROM versions WHERE hunch = ? AND learner = ?", &get, err);
    sqlite3_stmt *both[] = {get, add};
    for (size_t i = 0; ok && i < 2; i++) {
        sqlite3_bind_text(both[i], 1, hunch_version(), -1, SQLITE_STATIC);
        sqlite3_bind_text(both[i], 2, learner, -1, SQLITE_STATIC);
    }
    bool there = ok && sqlite3_step(get) == SQLITE_ROW;
    if (ok && !there) { /* looked for first: a full disk must not keep a server from starting */
        ok = sqlite3_step(add) == SQLITE_DONE || event_store_error(s->db, err);
        sqlite3_reset(get);
        there = ok && sqlite3_step(get) == SQLITE_ROW;
    }
    if (there)
        s->version = sqlite3_column_int64(get, 0);
    sqlite3_finalize(add);
    sqlite3_finalize(get);
    return ok;
}

/* --- writing --- */

static bool step(struct event_store *s, sqlite3_stmt *q, struct http_error *err)
{
    int code = sqlite3_step(q);
    bool ok = code == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_reset(q);
    return ok;
}

bool event_store_begin(struct event_store *s, struct http_error *err)
{
    return step(s, s->begin, err);
}

bool event_store_commit(struct event_store *s, struct http_error *err)
{
    return step(s, s->commit, err);
}

void event_store_rollback(struct event_store *s)
{
    struct http_error ignored;
    if (!sqlite3_get_autocommit(s->db))
        step(s, s->rollback, &ignored);
}

static void bind_decision(sqlite3_stmt *q, const struct event *e, int64_t version)
{
    sqlite3_bind_int64(q, 2, (int64_t)e->key);
    sqlite3_bind_int64(q, 3, e->time_ms);
    sqlite3_bind_int64(q, 4, (int64_t)e->choice.round);
    sqlite3_bind_int64(q, 5, e->choice.label);
    sqlite3_bind_int64(q, 6, e->choice.greedy);
    sqlite3_bind_double(q, 7, e->choice.prob);
    sqlite3_bind_int64(q, 8, version);
    sqlite3_bind_int64(q, 9, (int64_t)e->seen);
    sqlite3_bind_text(q, 10, e->x, (int)e->x_length, SQLITE_STATIC);
    sqlite3_bind_int64(q, 11, e->choice.note);
}

static bool insert(struct event_store *s, const struct event *e, struct http_error *err)
{
    sqlite3_stmt *q = s->insert[e->kind];
    sqlite3_bind_int64(q, 1, (int64_t)e->seq);
    switch (e->kind) {
    case EVENT_DECISION:
        bind_decision(q, e, s->version);
        break;
    case EVENT_FEEDBACK:
        sqlite3_bind_int64(q, 2, (int64_t)e->decision);
        sqlite3_bind_int64(q, 3, e->time_ms);
        sqlite3_bind_int64(q, 4, e->answer.right);
        if (e->answer.label == NO_LABEL)
            sqlite3_bind_null(q, 5);
        else
            sqlite3_bind_int64(q, 5, e->answer.label);
        break;
    case EVENT_LESSON:
        sqlite3_bind_int64(q, 2, e->time_ms);
        sqlite3_bind_int64(q, 3, e->label);
        sqlite3_bind_text(q, 4, e->x, (int)e->x_length, SQLITE_STATIC);
        break;
    case EVENT_LABEL:
        sqlite3_bind_text(q, 1, e->x, (int)e->x_length, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, (int64_t)e->seq);
        break;
    }
    return step(s, q, err);
}

bool event_store_append(struct event_store *s, struct event *const *events, size_t n, struct http_error *err)
{
    bool ok = event_store_begin(s, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = insert(s, events[i], err);
    ok = ok && event_store_commit(s, err);
    if (!ok)
        event_store_rollback(s);
    else if (n)
        s->last_seq = events[n - 1]->seq;
    return ok;
}

uint64_t event_store_bytes(const struct event_store *s)
{
    static const char *const ends[] = {"", "-wal"};
    uint64_t bytes = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        struct stat st;
        if (snprintf(path, sizeof path, "%s%s", s->path, ends[i]) < (int)sizeof path && stat(path, &st) == 0)
            bytes += (uint64_t)st.st_size;
    }
    return bytes;
}

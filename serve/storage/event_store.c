/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "hunch.h"
#include "stream.h"
#include "storage/event_store.h"
#include "storage/log_vfs.h"

#define LAST_SEQ                                                                                                       \
    "(SELECT max(coalesce((SELECT max(seq) FROM decisions), 0), coalesce((SELECT max(seq) FROM feedback), 0),"         \
    " coalesce((SELECT max(seq) FROM lessons), 0), coalesce((SELECT max(seq) FROM labels), 0),"                        \
    " coalesce((SELECT max(seq) FROM late), 0), coalesce((SELECT max(seq) FROM label_states), 0),"                     \
    " coalesce((SELECT max(seq) FROM activations), 0), coalesce((SELECT max(seq) FROM policies), 0),"                  \
    " (SELECT value FROM about WHERE key = 'trimmed')))"

#define EXCLUDED_TABLE                                                                                                 \
    "CREATE TABLE excluded(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, upto INTEGER, checksum INTEGER NOT "     \
    "NULL);"

/* What came after an answer that silence had become, what became of labels and of deferred decisions, and who decided. */
#define LATE_TABLES                                                                                                    \
    "CREATE TABLE late(seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL UNIQUE, time_ms INTEGER NOT NULL,"           \
    " was_right INTEGER NOT NULL, true_label INTEGER, checksum INTEGER);"                                              \
    "CREATE TABLE label_states(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, label INTEGER NOT NULL,"             \
    " retired INTEGER NOT NULL, checksum INTEGER);"                                                                    \
    "CREATE TABLE activations(seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL UNIQUE, time_ms INTEGER NOT NULL,"    \
    " checksum INTEGER);"                                                                                              \
    "CREATE TABLE policies(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, policy TEXT NOT NULL, checksum INTEGER);"

/* Names of columns are meant to be read by people who query the file; docs/how-to/serve.md tells what they hold. */
static const char schema[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE versions(version INTEGER PRIMARY KEY, hunch TEXT NOT NULL, learner TEXT NOT NULL,"
    " UNIQUE(hunch, learner));"
    "CREATE TABLE labels(label INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL,"
    " checksum INTEGER);"
    "CREATE TABLE decisions(seq INTEGER PRIMARY KEY, key INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    " round INTEGER NOT NULL, label INTEGER NOT NULL, greedy INTEGER NOT NULL, probability REAL,"
    " note INTEGER NOT NULL, version INTEGER NOT NULL, seen INTEGER NOT NULL, x TEXT NOT NULL, eligible TEXT,"
    " given_id TEXT, chosen_by INTEGER NOT NULL, model_probability REAL, deferred INTEGER NOT NULL, act_at REAL,"
    " act INTEGER NOT NULL, checksum INTEGER);"
    "CREATE INDEX decisions_given_id ON decisions(given_id) WHERE given_id IS NOT NULL;"
    "CREATE TABLE feedback(seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL UNIQUE, time_ms INTEGER NOT NULL,"
    " was_right INTEGER NOT NULL, true_label INTEGER, silent INTEGER NOT NULL, checksum INTEGER);" LATE_TABLES
    "CREATE TABLE lessons(seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL, label INTEGER NOT NULL, x TEXT NOT NULL,"
    " checksum INTEGER);" EXCLUDED_TABLE LOG_VIEW("d.seq");

/* A constraint that fails undoes the whole commit, so SQLite need not keep what the statement alone has changed. */
static const char *const inserts[INSERTS] = {
    "INSERT OR FAIL INTO decisions(seq, key, time_ms, round, label, greedy, probability, version, seen, x, note,"
    " eligible, given_id, chosen_by, model_probability, deferred, act_at, act, checksum) SELECT seq, key, time_ms, round,"
    " label, greedy, probability, version, seen, x, note, eligible, given_id, chosen_by, model_probability, deferred,"
    " act_at, act, checksum FROM events",
    "INSERT OR FAIL INTO feedback(seq, decision, time_ms, was_right, true_label, silent, checksum)"
    " SELECT seq, decision, time_ms, was_right, true_label, silent, checksum FROM events",
    "INSERT OR FAIL INTO lessons(seq, time_ms, label, x, checksum) SELECT seq, time_ms, label, x, checksum FROM events",
    "INSERT INTO labels(label, name, seq, checksum) VALUES((SELECT count(*) FROM labels), ?, ?, ?)",
    "INSERT OR FAIL INTO late(seq, decision, time_ms, was_right, true_label, checksum)"
    " SELECT seq, decision, time_ms, was_right, true_label, checksum FROM events",
    "INSERT OR FAIL INTO label_states(seq, time_ms, label, retired, checksum)"
    " SELECT seq, time_ms, label, was_right, checksum FROM events",
    "INSERT OR FAIL INTO activations(seq, decision, time_ms, checksum) SELECT seq, decision, time_ms, checksum FROM"
    " events",
    "INSERT OR FAIL INTO policies(seq, time_ms, policy, checksum) SELECT seq, time_ms, x, checksum FROM events",
};

#define DECISION                                                                                                       \
    "d.seq, d.key, d.time_ms, d.round, d.label, d.greedy, d.probability, d.seen, d.x, d.note, d.checksum, d.eligible," \
    " d.given_id, d.chosen_by, d.model_probability, d.deferred, d.act_at, d.act,"                                      \
    " CASE WHEN d.deferred THEN (SELECT a.seq FROM activations a WHERE a.decision = d.seq) END"
#define ANSWER                                                                                                         \
    "f.seq, f.time_ms, f.was_right, f.true_label, f.checksum, f.silent,"                                               \
    " (SELECT l.seq FROM late l WHERE l.decision = f.decision)"
#define CHAIN                                                                                                          \
    "SELECT checksum FROM decisions WHERE seq = ?1 UNION ALL SELECT checksum FROM feedback WHERE seq = ?1 UNION ALL"   \
    " SELECT checksum FROM lessons WHERE seq = ?1 UNION ALL SELECT checksum FROM labels WHERE seq = ?1 UNION ALL"      \
    " SELECT checksum FROM late WHERE seq = ?1 UNION ALL SELECT checksum FROM label_states WHERE seq = ?1 UNION ALL"   \
    " SELECT checksum FROM activations WHERE seq = ?1 UNION ALL SELECT checksum FROM policies WHERE seq = ?1 LIMIT 1"
#define COMMITS_HELD 8 /* after n, readers get a new snapshot of the log */
#define WAL_PAGES 2000 /* a checkpoint is due; it ends only if no one stands at an older moment */

bool event_store_error(sqlite3 *db, struct http_error *err)
{
    int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    const char *what = db ? sqlite3_errmsg(db) : "out of memory";
    if ((code & 255) == SQLITE_FULL)
        what = "the disk is full";
    else if ((code & 255) == SQLITE_READONLY)
        what = "the disk is read-only";
    if ((code & 255) == SQLITE_CONSTRAINT || (code & 255) == SQLITE_TOOBIG || (code & 255) == SQLITE_MISMATCH)
        return http_error_set(err, 500, "refused", "the log refuses it: %s (SQLite %d)", what, code);
    if ((code & 255) == SQLITE_CORRUPT || (code & 255) == SQLITE_NOTADB)
        return http_error_set(err, 503, "damaged", "the log's file is damaged (SQLite %d)", code);
    return http_error_set(err, 503, "storage", "the log cannot be written or read: %s (SQLite %d)", what, code);
}

bool event_store_run(sqlite3 *db, const char *sql, struct http_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || event_store_error(db, err);
}

bool event_store_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct http_error *err)
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
    if (sqlite3_open_v2(path, ret, flags | SQLITE_OPEN_NOMUTEX, log_vfs()) != SQLITE_OK)
        return event_store_error(*ret, err);
    sqlite3_extended_result_codes(*ret, 1);
    sqlite3_busy_timeout(*ret, 10000); /* for readers that people run beside the server */
    return event_store_run(*ret, settings, err);
}

bool event_store_put(sqlite3 *db, const char *key, const char *text, int64_t number, struct http_error *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = event_store_prepare(db, "INSERT OR REPLACE INTO about(key, value) VALUES(?, ?)", &s, err);
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

struct store_numbers event_store_numbers(const struct event_store *s)
{
    return (struct store_numbers){s->expired, s->expired_upto, s->trimmed, s->chain_from, s->chain_base};
}

static int64_t numbers_checksum(const struct store_numbers *n)
{
    return (int64_t)XXH3_64bits(n, sizeof *n);
}

bool event_store_put_numbers(sqlite3 *db, const struct store_numbers *n, struct http_error *err)
{
    return event_store_put(db, "expired", NULL, (int64_t)n->expired, err) &&
           event_store_put(db, "expired_upto", NULL, (int64_t)n->expired_upto, err) &&
           event_store_put(db, "trimmed", NULL, (int64_t)n->trimmed, err) &&
           event_store_put(db, "chain_from", NULL, (int64_t)n->chain_from, err) &&
           event_store_put(db, "chain_base", NULL, (int64_t)n->chain_base, err) &&
           event_store_put(db, "numbers_checksum", NULL, numbers_checksum(n), err);
}

static bool put_labels(sqlite3 *db, const struct names *labels, struct http_error *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = event_store_prepare(db, inserts[INSERT_LABEL], &s, err);
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
    struct store_numbers numbers = {.chain_base = (uint64_t)event_store_hash(settings)};
    if (!path)
        return http_error_no_memory(err);
    bool ok = open_db(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db, err) &&
              event_store_run(db, "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE;", err) &&
              event_store_run(db, schema, err) && event_store_put(db, "format", NULL, STORE_FORMAT, err) &&
              event_store_put(db, "model", name, 0, err) && event_store_put(db, "settings", settings, 0, err) &&
              event_store_put(db, "created_ms", NULL, now_ms, err) &&
              event_store_put(db, "created_by", hunch_version(), 0, err) &&
              event_store_put_numbers(db, &numbers, err) &&
              event_store_put(db, "settings_checksum", NULL, event_store_hash(settings), err) &&
              put_labels(db, labels, err) && event_store_run(db, "COMMIT", err);
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

bool event_store_number(struct event_store *s, const char *sql, int64_t *ret, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    bool ok =
        event_store_prepare(s->db, sql, &q, err) && (sqlite3_step(q) == SQLITE_ROW || event_store_error(s->db, err));
    if (ok)
        *ret = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return ok;
}

static bool excluded_read(struct event_store *s, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int64_t n = 0;
    int code = SQLITE_DONE;
    if (!event_store_number(s, "SELECT count(*) FROM excluded", &n, err) ||
        !event_store_prepare(s->db, "SELECT seq, upto, checksum FROM excluded ORDER BY seq", &q, err))
        return false;
    s->excluded = calloc((size_t)n + 1, sizeof *s->excluded);
    for (s->excluded_n = 0; s->excluded && s->excluded_n < (size_t)n && (code = sqlite3_step(q)) == SQLITE_ROW;) {
        struct exclusion *x = &s->excluded[s->excluded_n++];
        x->seq = (uint64_t)sqlite3_column_int64(q, 0);
        x->upto = sqlite3_column_type(q, 1) == SQLITE_NULL ? UINT64_MAX : (uint64_t)sqlite3_column_int64(q, 1);
        if (sqlite3_column_int64(q, 2) != event_store_exclusion_checksum(x->seq))
            code = SQLITE_CORRUPT;
        if (code == SQLITE_CORRUPT)
            break;
    }
    sqlite3_finalize(q);
    if (!s->excluded)
        return http_error_no_memory(err);
    return code == SQLITE_ROW || code == SQLITE_DONE ||
           http_error_set(err, 503, "damaged", "the list of excluded events is damaged");
}

static bool check_format(struct event_store *s, struct http_error *err)
{
    int64_t format = 0;
    if (!event_store_number(s, "SELECT value FROM about WHERE key = 'format'", &format, err))
        return false;
    if (format > STORE_FORMAT)
        return http_error_set(err, 503, "newer", "the log was written by a newer version (format %lld)",
                              (long long)format);
    if (format < 1)
        return http_error_set(err, 503, "damaged", "the log has no format");
    return format == STORE_FORMAT ||
           http_error_set(err, 503, "older", "the log was written by an older version (format %lld)",
                          (long long)format);
}

bool event_store_refresh(struct event_store *s, struct http_error *err)
{
    static const char *const sql[] = {
        "SELECT " LAST_SEQ,
        "SELECT max(coalesce((SELECT time_ms FROM decisions ORDER BY seq DESC LIMIT 1), 0),"
        " coalesce((SELECT time_ms FROM feedback ORDER BY seq DESC LIMIT 1), 0),"
        " coalesce((SELECT time_ms FROM lessons ORDER BY seq DESC LIMIT 1), 0))",
        "SELECT value FROM about WHERE key = 'expired'",
        "SELECT value FROM about WHERE key = 'expired_upto'",
        "SELECT value FROM about WHERE key = 'trimmed'",
        "SELECT value FROM about WHERE key = 'chain_from'",
        "SELECT value FROM about WHERE key = 'chain_base'",
        "SELECT value FROM about WHERE key = 'numbers_checksum'",
    };
    int64_t v[8] = {0};
    for (size_t i = 0; i < 8; i++)
        if (!event_store_number(s, sql[i], &v[i], err))
            return false;
    s->last_seq = (uint64_t)v[0];
    s->last_time_ms = v[1];
    s->expired = (uint64_t)v[2];
    s->expired_upto = (uint64_t)v[3];
    s->trimmed = (uint64_t)v[4];
    s->chain_from = (uint64_t)v[5];
    s->chain_base = (uint64_t)v[6];
    struct store_numbers n = event_store_numbers(s);
    return numbers_checksum(&n) == v[7] || http_error_set(err, 503, "damaged", "the counters of the log are damaged");
}

static bool open_reader(struct event_store *s, struct reader *r, struct http_error *err)
{
    static const char recent[] = "SELECT " DECISION ", " ANSWER " FROM decisions d"
                                 " LEFT JOIN feedback f ON f.decision = d.seq WHERE d.seq < ?"
                                 " ORDER BY d.seq DESC LIMIT ?";
    static const char decisions[] = "SELECT " DECISION " FROM decisions d WHERE d.seq >= ? ORDER BY d.seq";
    static const char answers[] = "SELECT f.decision, " ANSWER " FROM feedback f WHERE f.decision >= ?"
                                  " ORDER BY f.decision";
    /* A file that someone has locked must not hold up requests for long. */
    if (!open_db(s->path, SQLITE_OPEN_READWRITE, &r->db, err) ||
        !event_store_run(r->db, "PRAGMA query_only=1; PRAGMA busy_timeout=200", err))
        return false;
    if (!event_store_prepare(r->db, CHAIN, &r->chain, err))
        return false;
    if (r == &s->recent)
        return event_store_prepare(r->db, recent, &r->recent, err);
    return event_store_prepare(r->db, decisions, &r->decisions.statement, err) &&
           event_store_prepare(r->db, answers, &r->answers.statement, err) &&
           event_store_prepare(r->db, "BEGIN", &r->begin, err) && event_store_prepare(r->db, "COMMIT", &r->end, err);
}

/* Can be opened again. */
static void close_reader(struct reader *r)
{
    sqlite3_stmt **const all[] = {
        &r->decisions.statement, &r->answers.statement, &r->recent, &r->begin, &r->end, &r->chain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sqlite3_finalize(*all[i]);
        *all[i] = NULL;
    }
    sqlite3_close(r->db);
    r->db = NULL;
    r->decisions.from = r->answers.from = 0;
    r->open = false;
}

/* The folder may have been moved away since, and another model's may stand under the same path. */
static bool same_file(const struct event_store *s, struct http_error *err)
{
    struct stat st;
    if (stat(s->path, &st) == 0 && st.st_dev == s->device && st.st_ino == s->inode)
        return true;
    return http_error_set(err, 503, "storage", "the log file was moved or replaced");
}

bool event_store_open_reader(struct event_store *s, struct reader *r, struct http_error *err)
{
    if (r->db)
        return true;
    r->store = s;
    if (open_reader(s, r, err) && same_file(s, err)) {
        if (s->look_only)
            sqlite3_db_config(r->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        return true;
    }
    close_reader(r);
    return false;
}

/* In place of the library's own, which is the same without the release. */
static int checkpoint_if_due(void *store, sqlite3 *db, const char *name, int pages)
{
    struct event_store *s = store;
    s->hold = pages < WAL_PAGES;
    if (!s->hold) {
        event_store_release(s);
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

bool event_store_open(struct event_store *s, const char *dir, bool look_only, struct http_error *err)
{
    *s = (struct event_store){.dir = strdup(dir), .path = path_in(dir), .look_only = look_only, .head_fd = -1};
    for (size_t i = 0; i < FINDERS; i++)
        pthread_mutex_init(&s->find[i].lock, NULL);
    pthread_mutex_init(&s->recent.lock, NULL);
    for (size_t i = 0; i < ANSWERED_KINDS; i++)
        pthread_mutex_init(&s->answered[i].lock, NULL);
    struct stat st = {0};
    bool ok = (s->dir && s->path) || http_error_no_memory(err);
    ok = ok && open_db(s->path, SQLITE_OPEN_READWRITE, &s->db, err);
    if (ok && look_only) /* closing must not write either */
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ok = ok && (look_only || event_store_run(s->db, "PRAGMA journal_mode=WAL", err)) && check_format(s, err) &&
         (!look_only || event_store_run(s->db, "PRAGMA query_only=1", err)) &&
         (stat(s->path, &st) == 0 || event_store_error(s->db, err)) && event_store_refresh(s, err) &&
         excluded_read(s, err) && event_store_read_versions(s, err) &&
         (event_table_attach(s->db, &s->table) || event_store_error(s->db, err)) &&
         event_store_prepare(s->db, "BEGIN IMMEDIATE", &s->begin, err) &&
         event_store_prepare(s->db, "COMMIT", &s->commit, err) &&
         event_store_prepare(s->db, "ROLLBACK", &s->rollback, err);
    for (size_t i = 0; ok && i < INSERTS; i++)
        ok = event_store_prepare(s->db, inserts[i], &s->insert[i], err);
    s->device = st.st_dev;
    s->inode = st.st_ino;
    ok = ok && event_store_check_head(s, err) && event_store_open_shared(s, err);
    if (ok && !look_only)
        sqlite3_wal_hook(s->db, checkpoint_if_due, s);
    if (!ok)
        event_store_close(s);
    return ok;
}

void event_store_close(struct event_store *s)
{
    event_store_close_shared(s);
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
    for (size_t i = 0; s->path && i < ANSWERED_KINDS; i++)
        pthread_mutex_destroy(&s->answered[i].lock);
    if (s->path)
        pthread_mutex_destroy(&s->recent.lock);
    event_store_free_answered(s);
    if (s->head_fd >= 0)
        close(s->head_fd);
    free(s->checksums);
    free(s->excluded);
    free(s->versions);
    free(s->dir);
    free(s->path);
    *s = (struct event_store){0};
}

bool event_store_set_version(struct event_store *s, const char *learner, struct http_error *err)
{
    sqlite3_stmt *add = NULL, *get = NULL;
    bool ok = event_store_prepare(s->db, "INSERT OR IGNORE INTO versions(hunch, learner) VALUES(?, ?)", &add, err) &&
              event_store_prepare(s->db, "SELECT version FROM versions WHERE hunch = ? AND learner = ?", &get, err);
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
    assert(!s->look_only);
    event_store_rollback(s); /* of a transaction that failed before, when the rollback failed as well */
    return step(s, s->begin, err);
}

bool event_store_commit(struct event_store *s, struct http_error *err)
{
    assert(!sqlite3_get_autocommit(s->db));
    return step(s, s->commit, err);
}

void event_store_rollback(struct event_store *s)
{
    struct http_error ignored;
    if (!sqlite3_get_autocommit(s->db))
        step(s, s->rollback, &ignored);
}

static bool insert_label(struct event_store *s, const struct event *e, uint64_t checksum, struct http_error *err)
{
    sqlite3_stmt *q = s->insert[INSERT_LABEL];
    sqlite3_bind_text(q, 1, e->x, (int)e->x_length, SQLITE_STATIC);
    sqlite3_bind_int64(q, 2, (int64_t)e->seq);
    sqlite3_bind_int64(q, 3, (int64_t)checksum);
    return step(s, q, err);
}

/* Kind by kind: in which order rows of one transaction come into different tables does not matter. */
static bool insert(struct event_store *s, struct event *const *events, size_t n, struct http_error *err)
{
    size_t of[EVENT_HASH + 1] = {0};
    uint64_t chain = s->chain;
    if (!array_reserve(&s->checksums, &s->checksums_room, n, sizeof *s->checksums))
        return http_error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        assert(events[i]->kind < EVENT_HASH && events[i]->seq == s->last_seq + 1 + i);
        s->checksums[i] = chain = event_checksum(events[i], chain);
        of[events[i]->kind]++;
    }
    bool ok = true;
    for (size_t kind = 0; ok && kind < INSERTS; kind++) {
        if (kind == INSERT_LABEL)
            continue;
        s->table = (struct event_table){events, s->checksums, n, (enum event_kind)kind, s->version};
        ok = !of[kind] || step(s, s->insert[kind], err);
    }
    for (size_t i = 0; ok && of[EVENT_LABEL] && i < n; i++)
        ok = events[i]->kind != EVENT_LABEL || insert_label(s, events[i], s->checksums[i], err);
    return ok;
}

bool event_store_append(struct event_store *s, struct event *const *events, size_t n, struct http_error *err)
{
    bool ok = event_store_begin(s, err) && insert(s, events, n, err) &&
              (!s->shared.topic || event_store_append_shared(s, events, n, err)) && event_store_commit(s, err);
    if (!ok) {
        event_store_rollback(s);
    } else if (n) {
        s->last_seq = events[n - 1]->seq;
        s->chain = s->checksums[n - 1];
        for (size_t i = 0; i < n; i++)
            event_store_mark_answered(s, events[i]);
        event_store_write_head(s);
        if (++s->commits % COMMITS_HELD == 0)
            event_store_release(s);
    }
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

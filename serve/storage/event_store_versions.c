/* SPDX-License-Identifier: BSD-3-Clause */
/* Which learners a model has had, and which of them made which decisions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "storage/event_store.h"

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS model_versions(number INTEGER PRIMARY KEY, learner TEXT NOT NULL, seed INTEGER NOT "
    "NULL,"
    " from_seq INTEGER NOT NULL, created_ms INTEGER NOT NULL, dropped INTEGER NOT NULL, automatic INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS promotions(seq INTEGER NOT NULL, number INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    " why TEXT NOT NULL, checksum INTEGER NOT NULL);";

static int64_t version_checksum(const struct version_row *row)
{
    uint64_t v[4] = {row->number, row->seed, row->from_seq, row->automatic};
    return (int64_t)XXH3_64bits_withSeed(row->learner, strlen(row->learner), XXH3_64bits(v, sizeof v));
}

static int64_t promotion_checksum(uint64_t seq, uint64_t number, const char *why)
{
    uint64_t v[2] = {seq, number};
    return (int64_t)XXH3_64bits_withSeed(why, strlen(why), XXH3_64bits(v, sizeof v));
}

static void version_row(sqlite3_stmt *q, struct version_row *v)
{
    v->number = (uint32_t)sqlite3_column_int64(q, 0);
    snprintf(v->learner, sizeof v->learner, "%s", (const char *)sqlite3_column_text(q, 1));
    v->seed = (uint64_t)sqlite3_column_int64(q, 2);
    v->from_seq = (uint64_t)sqlite3_column_int64(q, 3);
    v->created_ms = sqlite3_column_int64(q, 4);
    v->dropped = sqlite3_column_int64(q, 5) != 0;
    v->automatic = sqlite3_column_int64(q, 6) != 0;
}

static bool damaged(struct http_error *err)
{
    return http_error_set(err, 503, "damaged", "the list of versions is damaged");
}

static bool read_versions(struct event_store *s, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int code;
    if (!event_store_prepare(s->db,
                             "SELECT number, learner, seed, from_seq, created_ms, dropped, automatic, checksum"
                             " FROM model_versions ORDER BY number",
                             &q, err))
        return false;
    s->versions_n = 0;
    while ((code = sqlite3_step(q)) == SQLITE_ROW && s->versions_n < VERSIONS_MAX) {
        if (!s->versions && !(s->versions = calloc(VERSIONS_MAX, sizeof *s->versions)))
            break;
        struct version_row *v = &s->versions[s->versions_n++];
        version_row(q, v);
        if (sqlite3_column_int64(q, 7) != version_checksum(v))
            break;
    }
    sqlite3_finalize(q);
    return code == SQLITE_DONE || damaged(err);
}

static bool read_promotions(struct event_store *s, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int code;
    if (!event_store_prepare(s->db, "SELECT seq, number, checksum, why FROM promotions ORDER BY rowid", &q, err))
        return false;
    s->promotions_n = 0;
    while ((code = sqlite3_step(q)) == SQLITE_ROW && s->promotions_n < PROMOTIONS_MAX) {
        struct promotion *p = &s->promotions[s->promotions_n++];
        *p = (struct promotion){(uint64_t)sqlite3_column_int64(q, 0), (uint32_t)sqlite3_column_int64(q, 1)};
        snprintf(s->why, sizeof s->why, "%s", (const char *)sqlite3_column_text(q, 3));
        if (sqlite3_column_int64(q, 2) != promotion_checksum(p->seq, p->number, s->why))
            break;
    }
    sqlite3_finalize(q);
    return code == SQLITE_DONE || damaged(err);
}

bool event_store_read_versions(struct event_store *s, struct http_error *err)
{
    int64_t there = 0;
    if (!event_store_number(s, "SELECT count(*) FROM sqlite_master WHERE name IN ('model_versions', 'promotions')",
                            &there, err))
        return false;
    if (there < 2 && s->look_only)
        return true;
    return (there == 2 || event_store_run(s->db, tables, err)) && read_versions(s, err) && read_promotions(s, err);
}

const struct version_row *event_store_version(const struct event_store *s, uint32_t number)
{
    for (size_t i = 0; i < s->versions_n; i++)
        if (s->versions[i].number == number)
            return &s->versions[i];
    return NULL;
}

uint32_t event_store_version_at(const struct event_store *s, uint64_t seq)
{
    uint32_t number = 1;
    for (size_t i = 0; i < s->promotions_n && s->promotions[i].seq < seq; i++)
        number = s->promotions[i].number;
    return number;
}

static bool insert(struct event_store *s, const char *sql, const struct version_row *v, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    bool ok = event_store_prepare(s->db, sql, &q, err);
    if (ok) {
        sqlite3_bind_int64(q, 1, v->number);
        sqlite3_bind_text(q, 2, v->learner, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 3, (int64_t)v->seed);
        sqlite3_bind_int64(q, 4, (int64_t)v->from_seq);
        sqlite3_bind_int64(q, 5, v->created_ms);
        sqlite3_bind_int64(q, 6, v->dropped);
        sqlite3_bind_int64(q, 7, v->automatic);
        sqlite3_bind_int64(q, 8, version_checksum(v));
        ok = sqlite3_step(q) == SQLITE_DONE || event_store_error(s->db, err);
    }
    sqlite3_finalize(q);
    return ok;
}

bool event_store_put_version(struct event_store *s, const struct version_row *v, struct http_error *err)
{
    return insert(
               s,
               "INSERT OR REPLACE INTO model_versions(number, learner, seed, from_seq, created_ms, dropped, automatic,"
               " checksum) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
               v, err) &&
           read_versions(s, err);
}

bool event_store_promote(struct event_store *s, uint64_t seq, uint32_t number, int64_t now_ms, const char *why,
                         struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    if (s->promotions_n == PROMOTIONS_MAX)
        return http_error_set(err, 409, "too_many", "a model can be promoted at most %d times", PROMOTIONS_MAX);
    bool ok = event_store_prepare(
        s->db, "INSERT INTO promotions(seq, number, time_ms, why, checksum) VALUES(?, ?, ?, ?, ?)", &q, err);
    if (ok) {
        sqlite3_bind_int64(q, 1, (int64_t)seq);
        sqlite3_bind_int64(q, 2, number);
        sqlite3_bind_int64(q, 3, now_ms);
        sqlite3_bind_text(q, 4, why, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 5, promotion_checksum(seq, number, why));
        ok = sqlite3_step(q) == SQLITE_DONE || event_store_error(s->db, err);
    }
    sqlite3_finalize(q);
    return ok && read_promotions(s, err);
}

/* A promotion's checksum includes its reason, so each is written again as a whole. */
bool event_store_settle_promotions(struct event_store *s, struct http_error *err)
{
    static const char sql[] = "UPDATE promotions SET seq = ?1, checksum = ?2 WHERE seq = ?3 AND number = ?4";
    sqlite3_stmt *q = NULL, *all = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < s->promotions_n; i++) {
        const struct promotion *p = &s->promotions[i];
        if (p->seq <= s->last_seq)
            continue;
        ok = event_store_prepare(s->db, "SELECT why FROM promotions WHERE seq = ? AND number = ?", &all, err) &&
             event_store_prepare(s->db, sql, &q, err);
        if (ok) {
            sqlite3_bind_int64(all, 1, (int64_t)p->seq);
            sqlite3_bind_int64(all, 2, p->number);
            ok = sqlite3_step(all) == SQLITE_ROW || event_store_error(s->db, err);
        }
        if (ok) {
            const char *why = (const char *)sqlite3_column_text(all, 0);
            sqlite3_bind_int64(q, 1, (int64_t)s->last_seq);
            sqlite3_bind_int64(q, 2, promotion_checksum(s->last_seq, p->number, why));
            sqlite3_bind_int64(q, 3, (int64_t)p->seq);
            sqlite3_bind_int64(q, 4, p->number);
            ok = sqlite3_step(q) == SQLITE_DONE || event_store_error(s->db, err);
        }
        sqlite3_finalize(all);
        sqlite3_finalize(q);
        all = q = NULL;
    }
    return ok && read_promotions(s, err);
}

bool event_store_labels(struct event_store *s, uint64_t upto, struct names *ret, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int code;
    if (!event_store_prepare(s->db, "SELECT name FROM labels WHERE seq <= ? ORDER BY label", &q, err))
        return false;
    sqlite3_bind_int64(q, 1, (int64_t)upto);
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        if (names_add(ret, (const char *)sqlite3_column_text(q, 0), (size_t)sqlite3_column_bytes(q, 0)) == NAMES_NONE)
            break;
    sqlite3_finalize(q);
    return code == SQLITE_DONE || http_error_set(err, 503, "storage", "the labels cannot be read");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the log what was written? Rows are chained: each one's checksum includes that of the row before, so a row that was
 * changed, lost or put in is seen. The end of the chain is in a file of its own, `head`, written after each commit
 * and not synced: it is never ahead of what the disk has been told, so a log that ends before it has lost its end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "storage/event_store.h"

struct head {
    uint64_t seq, chain, checksum;
};

int64_t event_store_hash(const char *text)
{
    return (int64_t)XXH3_64bits(text, strlen(text));
}

int64_t event_store_exclusion_checksum(uint64_t seq)
{
    return (int64_t)XXH3_64bits_withSeed(&seq, sizeof seq, 1);
}

static uint64_t head_checksum(const struct head *h)
{
    return XXH3_64bits(h, offsetof(struct head, checksum));
}

void event_store_write_head(struct event_store *s)
{
    struct head h = {s->last_seq, s->chain, 0};
    h.checksum = head_checksum(&h);
    if (s->head_fd >= 0 && pwrite(s->head_fd, &h, sizeof h, 0) == (ssize_t)sizeof h)
        s->head_seq = s->last_seq;
}

bool event_store_chain_at(struct event_store *s, uint64_t seq, uint64_t *ret, struct http_error *err)
{
    static const char sql[] = "SELECT checksum FROM decisions WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM feedback WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM lessons WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM late WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM label_states WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM activations WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM policies WHERE seq = ?1 UNION ALL"
                              " SELECT checksum FROM labels WHERE seq = ?1";
    sqlite3_stmt *q = NULL;
    if (seq <= s->chain_from) {
        *ret = s->chain_base;
        return true;
    }
    if (!event_store_prepare(s->db, sql, &q, err))
        return false;
    sqlite3_bind_int64(q, 1, (int64_t)seq);
    int code = sqlite3_step(q);
    *ret = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
    sqlite3_finalize(q);
    if (code == SQLITE_DONE)
        return http_error_set(err, 503, "damaged", "event %llu is missing from the log", (unsigned long long)seq);
    return code == SQLITE_ROW || event_store_error(s->db, err);
}

static void set_damage(struct event_store *s, const struct http_error *err)
{
    if (!s->damage[0])
        snprintf(s->damage, sizeof s->damage, "%.199s", err->message);
}

static bool check_settings(struct event_store *s, struct http_error *err)
{
    struct text settings = {0}, checksum = {0};
    char expected[24];
    bool ok =
        event_store_about(s, "settings", &settings) || http_error_set(err, 503, "damaged", "the log has no settings");
    if (ok && event_store_about(s, "settings_checksum", &checksum)) { /* logs of the first format have none */
        snprintf(expected, sizeof expected, "%lld", (long long)event_store_hash(settings.data));
        ok = strcmp(expected, checksum.data) == 0 ||
             http_error_set(err, 503, "damaged", "the settings in the log are damaged");
    }
    text_free(&settings);
    text_free(&checksum);
    return ok;
}

/* What head says against what the log has. */
static void compare_head(struct event_store *s, const struct head *h)
{
    struct http_error err = {0};
    uint64_t chain;
    if (h->checksum != head_checksum(h))
        return; /* it is only a witness */
    s->head_seq = h->seq;
    if (h->seq > s->last_seq) {
        snprintf(s->damage, sizeof s->damage, "the log ends at event %llu, but %llu had been written",
                 (unsigned long long)s->last_seq, (unsigned long long)h->seq);
    } else if (h->seq > s->chain_from && event_store_chain_at(s, h->seq, &chain, &err) && chain != h->chain) {
        snprintf(s->damage, sizeof s->damage, "event %llu of the log is not the one that was written",
                 (unsigned long long)h->seq);
    }
}

/* The head is read first: one who looks at a log that is being written may find it behind the rows, never ahead. */
bool event_store_check_head(struct event_store *s, struct http_error *err)
{
    char path[4096];
    struct head h;
    struct http_error ignored;
    if (snprintf(path, sizeof path, "%s/head", s->dir) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path of %s is too long", s->dir);
    s->head_fd = open(path, s->look_only ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool known = s->head_fd >= 0 && pread(s->head_fd, &h, sizeof h, 0) == (ssize_t)sizeof h;
    bool ok = event_store_run(s->db, "BEGIN", err) && event_store_refresh(s, err) && check_settings(s, err);
    if (ok && !event_store_chain_at(s, s->last_seq, &s->chain, err))
        set_damage(s, err);
    if (ok && known)
        compare_head(s, &h);
    event_store_run(s->db, "COMMIT", &ignored);
    return ok;
}

/* --- the whole log --- */

static bool scrub_rows(struct event_store *s, uint64_t *at, size_t rows, struct http_error *err)
{
    struct event_store_replay r;
    struct event *e = NULL;
    size_t n = 0;
    if (!event_store_refresh(s, err))
        return false;
    if (*at < s->trimmed)
        *at = s->trimmed;
    bool opened = event_store_replay_open(&r, s, *at, err), ok = opened;
    while (ok && n < rows && (ok = event_store_replay_next(&r, &e, err)) && e) {
        *at = e->seq;
        event_free(e);
        n++;
    }
    if (ok && n < rows)
        *at = 0;
    if (opened)
        event_store_replay_close(&r);
    return ok;
}

bool event_store_scrub(struct event_store *s, uint64_t *at, size_t rows, struct http_error *err)
{
    struct http_error ignored;
    bool ok = event_store_run(s->db, "BEGIN", err) && scrub_rows(s, at, rows, err); /* one moment, whatever goes on */
    event_store_run(s->db, "COMMIT", &ignored);
    if (!ok)
        set_damage(s, err);
    return ok;
}

bool event_store_check_file(struct event_store *s, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    if (!event_store_prepare(s->db, "PRAGMA integrity_check(1)", &q, err))
        return false;
    int code = sqlite3_step(q);
    const char *result = code == SQLITE_ROW ? (const char *)sqlite3_column_text(q, 0) : "";
    bool ok = code == SQLITE_ROW ? strcmp(result, "ok") == 0 ||
                                       http_error_set(err, 503, "damaged", "the log's file is damaged: %.150s", result)
                                 : event_store_error(s->db, err);
    sqlite3_finalize(q);
    if (!ok)
        set_damage(s, err);
    return ok;
}

/* --- repair --- */

static bool start_chain(struct event_store *s, uint64_t seq, uint64_t base, uint64_t trimmed, struct http_error *err)
{
    struct http_error ignored;
    struct store_numbers n = event_store_numbers(s);
    n.chain_from = seq;
    n.chain_base = base;
    n.trimmed = trimmed;
    if (!event_store_put_numbers(s->db, &n, err) || !event_store_commit(s, err)) {
        event_store_rollback(s);
        return false;
    }
    s->chain_from = s->last_seq = seq;
    s->chain_base = s->chain = base;
    s->damage[0] = 0;
    event_store_write_head(s);
    event_store_run(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", &ignored);
    return true;
}

bool event_store_accept(struct event_store *s, struct http_error *err)
{
    return event_store_begin(s, err) && start_chain(s, s->last_seq, s->chain + 1, s->trimmed, err);
}

bool event_store_cut(struct event_store *s, uint64_t seq, struct http_error *err)
{
    static const char *const tables[] = {"decisions", "feedback",     "lessons",     "labels",
                                         "late",      "label_states", "activations", "policies"};
    bool ok = event_store_begin(s, err);
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE seq > %llu", tables[i], (unsigned long long)seq);
        ok = event_store_run(s->db, sql, err);
    }
    if (!ok)
        event_store_rollback(s);
    ok = ok && start_chain(s, seq, s->chain + 1, seq, err);
    if (ok)
        s->trimmed = seq;
    return ok;
}

/* --- exclusion --- */

const struct exclusion *event_store_excluded(const struct event_store *s, uint64_t seq)
{
    for (size_t i = 0; i < s->excluded_n && s->excluded[i].seq <= seq; i++)
        if (s->excluded[i].seq == seq)
            return &s->excluded[i];
    return NULL;
}

static bool put_exclusion(struct event_store *s, uint64_t seq, int64_t now_ms, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    bool ok = event_store_prepare(
        s->db, "INSERT OR IGNORE INTO excluded(seq, time_ms, upto, checksum) VALUES(?, ?, NULL, ?)", &q, err);
    if (ok) {
        sqlite3_bind_int64(q, 1, (int64_t)seq);
        sqlite3_bind_int64(q, 2, now_ms);
        sqlite3_bind_int64(q, 3, event_store_exclusion_checksum(seq));
        ok = sqlite3_step(q) == SQLITE_DONE || event_store_error(s->db, err);
    }
    sqlite3_finalize(q);
    return ok;
}

bool event_store_exclude(struct event_store *s, uint64_t seq, int64_t now_ms, struct http_error *err)
{
    char sql[400];
    int64_t kind = 0, answer = 0, late = 0;
    snprintf(sql, sizeof sql,
             "SELECT (SELECT count(*) FROM decisions WHERE seq = %1$llu) + 2 * (SELECT count(*) FROM feedback WHERE"
             " seq = %1$llu) + 4 * (SELECT count(*) FROM lessons WHERE seq = %1$llu)",
             (unsigned long long)seq);
    if (!event_store_number(s, sql, &kind, err))
        return false;
    if (!kind)
        return http_error_set(err, 404, "unknown_event", "the log has no decision, feedback or lesson %llu",
                              (unsigned long long)seq);
    snprintf(sql, sizeof sql, "SELECT coalesce((SELECT seq FROM feedback WHERE decision = %llu), 0)",
             (unsigned long long)seq);
    if ((kind & 1) && !event_store_number(s, sql, &answer, err))
        return false;
    snprintf(sql, sizeof sql,
             "SELECT coalesce((SELECT l.seq FROM late l, feedback f WHERE f.decision = l.decision AND"
             " (f.decision = %1$llu OR f.seq = %1$llu)), 0)",
             (unsigned long long)seq);
    if (!event_store_number(s, sql, &late, err))
        return false;
    int64_t trimmed = 0;
    bool ok = event_store_begin(s, err);
    ok = ok && event_store_number(s, "SELECT value FROM about WHERE key = 'trimmed'", &trimmed, err) &&
         ((uint64_t)trimmed == s->trimmed || http_error_set(err, 503, "busy", "the log is being trimmed; try again"));
    if (ok && (!put_exclusion(s, seq, now_ms, err) || (answer && !put_exclusion(s, (uint64_t)answer, now_ms, err)) ||
               (late && !put_exclusion(s, (uint64_t)late, now_ms, err)) || !event_store_commit(s, err)))
        ok = false;
    if (!ok)
        event_store_rollback(s);
    return ok;
}

/* Those that this connection knew of; what was excluded since is still to be forgotten. */
bool event_store_excluded_upto(struct event_store *s, uint64_t upto, struct http_error *err)
{
    for (size_t i = 0; i < s->excluded_n; i++) {
        char sql[120];
        if (s->excluded[i].upto != UINT64_MAX)
            continue;
        snprintf(sql, sizeof sql, "UPDATE excluded SET upto = %llu WHERE seq = %llu", (unsigned long long)upto,
                 (unsigned long long)s->excluded[i].seq);
        if (!event_store_run(s->db, sql, err))
            return false;
    }
    return true;
}

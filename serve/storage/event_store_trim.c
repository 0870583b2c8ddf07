/* SPDX-License-Identifier: BSD-3-Clause */
/* Housekeeping of the log, in small steps between commits: decisions whose time ran out, and old rows. */
#include <assert.h>
#include <stdio.h>

#include "storage/event_store.h"

#define STEP_ROWS 5000

/* The numbers that a query gives back, 0 where it gives none. */
static bool ask(struct event_store *s, const char *sql, const int64_t *bind, int64_t *ret, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    if (!event_store_prepare(s->db, sql, &q, err))
        return false;
    for (int i = 1; i <= sqlite3_bind_parameter_count(q); i++)
        sqlite3_bind_int64(q, i, bind[i - 1]);
    int code, columns = sqlite3_column_count(q);
    for (int i = 0; i < columns; i++)
        ret[i] = 0;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) /* incremental_vacuum answers with many */
        for (int i = 0; i < columns; i++)
            ret[i] = sqlite3_column_int64(q, i);
    bool ok = code == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_finalize(q);
    return ok;
}

bool event_store_expire(struct event_store *s, int64_t cutoff_ms, bool *ret_more, struct http_error *err)
{
    /* Of the next n decisions, those that are older than the cutoff: the last, how many, how many unanswered. */
    static const char sql[] =
        "SELECT max(seq), count(*), count(*) - count(answer) FROM (SELECT d.seq AS seq, d.time_ms AS time_ms, f.seq AS"
        " answer FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq WHERE d.seq > ? ORDER BY d.seq LIMIT ?)"
        " WHERE time_ms < ?";
    int64_t bind[] = {(int64_t)s->expired_upto, STEP_ROWS, cutoff_ms}, got[3];
    *ret_more = false;
    if (!ask(s, sql, bind, got, err))
        return false;
    if (got[1] == 0)
        return true;
    if (!event_store_begin(s, err))
        return false;
    struct store_numbers n = event_store_numbers(s);
    n.expired += (uint64_t)got[2];
    n.expired_upto = (uint64_t)got[0];
    if (!event_store_put_numbers(s->db, &n, err) || !event_store_commit(s, err)) {
        event_store_rollback(s);
        return false;
    }
    assert((uint64_t)got[0] > s->expired_upto);
    s->expired += (uint64_t)got[2];
    s->expired_upto = (uint64_t)got[0];
    *ret_more = got[1] == STEP_ROWS;
    return true;
}

bool event_store_unanswered(struct event_store *s, bool deferred, int64_t cutoff_ms, uint64_t *at,
                            struct unanswered *ret, size_t max, size_t *ret_n, struct http_error *err)
{
#define UPTO(table)                                                                                                    \
    "SELECT max(seq) FROM (SELECT seq, time_ms FROM " table " WHERE seq > ? ORDER BY seq LIMIT ?) WHERE time_ms < ?"
/* Of two nodes that decided for one id of a client's at the same time, the later decision was shown to nobody. */
#define SHOWN                                                                                                          \
    " AND (d.given_id IS NULL OR NOT EXISTS"                                                                           \
    " (SELECT 1 FROM decisions e WHERE e.given_id = d.given_id AND e.seq < d.seq))"
#define UNANSWERED(place, from, more)                                                                                  \
    "SELECT " place ", d.seq, d.key FROM " from " LEFT JOIN feedback f ON f.decision = d.seq"                          \
    " WHERE " place " > ? AND " place " <= ? AND f.seq IS NULL" more SHOWN " ORDER BY " place " LIMIT ?"
    static const char *const upto[] = {UPTO("decisions"), UPTO("activations")};
    static const char *const rows[] = {UNANSWERED("d.seq", "decisions d", " AND NOT d.deferred"),
                                       UNANSWERED("a.seq", "activations a JOIN decisions d ON d.seq = a.decision", "")};
    int64_t bind[] = {(int64_t)*at, STEP_ROWS, cutoff_ms}, end;
    sqlite3_stmt *q = NULL;
    *ret_n = 0;
    if (!ask(s, upto[deferred], bind, &end, err))
        return false;
    if (end == 0)
        return true;
    if (!event_store_prepare(s->db, rows[deferred], &q, err))
        return false;
    sqlite3_bind_int64(q, 1, (int64_t)*at);
    sqlite3_bind_int64(q, 2, end);
    sqlite3_bind_int64(q, 3, (int64_t)max);
    int code;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        *at = (uint64_t)sqlite3_column_int64(q, 0);
        ret[(*ret_n)++] =
            (struct unanswered){(uint64_t)sqlite3_column_int64(q, 1), (uint64_t)sqlite3_column_int64(q, 2)};
    }
    sqlite3_finalize(q);
    if (*ret_n < max)
        *at = (uint64_t)end;
    return code == SQLITE_DONE || event_store_error(s->db, err);
}

/* The last of the rows after `trimmed` and up to `last` that may go, they and all before them. */
static bool trim_end(struct event_store *s, int64_t cutoff_ms, uint64_t last, uint64_t safe_seq, uint64_t *ret,
                     struct http_error *err)
{
    /* The first that must stay: young, or a decision that may still be answered (also after silence was taken for its
     * answer), or whose answer a snapshot lacks. */
    static const char sql[] =
        "SELECT min(coalesce((SELECT d.seq FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq LEFT JOIN late l"
        " ON l.decision = d.seq WHERE d.seq > ?1 AND d.seq <= ?2 AND (d.time_ms >= ?3 OR f.seq > ?5 OR l.seq > ?5"
        " OR (d.seq > ?4 AND (f.seq IS NULL OR (f.silent AND l.seq IS NULL)))) ORDER BY d.seq LIMIT 1),"
        " ?2 + 1), coalesce((SELECT seq FROM lessons WHERE seq > ?1 AND seq <= ?2 AND time_ms >= ?3 ORDER BY seq LIMIT "
        "1),"
        " ?2 + 1), coalesce((SELECT seq FROM feedback WHERE seq > ?1 AND seq <= ?2 AND time_ms >= ?3 ORDER BY seq LIMIT"
        " 1), ?2 + 1))";
    int64_t bind[] = {(int64_t)s->trimmed, (int64_t)last, cutoff_ms, (int64_t)s->expired_upto, (int64_t)safe_seq},
            first;
    if (!ask(s, sql, bind, &first, err))
        return false;
    *ret = (uint64_t)first - 1;
    return true;
}

static bool delete_upto(struct event_store *s, uint64_t upto, uint64_t chain, struct http_error *err)
{
    static const char *const sql[] = {"DELETE FROM feedback WHERE seq <= ?",  "DELETE FROM lessons WHERE seq <= ?",
                                      "DELETE FROM late WHERE seq <= ?",      "DELETE FROM activations WHERE seq <= ?",
                                      "DELETE FROM decisions WHERE seq <= ?", "DELETE FROM handles WHERE seq <= ?"};
    int64_t bind = (int64_t)upto, none[4];
    size_t n = s->shared.reader ? 6 : 5;
    for (size_t i = 0; i < n; i++)
        if (!ask(s, sql[i], &bind, none, err))
            return false;
    struct store_numbers numbers = event_store_numbers(s);
    numbers.trimmed = upto;
    numbers.chain_from = upto > s->chain_from ? upto : s->chain_from;
    numbers.chain_base = chain;
    return event_store_put_numbers(s->db, &numbers, err) && event_store_commit(s, err);
}

/* In a transaction: no event is excluded that the snapshots up to there have not forgotten. Then the model is
 * rebuilt from the log, which must not be trimmed. */
static bool nothing_to_forget(struct event_store *s, uint64_t safe_seq, bool *ret, struct http_error *err)
{
    int64_t bind = (int64_t)safe_seq, n = 0;
    bool ok = ask(s, "SELECT count(*) FROM excluded WHERE seq <= ?1 AND coalesce(upto, ?1) >= ?1", &bind, &n, err);
    *ret = n == 0;
    return ok;
}

bool event_store_trim(struct event_store *s, int64_t cutoff_ms, uint64_t safe_seq, bool vacuum, bool *ret_more,
                      struct http_error *err)
{
    uint64_t last = s->trimmed + STEP_ROWS < safe_seq ? s->trimmed + STEP_ROWS : safe_seq, upto, chain;
    *ret_more = false;
    if (last <= s->trimmed)
        return true;
    if (!trim_end(s, cutoff_ms, last, safe_seq, &upto, err))
        return false;
    if (upto <= s->trimmed)
        return true;
    if (!event_store_chain_at(s, upto, &chain, err) || !event_store_begin(s, err))
        return false;
    bool may, ok = nothing_to_forget(s, safe_seq, &may, err);
    if (!ok || !may || !delete_upto(s, upto, chain, err)) {
        event_store_rollback(s);
        return ok && !may;
    }
    assert(upto > s->trimmed && upto <= s->last_seq && upto <= safe_seq);
    s->trimmed = upto;
    s->chain_base = chain;
    s->chain_from = upto > s->chain_from ? upto : s->chain_from;
    *ret_more = upto == last && last < safe_seq;
    if (vacuum) {
        struct http_error ignored; /* the rows are gone all the same */
        int64_t none[4];
        ask(s, "PRAGMA incremental_vacuum(2000)", NULL, none, &ignored);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Housekeeping of the log, in small steps between commits: decisions whose time ran out, and old rows. */
#include <stdio.h>

#include "event_store.h"

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
    /* Of the next so many decisions, those that are older than the cutoff: the last, how many, how many unanswered. */
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
    if (!event_store_put(s->db, "expired", NULL, (int64_t)s->expired + got[2], err) ||
        !event_store_put(s->db, "expired_upto", NULL, got[0], err) || !event_store_commit(s, err)) {
        event_store_rollback(s);
        return false;
    }
    s->expired += (uint64_t)got[2];
    s->expired_upto = (uint64_t)got[0];
    *ret_more = got[1] == STEP_ROWS;
    return true;
}

/* The last of the rows after `trimmed` and up to `last` that may go, they and all before them. */
static bool trim_end(struct event_store *s, int64_t cutoff_ms, uint64_t last, uint64_t safe_seq, uint64_t *ret,
                     struct http_error *err)
{
    /* The first that must stay: young, or a decision that may still be answered, or whose answer a snapshot lacks. */
    static const char sql[] =
        "SELECT min(coalesce((SELECT d.seq FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq WHERE d.seq > ?1"
        " AND d.seq <= ?2 AND (d.time_ms >= ?3 OR (f.seq IS NULL AND d.seq > ?4) OR f.seq > ?5) ORDER BY d.seq LIMIT "
        "1),"
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
    static const char *const sql[] = {"DELETE FROM feedback WHERE seq <= ?", "DELETE FROM lessons WHERE seq <= ?",
                                      "DELETE FROM decisions WHERE seq <= ?", "DELETE FROM handles WHERE seq <= ?"};
    int64_t bind = (int64_t)upto, none[4];
    size_t n = s->shared.topic ? 4 : 3;
    for (size_t i = 0; i < n; i++)
        if (!ask(s, sql[i], &bind, none, err))
            return false;
    return event_store_put(s->db, "trimmed", NULL, bind, err) &&
           event_store_put(s->db, "chain_from", NULL, upto > s->chain_from ? bind : (int64_t)s->chain_from, err) &&
           event_store_put(s->db, "chain_base", NULL, (int64_t)chain, err) && event_store_commit(s, err);
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
    if (!delete_upto(s, upto, chain, err)) {
        event_store_rollback(s);
        return false;
    }
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

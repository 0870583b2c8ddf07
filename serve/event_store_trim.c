/* SPDX-License-Identifier: BSD-3-Clause */
/* Housekeeping of the log, in small steps between commits: decisions whose time ran out, and old rows. */
#include "event_store.h"

#define STEP_ROWS 1000

static bool run_with(struct event_store *s, const char *sql, int64_t a, int64_t b, struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK;
    if (ok) {
        sqlite3_bind_int64(q, 1, a);
        if (sqlite3_bind_parameter_count(q) > 1)
            sqlite3_bind_int64(q, 2, b);
        int code;
        while ((code = sqlite3_step(q)) == SQLITE_ROW) /* incremental_vacuum answers with rows */
            ;
        ok = code == SQLITE_DONE;
    }
    if (!ok)
        event_store_error(s->db, err);
    sqlite3_finalize(q);
    return ok;
}

/* A run of decisions. */
struct range {
    uint64_t after;                  /* begins behind this one */
    int64_t cutoff_ms;               /* ends before the first that is not older, */
    uint64_t last;                   /* that comes later than this, */
    uint64_t answered;               /* or that was answered later than this */
    uint64_t upto, rows, unanswered; /* what was found */
};

static bool look(struct event_store *s, struct range *r, struct http_error *err)
{
    static const char sql[] = "SELECT d.seq, d.time_ms, f.seq FROM decisions d LEFT JOIN feedback f"
                              " ON f.decision = d.seq WHERE d.seq > ? ORDER BY d.seq LIMIT ?";
    sqlite3_stmt *q = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    r->upto = r->after;
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)r->after);
        sqlite3_bind_int64(q, 2, STEP_ROWS);
    }
    while (q && (code = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t seq = (uint64_t)sqlite3_column_int64(q, 0), answer = (uint64_t)sqlite3_column_int64(q, 2);
        if (sqlite3_column_int64(q, 1) >= r->cutoff_ms || seq > r->last || answer > r->answered)
            break;
        r->upto = seq;
        r->rows++;
        r->unanswered += answer == 0;
    }
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_finalize(q);
    return ok;
}

bool event_store_expire(struct event_store *s, int64_t cutoff_ms, bool *ret_more, struct http_error *err)
{
    struct range r = {.after = s->expired_upto, .cutoff_ms = cutoff_ms, .last = INT64_MAX, .answered = INT64_MAX};
    *ret_more = false;
    if (!look(s, &r, err))
        return false;
    if (r.rows == 0)
        return true;
    if (!event_store_begin(s, err))
        return false;
    if (!run_with(s, "UPDATE about SET value = ? WHERE key = 'expired'", (int64_t)(s->expired + r.unanswered), 0,
                  err) ||
        !run_with(s, "UPDATE about SET value = ? WHERE key = 'expired_upto'", (int64_t)r.upto, 0, err) ||
        !event_store_commit(s, err)) {
        event_store_rollback(s);
        return false;
    }
    s->expired += r.unanswered;
    s->expired_upto = r.upto;
    *ret_more = r.rows == STEP_ROWS;
    return true;
}

bool event_store_trim(struct event_store *s, int64_t cutoff_ms, uint64_t safe_seq, bool vacuum, bool *ret_more,
                      struct http_error *err)
{
    struct range r = {.after = s->trimmed, .cutoff_ms = cutoff_ms, .last = safe_seq, .answered = safe_seq};
    *ret_more = false;
    if (r.last > s->expired_upto) /* what may still be answered stays */
        r.last = s->expired_upto;
    if (!look(s, &r, err))
        return false;
    if (r.rows == 0)
        return true;
    if (!event_store_begin(s, err))
        return false;
    /* Feedback goes with its decision; a lesson goes when a later decision does. */
    if (!run_with(s, "DELETE FROM feedback WHERE decision <= ?", (int64_t)r.upto, 0, err) ||
        !run_with(s, "DELETE FROM lessons WHERE seq <= ?", (int64_t)r.upto, 0, err) ||
        !run_with(s, "DELETE FROM decisions WHERE seq <= ?", (int64_t)r.upto, 0, err) ||
        !run_with(s, "UPDATE about SET value = ? WHERE key = 'trimmed'", (int64_t)r.upto, 0, err) ||
        !event_store_commit(s, err)) {
        event_store_rollback(s);
        return false;
    }
    s->trimmed = r.upto;
    *ret_more = r.rows == STEP_ROWS;
    if (vacuum) {
        struct http_error ignored; /* the rows are gone all the same */
        run_with(s, "PRAGMA incremental_vacuum(2000)", 0, 0, &ignored);
    }
    return true;
}

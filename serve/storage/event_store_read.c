/* SPDX-License-Identifier: BSD-3-Clause */
/* The log, read: one decision, the latest ones, all events in order. */
#include <stdlib.h>
#include <string.h>

#include "hunch.h"
#include "storage/event_store.h"

#define NEAR 4           /* places */
#define ANSWER_COLUMN 19 /* of the latest decisions: behind those of the decision */

static struct event *with_example(enum event_kind kind, sqlite3_stmt *q, int column)
{
    const char *x = (const char *)sqlite3_column_text(q, column);
    return x ? event_for_example(kind, x, (size_t)sqlite3_column_bytes(q, column)) : NULL;
}

static uint32_t label_at(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? NO_LABEL : (uint32_t)sqlite3_column_int64(q, column);
}

/* Columns of decisions alone: seq, key, time_ms, round, label, greedy, probability, seen, x, note, checksum, eligible,
 * given_id, chosen_by, model_probability, deferred, act_at, act; if they are there too: place of the activation. */
static struct event *decision_row(sqlite3_stmt *q)
{
    struct event *e = with_example(EVENT_DECISION, q, 8);
    if (!e)
        return NULL;
    e->seq = (uint64_t)sqlite3_column_int64(q, 0);
    e->key = (uint64_t)sqlite3_column_int64(q, 1);
    e->time_ms = sqlite3_column_int64(q, 2);
    e->choice.round = (uint64_t)sqlite3_column_int64(q, 3);
    e->choice.label = label_at(q, 4);
    e->choice.greedy = label_at(q, 5);
    e->choice.prob = sqlite3_column_double(q, 6);
    e->choice.note = (uint32_t)sqlite3_column_int64(q, 9);
    e->seen = (uint64_t)sqlite3_column_int64(q, 7);
    if (sqlite3_column_type(q, 11) != SQLITE_NULL) {
        char *eligible = strdup((const char *)sqlite3_column_text(q, 11));
        event_set_eligible(e, eligible);
        if (!eligible) {
            event_free(e);
            return NULL;
        }
    }
    if (sqlite3_column_type(q, 12) != SQLITE_NULL) {
        char *given_id = strdup((const char *)sqlite3_column_text(q, 12));
        event_set_given_id(e, given_id);
        if (!given_id) {
            event_free(e);
            return NULL;
        }
    }
    e->unknown_chance = sqlite3_column_type(q, 6) == SQLITE_NULL;
    if (e->unknown_chance)
        e->choice.prob = 1;
    e->chooser = (enum chooser)sqlite3_column_int(q, 13);
    e->model_chance = sqlite3_column_double(q, 14);
    e->deferred = sqlite3_column_int(q, 15) != 0;
    e->act_at = sqlite3_column_double(q, 16);
    e->act = (uint32_t)sqlite3_column_int(q, 17);
    e->answer.active = (uint64_t)sqlite3_column_int64(q, 18);
    return e;
}

/* Columns of feedback from the first on: seq, time_ms, was_right, true_label, checksum, silent, late. */
static void answer_row(sqlite3_stmt *q, int first, struct answer *ret)
{
    if (sqlite3_column_type(q, first) == SQLITE_NULL)
        return;
    ret->seq = (uint64_t)sqlite3_column_int64(q, first);
    ret->time_ms = sqlite3_column_int64(q, first + 1);
    ret->right = sqlite3_column_int64(q, first + 2) != 0;
    ret->label = label_at(q, first + 3);
    ret->silent = sqlite3_column_int64(q, first + 5) != 0;
    ret->late = (uint64_t)sqlite3_column_int64(q, first + 6);
}

/* Locked. One is opened when those before it are in use; db NULL: it could not be. */
static struct reader *free_finder(struct event_store *s)
{
    for (size_t i = 0; i < FINDERS; i++) {
        struct http_error ignored;
        struct reader *r = &s->find[i];
        if (pthread_mutex_trylock(&r->lock) != 0)
            continue;
        if (r->db || event_store_open_reader(s, r, &ignored))
            return r;
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_lock(&s->find[0].lock);
    return &s->find[0];
}

static void walk_rest(struct walk *w)
{
    sqlite3_reset(w->statement);
    w->from = 0;
}

/* To the first row that is not before n: from where it stands if that is near, as the answers of a batch often are;
 * else by a new search, which takes as long as some steps. */
static bool walk_to(struct walk *w, uint64_t n)
{
    int code;
    if (w->from && w->from <= n && n <= w->at)
        return true;
    if (!w->from || n < w->from || n - w->at > NEAR) {
        walk_rest(w);
        sqlite3_bind_int64(w->statement, 1, (int64_t)n);
    }
    do {
        code = sqlite3_step(w->statement);
        w->at = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(w->statement, 0) : UINT64_MAX;
    } while (w->at < n);
    w->from = n;
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

static void reader_close(struct reader *r)
{
    walk_rest(&r->decisions);
    walk_rest(&r->answers);
    sqlite3_step(r->end);
    sqlite3_reset(r->end);
    r->open = false;
}

static bool damaged(uint64_t seq, const char *what, struct http_error *err)
{
    return http_error_set(err, 503, "damaged", "event %llu of the log %s", (unsigned long long)seq, what);
}

/* The checksum of a row of any kind; *ret_there false: there is no such row. */
static bool chain_find(struct reader *r, uint64_t seq, uint64_t *ret, bool *ret_there, struct http_error *err)
{
    sqlite3_bind_int64(r->chain, 1, (int64_t)seq);
    int code = sqlite3_step(r->chain);
    *ret_there = code == SQLITE_ROW;
    *ret = *ret_there ? (uint64_t)sqlite3_column_int64(r->chain, 0) : 0;
    sqlite3_reset(r->chain);
    return code == SQLITE_ROW || code == SQLITE_DONE || event_store_error(r->db, err);
}

/* Whether a row is as it was written: its checksum includes that of the row before. */
static bool check(struct reader *r, const struct event *e, uint64_t checksum, uint64_t before, struct http_error *err)
{
    bool there = true;
    if (e->seq <= r->store->chain_from + 1)
        return true; /* the row before it has been deleted, or can't be checked */
    if (!before && !chain_find(r, e->seq - 1, &before, &there, err))
        return false;
    if (!there) /* deleted just now, or lost */
        return e->seq <= r->store->chain_from + 1 || damaged(e->seq - 1, "is missing", err);
    return event_checksum(e, before) == checksum || damaged(e->seq, "is not as it was written", err);
}

/* No decision has this number: then another event has it, or none has it yet, or it was deleted. */
static bool check_none(struct reader *r, uint64_t seq, struct http_error *err)
{
    uint64_t chain;
    bool there;
    if (seq <= r->store->chain_from || !r->upto || seq > r->upto)
        return true;
    return chain_find(r, seq, &chain, &there, err) &&
           (there || seq <= r->store->chain_from || damaged(seq, "is missing", err));
}

/* Columns of feedback from `first` on. */
static bool read_answer(struct reader *r, sqlite3_stmt *q, int first, uint64_t seq, struct answer *ret,
                        struct http_error *err)
{
    struct event *e = event_new(EVENT_FEEDBACK, 0, "", 0);
    if (!e)
        return http_error_no_memory(err);
    answer_row(q, first, &e->answer);
    e->seq = e->answer.seq;
    e->time_ms = e->answer.time_ms;
    e->decision = seq;
    uint64_t active = ret->active;
    *ret = e->answer;
    ret->active = active;
    bool ok = check(r, e, (uint64_t)sqlite3_column_int64(q, first + 4), 0, err);
    event_free(e);
    return ok;
}

static bool find(struct reader *r, uint64_t seq, struct event **ret, struct http_error *err)
{
    sqlite3_stmt *q = r->decisions.statement;
    uint64_t before = 0;
    if (seq == 0 || !walk_to(&r->decisions, seq - 1))
        return event_store_error(r->db, err);
    if (r->decisions.at == seq - 1) /* as it is in most logs: no look-up of its own */
        before = (uint64_t)sqlite3_column_int64(q, 10);
    if (!walk_to(&r->decisions, seq) || (r->decisions.at == seq && !walk_to(&r->answers, seq)))
        return event_store_error(r->db, err);
    *ret = NULL;
    if (r->decisions.at != seq)
        return check_none(r, seq, err);
    struct event *e = decision_row(q);
    if (!e)
        return http_error_no_memory(err);
    bool ok = check(r, e, (uint64_t)sqlite3_column_int64(q, 10), before, err);
    if (ok && r->answers.at == seq)
        ok = read_answer(r, r->answers.statement, 1, seq, &e->answer, err);
    if (!ok) {
        event_free(e);
        return false;
    }
    *ret = e;
    return true;
}

bool reader_find(struct reader *r, uint64_t seq, struct event **ret, struct http_error *err)
{
    if (!r->db)
        return http_error_set(err, 503, "storage", "the log cannot be opened");
    bool ok = find(r, seq, ret, err);
    if (!ok) {
        walk_rest(&r->decisions);
        walk_rest(&r->answers);
    }
    return ok;
}

bool event_store_decision(struct event_store *s, uint64_t seq, struct event **ret, struct http_error *err)
{
    struct reader *r = event_store_reader_begin(s, UINT64_MAX, s->last_seq);
    bool ok = reader_find(r, seq, ret, err);
    if (r->open)
        reader_close(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

/* When BEGIN fails, each look stands for itself: nothing is lost but time. */
struct reader *event_store_reader_begin(struct event_store *s, uint64_t need, uint64_t upto)
{
    struct reader *r = free_finder(s);
    if (r->open && r->upto >= need)
        return r;
    if (r->open)
        reader_close(r);
    if (r->db) {
        sqlite3_step(r->begin);
        sqlite3_reset(r->begin);
        r->open = true;
        r->upto = upto;
    }
    return r;
}

void event_store_reader_end(struct event_store *s, struct reader *r)
{
    if (r->open && !s->hold)
        reader_close(r);
    pthread_mutex_unlock(&r->lock);
}

void event_store_release(struct event_store *s)
{
    for (size_t i = 0; i < FINDERS; i++) {
        struct reader *r = &s->find[i];
        if (pthread_mutex_trylock(&r->lock) != 0)
            continue;
        if (r->open)
            reader_close(r);
        pthread_mutex_unlock(&r->lock);
    }
}

bool event_store_recent(struct event_store *s, uint64_t before, uint64_t max,
                        bool (*each)(void *, const struct event *), void *context, struct http_error *err)
{
    bool ok = true, more = true;
    int code = SQLITE_DONE;
    pthread_mutex_lock(&s->recent.lock);
    if (!event_store_open_reader(s, &s->recent, err)) {
        pthread_mutex_unlock(&s->recent.lock);
        return false;
    }
    sqlite3_stmt *q = s->recent.recent;
    sqlite3_bind_int64(q, 1, (int64_t)(before < INT64_MAX ? before : INT64_MAX));
    sqlite3_bind_int64(q, 2, (int64_t)max);
    while (ok && more && (code = sqlite3_step(q)) == SQLITE_ROW) {
        struct event *e = decision_row(q);
        ok = e || http_error_no_memory(err);
        if (!e)
            break;
        ok = check(&s->recent, e, (uint64_t)sqlite3_column_int64(q, 10), 0, err) &&
             (sqlite3_column_type(q, ANSWER_COLUMN) == SQLITE_NULL ||
              read_answer(&s->recent, q, ANSWER_COLUMN, e->seq, &e->answer, err));
        more = ok && each(context, e);
        event_free(e);
    }
    if (ok && more && code != SQLITE_DONE)
        ok = event_store_error(s->recent.db, err);
    sqlite3_reset(q);
    pthread_mutex_unlock(&s->recent.lock);
    return ok;
}

/* Not with the connection of event_store_recent, whose callback may wait for the model's lock: this is called under that
 * lock. */
bool event_store_given(struct event_store *s, const char *given_id, uint64_t *ret_seq, struct http_error *err)
{
    struct reader *r = event_store_reader_begin(s, UINT64_MAX, s->last_seq);
    sqlite3_stmt *q = NULL;
    bool ok = r->db || http_error_set(err, 503, "storage", "the log cannot be opened");
    if (ok && sqlite3_prepare_v2(r->db, "SELECT min(seq) FROM decisions WHERE given_id = ?", -1, &q, NULL) == SQLITE_OK)
        sqlite3_bind_text(q, 1, given_id, -1, SQLITE_STATIC);
    if (ok && sqlite3_step(q) == SQLITE_ROW)
        *ret_seq = (uint64_t)sqlite3_column_int64(q, 0);
    else if (ok)
        ok = event_store_error(r->db, err);
    sqlite3_finalize(q);
    if (r->open)
        reader_close(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

bool event_store_summaries(struct event_store *s, size_t max, struct summary **ret, size_t *ret_n,
                           struct http_error *err)
{
    static const char sql[] = "SELECT d.time_ms, d.chosen_by = 0 AND d.label <> d.greedy, f.time_ms, f.was_right"
                              " FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq AND NOT f.silent"
                              " ORDER BY d.seq DESC LIMIT ?";
    sqlite3_stmt *q = NULL;
    size_t n = 0, room = 0;
    struct summary *rows = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (code == SQLITE_OK)
        sqlite3_bind_int64(q, 1, (int64_t)max);
    while (q && (code = sqlite3_step(q)) == SQLITE_ROW) {
        if (n == room) {
            room = room ? room * 2 : 1024;
            struct summary *grown = realloc(rows, room * sizeof *rows);
            if (!grown)
                break;
            rows = grown;
        }
        rows[n++] = (struct summary){sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 2),
                                     sqlite3_column_int64(q, 1) != 0, sqlite3_column_int64(q, 3) != 0};
    }
    bool ok = code == SQLITE_DONE || (code == SQLITE_ROW ? http_error_no_memory(err) : event_store_error(s->db, err));
    sqlite3_finalize(q);
    for (size_t i = 0; i < n / 2; i++) {
        struct summary swap = rows[i];
        rows[i] = rows[n - 1 - i];
        rows[n - 1 - i] = swap;
    }
    *ret = rows;
    *ret_n = n;
    return ok;
}

/* --- all events in order: four tables, each in order, merged --- */

static const char *const replays[INSERTS] = {
    ("SELECT seq, key, time_ms, round, label, greedy, probability, seen, x, note, checksum, eligible, given_id,"
     " chosen_by, model_probability, deferred, act_at, act, NULL, version IN (SELECT version FROM versions WHERE hunch = ?2)"
     " FROM decisions WHERE seq > ?1 ORDER BY seq"),
    "SELECT seq, decision, time_ms, was_right, true_label, silent, checksum FROM feedback WHERE seq > ? ORDER BY seq",
    "SELECT seq, time_ms, label, x, checksum FROM lessons WHERE seq > ? ORDER BY seq",
    "SELECT seq, name, checksum FROM labels WHERE seq > ? ORDER BY seq",
    "SELECT seq, decision, time_ms, was_right, true_label, 0, checksum FROM late WHERE seq > ? ORDER BY seq",
    "SELECT seq, time_ms, label, retired, checksum FROM label_states WHERE seq > ? ORDER BY seq",
    "SELECT seq, decision, time_ms, checksum FROM activations WHERE seq > ? ORDER BY seq",
    "SELECT seq, time_ms, policy, checksum FROM policies WHERE seq > ? ORDER BY seq",
};

static const int checksum_column[INSERTS] = {10, 6, 4, 2, 6, 4, 3, 3};

static bool advance(struct event_store_replay *r, size_t i, struct http_error *err)
{
    int code = sqlite3_step(r->from[i]);
    r->more[i] = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || event_store_error(r->store->db, err);
}

bool event_store_replay_open(struct event_store_replay *ret, struct event_store *s, uint64_t after,
                             struct http_error *err)
{
    *ret = (struct event_store_replay){.store = s, .seq = after};
    if (!event_store_chain_at(s, after, &ret->chain, err))
        return false;
    for (size_t i = 0; i < INSERTS; i++) {
        if (sqlite3_prepare_v2(s->db, replays[i], -1, &ret->from[i], NULL) != SQLITE_OK) {
            event_store_error(s->db, err);
            goto fail;
        }
        sqlite3_bind_int64(ret->from[i], 1, (int64_t)after);
        if (i == INSERT_DECISION)
            sqlite3_bind_text(ret->from[i], 2, hunch_version(), -1, SQLITE_STATIC);
        if (!advance(ret, i, err))
            goto fail;
    }
    return true;
fail:
    event_store_replay_close(ret);
    return false;
}

static struct event *feedback_row(enum event_kind kind, sqlite3_stmt *q)
{
    struct event *e = event_new(kind, 0, "", 0);
    if (!e)
        return NULL;
    e->decision = (uint64_t)sqlite3_column_int64(q, 1);
    e->time_ms = sqlite3_column_int64(q, 2);
    e->answer.right = sqlite3_column_int64(q, 3) != 0;
    e->answer.label = label_at(q, 4);
    e->answer.silent = sqlite3_column_int64(q, 5) != 0;
    return e;
}

static struct event *row(size_t kind, sqlite3_stmt *q)
{
    struct event *e = NULL;
    switch (kind) {
    case INSERT_DECISION:
        e = decision_row(q);
        if (e)
            e->other_program = !sqlite3_column_int(q, 19);
        return e;
    case INSERT_FEEDBACK:
    case INSERT_LATE:
        return feedback_row((enum event_kind)kind, q);
    case INSERT_RETIRE:
        e = event_new(EVENT_RETIRE, 0, "", 0);
        if (e) {
            e->time_ms = sqlite3_column_int64(q, 1);
            e->label = label_at(q, 2);
            e->answer.right = sqlite3_column_int64(q, 3) != 0;
        }
        return e;
    case INSERT_ACTIVATE:
        e = event_new(EVENT_ACTIVATE, 0, "", 0);
        if (e) {
            e->decision = (uint64_t)sqlite3_column_int64(q, 1);
            e->time_ms = sqlite3_column_int64(q, 2);
        }
        return e;
    case INSERT_POLICY:
        e = with_example(EVENT_POLICY, q, 2);
        if (e)
            e->time_ms = sqlite3_column_int64(q, 1);
        return e;
    case INSERT_LESSON:
        e = with_example(EVENT_LESSON, q, 3);
        if (e) {
            e->time_ms = sqlite3_column_int64(q, 1);
            e->label = label_at(q, 2);
        }
        return e;
    default:
        return event_new(EVENT_LABEL, 0, (const char *)sqlite3_column_text(q, 1), (size_t)sqlite3_column_bytes(q, 1));
    }
}

/* The row belongs behind the one before it. */
static bool check_row(struct event_store_replay *r, const struct event *e, size_t kind, struct http_error *err)
{
    uint64_t from = r->store->chain_from, before = r->seq > from ? r->seq : from;
    if (e->seq > from) {
        sqlite3_stmt *q = r->from[kind];
        uint64_t checksum = (uint64_t)sqlite3_column_int64(q, checksum_column[kind]);
        if (e->seq != before + 1)
            return damaged(before + 1, "is missing", err);
        if (sqlite3_column_type(q, checksum_column[kind]) == SQLITE_NULL || checksum != event_checksum(e, r->chain))
            return damaged(e->seq, "is not as it was written", err);
        r->chain = checksum;
    }
    r->seq = e->seq;
    return true;
}

bool event_store_replay_next(struct event_store_replay *r, struct event **ret, struct http_error *err)
{
    size_t first = INSERTS;
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < INSERTS; i++) {
        if (r->more[i] && sqlite3_column_int64(r->from[i], 0) < lowest) {
            lowest = sqlite3_column_int64(r->from[i], 0);
            first = i;
        }
    }
    if (first == INSERTS) {
        *ret = NULL;
        return true;
    }
    struct event *e = row(first, r->from[first]);
    if (!e)
        return http_error_no_memory(err);
    e->seq = (uint64_t)lowest;
    e->answer.seq = e->kind == EVENT_FEEDBACK || e->kind == EVENT_LATE ? e->seq : 0;
    e->answer.time_ms = e->time_ms;
    if (!check_row(r, e, first, err) || !advance(r, first, err)) {
        event_free(e);
        return false;
    }
    *ret = e;
    return true;
}

void event_store_replay_close(struct event_store_replay *r)
{
    for (size_t i = 0; i < INSERTS; i++) {
        sqlite3_finalize(r->from[i]);
        r->from[i] = NULL;
    }
}

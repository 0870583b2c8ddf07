/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which decisions have been answered, one bit each, from the first that can still be answered on; and to which there was
 * late feedback, and which were activated. The log's indexes say the same; but an index is not covered by the rows'
 * checksums, and one damaged page of it would let an answer that was learned be learned once more. The bits are read from
 * the tables when the log is opened, and the indexes are compared with their tables then.
 */
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "storage/event_store.h"
#include "util/log.h"

#define BLOCK_BITS 65536

struct pairs {
    uint64_t n, hash; /* of all, in any order */
};

static void pair_add(struct pairs *p, uint64_t decision, uint64_t seq)
{
    uint64_t v[2] = {decision, seq};
    p->n++;
    p->hash += XXH3_64bits(v, sizeof v);
}

/* Under the lock. NULL: out of memory, or before `from`. */
static uint64_t *word(struct answered *a, uint64_t decision, bool make)
{
    size_t block = (size_t)(decision / BLOCK_BITS - a->from / BLOCK_BITS), had = a->n;
    if (decision < a->from || (block >= a->n && !make))
        return NULL;
    if (block >= a->n) {
        if (!array_reserve(&a->blocks, &a->room, block + 1, sizeof *a->blocks))
            return NULL;
        for (a->n = block + 1; had < a->n; had++)
            a->blocks[had] = NULL;
    }
    if (!a->blocks[block] && make)
        a->blocks[block] = calloc(BLOCK_BITS / 64, sizeof **a->blocks);
    return a->blocks[block] ? &a->blocks[block][decision % BLOCK_BITS / 64] : NULL;
}

static bool mark(struct answered *a, uint64_t decision)
{
    uint64_t *w = word(a, decision, true);
    if (w)
        *w |= UINT64_C(1) << decision % 64;
    return w || decision < a->from;
}

void event_store_mark_answered(struct event_store *s, const struct event *e)
{
    enum answered_kind kind = e->kind == EVENT_FEEDBACK   ? ANSWERED_FEEDBACK
                              : e->kind == EVENT_LATE     ? ANSWERED_LATE
                              : e->kind == EVENT_ACTIVATE ? ANSWERED_ACTIVATION
                                                          : ANSWERED_KINDS;
    if (kind == ANSWERED_KINDS)
        return;
    struct answered *a = &s->answered[kind];
    pthread_mutex_lock(&a->lock);
    if (a->ready && !mark(a, e->decision))
        a->ready = false; /* out of memory: the index alone has to do */
    pthread_mutex_unlock(&a->lock);
}

enum answered_state answered_find(struct answered *a, uint64_t decision)
{
    pthread_mutex_lock(&a->lock);
    const uint64_t *w = a->ready ? word(a, decision, false) : NULL;
    enum answered_state state = ANSWERED_NO;
    if (!a->ready)
        state = ANSWERED_UNKNOWN;
    else if (decision < a->from)
        state = ANSWERED_EXPIRED;
    else if (w && *w >> decision % 64 & 1)
        state = ANSWERED_YES;
    pthread_mutex_unlock(&a->lock);
    return state;
}

void event_store_free_answered(struct event_store *s)
{
    for (struct answered *a = s->answered; a < s->answered + ANSWERED_KINDS; a++) {
        for (size_t i = 0; i < a->n; i++)
            free(a->blocks[i]);
        free(a->blocks);
        a->blocks = NULL;
        a->n = a->room = 0;
        a->ready = false;
    }
}

/* --- when the log is opened --- */

/* What an index says about the decisions that have not expired, and what its table says. What comes first in a row is a
 * number or a text. */
struct index_check {
    const char *name; /* as an operator calls it */
    const char *table, *index, *rebuild;
};

#define BY_DECISION(what)                                                                                              \
    "SELECT decision, seq FROM " what " NOT INDEXED WHERE seq > ?",                                                    \
        "SELECT decision, seq FROM " what " INDEXED BY sqlite_autoindex_" what "_1 WHERE decision > ?",                \
        "REINDEX " what

static const struct index_check indexes[ANSWERED_KINDS + 1] = {
    [ANSWERED_FEEDBACK] = {"feedback by decision", BY_DECISION("feedback")},
    [ANSWERED_LATE] = {"late feedback by decision", BY_DECISION("late")},
    [ANSWERED_ACTIVATION] = {"activations by decision", BY_DECISION("activations")},
    [ANSWERED_KINDS] = {"decisions by the client's id",
                        "SELECT given_id, seq FROM decisions NOT INDEXED WHERE seq > ? AND given_id IS NOT NULL",
                        "SELECT given_id, seq FROM decisions INDEXED BY decisions_given_id WHERE given_id IS NOT NULL",
                        "REINDEX decisions_given_id"},
};

static bool read_pairs(struct event_store *s, const char *sql, struct answered *into, struct pairs *ret,
                       struct http_error *err)
{
    sqlite3_stmt *q = NULL;
    int code;
    bool room = true;
    if (!event_store_prepare(s->db, sql, &q, err))
        return false;
    sqlite3_bind_int64(q, 1, (int64_t)s->expired_upto);
    while (room && (code = sqlite3_step(q)) == SQLITE_ROW) {
        uint64_t first = (uint64_t)sqlite3_column_int64(q, 0), seq = (uint64_t)sqlite3_column_int64(q, 1);
        bool text = sqlite3_column_type(q, 0) == SQLITE_TEXT;
        if ((text ? seq : first) <= s->expired_upto) /* such as answers to decisions that expired later */
            continue;
        if (text)
            first = XXH3_64bits(sqlite3_column_text(q, 0), (size_t)sqlite3_column_bytes(q, 0));
        pair_add(ret, first, seq);
        room = !into || mark(into, first);
    }
    bool ok = !room ? http_error_no_memory(err) : code == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_finalize(q);
    return ok;
}

/* The rows are as they were written, or the log is damaged: then the index may be the one that is right. */
static bool rebuild_index(struct event_store *s, const struct index_check *c, struct http_error *err)
{
    uint64_t at = s->expired_upto;
    log_event("index_damaged", "{s:s,s:s}", "folder", s->dir, "index", c->name);
    return (event_store_scrub(s, &at, SIZE_MAX, err) && event_store_run(s->db, c->rebuild, err)) || s->damage[0];
}

static bool check_index(struct event_store *s, const struct index_check *c, struct answered *into,
                        struct http_error *err)
{
    struct pairs in_table = {0}, in_index = {0};
    struct http_error why = {0};
    if (!read_pairs(s, c->table, into, &in_table, err))
        return false;
    bool equal =
        read_pairs(s, c->index, NULL, &in_index, &why) && in_table.n == in_index.n && in_table.hash == in_index.hash;
    return equal || rebuild_index(s, c, err);
}

bool event_store_read_answered(struct event_store *s, struct http_error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof indexes / sizeof *indexes; i++) {
        struct answered *a = i < ANSWERED_KINDS ? &s->answered[i] : NULL;
        if (a)
            a->from = s->expired_upto + 1;
        ok = check_index(s, &indexes[i], a, err);
        if (a)
            a->ready = ok;
    }
    if (!ok)
        event_store_free_answered(s);
    return ok;
}

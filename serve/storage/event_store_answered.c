/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which decisions have been answered, one bit each, from the first that can still be answered on. The log's index of
 * feedback says the same; but an index is not covered by the rows' checksums, and one damaged page of it would let an
 * answer that was learned be learned once more. The bits are read from the table when the log is opened, and the index
 * is compared with the table then.
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

void answered_mark(struct answered *a, uint64_t decision)
{
    pthread_mutex_lock(&a->lock);
    if (a->ready && !mark(a, decision))
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

void answered_free(struct answered *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->blocks[i]);
    free(a->blocks);
    a->blocks = NULL;
    a->n = a->room = 0;
    a->ready = false;
}

/* --- when the log is opened --- */

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
        uint64_t decision = (uint64_t)sqlite3_column_int64(q, 0);
        if (decision <= s->expired_upto) /* answers to decisions that expired later */
            continue;
        pair_add(ret, decision, (uint64_t)sqlite3_column_int64(q, 1));
        room = !into || mark(into, decision);
    }
    bool ok = !room ? http_error_no_memory(err) : code == SQLITE_DONE || event_store_error(s->db, err);
    sqlite3_finalize(q);
    return ok;
}

static bool rebuild_index(struct event_store *s, struct http_error *err)
{
    log_event("index_damaged", "{s:s,s:s}", "folder", s->dir, "index", "feedback by decision");
    return event_store_run(s->db, "REINDEX feedback", err);
}

bool event_store_read_answered(struct event_store *s, struct http_error *err)
{
    static const char table[] = "SELECT decision, seq FROM feedback NOT INDEXED WHERE seq > ?";
    static const char index[] = "SELECT decision, seq FROM feedback INDEXED BY sqlite_autoindex_feedback_1"
                                " WHERE decision > ?";
    struct pairs in_table = {0}, in_index = {0};
    struct http_error why = {0};
    struct answered *a = &s->answered;
    a->from = s->expired_upto + 1;
    if (!read_pairs(s, table, a, &in_table, err)) {
        answered_free(a);
        return false;
    }
    a->ready = true;
    bool equal =
        read_pairs(s, index, NULL, &in_index, &why) && in_table.n == in_index.n && in_table.hash == in_index.hash;
    return equal || rebuild_index(s, err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "storage/event_table.h"

/* In the order of the declaration below. */
enum column {
    SEQ,
    TIME,
    CHECKSUM,
    X,
    LABEL,
    KEY,
    ROUND,
    GREEDY,
    PROBABILITY,
    VERSION,
    SEEN,
    NOTE,
    DECISION,
    RIGHT,
    TRUE_LABEL,
    SILENT,
    ELIGIBLE,
    GIVEN_ID,
    CHOSEN_BY,
    MODEL_PROBABILITY,
    DEFERRED,
    ACT_AT,
    ACT
};

static const char declaration[] =
    "CREATE TABLE events(seq, time_ms, checksum, x, label, key, round, greedy, probability,"
    " version, seen, note, decision, was_right, true_label, silent, eligible, given_id, chosen_by, model_probability, deferred,"
    " act_at, act)";

struct table {
    sqlite3_vtab base; /* first */
    const struct event_table *events;
};

struct cursor {
    sqlite3_vtab_cursor base; /* first */
    const struct event_table *events;
    size_t at;
};

static int table_connect(sqlite3 *db, void *events, int n, const char *const *arguments, sqlite3_vtab **ret,
                         char **reterr)
{
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(db, declaration);
    if (code != SQLITE_OK) {
        free(t);
        return code;
    }
    t->events = events;
    *ret = &t->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *t)
{
    free(t);
    return SQLITE_OK;
}

static int table_best_index(sqlite3_vtab *t, sqlite3_index_info *info)
{
    info->estimatedCost = 1000;
    return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *t, sqlite3_vtab_cursor **ret)
{
    struct cursor *c = calloc(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    c->events = ((struct table *)t)->events;
    *ret = &c->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *c)
{
    free(c);
    return SQLITE_OK;
}

static void to_kind(struct cursor *c)
{
    while (c->at < c->events->n && c->events->events[c->at]->kind != c->events->kind)
        c->at++;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *text, int n, sqlite3_value **values)
{
    struct cursor *c = (struct cursor *)base;
    c->at = 0;
    to_kind(c);
    return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    c->at++;
    to_kind(c);
    return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *c = (struct cursor *)base;
    return c->at >= c->events->n;
}

static int64_t number_at(const struct cursor *c, const struct event *e, enum column column)
{
    switch (column) {
    case SEQ:
        return (int64_t)e->seq;
    case TIME:
        return e->time_ms;
    case CHECKSUM:
        return (int64_t)c->events->checksums[c->at];
    case LABEL:
        return e->kind == EVENT_DECISION ? e->choice.label : e->label;
    case KEY:
        return (int64_t)e->key;
    case ROUND:
        return (int64_t)e->choice.round;
    case GREEDY:
        return e->choice.greedy;
    case VERSION:
        return c->events->version;
    case SEEN:
        return (int64_t)e->seen;
    case NOTE:
        return e->choice.note;
    case DECISION:
        return (int64_t)e->decision;
    case RIGHT:
        return e->answer.right;
    case SILENT:
        return e->answer.silent;
    case CHOSEN_BY:
        return e->chooser;
    case DEFERRED:
        return e->deferred;
    case ACT:
        return e->act;
    default:
        return e->answer.label;
    }
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *ret, int column)
{
    const struct cursor *c = (struct cursor *)base;
    const struct event *e = c->events->events[c->at];
    if (column == X)
        sqlite3_result_text64(ret, e->x, e->x_length, SQLITE_STATIC, SQLITE_UTF8);
    else if (column == ELIGIBLE && e->eligible)
        sqlite3_result_text(ret, e->eligible, -1, SQLITE_STATIC);
    else if (column == ELIGIBLE)
        sqlite3_result_null(ret);
    else if (column == GIVEN_ID && e->given_id)
        sqlite3_result_text(ret, e->given_id, -1, SQLITE_STATIC);
    else if (column == GIVEN_ID)
        sqlite3_result_null(ret);
    else if (column == PROBABILITY && !e->unknown_chance)
        sqlite3_result_double(ret, e->choice.prob);
    else if (column == MODEL_PROBABILITY && e->chooser != CHOSEN_BY_MODEL)
        sqlite3_result_double(ret, e->model_chance);
    else if (column == ACT_AT && e->act_at > 0)
        sqlite3_result_double(ret, e->act_at);
    else if (column == PROBABILITY || column == MODEL_PROBABILITY || column == ACT_AT)
        sqlite3_result_null(ret);
    else if (column != TRUE_LABEL || e->answer.label != NO_LABEL) /* otherwise it is NULL */
        sqlite3_result_int64(ret, number_at(c, e, (enum column)column));
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)((struct cursor *)c)->at;
    return SQLITE_OK;
}

bool event_table_attach(sqlite3 *db, struct event_table *t)
{
    static const sqlite3_module module = {
        .xConnect = table_connect, /* no xCreate: there is one by the module's name, and no other */
        .xBestIndex = table_best_index,
        .xDisconnect = table_disconnect,
        .xOpen = cursor_open,
        .xClose = cursor_close,
        .xFilter = cursor_filter,
        .xNext = cursor_next,
        .xEof = cursor_eof,
        .xColumn = cursor_column,
        .xRowid = cursor_rowid,
    };
    return sqlite3_create_module(db, "events", &module, t) == SQLITE_OK;
}

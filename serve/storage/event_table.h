/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of a commit as a table that SQLite can read: one statement takes all of a kind over, instead of one each
 * with its parameters. Rows in order of seq follow one another in the tables, so a statement's cursors stay where they
 * are.
 */
#ifndef SERVE_EVENT_TABLE_H
#define SERVE_EVENT_TABLE_H

#include <sqlite3.h>

#include "event/event.h"

/* What `SELECT ... FROM events` gives on the connection. Columns: those of the log's tables for decisions, feedback and
 * lessons. */
struct event_table {
    struct event *const *events;
    const uint64_t *checksums; /* one per event */
    size_t n;
    enum event_kind kind; /* only these */
    int64_t version;
};

/* The table must stay where it is as long as the connection is open. false: no memory. */
bool event_table_attach(sqlite3 *db, struct event_table *t);

#endif

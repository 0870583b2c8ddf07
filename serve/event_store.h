/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a node can look up of one model's events: log.db, a SQLite database in WAL mode with full synchronisation. One
 * thread (the model's writer) changes it through `db`; requests read it through connections of their own.
 */
#ifndef SERVE_EVENT_STORE_H
#define SERVE_EVENT_STORE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event.h"
#include "names.h"
#include "http_error.h"
#include "text.h"

#define STORE_FORMAT 1
#define STORE_FILE "log.db"

enum event_store_insert { INSERT_DECISION, INSERT_FEEDBACK, INSERT_LESSON, INSERT_LABEL, INSERTS };

/* A connection of its own with one query. */
struct reader {
    sqlite3 *db;
    sqlite3_stmt *statement, *begin, *end;
    pthread_mutex_t lock;
    bool many; /* from begin to end, what is found is of one moment */
};

#define FINDERS 4 /* threads that look for decisions at the same time; opened when they are needed */

struct event_store {
    sqlite3 *db;
    sqlite3_stmt *insert[INSERTS], *begin, *commit, *rollback;
    struct reader find[FINDERS], recent; /* apart, so that feedback never waits for someone who looks at the list */
    char *dir, *path;
    dev_t device; /* of the file; its path may come to mean another */
    ino_t inode;
    int64_t version;   /* the row of table versions that describes this program and learner */
    uint64_t last_seq; /* the newest event */
    int64_t last_time_ms;
    uint64_t expired;      /* decisions whose time ran out without an answer ... */
    uint64_t expired_upto; /* ... among those up to here */
    uint64_t trimmed;      /* events up to here may have been deleted */
};

/* Makes the log of a new model in folder dir; labels are those of the settings. */
bool event_store_create(const char *dir, const char *name, const char *settings, const struct names *labels,
                        int64_t now_ms, struct http_error *err);
bool event_store_open(struct event_store *ret, const char *dir, struct http_error *err);
void event_store_close(struct event_store *s);
bool event_store_about(struct event_store *s, const char *key, struct text *ret); /* false: not there */
bool event_store_set_version(struct event_store *s, const char *learner, struct http_error *err);

/* All of them or none, in one transaction that is on disk when this returns. One thread at a time. */
bool event_store_append(struct event_store *s, struct event *const *events, size_t n, struct http_error *err);

/* Count decisions older than cutoff_ms without an answer, some at a time; ret_more: there may be more. */
bool event_store_expire(struct event_store *s, int64_t cutoff_ms, bool *ret_more, struct http_error *err);
/* Delete events older than cutoff_ms that snapshots up to safe_seq have made needless, some at a time. */
bool event_store_trim(struct event_store *s, int64_t cutoff_ms, uint64_t safe_seq, bool vacuum, bool *ret_more,
                      struct http_error *err);

/* A decision and what was said about it. *ret NULL: there is none. Safe from any thread. */
bool event_store_decision(struct event_store *s, uint64_t seq, struct event **ret, struct http_error *err);
/* The same by a reader that is the calling thread's until the end. many: one look at the log serves all that follow. */
struct reader *event_store_reader_begin(struct event_store *s, bool many);
bool reader_find(struct reader *r, uint64_t seq, struct event **ret, struct http_error *err);
void event_store_reader_end(struct reader *r);
/* The latest decisions, newest first; stops when the function returns false. Safe from any thread. */
bool event_store_recent(struct event_store *s, uint64_t before, uint64_t most,
                        bool (*each)(void *, const struct event *), void *context, struct http_error *err);
/* The latest decisions without their examples, oldest first; only when no one else uses the store. */
struct summary {
    int64_t time_ms, answer_ms; /* answer_ms 0: none */
    bool explored, right;
};
bool event_store_summaries(struct event_store *s, size_t most, struct summary **ret, size_t *ret_n,
                           struct http_error *err);
uint64_t event_store_bytes(const struct event_store *s);

/* The events after a place, in order. */
struct event_store_replay {
    struct event_store *store;
    sqlite3_stmt *from[INSERTS];
    bool more[INSERTS];
};
bool event_store_replay_open(struct event_store_replay *ret, struct event_store *s, uint64_t after,
                             struct http_error *err);
/* *ret NULL: that was all. */
bool event_store_replay_next(struct event_store_replay *r, struct event **ret, struct http_error *err);
void event_store_replay_close(struct event_store_replay *r);

/* For store*.c: a transaction on db; */
bool event_store_begin(struct event_store *s, struct http_error *err);
bool event_store_commit(struct event_store *s, struct http_error *err);
void event_store_rollback(struct event_store *s);
/* says what SQLite says. */
bool event_store_error(sqlite3 *db, struct http_error *err);
bool event_store_open_finder(struct event_store *s, struct reader *r, struct http_error *err);

#endif

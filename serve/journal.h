/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of one model: log.db, a SQLite database in WAL mode with full synchronisation. One thread (the model's
 * writer) changes it through `db`; requests read it through connections of their own.
 */
#ifndef SERVE_JOURNAL_H
#define SERVE_JOURNAL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "names.h"
#include "problem.h"
#include "text.h"

#define JOURNAL_FORMAT 1
#define JOURNAL_FILE "log.db"

enum journal_insert { INSERT_DECISION, INSERT_FEEDBACK, INSERT_LESSON, INSERT_LABEL, INSERTS };

/* A connection of its own with one query. */
struct reader {
    sqlite3 *db;
    sqlite3_stmt *statement, *begin, *end;
    pthread_mutex_t lock;
    bool many; /* from begin to end, what is found is of one moment */
};

#define FINDERS 4 /* threads that look for decisions at the same time; opened when they are needed */

struct journal {
    sqlite3 *db;
    sqlite3_stmt *insert[INSERTS], *begin, *commit, *rollback;
    struct reader find[FINDERS], recent; /* apart, so that feedback never waits for someone who looks at the list */
    char *path;
    int64_t version;   /* the row of table versions that describes this program and learner */
    uint64_t last_seq; /* as found when it was opened */
    int64_t last_time_ms;
    uint64_t expired;      /* decisions whose time ran out without an answer ... */
    uint64_t expired_upto; /* ... among those up to here */
    uint64_t trimmed;      /* events up to here may have been deleted */
};

/* Makes the log of a new model in folder dir; labels are those of the settings. */
bool journal_create(const char *dir, const char *name, const char *settings, const struct names *labels, int64_t now_ms,
                    struct problem *p);
bool journal_open(struct journal *ret, const char *dir, struct problem *p);
void journal_close(struct journal *s);
bool journal_about(struct journal *s, const char *key, struct text *ret); /* false: not there */
bool journal_set_version(struct journal *s, const char *learner, struct problem *p);

/* Writing: begin, append ..., commit; or rollback. */
bool journal_begin(struct journal *s, struct problem *p);
bool journal_append(struct journal *s, const struct event *e, struct problem *p);
bool journal_commit(struct journal *s, struct problem *p);
void journal_rollback(struct journal *s);

/* Count decisions older than cutoff_ms without an answer, some at a time; ret_more: there may be more. */
bool journal_expire(struct journal *s, int64_t cutoff_ms, bool *ret_more, struct problem *p);
/* Delete events older than cutoff_ms that snapshots up to safe_seq have made needless, some at a time. */
bool journal_trim(struct journal *s, int64_t cutoff_ms, uint64_t safe_seq, bool vacuum, bool *ret_more,
                  struct problem *p);

/* A decision and what was said about it. *ret NULL: there is none. Safe from any thread. */
bool journal_find(struct journal *s, uint64_t seq, struct event **ret, struct problem *p);
/* The same by a reader that is the calling thread's until the end. many: one look at the log serves all that follow. */
struct reader *journal_find_begin(struct journal *s, bool many);
bool reader_find(struct reader *r, uint64_t seq, struct event **ret, struct problem *p);
void journal_find_end(struct reader *r);
/* The latest decisions, newest first; stops when the function returns false. Safe from any thread. */
bool journal_recent(struct journal *s, uint64_t before, uint64_t most, bool (*each)(void *, const struct event *),
                    void *context, struct problem *p);
/* The latest decisions without their examples, oldest first; only when no one else uses the journal. */
struct outline {
    int64_t time_ms, answer_ms; /* answer_ms 0: none */
    bool explored, right;
};
bool journal_outline(struct journal *s, size_t most, struct outline **ret, size_t *ret_n, struct problem *p);
uint64_t journal_bytes(const struct journal *s);

/* The events after a place, in order. */
struct journal_replay {
    struct journal *journal;
    sqlite3_stmt *from[INSERTS];
    bool more[INSERTS];
};
bool journal_replay_open(struct journal_replay *ret, struct journal *s, uint64_t after, struct problem *p);
/* *ret NULL: that was all. */
bool journal_replay_next(struct journal_replay *r, struct event **ret, struct problem *p);
void journal_replay_close(struct journal_replay *r);

/* For the files of this room: says what SQLite says. */
bool journal_problem(sqlite3 *db, struct problem *p);
bool journal_open_finder(struct journal *s, struct reader *r, struct problem *p);

#endif

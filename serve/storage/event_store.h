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

#include "event/event.h"
#include "storage/event_table.h"
#include "stream.h"
#include "util/http_error.h"
#include "util/text.h"

#define STORE_FORMAT 1
#define STORE_FILE "log.db"

/* As enum event_kind. */
enum event_store_insert {
    INSERT_DECISION,
    INSERT_FEEDBACK,
    INSERT_LESSON,
    INSERT_LABEL,
    INSERT_LATE,
    INSERT_RETIRE,
    INSERT_ACTIVATE,
    INSERT_POLICY,
    INSERTS
};

/* A query of rows in order of some number. It stands on the first that is not before `from`; from 0: nowhere. */
struct walk {
    sqlite3_stmt *statement;
    uint64_t from, at; /* at: that row's number; UINT64_MAX: there is none */
};

/* A connection of its own. What it finds is of one moment as long as its transaction is open. */
struct reader {
    struct event_store *store;
    sqlite3 *db;
    struct walk decisions, answers; /* answers: by decision */
    sqlite3_stmt *recent, *begin, *end, *chain;
    pthread_mutex_t lock;
    bool open;     /* the transaction */
    uint64_t upto; /* it sees all events up to here */
};

#define FINDERS 4 /* threads that look for decisions at the same time; opened when they are needed */

/* An event that the model must forget. */
struct exclusion {
    uint64_t seq;
    uint64_t upto; /* decisions between the two were made by a model that knew it; UINT64_MAX: not yet forgotten */
};

/* Of a model that several nodes serve; see store_shared.h. */
struct store_shared {
    char *topic;   /* NULL: not shared */
    uint64_t upto; /* events up to here came from other nodes, too: all, or those of before it became one machine's */
    uint64_t arithmetic; /* what all who apply it must compute */
    uint64_t offset;     /* behind the last event on disk when the store was opened */
    int64_t log_ms;      /* the journal's time then */
    struct origin {
        uint64_t origin, counter;
    } * origins;
    size_t origins_n;
    sqlite3 *reader;
    pthread_mutex_t lock; /* of reader */
    sqlite3_stmt *find, *handle, *put_origin, *put_handle, *put_position;
};

#define VERSIONS_MAX 64
#define PROMOTIONS_MAX 256

/* A learner that the model has, or had. Number 1 is that of the settings and has no row. */
struct version_row {
    uint32_t number;
    char learner[512];
    uint64_t seed, from_seq; /* from_seq: it has seen nothing up to here, for the log no longer had it */
    int64_t created_ms;
    bool dropped;
    bool automatic; /* takes over by itself when it is certain to be better */
};

/* Decisions after seq were made by this version. */
struct promotion {
    uint64_t seq;
    uint32_t number;
};
#define PROMOTION_WHY 160

/* What may be said of a decision once: see event_store_answered.c. */
enum answered_kind { ANSWERED_FEEDBACK, ANSWERED_LATE, ANSWERED_ACTIVATION, ANSWERED_KINDS };

struct answered {
    pthread_mutex_t lock;
    bool ready;    /* else nothing is known */
    uint64_t from; /* decisions before this one have expired */
    uint64_t **blocks;
    size_t n, room;
};

enum answered_state { ANSWERED_NO, ANSWERED_YES, ANSWERED_EXPIRED, ANSWERED_UNKNOWN };

struct event_store {
    sqlite3 *db;
    struct store_shared shared;
    sqlite3_stmt *insert[INSERTS], *begin, *commit, *rollback;
    struct event_table table; /* what is being inserted */
    uint64_t *checksums;      /* of it */
    size_t checksums_room;
    struct reader find[FINDERS], recent; /* apart, so that feedback never waits for a reader of the list */
    _Atomic bool hold;                   /* finders may stay at their moment: the file of changes is small */
    unsigned commits;
    char *dir, *path;
    dev_t device; /* of the file; its path may come to mean another */
    ino_t inode;
    _Atomic int64_t version;   /* the row of table versions that describes this program and learner */
    _Atomic uint64_t last_seq; /* the newest event */
    int64_t last_time_ms;
    uint64_t expired;      /* decisions whose time ran out without an answer ... */
    uint64_t expired_upto; /* ... among those up to here */
    uint64_t trimmed;      /* events up to here may have been deleted */
    struct answered answered[ANSWERED_KINDS];
    /* Each row's checksum includes that of the row before. */
    uint64_t chain;              /* of the newest row */
    _Atomic uint64_t chain_from; /* rows up to here have none that can be checked */
    uint64_t chain_base;         /* what the first after it includes */
    struct exclusion *excluded;  /* by seq */
    size_t excluded_n;
    struct version_row *versions; /* room for VERSIONS_MAX; NULL: none */
    struct promotion promotions[PROMOTIONS_MAX];
    char why[PROMOTION_WHY]; /* of the latest */
    size_t versions_n, promotions_n;
    uint64_t head_seq; /* what the file `head` says was written; beyond last_seq: the log has lost its end */
    int head_fd;
    bool look_only;   /* nothing is to be changed on disk */
    char damage[200]; /* what is wrong with the log; empty: nothing that is known */
};

/* Makes the log of a new model in folder dir; labels are those of the settings. */
bool event_store_create(const char *dir, const char *name, const char *settings, const struct names *labels,
                        int64_t now_ms, struct http_error *err);
/* look_only: changes nothing on disk. A log that can be read but is not whole has `damage` set. It must stay where it
 * is: SQLite knows its address. */
bool event_store_open(struct event_store *s, const char *dir, bool look_only, struct http_error *err);
void event_store_close(struct event_store *s);
bool event_store_about(struct event_store *s, const char *key, struct text *ret); /* false: not there */
bool event_store_set_version(struct event_store *s, const char *learner, struct http_error *err);

/* All of them or none, in one transaction that is on disk when this returns. One thread at a time. */
bool event_store_append(struct event_store *s, struct event *const *events, size_t n, struct http_error *err);

/* The latest decision for which the client gave that id; 0: none is in the log. Safe from any thread. */
bool event_store_given(struct event_store *s, const char *given_id, uint64_t *ret_seq, struct http_error *err);

/* Count decisions older than cutoff_ms without an answer, some at a time; ret_more: there may be more. */
bool event_store_expire(struct event_store *s, int64_t cutoff_ms, bool *ret_more, struct http_error *err);
/* Of the decisions after *at that are older than cutoff_ms: those without an answer, as their ids' halves, at most so
 * many. *at: where to go on. deferred: of those that were activated, by the place and the time of their activation. */
struct unanswered {
    uint64_t seq, key;
};
bool event_store_unanswered(struct event_store *s, bool deferred, int64_t cutoff_ms, uint64_t *at,
                            struct unanswered *ret, size_t max, size_t *ret_n, struct http_error *err);
/* Delete the oldest part of the log, some at a time: events older than cutoff_ms that snapshots up to safe_seq have
 * made needless, up to the first decision that may still be answered. */
bool event_store_trim(struct event_store *s, int64_t cutoff_ms, uint64_t safe_seq, bool vacuum, bool *ret_more,
                      struct http_error *err);

/* --- events to be forgotten --- */

/* seq 0: none of this kind of answer. The event with this place or, when it is a decision, its feedback too. */
bool event_store_exclude(struct event_store *s, uint64_t seq, int64_t now_ms, struct http_error *err);
/* The model has forgotten all of them: what was decided up to here need not come out the same again. */
bool event_store_excluded_upto(struct event_store *s, uint64_t upto, struct http_error *err);
const struct exclusion *event_store_excluded(const struct event_store *s, uint64_t seq);

/* --- versions --- */

const struct version_row *event_store_version(const struct event_store *s, uint32_t number);
/* Which made the decision at seq. */
uint32_t event_store_version_at(const struct event_store *s, uint64_t seq);
bool event_store_put_version(struct event_store *s, const struct version_row *v, struct http_error *err);
bool event_store_promote(struct event_store *s, uint64_t seq, uint32_t number, int64_t now_ms, const char *why,
                         struct http_error *err);
/* When a log is opened after a crash: a version was promoted behind events that the crash took away; the next ones are
 * its own. */
bool event_store_settle_promotions(struct event_store *s, struct http_error *err);
bool event_store_read_versions(struct event_store *s, struct http_error *err);
/* Labels that there were at that place. */
bool event_store_labels(struct event_store *s, uint64_t upto, struct names *ret, struct http_error *err);

/* --- which decisions have been answered --- */

/* From the table of feedback. An index that does not say what its table says is made again, unless the table's rows are
 * damaged: then `damage` is set. */
bool event_store_read_answered(struct event_store *s, struct http_error *err);
/* An event has been committed. Both safe from any thread. */
void event_store_mark_answered(struct event_store *s, const struct event *e);
enum answered_state answered_find(struct answered *a, uint64_t decision);
void event_store_free_answered(struct event_store *s);

/* --- damage --- */

/* Looks at the rows from *at on, that many at most; false: `damage` has been set, or the log can't be read. *at: where to
 * go on; 0: the end was reached. */
bool event_store_scrub(struct event_store *s, uint64_t *at, size_t rows, struct http_error *err);
/* What the log holds now, after another connection has written or deleted. */
bool event_store_refresh(struct event_store *s, struct http_error *err);
/* SQLite's own check of the file. */
bool event_store_check_file(struct event_store *s, struct http_error *err);
/* Takes the log as it is for the truth. */
bool event_store_accept(struct event_store *s, struct http_error *err);
/* Takes a snapshot at seq for the truth: what the log has beyond it goes, what it lacks is not asked for. */
bool event_store_cut(struct event_store *s, uint64_t seq, struct http_error *err);

/* A decision and what was said about it, both as they were written: a row that is not, or that is missing where one must
 * be, is an error with code "damaged". *ret NULL: no decision has that number. Safe from any thread. */
bool event_store_decision(struct event_store *s, uint64_t seq, struct event **ret, struct http_error *err);
/* The same by a reader that is the calling thread's until the end. It sees all events up to `need` and may not see
 * later ones, for its snapshot may be an earlier reader's; upto: what is on disk now, for a new one. */
struct reader *event_store_reader_begin(struct event_store *s, uint64_t need, uint64_t upto);
bool reader_find(struct reader *r, uint64_t seq, struct event **ret, struct http_error *err);
/* Its snapshot is kept for the next readers, for some commits or until event_store_release. */
void event_store_reader_end(struct event_store *s, struct reader *r);
/* Ends the read transactions of idle readers, so that nothing that needs the file waits for them. */
void event_store_release(struct event_store *s);
/* The latest decisions, newest first; stops when the function returns false. Safe from any thread. */
bool event_store_recent(struct event_store *s, uint64_t before, uint64_t max,
                        bool (*each)(void *, const struct event *), void *context, struct http_error *err);
/* The latest decisions without their examples, oldest first; only when no other thread uses the store. */
struct summary {
    int64_t time_ms, answer_ms; /* answer_ms 0: no answer, or the default one */
    bool explored, right;       /* explored: the model chose another label than the greedy one */
};
bool event_store_summaries(struct event_store *s, size_t max, struct summary **ret, size_t *ret_n,
                           struct http_error *err);
uint64_t event_store_bytes(const struct event_store *s);

/* The events after a place, in order. A row whose checksum is wrong, or a hole, is an error with code "damaged". */
struct event_store_replay {
    struct event_store *store;
    uint64_t seq, chain; /* of the row before */
    sqlite3_stmt *from[INSERTS];
    bool more[INSERTS];
};
bool event_store_replay_open(struct event_store_replay *ret, struct event_store *s, uint64_t after,
                             struct http_error *err);
/* *ret NULL: that was all. */
bool event_store_replay_next(struct event_store_replay *r, struct event **ret, struct http_error *err);
void event_store_replay_close(struct event_store_replay *r);

/* What people read. place: the first half of a decision's id. */
#define LOG_VIEW(place)                                                                                                \
    "CREATE VIEW log AS SELECT printf('%016x-%016x', " place                                                           \
    ", d.key) AS id, d.seq AS seq, d.time_ms AS time_ms, d.x AS x,"                                                    \
    " (SELECT name FROM labels WHERE label = d.label) AS label,"                                                       \
    " (SELECT name FROM labels WHERE label = d.greedy) AS greedy,"                                                     \
    " d.probability AS probability, d.round AS round, d.note AS note, d.seen AS seen, v.hunch AS hunch, v.learner AS " \
    "learner,"                                                                                                         \
    " f.was_right AS was_right, (SELECT name FROM labels WHERE label = f.true_label) AS true_label,"                   \
    " f.silent AS silent, d.eligible AS eligible,"                                                                     \
    " CASE d.chosen_by WHEN 0 THEN 'model' WHEN 1 THEN 'baseline' WHEN 2 THEN 'control' ELSE 'uniform control' END AS" \
    " chosen_by, d.model_probability AS model_probability, d.deferred AS deferred,"                                    \
    " (SELECT a.time_ms FROM activations a WHERE a.decision = d.seq) AS activated_ms,"                                 \
    " f.time_ms AS feedback_time_ms, f.time_ms - d.time_ms AS delay_ms, f.seq AS feedback_seq"                         \
    " FROM decisions d LEFT JOIN feedback f ON f.decision = d.seq LEFT JOIN versions v ON v.version = d.version;"

/* For store*.c: a transaction on db; */
bool event_store_begin(struct event_store *s, struct http_error *err);
bool event_store_commit(struct event_store *s, struct http_error *err);
void event_store_rollback(struct event_store *s);
/* says what SQLite says. */
bool event_store_error(sqlite3 *db, struct http_error *err);
bool event_store_open_reader(struct event_store *s, struct reader *r, struct http_error *err);
bool event_store_run(sqlite3 *db, const char *sql, struct http_error *err);
bool event_store_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct http_error *err);
/* Puts text, or the number when that is NULL, into table about. */
bool event_store_put(sqlite3 *db, const char *key, const char *text, int64_t number, struct http_error *err);
/* expired, expired_upto, trimmed, chain_from and chain_base, in a transaction. */
struct store_numbers {
    uint64_t expired, expired_upto, trimmed, chain_from, chain_base;
};
struct store_numbers event_store_numbers(const struct event_store *s);
bool event_store_put_numbers(sqlite3 *db, const struct store_numbers *n, struct http_error *err);
bool event_store_number(struct event_store *s, const char *sql, int64_t *ret, struct http_error *err);
int64_t event_store_hash(const char *text);
int64_t event_store_exclusion_checksum(uint64_t seq);
bool event_store_check_head(struct event_store *s, struct http_error *err);
void event_store_write_head(struct event_store *s);
/* What a log that several nodes keep has besides (store_shared.c); open does nothing for any other. */
bool event_store_open_shared(struct event_store *s, struct http_error *err);
bool event_store_append_shared(struct event_store *s, struct event *const *events, size_t n, struct http_error *err);
void event_store_close_shared(struct event_store *s);
/* The checksum that the row after `seq` includes. */
bool event_store_chain_at(struct event_store *s, uint64_t seq, uint64_t *ret, struct http_error *err);

#endif

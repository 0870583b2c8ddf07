/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs of rounds of another program: x, the label shown, its chance, right or not. docs/how-to/replay.md describes the
 * formats: tables, JSON lines, VW's "action:cost:prob | features", and the server's log.db. All but the last are
 * streams like any other (stream.h); that one reaches a stream as JSON lines.
 */
#ifndef LOGGED_H
#define LOGGED_H

#include <stdbool.h>

#include "stream.h"

#define LOGGED_NONE STREAM_NO_LABEL

struct logged_options {
    struct stream_options stream; /* .log is understood */
    bool server;                  /* every file is a log.db; else they are known by their content */
};

/* Borrowed until the next call. */
struct logged_row {
    hunch_vec x;
    uint32_t label;           /* that was shown; LOGGED_NONE: nothing was, x came with its true label */
    uint32_t truth;           /* the true label; LOGGED_NONE: not told */
    double prob;              /* in (0, 1]; 0: not known */
    bool unjudged;            /* learned from, but no policy is judged by it */
    const uint32_t *eligible; /* labels that could be shown; NULL: all */
    size_t eligible_n;
    bool right;
};

struct logged;

/* path "-": standard input; a folder: the log.db in it. Errors name the file and the line. */
hunch_status logged_open(struct logged **ret, const char *const *paths, size_t n, const struct logged_options *options,
                         hunch_error *reterr);
/* All labels of the logs: options.stream.labels first, then those that the logs name, by name and not in the order in
 * which they were shown. So a policy that is judged by a log with these knows all labels from the first round on, and
 * their numbers tell nothing of what was shown when. Reads text logs through; not standard input. */
hunch_status logged_all_labels(struct names **ret, const char *const *paths, size_t n,
                               const struct logged_options *options, hunch_error *reterr);
/* *ret_more false: that was all. */
hunch_status logged_next(struct logged *l, struct logged_row *ret, bool *ret_more, hunch_error *reterr);
void logged_close(struct logged *l); /* NULL is fine */

const struct names *logged_labels(const struct logged *l);
uint32_t logged_classes(const struct logged *l); /* labels known at the row that came last */
/* One of those by its name; LOGGED_NONE: it is not known yet. */
uint32_t logged_label(const struct logged *l, const char *name);
const struct names *logged_features(const struct logged *l); /* NULL: numbered */
const struct stream *logged_stream(const struct logged *l);  /* the one being read; NULL: none */
/* With the first of some rows: they, for the roles of the features that they brought; else NULL. */
const struct rows *logged_rows(const struct logged *l);
uint32_t logged_width(const struct logged *l);      /* largest feature number so far + 1 */
uint64_t logged_unanswered(const struct logged *l); /* rounds left out because they have no feedback */
uint64_t logged_skipped(const struct logged *l);
uint64_t logged_bytes(const struct logged *l);       /* read so far */
uint64_t logged_bytes_total(const struct logged *l); /* 0: not known */

#endif

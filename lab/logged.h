/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs of rounds that someone has played: x, the label shown, its chance, right or not. docs/replay.md describes the
 * formats: tab- and comma-separated text, JSON lines, VW's "action:cost:prob | features", and the server's log.db.
 */
#ifndef LOGGED_H
#define LOGGED_H

#include <stdbool.h>

#include "stream.h"

#define LOGGED_NONE UINT32_MAX

enum logged_format { LOGGED_AUTO, LOGGED_TSV, LOGGED_CSV, LOGGED_JSONL, LOGGED_VW, LOGGED_SERVER };

struct logged_options {
    enum logged_format format;             /* LOGGED_AUTO: by content, the file's name, then the first line */
    bool skip_bad_rows;                    /* count malformed rows instead of failing */
    const struct names *labels, *features; /* known names to start from (a model's); NULL: none */
    bool numbered;                         /* features have numbers only: names must be numbers, or are hashed */
    uint32_t index_base;                   /* of such numbers in text: 0 or 1 */
};

/* Borrowed until the next call. */
struct logged_row {
    hunch_vec x;
    uint32_t label; /* that was shown; LOGGED_NONE: nothing was, x came with its true label */
    uint32_t truth; /* the true label; LOGGED_NONE: not told */
    double prob;    /* in (0, 1] */
    bool right;
};

struct logged;

/* path "-": standard input; a folder: the log.db in it. Errors name the file and the line. */
hunch_status logged_open(struct logged **ret, const char *const *paths, size_t n, const struct logged_options *options,
                         hunch_error *reterr);
/* *ret_more false: that was all. */
hunch_status logged_next(struct logged *l, struct logged_row *ret, bool *ret_more, hunch_error *reterr);
void logged_close(struct logged *l); /* NULL is fine */

const struct names *logged_labels(const struct logged *l);
const struct names *logged_features(const struct logged *l); /* NULL: numbered */
uint32_t logged_width(const struct logged *l);               /* largest feature number so far + 1 */
uint64_t logged_unanswered(const struct logged *l);          /* rounds left out because no one said right or wrong */
uint64_t logged_skipped(const struct logged *l);
uint64_t logged_bytes(const struct logged *l);       /* read so far */
uint64_t logged_bytes_total(const struct logged *l); /* 0: not known */

#endif

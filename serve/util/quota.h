/* SPDX-License-Identifier: BSD-3-Clause */
/* How many new names of features a client may bring to a model, so that one that has too many of them does not fill the
 * dictionary that all share: that many in a minute, if there is such a limit; and the last eighth of a large dictionary
 * is kept for many, each of whom gets an eighth of it. */
#ifndef SERVE_QUOTA_H
#define SERVE_QUOTA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_ROWS 4096   /* clients x models that are distinguished; beyond that some share a row */
#define QUOTA_LARGE 65536 /* names; a smaller dictionary may be meant to be filled */

struct quota {
    pthread_mutex_t lock;
    struct quota_row {
        int64_t minute;
        size_t used; /* in this minute */
        size_t last; /* of the last eighth, since the server started */
    } row[QUOTA_ROWS];
};

/* A dictionary. */
struct names_room {
    size_t max, free;
};
/* Whether that many new ones would take from its last eighth, if that is kept for many. */
bool names_scarce(const struct names_room *d, size_t new);

/* Returns how many of the wanted ones are granted. who: a hash of client and model; per_minute 0: no limit. */
size_t quota_take(struct quota *q, uint64_t who, size_t wanted, const struct names_room *room, size_t per_minute);

#endif

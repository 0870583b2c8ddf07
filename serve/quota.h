/* SPDX-License-Identifier: BSD-3-Clause */
/* How many new names of features a client may bring to a model in a minute, so that one that has too many of them does
 * not fill the dictionary that all share. */
#ifndef SERVE_QUOTA_H
#define SERVE_QUOTA_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define QUOTA_ROWS 4096 /* clients x models of a minute that are told apart; beyond that some share a row */

struct quota {
    pthread_mutex_t lock;
    struct quota_row {
        int64_t minute;
        size_t used;
    } row[QUOTA_ROWS];
};

/* So many of the wanted ones are granted. who: a hash of client and model. */
size_t quota_take(struct quota *q, uint64_t who, int64_t now_ns, size_t wanted, size_t most);

#endif

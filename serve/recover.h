/* SPDX-License-Identifier: BSD-3-Clause */
/* A model from its folder: the newest snapshot that is sound, then the events after it. */
#ifndef SERVE_RECOVER_H
#define SERVE_RECOVER_H

#include "core.h"
#include "journal.h"

struct recovery {
    uint64_t from;       /* the snapshot's place; 0: from the beginning */
    uint64_t replayed;   /* events */
    uint64_t mismatches; /* decisions that came out differently than the log says: another version, or damage */
    unsigned damaged;    /* snapshots passed over */
};

/* scratch: use no snapshot. */
bool recover(struct core *ret, struct recovery *ret_how, struct journal *journal, const char *dir,
             const struct limits *limits, bool scratch, struct problem *p);

#endif

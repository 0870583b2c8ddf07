/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are there in full or not at all: written beside their place, synced, renamed, and the folder synced. The
 * permissions of a new file are `mode` less the process's umask, which is neither asked for nor changed.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

struct replace {
    FILE *file; /* to write to */
    char *path, *beside;
};

/* Begins; on failure there is nothing to close. */
hunch_status replace_open(struct replace *ret, const char *path, mode_t mode, hunch_error *reterr);
/* Puts what was written in its place. On success and on failure, replace_close is still to be called. */
hunch_status replace_commit(struct replace *r, hunch_error *reterr);
/* Frees; what was not committed is removed. A struct of zeros is fine. */
void replace_close(struct replace *r);

/* All three, for what is in memory. */
hunch_status replace_file(const char *path, mode_t mode, const void *bytes, size_t size, hunch_error *reterr);

#endif

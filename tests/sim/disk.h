/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A disk whose power can fail between any two calls. While it records, every write, truncation, sync, rename and
 * removal under one folder, SQLite's (through a VFS) and the program's own (the linker wraps them), is kept in a list.
 * disk_crash makes the folder that a machine may find after losing its power behind any of them: what was synced is
 * there; of what was not, each write is there, is not, is there in part or is garbage, and of the changes to a folder
 * that were not synced the first few are there. Calls can be made to fail.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

/* Registers the VFS; once. */
void disk_begin(void);
/* Records from now on; what is in the folder now is synced. */
void disk_record(const char *folder);
void disk_stop(void);
/* How many calls have been recorded. */
size_t disk_calls(void);
/* What call number i was, for a person. */
const char *disk_describe(size_t i);

enum disk_loss {
    DISK_LOSES_ALL,  /* that was not synced */
    DISK_KEEPS_ALL,  /* a process that was killed */
    DISK_LOSES_SOME, /* each write is there, or not, or its first sectors are */
    DISK_GARBLES,    /* the same, and some sectors that were not synced hold anything */
    DISK_LOSSES
};
/* Into an empty folder: what is there after the first `calls` calls. */
bool disk_crash(size_t calls, enum disk_loss loss, struct rng *r, const char *folder);

/* One write or sync in n fails, of those to come; 0: none. */
void disk_fail(struct rng *r, unsigned one_in);
/* How many have. */
size_t disk_failures(void);

#endif

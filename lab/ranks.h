/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes that share the cells of an experiment: started by mpirun, they are ranks 0, 1, 2 ... of one job.
 * Without MPI, or when no mpirun started the program, there is one rank and every call is trivial.
 *
 * All ranks run the same program on the same arguments. Each plays its own cells; ranks_gather then gives everyone
 * everyone's results, so that all go on with the same numbers and only what is seen from outside (files, the terminal)
 * is left to rank 0.
 */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "hunch.h"

/* Before anything is printed: on all ranks but 0 standard output goes nowhere, and what is written to standard error is
 * shown only if the rank ends, and fails, before rank 0 does. */
hunch_status ranks_start(hunch_error *reterr);
size_t ranks_count(void);
bool ranks_first(void); /* whether this is rank 0 */
/* Whether this rank plays cell number i; every cell is one rank's. */
bool ranks_mine(size_t i);
unsigned ranks_threads(void); /* a fair share of this machine's cores for each of the ranks on it */

/* Bytes from every rank, to every rank. Start as {0}. */
struct ranks_bytes {
    void *memory;
    const char **bytes; /* of each rank */
    size_t *size;
};
/* All ranks must call it. HUNCH_EIO: another rank has ended meanwhile, or MPI failed. */
hunch_status ranks_gather(const void *bytes, size_t size, struct ranks_bytes *ret, hunch_error *reterr);
void ranks_bytes_free(struct ranks_bytes *b);

/* At the end, with the exit code of this rank; returns that of the job: rank 0's, or the first that is not 0. */
int ranks_stop(int code);

#endif

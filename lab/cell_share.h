/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells that several processes (ranks.h) have played between them. */
#ifndef CELL_SHARE_H
#define CELL_SHARE_H

#include "cell.h"

/* Every rank has played its own of the n cells, with that status; afterwards every rank has all results, or all fail
 * with the first rank's message. Returns status itself when there is one rank. */
hunch_status cells_share(struct cell *cells, size_t n, hunch_status status, hunch_error *reterr);

#endif

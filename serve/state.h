/* SPDX-License-Identifier: BSD-3-Clause */
/* The state folder: whose it is, and in which version's layout. */
#ifndef SERVE_STATE_H
#define SERVE_STATE_H

#include <stdbool.h>

#include "problem.h"

#define STATE_FORMAT 1

/* Makes the folder if need be, locks it against other processes, checks its version. *ret_fd holds the lock. */
bool state_claim(const char *dir, int *ret_fd, struct problem *p);

#endif

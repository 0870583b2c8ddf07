/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hunch serve: decisions over HTTP, feedback whenever it comes, nothing lost.
 *
 * A state folder holds one sub-folder per model: its log of decisions and feedback (log.db, SQLite) and its snapshots.
 * A model's state is a function of the log's events in their order; see docs/explanation/server.md.
 */
#ifndef SERVE_H
#define SERVE_H

#include "hunch.h"
#include "util/serve_options.h"

/* Runs until SIGTERM or SIGINT. What was wrong goes to reterr; everything else to standard error, as JSON lines. */
enum serve_result serve_run(const struct serve_options *options, hunch_error *reterr);

#endif

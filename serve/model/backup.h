/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All models in one tar file, each of one moment, while they serve; and back.
 *
 * Files are models/NAME/log.db, snapshots, versions' snapshots and base.hunch. The last file is MANIFEST: one line
 * "HASH SIZE PATH" for each file before it, one line "skipped NAME: WHY" for each model that could not be restored, and the
 * line "verified HASH", where HASH is of all lines above. A backup without that line is not complete. Before a model is
 * added, its copy is read as a restore would read it.
 */
#ifndef SERVE_BACKUP_H
#define SERVE_BACKUP_H

#include "model/registry.h"

#define BACKUP_MANIFEST "MANIFEST"
#define BACKUP_STAGE ".backup-" /* of folders that a crash may leave; removed at the next start */

/* A file without a name, to be closed by the caller. */
bool backup_write(struct registry *r, int *ret_fd, uint64_t *ret_size, struct http_error *err);
/* Into a folder that has no models: unpacked beside them, verified, and moved into their place; or nothing at all. */
bool backup_restore(const struct serve_options *options, struct http_error *err);
/* As `hunch serve --verify` of what it would restore. */
enum serve_result backup_verify(const struct serve_options *options, hunch_error *reterr);

#endif

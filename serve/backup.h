/* SPDX-License-Identifier: BSD-3-Clause */
/* All models in one tar file, each of one moment, while they serve; and back. */
#ifndef SERVE_BACKUP_H
#define SERVE_BACKUP_H

#include "registry.h"

/* A file without a name, to be closed by the caller. */
bool backup_write(struct registry *r, int *ret_fd, uint64_t *ret_size, struct http_error *err);
/* Into a folder that has no models. */
bool backup_restore(const char *dir, const char *file, struct http_error *err);

#endif

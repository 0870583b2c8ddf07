/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and folders that are there in full or not at all. */
#ifndef SERVE_FILES_H
#define SERVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/http_error.h"

/* The error "storage" with errno's reason. Always false. */
bool file_failed(const char *what, const char *path, struct http_error *err);
/* Through a temporary file, synced, renamed; the folder is synced too. */
bool file_write(const char *dir, const char *name, const void *bytes, size_t size, struct http_error *err);
/* Of what an open file holds. */
bool file_hash(int fd, uint64_t size, uint64_t *ret, struct http_error *err);
/* *ret_bytes is malloc'd and has a NUL behind it. */
bool file_read(const char *path, size_t max, void **ret_bytes, size_t *ret_size, struct http_error *err);
bool dirs_make(const char *path, struct http_error *err); /* fine when it is there */
bool dirs_sync(const char *path, struct http_error *err);
void dirs_remove(const char *path); /* with all that is in it, as far as it goes */

#endif

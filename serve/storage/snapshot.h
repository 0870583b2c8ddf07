/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of a model: files snapshot-SEQ.hunch (SEQ in hexadecimal) in its folder, in the library's model format. The
 * newest two are kept. */
#ifndef SERVE_SNAPSHOT_H
#define SERVE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/http_error.h"

#define SNAPSHOTS_KEPT 2
#define BASE_FILE "base.hunch" /* what the model began with, when that was a file */

struct snapshot_list {
    uint64_t seq[64]; /* newest first */
    size_t n;
};

/* That of a version which does not decide: one file, replaced. */
#define SNAPSHOT_SHADOW UINT64_MAX
void snapshot_shadow_name(char ret[40], uint32_t version);
void snapshot_name(char ret[40], uint64_t seq);
/* Of either kind. */
bool snapshot_is_name(const char *name);
void snapshot_find(const char *dir, struct snapshot_list *ret);
/* A file that is whole takes the place of a snapshot; those beyond the newest two go. */
bool snapshot_put(const char *dir, uint64_t seq, const char *from, struct http_error *err);
bool snapshot_save(const char *dir, uint64_t seq, const void *bytes, size_t size, struct http_error *err);
/* Out of the way, not deleted: NAME.why */
void snapshot_set_aside(const char *dir, uint64_t seq, const char *why);

#endif

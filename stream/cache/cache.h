/* SPDX-License-Identifier: BSD-3-Clause */
/* The binary cache (.hc): rows as they lie in memory, in checksummed blocks. The format: docs/reference/cache-format.md. */
#ifndef CACHE_H
#define CACHE_H

#include "common/rows.h"
#include "common/stream_options.h"

#define CACHE_MAGIC "\x89HCACHE\n"
#define CACHE_MAGIC_SIZE 8

struct cache;

hunch_status cache_open(struct cache **ret, const char *path, hunch_error *reterr);
/* The same over bytes in memory (borrowed, aligned to 64); name is for messages. */
hunch_status cache_open_bytes(struct cache **ret, const void *bytes, size_t size, const char *name,
                              hunch_error *reterr);
/* Keep that many bytes of what was handed out in memory; 0: a good default. */
void cache_keep_behind(struct cache *c, size_t bytes);
/* The next block; n == 0 at the end. label_map and feature_map, when not NULL, give the numbers to use instead of the
 * cache's own. Without the latter the rows lie in the map, and all but their labels is borrowed. */
hunch_status cache_read(struct cache *c, const uint32_t *label_map, const uint32_t *feature_map, struct rows *batch,
                        hunch_error *reterr);
const struct names *cache_labels(const struct cache *c);
const struct names *cache_features(const struct cache *c); /* NULL: numbered */
hunch_role cache_role(const struct cache *c, uint32_t feature);
int cache_index_base(const struct cache *c); /* of the text that it was made from */
uint64_t cache_width(const struct cache *c); /* its features, or the largest index + 1 */
uint64_t cache_bytes(const struct cache *c); /* read so far */
void cache_close(struct cache *c);           /* NULL is fine */

struct cache_writer;

/* fd: a file open for writing, empty; it stays the caller's. */
hunch_status cache_writer_new(struct cache_writer **ret, int fd, bool compress, hunch_error *reterr);
hunch_status cache_writer_add(struct cache_writer *w, const struct rows *batch, hunch_error *reterr);
/* Names, directory and header: without this call the file is no cache. features NULL: numbered. */
hunch_status cache_writer_finish(struct cache_writer *w, const struct names *labels, const struct names *features,
                                 int index_base, hunch_error *reterr);
void cache_writer_free(struct cache_writer *w); /* NULL is fine */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in: a file or standard input, plain or compressed (gzip, bzip2, xz, zstd, zip with one file, recognised by
 * content). */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"

struct input;

/* path "-": standard input. threaded: decompression runs in a thread of its own. */
hunch_status input_open(struct input **ret, const char *path, bool threaded, hunch_error *reterr);
/* Bytes that come from elsewhere; name is for messages. */
struct stream_source;
hunch_status input_open_source(struct input **ret, const struct stream_source *source, const char *name,
                               hunch_error *reterr);
/* At least one byte unless the input has ended: *ret_got == 0. May give less than size. */
hunch_status input_read(struct input *in, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr);
void input_close(struct input *in); /* NULL is fine */

/* How the input is called in messages: the path, or "standard input". */
const char *input_name(const char *path);
bool input_is_compressed(const struct input *in);
/* Not a regular file: the next read may have to wait for another program. */
bool input_may_wait(const struct input *in);
/* The first bytes (at most 6 of them, fewer when the input or its first line is shorter), before any input_read. */
size_t input_peek(const struct input *in, const unsigned char **ret);
/* Whole lines from places at even distances in the file, behind its first bytes; padding zeros follow them. To be
 * freed. NULL: it is no plain regular file of that size, or there is no memory for what is only a help. */
char *input_sample(const struct input *in, uint64_t from, size_t padding, size_t *ret_size);
/* Bytes taken from the file so far, as stored. May be asked from another thread. */
uint64_t input_bytes(const struct input *in);
/* Size of a regular file, or 0: not known. Refuses directories and what cannot be read. */
hunch_status input_size(const char *path, uint64_t *ret, hunch_error *reterr);

/* Where a data file is: path as given, then the folders of HUNCH_DATA (colon-separated) and one level below each,
 * also with .svm, .svm.xz ... appended. Returns a malloc'd path or NULL. */
char *stream_find(const char *name);

#endif

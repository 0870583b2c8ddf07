/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of whole lines of UTF-8 over an input, each followed by readable padding. */
#ifndef LINES_H
#define LINES_H

#include "bytes/input.h"
#include "common/unicode.h"

#define LINES_BLOCK ((size_t)1 << 20)
/* Readable bytes after every window, so that eight characters at a time may be looked at anywhere in it. */
#define LINES_PADDING 64
#define LINES_LIMIT ((size_t)1 << 28) /* the longest record */

struct lines {
    struct input *in; /* borrowed */
    const char *name; /* of the input; borrowed */
    char *buffer;
    size_t begin, end, capacity;
    bool ended;
    bool used;    /* the first lines have been handed out */
    bool returns; /* lines end with a carriage return alone */
    /* The first line beyond ASCII tells the encoding; before that, how far none was seen. */
    enum encoding encoding;
    size_t ascii;
    char *raw; /* bytes that are to be converted; there are raw_used of them */
    size_t raw_used;
};

/* Read until there is a whole line that is neither blank nor a comment, or the end. */
hunch_status lines_begin(struct lines *l, struct input *in, const char *name, hunch_error *reterr);
/* After that: read on until there is a whole block, or the end, however the bytes arrive. */
hunch_status lines_fill(struct lines *l, hunch_error *reterr);
/* Whole lines of about target bytes (one at least); *ret_size == 0 at the end. last: nothing comes after them. */
hunch_status lines_window(struct lines *l, size_t target, const char **ret, size_t *ret_size, bool *ret_last,
                          hunch_error *reterr);
/* The first bytes of the window are done with. */
void lines_use(struct lines *l, size_t size);
void lines_free(struct lines *l);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and texts as the little-endian bytes of models. */
#ifndef BYTE_STREAM_H
#define BYTE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "hunch.h"

/* Used once to count, once to fill. */
struct writer {
    char *bytes; /* NULL: only count */
    size_t used;
};

static inline void put(struct writer *w, const void *p, size_t n)
{
    if (w->bytes && n)
        memcpy(w->bytes + w->used, p, n);
    w->used += n;
}

static inline void put_u32(struct writer *w, uint32_t v)
{
    put(w, &v, sizeof v);
}

static inline void put_u64(struct writer *w, uint64_t v)
{
    put(w, &v, sizeof v);
}

static inline void put_text(struct writer *w, const char *text)
{
    put_u32(w, (uint32_t)strlen(text));
    put(w, text, strlen(text));
}

struct reader {
    const char *bytes;
    size_t left;
    bool short_of; /* something was asked for that is not there */
};

static inline const void *take(struct reader *r, size_t n)
{
    if (n > r->left) {
        r->short_of = true;
        r->left = 0;
        return NULL;
    }
    const void *p = r->bytes;
    r->bytes += n;
    r->left -= n;
    return p;
}

static inline void take_into(struct reader *r, void *ret, size_t n)
{
    const void *p = take(r, n);
    if (p && n)
        memcpy(ret, p, n);
}

static inline uint32_t take_u32(struct reader *r)
{
    uint32_t v = 0;
    take_into(r, &v, sizeof v);
    return v;
}

static inline uint64_t take_u64(struct reader *r)
{
    uint64_t v = 0;
    take_into(r, &v, sizeof v);
    return v;
}

/* A malloc'd text; NULL when it is not there (short_of) or memory is out. */
static inline char *take_text(struct reader *r)
{
    size_t n = take_u32(r);
    const char *p = take(r, n);
    return p ? strndup(p, n) : NULL;
}

static inline hunch_status damaged(hunch_error *reterr, const char *what)
{
    return error_set(reterr, HUNCH_EMODEL, "the model is damaged: %s", what);
}

#endif

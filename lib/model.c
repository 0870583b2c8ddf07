/* SPDX-License-Identifier: BSD-3-Clause */
/* Models as bytes and files; the format is described in docs/model-format.md. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "learner.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "model files are little-endian: give put and take a byte swap for this machine"
#endif

#define MAGIC "HUNCHMDL"
#define VERSION 1
#define TAIL 8 /* the checksum */

/* --- writing: once to count, once to fill --- */

struct writer {
    char *bytes; /* NULL: only count */
    size_t used;
};

static void put(struct writer *w, const void *p, size_t n)
{
    if (w->bytes)
        memcpy(w->bytes + w->used, p, n);
    w->used += n;
}

static void put_u32(struct writer *w, uint32_t v)
{
    put(w, &v, sizeof v);
}

static void put_u64(struct writer *w, uint64_t v)
{
    put(w, &v, sizeof v);
}

static void put_text(struct writer *w, const char *text)
{
    put_u32(w, (uint32_t)strlen(text));
    put(w, text, strlen(text));
}

static size_t tensor_cell(const struct tensor_place *p)
{
    return p->kind == PER_MODEL ? sizeof(double) : sizeof(real);
}

/* The numbers in order; symmetric matrices as their lower triangles. */
static void put_numbers(struct writer *w, const struct state *s, int tensor)
{
    const struct tensor_place *p = &s->tensor[tensor];
    size_t rows, columns;
    state_tensor_size(s, tensor, &rows, &columns);
    for (size_t i = 0; i < rows; i++) {
        size_t width = p->kind == MATRIX ? i % columns + 1 : columns;
        if (!w->bytes) {
            w->used += width * tensor_cell(p);
            continue;
        }
        for (size_t j = 0; j < width; j++) {
            double wide = state_get(s, tensor, i, j);
            real narrow = (real)wide;
            put(w, p->kind == PER_MODEL ? (void *)&wide : (void *)&narrow, tensor_cell(p));
        }
    }
}

static void put_model(struct writer *w, const hunch *h)
{
    const struct state *s = &h->state;
    put(w, MAGIC, 8);
    put_u32(w, VERSION);
    put_u32(w, sizeof(real));
    put_text(w, h->spec);
    put_u32(w, s->K);
    put_u32(w, s->features);
    put_u32(w, h->max_features - (s->bias != 0));
    put_u64(w, s->memory);
    put_u64(w, s->round);
    put_u64(w, s->rng.state);
    put_u32(w, (uint32_t)h->metas);
    for (size_t i = 0; i < h->metas; i++) {
        put_text(w, h->meta[i].key);
        put_u64(w, h->meta[i].size);
        put(w, h->meta[i].bytes, h->meta[i].size);
    }
    put_u32(w, (uint32_t)hunch_tensors(h, 0, NULL));
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        size_t rows, columns;
        state_tensor_size(s, (int)t, &rows, &columns);
        put_text(w, s->algo->tensors[t].name);
        put_u64(w, rows);
        put_u64(w, columns);
        put_numbers(w, s, (int)t);
    }
    size_t extra = s->algo->extra_size ? s->algo->extra_size(s) : 0;
    put_u64(w, extra);
    if (extra && w->bytes)
        s->algo->extra_write(s, w->bytes + w->used);
    w->used += extra;
}

hunch_status hunch_write(const hunch *h, void **ret_bytes, size_t *ret_size, hunch_error *reterr)
{
    struct writer w = {NULL, 0};
    put_model(&w, h);
    size_t size = w.used + TAIL;
    w = (struct writer){malloc(size), 0};
    if (!w.bytes)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for a model of %zu bytes", size);
    put_model(&w, h);
    put_u64(&w, XXH3_64bits(w.bytes, w.used));
    *ret_bytes = w.bytes;
    *ret_size = size;
    return HUNCH_OK;
}

void hunch_free_bytes(void *bytes)
{
    free(bytes);
}

/* --- reading --- */

struct reader {
    const char *bytes;
    size_t left;
    bool short_of; /* something was asked for that is not there */
};

static const void *take(struct reader *r, size_t n)
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

static uint32_t take_u32(struct reader *r)
{
    uint32_t v = 0;
    const void *p = take(r, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t take_u64(struct reader *r)
{
    uint64_t v = 0;
    const void *p = take(r, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

/* A malloc'd text; NULL when it is not there (short_of) or memory is out. */
static char *take_text(struct reader *r)
{
    size_t n = take_u32(r);
    const char *p = take(r, n);
    return p ? strndup(p, n) : NULL;
}

struct header {
    uint32_t cell; /* bytes of a real in the file */
    uint32_t K, features, max_features;
    uint64_t memory, round, rng;
    char *spec;
};

static hunch_status damaged(hunch_error *reterr, const char *what)
{
    return error_set(reterr, HUNCH_EMODEL, "the model is damaged: %s", what);
}

static hunch_status take_header(struct reader *r, struct header *ret, hunch_error *reterr)
{
    const char *magic = take(r, 8);
    if (!magic || memcmp(magic, MAGIC, 8))
        return error_set(reterr, HUNCH_EMODEL, "not a hunch model");
    uint32_t version = take_u32(r);
    if (version > VERSION)
        return error_set(reterr, HUNCH_EMODEL, "the model has format %u, written by a newer version (this one reads %u)",
                         version, VERSION);
    if (r->left < TAIL)
        return damaged(reterr, "it is truncated");
    uint64_t sum;
    size_t body = (size_t)(r->bytes - magic) + r->left - TAIL;
    memcpy(&sum, magic + body, TAIL);
    if (sum != XXH3_64bits(magic, body))
        return damaged(reterr, "the checksum does not match (truncated or altered)");
    r->left -= TAIL;
    ret->cell = take_u32(r);
    ret->spec = take_text(r);
    ret->K = take_u32(r);
    ret->features = take_u32(r);
    ret->max_features = take_u32(r);
    ret->memory = take_u64(r);
    ret->round = take_u64(r);
    ret->rng = take_u64(r);
    if (r->short_of || (ret->cell != 4 && ret->cell != 8))
        return damaged(reterr, "its header makes no sense");
    return ret->spec ? HUNCH_OK : error_set(reterr, HUNCH_ENOMEM, "out of memory");
}

static hunch_status take_metas(struct reader *r, hunch *h, hunch_error *reterr)
{
    uint32_t metas = take_u32(r);
    for (uint32_t i = 0; i < metas && !r->short_of; i++) {
        char *key = take_text(r);
        uint64_t size = take_u64(r);
        const void *bytes = take(r, size);
        hunch_status status = !bytes ? HUNCH_EMODEL : !key ? HUNCH_ENOMEM : hunch_set_meta(h, key, bytes, size);
        free(key);
        if (status == HUNCH_ENOMEM)
            return error_set(reterr, status, "out of memory");
        if (status != HUNCH_OK)
            break;
    }
    return r->short_of ? damaged(reterr, "meta data is cut") : HUNCH_OK;
}

/* Where a tensor's numbers are in the file, after its name and size were found to fit. */
static hunch_status take_tensor(struct reader *r, const struct state *s, int t, uint32_t features, size_t cell,
                                const char **ret_numbers, hunch_error *reterr)
{
    const struct tensor_place *p = &s->tensor[t];
    struct state sized = *s; /* the size that the tensor will have once the features are there */
    size_t rows, columns;
    sized.features = features;
    state_tensor_size(&sized, t, &rows, &columns);
    size_t length = take_u32(r);
    const char *name = take(r, length);
    bool same = name && length == strlen(s->algo->tensors[t].name) && !memcmp(name, s->algo->tensors[t].name, length);
    if (!same || take_u64(r) != rows || take_u64(r) != columns)
        return damaged(reterr, "a tensor does not fit its learner");
    size_t count = size_mul(rows, columns);
    if (p->kind == MATRIX) /* lower triangles */
        count = size_mul(p->groups, size_mul(columns, columns + 1) / 2);
    *ret_numbers = take(r, size_mul(count, p->kind == PER_MODEL ? sizeof(double) : cell));
    return *ret_numbers ? HUNCH_OK : damaged(reterr, "a tensor is cut");
}

static void numbers_copy(struct state *s, int t, const char *from, size_t cell)
{
    const struct tensor_place *p = &s->tensor[t];
    size_t rows, columns;
    state_tensor_size(s, t, &rows, &columns);
    if (p->kind == PER_MODEL)
        cell = sizeof(double);
    for (size_t i = 0; i < rows; i++) {
        size_t width = p->kind == MATRIX ? i % columns + 1 : columns;
        for (size_t j = 0; j < width; j++, from += cell) {
            double wide;
            float narrow;
            if (cell == sizeof wide) {
                memcpy(&wide, from, cell);
            } else {
                memcpy(&narrow, from, cell);
                wide = narrow;
            }
            state_set(s, t, i, j, wide);
        }
    }
}

static hunch_status take_state(struct reader *r, hunch *h, const struct header *header, hunch_error *reterr)
{
    struct state *s = &h->state;
    const char *numbers[MAX_TENSORS] = {NULL};
    if (take_u32(r) != hunch_tensors(h, 0, NULL))
        return damaged(reterr, "it has other tensors than its learner");
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        hunch_status status = take_tensor(r, s, (int)t, header->features, header->cell, &numbers[t], reterr);
        if (status != HUNCH_OK)
            return status;
    }
    if (state_grow_features(s, header->features) != HUNCH_OK)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for %u features", header->features);
    for (size_t t = 0; t < state_tensors(s->algo); t++)
        if (numbers[t])
            numbers_copy(s, (int)t, numbers[t], header->cell);
    uint64_t extra = take_u64(r);
    const void *bytes = take(r, extra);
    if (!bytes || r->left)
        return damaged(reterr, "its end is not where it should be");
    return s->algo->extra_read ? s->algo->extra_read(s, bytes, extra, reterr) : HUNCH_OK;
}

static hunch_status header_make(const struct header *header, hunch **ret, hunch_error *reterr)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = header->spec;
    options.classes = header->K;
    options.max_features = header->max_features;
    options.memory = header->memory;
    hunch_error why;
    hunch_status status = hunch_create(ret, &options, &why);
    if (status == HUNCH_EINVAL)
        return error_set(reterr, HUNCH_EMODEL, "the model cannot be used: %.200s", why.message);
    if (status != HUNCH_OK)
        return error_set(reterr, status, "%s", why.message);
    if (header->features > (*ret)->max_features) {
        hunch_free(*ret);
        return damaged(reterr, "it has more features than its own limit");
    }
    return HUNCH_OK;
}

hunch_status hunch_read(hunch **ret, const void *bytes, size_t size, hunch_error *reterr)
{
    struct reader r = {bytes, size, false};
    struct header header = {0};
    hunch *h = NULL;
    hunch_status status = take_header(&r, &header, reterr);
    if (status == HUNCH_OK)
        status = header_make(&header, &h, reterr);
    free(header.spec);
    if (status != HUNCH_OK)
        return status;
    status = take_metas(&r, h, reterr);
    if (status == HUNCH_OK)
        status = take_state(&r, h, &header, reterr);
    if (status != HUNCH_OK) {
        hunch_free(h);
        return status;
    }
    h->state.round = header.round;
    h->state.rng.state = header.rng;
    *ret = h;
    return HUNCH_OK;
}

/* --- files --- */

static bool write_fully(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* The folder's entry must be on disk too before the rename counts as done. */
static void folder_sync(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(copy);
}

static hunch_status file_replace(const char *path, const void *bytes, size_t size, hunch_error *reterr)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    int fd = mkstemp(temporary);
    if (fd < 0)
        goto fail;
    mode_t mask = umask(0);
    umask(mask);
    bool written = write_fully(fd, bytes, size) && !fchmod(fd, 0666 & ~mask) && !fsync(fd);
    if (close(fd) || !written || rename(temporary, path)) {
        int why = errno;
        unlink(temporary);
        errno = why;
        goto fail;
    }
    folder_sync(path);
    free(temporary);
    return HUNCH_OK;
fail:
    free(temporary);
    return error_set(reterr, HUNCH_EIO, "%.150s: %s", path, strerror(errno));
}

hunch_status hunch_save(const hunch *h, const char *path, hunch_error *reterr)
{
    void *bytes;
    size_t size;
    hunch_status status = hunch_write(h, &bytes, &size, reterr);
    if (status != HUNCH_OK)
        return status;
    status = file_replace(path, bytes, size, reterr);
    free(bytes);
    return status;
}

static hunch_status file_read(int fd, const char *path, void **ret_bytes, size_t *ret_size, hunch_error *reterr)
{
    struct stat st;
    if (fstat(fd, &st))
        return error_set(reterr, HUNCH_EIO, "%.150s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(reterr, HUNCH_EIO, "%.150s: not a file", path);
    size_t size = (size_t)st.st_size, used = 0;
    char *bytes = malloc(size + 1);
    if (!bytes)
        return error_set(reterr, HUNCH_ENOMEM, "%.150s: out of memory", path);
    for (ssize_t n; used < size; used += (size_t)n) {
        n = read(fd, bytes + used, size - used);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            break;
    }
    *ret_bytes = bytes;
    *ret_size = used;
    return HUNCH_OK;
}

hunch_status hunch_load(hunch **ret, const char *path, hunch_error *reterr)
{
    void *bytes = NULL;
    size_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(reterr, HUNCH_EIO, "%.150s: %s", path, strerror(errno));
    hunch_status status = file_read(fd, path, &bytes, &size, reterr);
    close(fd);
    if (status != HUNCH_OK)
        return status;
    hunch_error why;
    status = hunch_read(ret, bytes, size, &why);
    free(bytes);
    return status == HUNCH_OK ? status : error_set(reterr, status, "%.100s: %.150s", path, why.message);
}

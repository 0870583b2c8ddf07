/* SPDX-License-Identifier: BSD-3-Clause */
/* Models as bytes and files; the format is described in docs/reference/model-format.md. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/replace.h"
#include "state/state_bytes.h"
#include "api/eligible.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "model files are little-endian: give put and take a byte swap for this machine"
#endif

#define MAGIC "HUNCHMDL"
#define FORMAT 1
#define TAIL 8 /* the checksum */

/* --- writing --- */

static void put_model(struct writer *w, const hunch *h)
{
    const struct state *s = &h->state;
    put(w, MAGIC, 8);
    put_u32(w, FORMAT);
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
    if (s->scale)
        front_put(w, &h->front);
    state_put(w, s);
    confidence_put(w, &h->confidence);
    eligible_put(w, h);
    promises_put(w, &h->promises);
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

struct header {
    uint32_t cell; /* bytes of a real in the file */
    uint32_t K, features, max_features;
    uint64_t memory, round, rng;
    char *spec;
};

static hunch_status take_header(struct reader *r, struct header *ret, hunch_error *reterr)
{
    const char *magic = take(r, 8);
    if (!magic || memcmp(magic, MAGIC, 8))
        return error_set(reterr, HUNCH_EMODEL, "not a hunch model");
    uint32_t format = take_u32(r);
    if (r->left < TAIL)
        return damaged(reterr, "it is truncated");
    uint64_t sum;
    size_t body = (size_t)(r->bytes - magic) + r->left - TAIL;
    memcpy(&sum, magic + body, TAIL);
    if (sum != XXH3_64bits(magic, body))
        return damaged(reterr, "the checksum does not match (truncated or altered)");
    if (format != FORMAT) /* after the checksum, which ends every format: a flipped bit is not another format */
        return error_set(reterr, HUNCH_EMODEL, "the model has format %u, written by %s version (this one reads %u)",
                         format, format > FORMAT ? "a newer" : "an older", FORMAT);
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
    if (header->features > (uint64_t)(*ret)->max_features + ((*ret)->state.scale ? FRONT_MAX : 0)) {
        hunch_free(*ret);
        return damaged(reterr, "it has more features than its own limit");
    }
    return HUNCH_OK;
}

static hunch_status take_front(struct reader *r, hunch *h, hunch_error *reterr)
{
    hunch_status status = front_take(r, &h->front, reterr);
    if (status != HUNCH_OK)
        return status;
    return state_renew(&h->state, front_columns_from(&h->front), h->front.scale.text, reterr);
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
    if (status == HUNCH_OK && h->state.scale)
        status = take_front(&r, h, reterr);
    if (status == HUNCH_OK)
        status = state_take(&r, &h->state, header.features, header.cell, reterr);
    if (status == HUNCH_OK)
        status = confidence_take(&r, &h->confidence, reterr);
    if (status == HUNCH_OK)
        status = eligible_read(&r, h, reterr);
    if (status == HUNCH_OK)
        status = promises_take(&r, &h->promises, reterr);
    if (status == HUNCH_OK && r.left)
        status = damaged(reterr, "its end is not where it should be");
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

hunch_status hunch_save(const hunch *h, const char *path, hunch_error *reterr)
{
    void *bytes = NULL;
    size_t size = 0;
    hunch_status status = hunch_write(h, &bytes, &size, reterr);
    if (status != HUNCH_OK)
        return status;
    status = replace_file(path, 0666, bytes, size, reterr);
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

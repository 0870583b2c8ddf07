/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plain bytes come straight from read(2): a copy out of the page cache costs a tenth of what parsing them does, and a
 * file that shrinks meanwhile is an error instead of a signal. Compressed ones go through libarchive.
 */
#include "bytes/input.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/queue.h"
#include "common/stream_options.h"

#define HEAD_BYTES 6
#define RAW_BYTES ((size_t)1 << 18)   /* read from the file at a time, compressed */
#define BLOCK_BYTES ((size_t)1 << 20) /* handed over by the decompressing thread */
#define BLOCKS 4
#define SAMPLE_PLACES 32 /* of a file, at which lines are read for the roles of columns, */
#define SAMPLE_BYTES ((size_t)1 << 14)

struct kind {
    const char *name;
    const char *magic;
    size_t length;
    int (*support)(struct archive *);
};

static const struct kind kinds[] = {
    {"gzip", "\x1f\x8b", 2, archive_read_support_filter_gzip},
    {"compress", "\x1f\x9d", 2, archive_read_support_filter_compress},
    {"bzip2", "BZh", 3, archive_read_support_filter_bzip2},
    {"xz",
     "\xfd"
     "7zXZ",
     6, archive_read_support_filter_xz},
    {"zstd", "\x28\xb5\x2f\xfd", 4, archive_read_support_filter_zstd},
    {"zip", "PK\3\4", 4, archive_read_support_format_zip_streamable},
};

struct block {
    size_t size, at;
    hunch_status status;
    hunch_error error;
    char bytes[];
};

struct input {
    char *path;
    const struct stream_source *source; /* instead of a file */
    int fd;
    unsigned char head[HEAD_BYTES];
    size_t head_size, head_at;
    atomic_uint_fast64_t bytes;
    const struct kind *kind; /* NULL: plain */
    struct archive *archive;
    char *raw;
    int read_errno; /* of read(2) under libarchive: the file's fault, not the data's */
    bool exhausted; /* libarchive has asked for bytes beyond the file's end */
    bool ended;
    bool may_wait;
    bool threaded;
    pthread_t thread;
    struct queue full, empty;
    struct block *current;
};

const char *input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool input_is_compressed(const struct input *in)
{
    return in->kind;
}

bool input_may_wait(const struct input *in)
{
    return in->may_wait;
}

size_t input_peek(const struct input *in, const unsigned char **ret)
{
    *ret = in->head;
    return in->head_size;
}

uint64_t input_bytes(const struct input *in)
{
    return atomic_load_explicit(&in->bytes, memory_order_relaxed);
}

hunch_status input_size(const char *path, uint64_t *ret, hunch_error *reterr)
{
    struct stat status;
    *ret = 0;
    if (strcmp(path, "-") == 0)
        return HUNCH_OK;
    if (stat(path, &status))
        return error_set(reterr, HUNCH_EINVAL, "%s: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return error_set(reterr, HUNCH_EINVAL, "%s: is a directory", path);
    if (access(path, R_OK))
        return error_set(reterr, HUNCH_EINVAL, "%s: %s", path, strerror(errno));
    if (S_ISREG(status.st_mode))
        *ret = (uint64_t)status.st_size;
    return HUNCH_OK;
}

static ssize_t bytes_read(struct input *in, void *buffer, size_t size)
{
    size_t left = in->head_size - in->head_at;
    if (left > 0) {
        size = size < left ? size : left;
        memcpy(buffer, in->head + in->head_at, size);
        in->head_at += size;
        return (ssize_t)size;
    }
    ssize_t got;
    do
        got = read(in->fd, buffer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        in->read_errno = errno;
    else
        atomic_fetch_add_explicit(&in->bytes, (uint64_t)got, memory_order_relaxed);
    return got;
}

static la_ssize_t archive_callback(struct archive *archive, void *context, const void **ret)
{
    struct input *in = context;
    ssize_t got = bytes_read(in, in->raw, RAW_BYTES);
    in->exhausted = got == 0;
    if (got < 0)
        archive_set_error(archive, in->read_errno, "%s", strerror(in->read_errno));
    *ret = in->raw;
    return got;
}

/* libarchive's words differ from filter to filter; say in one way what happened. */
static hunch_status archive_fail(struct input *in, hunch_error *reterr)
{
    const char *text = archive_error_string(in->archive);
    const char *name = input_name(in->path);
    if (in->read_errno)
        return error_set(reterr, HUNCH_EIO, "%s: %s", name, strerror(in->read_errno));
    if (archive_errno(in->archive) == ENOMEM)
        return error_memory(reterr);
    if (!text || in->exhausted || strcasestr(text, "truncated"))
        return error_set(reterr, HUNCH_EINVAL, "%s: truncated %s data", name, in->kind->name);
    return error_set(reterr, HUNCH_EINVAL, "%s: damaged %s data (%s)", name, in->kind->name, text);
}

/* The next file of an archive, which is the only one of compressed data. Folders and what a Macintosh adds are none. */
static hunch_status file_next(struct input *in, bool *ret_ended, hunch_error *reterr)
{
    struct archive_entry *entry;
    int result;
    do
        result = archive_read_next_header(in->archive, &entry);
    while (result == ARCHIVE_OK &&
           (archive_entry_filetype(entry) == AE_IFDIR || !strncmp(archive_entry_pathname(entry), "__MACOSX/", 9)));
    if (result != ARCHIVE_OK && result != ARCHIVE_EOF)
        return archive_fail(in, reterr);
    const char *name = result == ARCHIVE_OK ? archive_entry_pathname(entry) : NULL;
    if (name && (!strcmp(name, "[Content_Types].xml") || !strncmp(name, "xl/", 3) || !strncmp(name, "_rels/", 6) ||
                 !strcmp(name, "mimetype")))
        return error_set(reterr, HUNCH_EINVAL,
                         "%s: is a workbook of Excel or another office program; convert it to CSV with: libreoffice "
                         "--headless --convert-to csv %s",
                         input_name(in->path), in->path);
    *ret_ended = result == ARCHIVE_EOF;
    return HUNCH_OK;
}

static hunch_status archive_start(struct input *in, hunch_error *reterr)
{
    in->raw = malloc(RAW_BYTES);
    in->archive = archive_read_new();
    if (!in->raw || !in->archive)
        return error_memory(reterr);
    if (in->kind->support(in->archive) != ARCHIVE_OK)
        return error_set(reterr, HUNCH_EUNSUPPORTED, "%s: %s data cannot be read here", input_name(in->path),
                         in->kind->name);
    bool zip = in->kind->support == archive_read_support_format_zip_streamable;
    if (!zip)
        archive_read_support_format_raw(in->archive);
    archive_read_support_format_empty(in->archive);
    if (archive_read_open(in->archive, in, NULL, archive_callback, NULL) != ARCHIVE_OK)
        return archive_fail(in, reterr);
    hunch_status status = file_next(in, &in->ended, reterr);
    if (status || zip)
        return status;
    /* the beginning was right, but there was too little of it for libarchive to be sure */
    if (archive_filter_code(in->archive, 0) == ARCHIVE_FILTER_NONE)
        return error_set(reterr, HUNCH_EINVAL, "%s: truncated %s data", input_name(in->path), in->kind->name);
    return HUNCH_OK;
}

static hunch_status archive_fill(struct input *in, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    size_t got = 0;
    while (got < size && !in->ended) {
        la_ssize_t n = archive_read_data(in->archive, buffer + got, size - got);
        if (n < 0)
            return archive_fail(in, reterr);
        got += (size_t)n;
        bool last = true;
        in->ended = n == 0;
        hunch_status status = n ? HUNCH_OK : file_next(in, &last, reterr);
        if (status)
            return status;
        if (!last)
            return error_set(reterr, HUNCH_EINVAL,
                             "%s: contains several files; 'unzip -p' writes one of them to a pipe",
                             input_name(in->path));
    }
    *ret_got = got;
    return HUNCH_OK;
}

/* Fills blocks until the end, which is a block of size 0, or a failure, which the last block carries. */
static void *decompress(void *context)
{
    struct input *in = context;
    struct block *block;
    while ((block = queue_pop(&in->empty))) {
        block->at = block->size = 0;
        block->status = archive_fill(in, block->bytes, BLOCK_BYTES, &block->size, &block->error);
        bool more = block->status == HUNCH_OK && block->size > 0;
        if (!queue_push(&in->full, block)) {
            free(block);
            break;
        }
        if (!more)
            break;
    }
    return NULL;
}

static hunch_status thread_start(struct input *in, hunch_error *reterr)
{
    if (!queue_init(&in->full, BLOCKS))
        return error_memory(reterr);
    if (!queue_init(&in->empty, BLOCKS)) {
        queue_destroy(&in->full);
        return error_memory(reterr);
    }
    bool ready = true;
    for (int i = 0; i < BLOCKS && ready; i++) {
        struct block *block = malloc(sizeof *block + BLOCK_BYTES);
        ready = block && queue_push(&in->empty, block);
    }
    in->threaded = ready && pthread_create(&in->thread, NULL, decompress, in) == 0;
    if (in->threaded)
        return HUNCH_OK;
    for (struct block *block; (block = queue_drain(&in->empty));)
        free(block);
    queue_destroy(&in->full);
    queue_destroy(&in->empty);
    return error_memory(reterr);
}

/* Reads size bytes at a place of the file, and keeps the whole lines among them. Returns how many bytes these are. */
static size_t lines_read_at(const struct input *in, uint64_t place, char *buffer, size_t size)
{
    ssize_t got = pread(in->fd, buffer, size, (off_t)place);
    const char *first = got > 0 ? memchr(buffer, '\n', (size_t)got) : NULL;
    const char *last = first ? memrchr(buffer, '\n', (size_t)got) : NULL;
    size_t n = first ? (size_t)(last - first) : 0;
    memmove(buffer, first ? first + 1 : buffer, n);
    return n;
}

char *input_sample(const struct input *in, uint64_t from, size_t padding, size_t *ret_size)
{
    struct stat about;
    *ret_size = 0;
    if (in->source || in->kind || in->fd < 0 || fstat(in->fd, &about) || !S_ISREG(about.st_mode) ||
        (uint64_t)about.st_size < from + SAMPLE_BYTES)
        return NULL;
    uint64_t step = ((uint64_t)about.st_size - from) / SAMPLE_PLACES;
    char *text = malloc(SAMPLE_PLACES * SAMPLE_BYTES + padding);
    for (uint64_t i = 0; text && i < SAMPLE_PLACES; i++)
        *ret_size += lines_read_at(in, from + i * step, text + *ret_size, SAMPLE_BYTES);
    if (text)
        memset(text + *ret_size, 0, padding);
    return text;
}

static bool kind_fits(const struct kind *kind, const unsigned char *head, size_t size)
{
    if (size < kind->length || memcmp(head, kind->magic, kind->length) != 0)
        return false;
    /* "BZh" may begin a text: block size and the first bytes of a block, or of an empty stream's end, must follow */
    return kind->length != 3 || (size == HEAD_BYTES && head[3] >= '1' && head[3] <= '9' &&
                                 (memcmp(head + 4, "1A", 2) == 0 || memcmp(head + 4, "\x17r", 2) == 0));
}

static hunch_status head_read(struct input *in, hunch_error *reterr)
{
    size_t size = 0;
    while (size < HEAD_BYTES && !(size && in->head[size - 1] == '\n')) { /* a shorter line may be all that comes */
        ssize_t got = bytes_read(in, in->head + size, HEAD_BYTES - size);
        if (got < 0)
            return error_set(reterr, in->read_errno == EISDIR ? HUNCH_EINVAL : HUNCH_EIO, "%s: %s",
                             input_name(in->path), strerror(in->read_errno));
        if (got == 0)
            break;
        size += (size_t)got;
    }
    in->head_size = size;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind_fits(&kinds[i], in->head, size))
            in->kind = &kinds[i];
    return HUNCH_OK;
}

hunch_status input_open_source(struct input **ret, const struct stream_source *source, const char *name,
                               hunch_error *reterr)
{
    struct input *in = calloc(1, sizeof *in);
    if (!in || !(in->path = strdup(name))) {
        free(in);
        return error_memory(reterr);
    }
    in->fd = -1;
    in->source = source;
    *ret = in;
    return HUNCH_OK;
}

hunch_status input_open(struct input **ret, const char *path, bool threaded, hunch_error *reterr)
{
    struct input *in = calloc(1, sizeof *in);
    if (!in)
        return error_memory(reterr);
    in->fd = -1;
    in->path = strdup(path);
    hunch_status status = HUNCH_ENOMEM;
    if (!in->path) {
        error_memory(reterr);
        goto fail;
    }
    uint64_t size;
    status = input_size(path, &size, reterr);
    if (status)
        goto fail;
    in->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) {
        status = error_set(reterr, HUNCH_EINVAL, "%s: %s", path, strerror(errno));
        goto fail;
    }
    struct stat about;
    in->may_wait = fstat(in->fd, &about) || !S_ISREG(about.st_mode);
    status = head_read(in, reterr);
    if (!status && in->kind)
        status = archive_start(in, reterr);
    if (!status && in->kind && threaded)
        status = thread_start(in, reterr);
    if (status)
        goto fail;
    *ret = in;
    return HUNCH_OK;
fail:
    input_close(in);
    return status;
}

static hunch_status block_read(struct input *in, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    while (!in->current || (in->current->size > 0 && in->current->at == in->current->size)) {
        if (in->current && !queue_push(&in->empty, in->current))
            free(in->current);
        in->current = queue_pop(&in->full);
    }
    struct block *block = in->current;
    if (block->status) /* stays current: asking again fails again */
        return error_set(reterr, block->status, "%s", block->error.message);
    size_t left = block->size - block->at;
    size = size < left ? size : left;
    memcpy(buffer, block->bytes + block->at, size);
    block->at += size;
    *ret_got = size;
    return HUNCH_OK;
}

hunch_status input_read(struct input *in, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    if (in->source)
        return in->source->read(in->source->context, buffer, size, ret_got, reterr);
    if (in->threaded)
        return block_read(in, buffer, size, ret_got, reterr);
    if (in->kind)
        return archive_fill(in, buffer, size, ret_got, reterr);
    ssize_t got = bytes_read(in, buffer, size);
    if (got < 0)
        return error_set(reterr, HUNCH_EIO, "%s: %s", input_name(in->path), strerror(in->read_errno));
    *ret_got = (size_t)got;
    return HUNCH_OK;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->threaded) {
        queue_close(&in->full);
        queue_close(&in->empty);
        pthread_join(in->thread, NULL);
        for (struct block *block; (block = queue_drain(&in->full));)
            free(block);
        for (struct block *block; (block = queue_drain(&in->empty));)
            free(block);
        free(in->current);
        queue_destroy(&in->full);
        queue_destroy(&in->empty);
    }
    archive_read_free(in->archive);
    if (in->fd >= 0 && in->fd != STDIN_FILENO)
        close(in->fd);
    free(in->raw);
    free(in->path);
    free(in);
}

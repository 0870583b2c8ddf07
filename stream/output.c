/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "fail.h"
#include "svmlight_write.h"

struct output {
    char *path, *temporary; /* NULL: standard output */
    int fd;                 /* of the temporary file, or -1 */
    FILE *file;             /* text */
    struct cache_writer *writer;
    bool begun;
};

bool output_is_cache(const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return length > 3 && strcmp(path + length - 3, ".hc") == 0;
}

static hunch_status file_make(struct output *o, const char *path, hunch_error *reterr)
{
    o->path = strdup(path);
    if (!o->path || asprintf(&o->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        o->temporary = NULL;
        return fail_memory(reterr);
    }
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->fd >= 0)
        return HUNCH_OK;
    hunch_status status = fail_with(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno));
    free(o->temporary); /* not ours to remove */
    o->temporary = NULL;
    return status;
}

hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr)
{
    struct output *o = calloc(1, sizeof *o);
    hunch_status status = HUNCH_OK;
    if (!o)
        return fail_memory(reterr);
    o->fd = -1;
    bool standard = !path || strcmp(path, "-") == 0;
    if (!standard)
        status = file_make(o, path, reterr);
    if (!status && output_is_cache(path)) {
        status = cache_writer_new(&o->writer, o->fd, compress, reterr);
    } else if (!status) {
        o->file = standard ? stdout : fdopen(o->fd, "w");
        if (!o->file)
            status = fail_memory(reterr);
    }
    if (status) {
        output_free(o);
        return status;
    }
    *ret = o;
    return HUNCH_OK;
}

hunch_status output_add(struct output *o, const struct rows *batch, const struct names *labels, hunch_error *reterr)
{
    if (o->writer)
        return cache_writer_add(o->writer, batch, reterr);
    if (!o->begun) {
        o->begun = true;
        hunch_status status = svmlight_write_labels(o->file, labels, reterr);
        if (status)
            return status;
    }
    return svmlight_write(o->file, batch, labels, 1, reterr);
}

hunch_status output_finish(struct output *o, const struct names *labels, const struct names *features, int index_base,
                           hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (o->writer)
        status = cache_writer_finish(o->writer, labels, features, index_base, reterr);
    if (status)
        return status;
    bool written = !o->file || fflush(o->file) == 0;
    if (written && o->fd >= 0)
        written = fsync(o->fd) == 0 && rename(o->temporary, o->path) == 0;
    if (!written)
        return fail_with(reterr, HUNCH_EIO, "%s: %s", o->path ? o->path : "standard output", strerror(errno));
    free(o->temporary);
    o->temporary = NULL;
    return HUNCH_OK;
}

void output_free(struct output *o)
{
    if (!o)
        return;
    cache_writer_free(o->writer);
    if (o->file && o->file != stdout)
        fclose(o->file);
    else if (o->fd >= 0)
        close(o->fd);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    free(o);
}

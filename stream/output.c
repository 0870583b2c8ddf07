/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/replace.h"
#include "cache.h"
#include "fail.h"
#include "svmlight_write.h"

struct output {
    struct replace out; /* of zeros: standard output */
    FILE *file;         /* of out, or standard output */
    struct cache_writer *writer;
    bool begun;
};

bool output_is_cache(const char *path)
{
    size_t length = path ? strlen(path) : 0;
    return length > 3 && strcmp(path + length - 3, ".hc") == 0;
}

hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr)
{
    struct output *o = calloc(1, sizeof *o);
    hunch_status status = HUNCH_OK;
    if (!o)
        return fail_memory(reterr);
    bool standard = !path || strcmp(path, "-") == 0;
    if (!standard)
        status = replace_open(&o->out, path, 0666, reterr);
    o->file = standard ? stdout : o->out.file;
    if (!status && output_is_cache(path))
        status = cache_writer_new(&o->writer, fileno(o->file), compress, reterr);
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
    if (o->out.file)
        return replace_commit(&o->out, reterr);
    return fflush(o->file) ? fail_with(reterr, HUNCH_EIO, "standard output: %s", strerror(errno)) : HUNCH_OK;
}

void output_free(struct output *o)
{
    if (!o)
        return;
    cache_writer_free(o->writer);
    replace_close(&o->out);
    free(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "write/text_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/replace.h"
#include "cache/cache.h"
#include "base/error.h"

#define TABLE_COLUMNS 20000u

struct output {
    struct replace out; /* of zeros: standard output */
    FILE *file;         /* of out, or standard output */
    struct cache_writer *writer;
    bool begun;
    enum { FORM_SVMLIGHT, FORM_TABLE, FORM_JSON, FORM_VW } form;
    struct rows table;
};

static bool ends_with(const char *path, const char *ending)
{
    size_t length = path ? strlen(path) : 0, n = strlen(ending);
    return length > n && strcmp(path + length - n, ending) == 0;
}

bool output_is_cache(const char *path)
{
    return ends_with(path, ".hc");
}

hunch_status output_open(struct output **ret, const char *path, bool compress, hunch_error *reterr)
{
    struct output *o = calloc(1, sizeof *o);
    hunch_status status = HUNCH_OK;
    if (!o)
        return error_memory(reterr);
    bool standard = !path || strcmp(path, "-") == 0;
    if (!standard)
        status = replace_open(&o->out, path, 0666, reterr);
    o->file = standard ? stdout : o->out.file;
    o->form = ends_with(path, ".csv")                                   ? FORM_TABLE
              : ends_with(path, ".jsonl") || ends_with(path, ".ndjson") ? FORM_JSON
              : ends_with(path, ".vw")                                  ? FORM_VW
                                                                        : FORM_SVMLIGHT;
    if (!status && output_is_cache(path))
        status = cache_writer_new(&o->writer, fileno(o->file), compress, reterr);
    if (status) {
        output_free(o);
        return status;
    }
    *ret = o;
    return HUNCH_OK;
}

hunch_status output_add(struct output *o, const struct rows *rows, const struct row_names *names, hunch_error *reterr)
{
    if (o->writer)
        return cache_writer_add(o->writer, rows, reterr);
    if (o->form == FORM_TABLE)
        return rows_append(&o->table, rows, reterr);
    if (o->form == FORM_VW)
        vw_write(o->file, rows, names);
    if (o->form == FORM_JSON)
        jsonl_write(o->file, rows, names);
    if (o->form != FORM_SVMLIGHT)
        return ferror(o->file) ? error_set(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno)) : HUNCH_OK;
    if (!o->begun) {
        o->begun = true;
        hunch_status status = svmlight_write_labels(o->file, names->labels, reterr);
        if (status)
            return status;
    }
    return svmlight_write(o->file, rows, names->labels, 1, reterr);
}

static hunch_status table_finish(struct output *o, const struct row_names *names, hunch_error *reterr)
{
    uint32_t width = 0;
    for (size_t i = 0; i < o->table.n; i++) {
        int64_t end = o->table.start[i + 1];
        if (end > o->table.start[i] && o->table.index[end - 1] >= width)
            width = o->table.index[end - 1] + 1;
    }
    if (width > TABLE_COLUMNS)
        return error_set(reterr, HUNCH_ELIMIT, "a table of %u columns is too wide (%u); JSON lines hold sparse rows",
                         width, TABLE_COLUMNS);
    csv_write(o->file, &o->table, width, names);
    return ferror(o->file) ? error_set(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno)) : HUNCH_OK;
}

hunch_status output_finish(struct output *o, const struct row_names *names, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (o->writer)
        status = cache_writer_finish(o->writer, names->labels, names->features, (int)names->base, reterr);
    else if (o->form == FORM_TABLE)
        status = table_finish(o, names, reterr);
    if (status)
        return status;
    if (o->out.file)
        return replace_commit(&o->out, reterr);
    return fflush(o->file) ? error_set(reterr, HUNCH_EIO, "standard output: %s", strerror(errno)) : HUNCH_OK;
}

void output_free(struct output *o)
{
    if (!o)
        return;
    cache_writer_free(o->writer);
    replace_close(&o->out);
    rows_free(&o->table);
    free(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of experiments: files looked for where stream_find looks, or generators. */
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "fail.h"

static uint32_t rows_wanted(const struct experiment *e, const json_t *data, bool quick)
{
    double rows = json_number(data, "rows", 0), most = 0;
    if (quick)
        most = json_number(json_object_get(e->json, "quick"), "rows", 0);
    return (uint32_t)(most > 0 && (rows == 0 || most < rows) ? most : rows);
}

static hunch_status synth_make(struct collection *c, const json_t *data, uint32_t rows, hunch_error *reterr)
{
    const char *name = json_text(data, "synth", "");
    const struct synth_kind *kind = synth_find(name);
    if (!kind)
        return fail_with(reterr, HUNCH_EINVAL, "there is no synthetic set '%s'", name);
    struct synth_options options = kind->defaults;
    options.rows = rows ? rows : options.rows;
    options.seed = (uint64_t)json_number(data, "seed", 1);
    options.noise = json_number(data, "noise", options.noise);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < c->n && !status; i++) {
        status = corpus_synth(&c->corpora[i], name, &options, reterr);
        options.seed++;
    }
    return status;
}

static hunch_status files_read(struct collection *c, const json_t *files, const struct corpus_options *options,
                               hunch_error *reterr)
{
    size_t n = json_array_size(files);
    char **paths = calloc(n + 1, sizeof *paths);
    hunch_status status = paths ? HUNCH_OK : fail_memory(reterr);
    for (size_t i = 0; i < n && !status; i++) {
        const char *name = json_string_value(json_array_get(files, i));
        paths[i] = stream_find(name ? name : "");
        if (!paths[i])
            status = fail_with(reterr, HUNCH_EUNSUPPORTED, "%s was not found in the folders of HUNCH_DATA", name);
    }
    if (!status)
        status = corpus_read(&c->corpora[0], (const char *const *)paths, n, options, reterr);
    for (size_t i = 0; paths && i < n; i++)
        free(paths[i]);
    free(paths);
    return status;
}

hunch_status experiment_corpora(const struct experiment *e, const json_t *data, bool quick, uint32_t runs,
                                const struct corpus_options *options, struct collection *ret, hunch_error *reterr)
{
    struct corpus_options o = *options;
    bool fresh = json_is_true(json_object_get(data, "fresh"));
    struct collection c = {.n = fresh ? runs : 1};
    c.corpora = calloc(c.n + 1, sizeof *c.corpora);
    if (!c.corpora)
        return fail_memory(reterr);
    o.rows = rows_wanted(e, data, quick);
    hunch_status status = json_object_get(data, "synth") ? synth_make(&c, data, o.rows, reterr)
                                                         : files_read(&c, json_object_get(data, "files"), &o, reterr);
    if (status)
        collection_free(&c);
    else
        *ret = c;
    return status;
}

void collection_free(struct collection *c)
{
    for (size_t i = 0; c->corpora && i < c->n; i++)
        corpus_free(&c->corpora[i]);
    free(c->corpora);
    *c = (struct collection){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of experiments: files looked for where stream_find looks, or generators. */
#include <math.h>
#include <stdlib.h>

#include "paper/experiment.h"
#include "base/error.h"

static hunch_status synth_make(struct collection *c, const struct experiment_data *data, uint32_t rows,
                               hunch_error *reterr)
{
    const struct synth_kind *kind = synth_find(data->synth);
    if (!kind)
        return error_set(reterr, HUNCH_EINVAL, "there is no synthetic set '%s'", data->synth);
    struct synth_options options = kind->defaults;
    options.rows = rows ? rows : options.rows;
    options.seed = data->seed;
    options.noise = isnan(data->noise) ? options.noise : data->noise;
    options.margin = isnan(data->margin) ? options.margin : data->margin;
    options.classes = data->classes ? (uint32_t)data->classes : options.classes;
    options.features = data->features ? (uint32_t)data->features : options.features;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < c->n && !status; i++) {
        status = corpus_synth(&c->corpora[i], data->synth, &options, reterr);
        options.seed++;
    }
    return status;
}

static hunch_status files_read(struct collection *c, const struct texts *files, const struct corpus_options *options,
                               hunch_error *reterr)
{
    char **paths = calloc(files->n + 1, sizeof *paths);
    hunch_status status = paths ? HUNCH_OK : error_memory(reterr);
    for (size_t i = 0; i < files->n && !status; i++)
        if (!(paths[i] = stream_find(files->item[i])))
            status =
                error_set(reterr, HUNCH_EUNSUPPORTED, "%s was not found in the folders of HUNCH_DATA", files->item[i]);
    if (!status)
        status = corpus_read(&c->corpora[0], (const char *const *)paths, files->n, options, reterr);
    for (size_t i = 0; paths && i < files->n; i++)
        free(paths[i]);
    free(paths);
    return status;
}

hunch_status experiment_corpora(const struct experiment_data *data, uint64_t rows_max, uint32_t runs,
                                const struct corpus_options *options, struct collection *ret, hunch_error *reterr)
{
    struct corpus_options o = *options;
    struct collection c = {.n = data->fresh ? runs : 1};
    c.corpora = calloc(c.n + 1, sizeof *c.corpora);
    if (!c.corpora)
        return error_memory(reterr);
    o.rows = (uint32_t)(rows_max && (!data->rows || rows_max < data->rows) ? rows_max : data->rows);
    hunch_status status = data->synth ? synth_make(&c, data, o.rows, reterr) : files_read(&c, &data->files, &o, reterr);
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

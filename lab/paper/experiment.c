/* SPDX-License-Identifier: BSD-3-Clause */
#include "paper/experiment.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* --- the keys --- */

static const struct experiment_data data_defaults = {.seed = 1, .noise = NAN, .margin = NAN, .shuffle = -1};
#define STRUCT struct experiment_data
TYPE(data, "data", &data_defaults, TEXT(id), TEXT(title), TEXT(synth), TEXT(settings), TEXT(differs), TEXTS(files),
     TEXTS(except), COUNT(rows), COUNT(seed), COUNT(runs), COUNT(paper_runs), COUNT(classes), COUNT(features),
     REAL(noise), REAL(margin), FLAG(fresh), FIELD(SWITCH, shuffle, NULL, NULL));
#undef STRUCT

#define STRUCT struct experiment_learner
TYPE(learner, "a learner", NULL, TEXT(id), TEXT(spec), TEXT(quick), TEXT(form), JSON(specs), TEXTS(data),
     FLAG(repeats));
#undef STRUCT

static const struct experiment_figure figure_defaults = {.kind = "error", .from = 20};
#define STRUCT struct experiment_figure
TYPE(figure, "a figure", &figure_defaults, TEXT(id), TEXT(kind), TEXT(title), TEXT(log), TEXT(x), TEXTS(learners),
     TEXTS(data), JSON(scale), REAL(from), FLAG(first_epoch), FLAG(powers));
#undef STRUCT

static const struct experiment_cv cv_defaults = {.folds = 10, .epochs = 10, .tune = 0.8};
#define STRUCT struct experiment_cv
TYPE(cv, "\"cv\"", &cv_defaults, COUNT(folds), COUNT(epochs), REAL(tune), REAL(noise), JSON(apart));
#undef STRUCT

#define STRUCT struct experiment_quick
TYPE(quick, "\"quick\"", NULL, COUNT(rows), COUNT(runs), COUNT(folds), COUNT(epochs), TEXTS(data), TEXTS(learners));
#undef STRUCT

#define STRUCT struct experiment_growth
TYPE(growth, "\"growth\"", NULL, TEXT(by), JSON(bounds), TEXTS(learners));
#undef STRUCT

static const struct experiment experiment_defaults = {.paper = "",
                                                      .unit = "%",
                                                      .settings = "",
                                                      .rank = 1000,
                                                      .runs = 1,
                                                      .passes = 1,
                                                      .shuffle = true,
                                                      .compare_from = -INFINITY};
#define STRUCT struct experiment
TYPE(experiment, "an experiment", &experiment_defaults, TEXT(id), TEXT(title), TEXT(paper), TEXT(preparation),
     TEXT(unit), TEXT(layout), TEXT(settings), REAL(rank), COUNT(runs), COUNT(passes), COUNT(seed), FLAG(shuffle),
     FLAG(improves), COUNT(paper_runs), REAL(rounding), REAL(compare_from), TEXTS(notes), TEXTS(order),
     OBJECT(cv, cv_type), OBJECT(quick, quick_type), OBJECT(growth, growth_type), LIST(data, data_type),
     LIST(learners, learner_type), LIST(figures, figure_type), JSON(printed), JSON(explanations));
#undef STRUCT

/* --- reading the files --- */

/* What every experiment must have, and names where none are given. */
static hunch_status experiment_check(struct experiment *e, hunch_error *reterr)
{
    if (!e->id || !e->title || !e->data.n || !e->learners.n)
        return error_set(reterr, HUNCH_EINVAL, "an experiment needs \"id\", \"title\", \"data\" and \"learners\"");
    for (size_t i = 0; i < e->data.n; i++) {
        struct experiment_data *d = &e->data.item[i];
        if (!d->id || (!d->files.n && !d->synth))
            return error_set(reterr, HUNCH_EINVAL, "data %zu needs \"id\", and \"files\" or \"synth\"", i);
        d->title = d->title ? d->title : d->id;
    }
    for (size_t i = 0; i < e->learners.n; i++) {
        struct experiment_learner *l = &e->learners.item[i];
        l->id = l->id ? l->id : l->spec;
        if (!l->id || (!l->spec && !l->specs))
            return error_set(reterr, HUNCH_EINVAL, "learner %zu needs \"spec\", or \"id\" and \"specs\"", i);
    }
    for (size_t i = 0; i < e->figures.n; i++) {
        struct experiment_figure *f = &e->figures.item[i];
        f->id = f->id ? f->id : f->kind;
        f->title = f->title ? f->title : f->kind;
    }
    return HUNCH_OK;
}

hunch_status experiment_parse(struct experiment *ret, json_t *json, const char *path, hunch_error *reterr)
{
    struct experiment e;
    struct arena arena = {0};
    hunch_error why;
    hunch_status status = fields_read(&experiment_type, json, &arena, &e, &why);
    if (!status)
        status = experiment_check(&e, &why);
    if (status) {
        arena_free(&arena);
        json_decref(json);
        return error_set(reterr, status, "%s: %s", path, why.message);
    }
    e.json = json;
    e.arena = arena;
    *ret = e;
    return HUNCH_OK;
}

static hunch_status experiment_read(struct experiment *ret, const char *folder, const char *name, hunch_error *reterr)
{
    json_error_t why;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return error_memory(reterr);
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    hunch_status status = json ? experiment_parse(ret, json, path, reterr)
                               : error_set(reterr, HUNCH_EINVAL, "%s:%d: %s", path, why.line, why.text);
    free(path);
    return status;
}

static int experiment_compare(const void *a, const void *b)
{
    const struct experiment *left = a, *right = b;
    return left->rank < right->rank ? -1 : left->rank > right->rank ? 1 : strcmp(left->id, right->id);
}

static int is_experiment(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - 5, ".json") &&
           strcmp(entry->d_name, "quick.json") != 0 && strcmp(entry->d_name, "data.json") != 0;
}

hunch_status experiments_read(struct experiment **ret, size_t *ret_n, const char *folder, hunch_error *reterr)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_experiment, alphasort);
    if (n < 0)
        return error_set(
            reterr, HUNCH_EINVAL,
            "%s: there is no such folder of experiments; name one with --experiments or HUNCH_EXPERIMENTS (in the "
            "source it is experiments/)",
            folder);
    struct experiment *all = calloc((size_t)n + 1, sizeof *all);
    size_t count = 0;
    hunch_status status = all ? HUNCH_OK : error_memory(reterr);
    for (int i = 0; i < n; i++) {
        if (!status)
            status = experiment_read(&all[count], folder, entries[i]->d_name, reterr);
        count += !status;
        free(entries[i]);
    }
    free(entries);
    if (status) {
        experiments_free(all, count);
        return status;
    }
    qsort(all, count, sizeof *all, experiment_compare);
    *ret = all;
    *ret_n = count;
    return HUNCH_OK;
}

void experiments_free(struct experiment *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++) {
        json_decref(all[i].json);
        arena_free(&all[i].arena);
    }
    free(all);
}

/* --- what they say --- */

bool experiment_skipped(const struct experiment *e, bool quick)
{
    return quick && !e->quick;
}

uint32_t experiment_runs(const struct experiment *e, const struct experiment_data *data, bool quick, uint32_t max)
{
    uint64_t runs = data->runs ? data->runs : e->runs;
    if (quick && e->quick && e->quick->runs)
        runs = e->quick->runs;
    return max && max < runs ? max : (uint32_t)runs;
}

bool experiment_has_data(const struct experiment *e, const struct experiment_data *data, bool quick)
{
    return !quick || !e->quick || !e->quick->data.n || texts_have(&e->quick->data, data->id);
}

static const json_t *map_get(const json_t *map, const char *first, const char *second)
{
    return json_object_get(json_object_get(map, first), second);
}

bool experiment_printed(const struct experiment *e, const char *data, const char *learner, const char *setting,
                        struct printed *ret)
{
    const json_t *printed = map_get(e->printed, data, learner), *grid = json_object_get(printed, "grid");
    const json_t *number = grid ? json_object_get(grid, setting) : printed;
    const json_t *mean = json_is_object(number) ? json_object_get(number, "mean") : number;
    const json_t *sd = json_object_get(number, "sd");
    if (!number)
        return false;
    *ret = (struct printed){.mean = json_is_number(mean) ? json_number_value(mean) : NAN,
                            .sd = sd ? json_number_value(sd) : NAN,
                            .mark = json_string_value(json_object_get(number, "mark")),
                            .text = json_string_value(number),
                            .each_setting = grid};
    return true;
}

const char *experiment_why(const struct experiment *e, const char *data, const char *learner)
{
    return json_string_value(map_get(e->explanations, data, learner));
}

/* --- learners --- */

static hunch_status learner_add(struct learner_grids *l, const struct experiment_learner *learner, const char *spec,
                                const char *extra, hunch_error *reterr)
{
    if (!array_resize(&l->grids, l->n + 1, sizeof *l->grids) || !array_resize(&l->names, l->n + 1, sizeof *l->names) ||
        !array_resize(&l->forms, l->n + 1, sizeof *l->forms))
        return error_memory(reterr);
    hunch_status status = grid_parse(&l->grids[l->n], spec, extra, reterr);
    if (status)
        return status;
    l->names[l->n] = learner->id;
    l->forms[l->n++] = learner->form;
    return HUNCH_OK;
}

/* Every learner of the library, at its defaults, but those that the data's "except" names. */
static hunch_status learners_all(struct learner_grids *l, const struct texts *except, const char *extra,
                                 hunch_error *reterr)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < n && !status; i++) {
        struct experiment_learner one = {.id = all[i]->name};
        if (!texts_have(except, all[i]->name))
            status = learner_add(l, &one, all[i]->name, extra, reterr);
    }
    return status;
}

/* The learner's spec on this data; NULL: it does not play there. */
static const char *spec_choose(const struct experiment *e, const struct experiment_learner *l,
                               const struct experiment_data *data, bool quick)
{
    const char *own = json_string_value(json_object_get(l->specs, data->id)), *spec = own ? own : l->spec;
    const struct texts *some = quick && e->quick ? &e->quick->learners : NULL;
    if (!spec || (l->data.n && !texts_have(&l->data, data->id)) || (some && some->n && !texts_have(some, l->id)))
        return NULL;
    return quick && l->quick ? l->quick : spec;
}

hunch_status experiment_learners(const struct experiment *e, const struct experiment_data *data, bool quick,
                                 struct learner_grids *ret, hunch_error *reterr)
{
    struct learner_grids l = {0};
    const char *own = data->settings ? data->settings : "";
    char *extra; /* the experiment's common settings and the data set's */
    hunch_error why;
    if (asprintf(&extra, "%s%s%s", own, *e->settings && *own ? "," : "", e->settings) < 0)
        return error_memory(reterr);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < e->learners.n && !status; i++) {
        const struct experiment_learner *learner = &e->learners.item[i];
        const char *spec = spec_choose(e, learner, data, quick);
        if (spec)
            status = !strcmp(spec, "all") ? learners_all(&l, &data->except, extra, &why)
                                          : learner_add(&l, learner, spec, extra, &why);
    }
    free(extra);
    if (status) {
        learner_grids_free(&l);
        return error_set(reterr, status, "experiment %s: %s", e->id, why.message);
    }
    *ret = l;
    return HUNCH_OK;
}

void learner_grids_free(struct learner_grids *l)
{
    for (size_t i = 0; i < l->n; i++)
        grid_free(&l->grids[i]);
    free(l->grids);
    free(l->names);
    free(l->forms);
    *l = (struct learner_grids){0};
}

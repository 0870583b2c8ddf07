/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

double json_number(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

const char *json_text(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : fallback;
}

/* --- reading the files --- */

char *experiments_folder(const char *folder)
{
    const char *named = getenv("HUNCH_EXPERIMENTS");
    if (folder)
        return strdup(folder);
    if (named && *named)
        return strdup(named);
    return strdup(access("experiments/FORMAT.md", R_OK) ? EXPERIMENTS_FOLDER : "experiments");
}

static hunch_status experiment_check(struct experiment *e, const char *path, hunch_error *reterr)
{
    e->id = json_text(e->json, "id", NULL);
    e->title = json_text(e->json, "title", NULL);
    e->paper = json_text(e->json, "paper", "");
    const json_t *data = json_object_get(e->json, "data"), *learners = json_object_get(e->json, "learners"), *one;
    size_t i;
    if (!e->id || !e->title || !json_array_size(data) || !json_array_size(learners))
        return fail_with(reterr, HUNCH_EINVAL, "%s: an experiment needs \"id\", \"title\", \"data\" and \"learners\"",
                         path);
    json_array_foreach(data, i, one)
    {
        if (!json_text(one, "id", NULL) || (!json_object_get(one, "files") && !json_text(one, "synth", NULL)))
            return fail_with(reterr, HUNCH_EINVAL, "%s: data %zu needs \"id\", and \"files\" or \"synth\"", path, i);
    }
    json_array_foreach(learners, i, one)
    {
        if (!json_text(one, "spec", NULL) && !json_object_get(one, "specs"))
            return fail_with(reterr, HUNCH_EINVAL, "%s: learner %zu needs \"spec\" or \"specs\"", path, i);
    }
    return HUNCH_OK;
}

static hunch_status experiment_read(struct experiment *ret, const char *folder, const char *name, hunch_error *reterr)
{
    json_error_t why;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return fail_memory(reterr);
    struct experiment e = {.json = json_load_file(path, JSON_REJECT_DUPLICATES, &why)};
    hunch_status status = e.json ? experiment_check(&e, path, reterr)
                                 : fail_with(reterr, HUNCH_EINVAL, "%s:%d: %s", path, why.line, why.text);
    free(path);
    if (status)
        json_decref(e.json);
    else
        *ret = e;
    return status;
}

static int experiment_compare(const void *a, const void *b)
{
    const struct experiment *left = a, *right = b;
    double difference = json_number(left->json, "rank", 1000) - json_number(right->json, "rank", 1000);
    return difference < 0 ? -1 : difference > 0 ? 1 : strcmp(left->id, right->id);
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
        return fail_with(
            reterr, HUNCH_EINVAL,
            "%s: there is no such folder of experiments; name one with --experiments or HUNCH_EXPERIMENTS (in the "
            "source it is experiments/)",
            folder);
    struct experiment *all = calloc((size_t)n + 1, sizeof *all);
    size_t count = 0;
    hunch_status status = all ? HUNCH_OK : fail_memory(reterr);
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
    for (size_t i = 0; all && i < n; i++)
        json_decref(all[i].json);
    free(all);
}

/* --- what they say --- */

static const json_t *quick_of(const struct experiment *e, bool quick)
{
    return quick ? json_object_get(e->json, "quick") : NULL;
}

bool experiment_skipped(const struct experiment *e, bool quick)
{
    return quick && !quick_of(e, true);
}

uint32_t experiment_runs(const struct experiment *e, const json_t *data, bool quick, uint32_t most)
{
    double wanted = json_number(data, "runs", json_number(e->json, "runs", 1));
    uint32_t runs = (uint32_t)json_number(quick_of(e, quick), "runs", wanted);
    return most && most < runs ? most : runs;
}

const json_t *experiment_data(const struct experiment *e)
{
    return json_object_get(e->json, "data");
}

static bool array_has(const json_t *array, const char *text)
{
    const json_t *one;
    size_t i;
    json_array_foreach(array, i, one)
    {
        if (json_is_string(one) && !strcmp(json_string_value(one), text))
            return true;
    }
    return false;
}

bool experiment_has_data(const struct experiment *e, const json_t *data, bool quick)
{
    const json_t *some = json_object_get(quick_of(e, quick), "data");
    return !some || array_has(some, json_text(data, "id", ""));
}

/* --- learners --- */

static hunch_status lineup_add(struct lineup *l, const char *name, const char *spec, const char *extra,
                               hunch_error *reterr)
{
    struct grid *grids = realloc(l->grids, (l->n + 1) * sizeof *grids);
    if (grids)
        l->grids = grids;
    const char **names = realloc(l->names, (l->n + 1) * sizeof *names);
    if (names)
        l->names = names;
    if (!grids || !names)
        return fail_memory(reterr);
    hunch_status status = grid_parse(&l->grids[l->n], spec, extra, reterr);
    if (!status)
        l->names[l->n++] = name;
    return status;
}

/* Every learner of the library, at its defaults, but those that the data's "except" names. */
static hunch_status lineup_all(struct lineup *l, const json_t *except, const char *extra, hunch_error *reterr)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < n && !status; i++)
        if (!array_has(except, all[i]->name))
            status = lineup_add(l, all[i]->name, all[i]->name, extra, reterr);
    return status;
}

/* The experiment's common settings and the data set's, as one list. */
static char *extra_make(const struct experiment *e, const json_t *data)
{
    const char *common = json_text(e->json, "settings", ""), *own = json_text(data, "settings", "");
    char *extra;
    return asprintf(&extra, "%s%s%s", own, *common && *own ? "," : "", common) < 0 ? NULL : extra;
}

hunch_status experiment_lineup(const struct experiment *e, const json_t *data, bool quick, struct lineup *ret,
                               hunch_error *reterr)
{
    struct lineup l = {0};
    char *extra = extra_make(e, data);
    hunch_status status = extra ? HUNCH_OK : fail_memory(reterr);
    const char *id = json_text(data, "id", "");
    const json_t *learner, *some = json_object_get(quick_of(e, quick), "learners");
    size_t i;
    json_array_foreach(json_object_get(e->json, "learners"), i, learner)
    {
        const char *spec = json_text(json_object_get(learner, "specs"), id, json_text(learner, "spec", NULL));
        const json_t *only = json_object_get(learner, "data");
        if (status || !spec || (only && !array_has(only, id)))
            continue;
        if (some && !array_has(some, json_text(learner, "id", spec)))
            continue;
        if (quick)
            spec = json_text(learner, "quick", spec);
        status = !strcmp(spec, "all") ? lineup_all(&l, json_object_get(data, "except"), extra, reterr)
                                      : lineup_add(&l, json_text(learner, "id", spec), spec, extra, reterr);
    }
    free(extra);
    if (status) {
        hunch_error why = {{0}};
        if (reterr)
            why = *reterr;
        lineup_free(&l);
        return fail_with(reterr, status, "experiment %s: %s", e->id, why.message);
    }
    *ret = l;
    return HUNCH_OK;
}

void lineup_free(struct lineup *l)
{
    for (size_t i = 0; i < l->n; i++)
        grid_free(&l->grids[i]);
    free(l->grids);
    free(l->names);
    *l = (struct lineup){0};
}

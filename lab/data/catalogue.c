/* SPDX-License-Identifier: BSD-3-Clause */
#include "data/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalogue_bytes.h"
#include "base/error.h"
#include "experiments_folder.h"
#include "stream.h"

#define FORMAT 1

const char *catalogue_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Never a path: it is put behind the folder that the user named. */
static bool name_is_plain(const char *name)
{
    return *name && *name != '.' && *name != '-' && !strchr(name, '/') && strlen(name) < 200;
}

static bool sum_is_good(const json_t *object)
{
    const json_t *sum = json_object_get(object, "sha256");
    return !sum || json_is_null(sum) ||
           (json_string_length(sum) == 64 && strspn(json_string_value(sum), "0123456789abcdef") == 64);
}

static const char *original_fault(const json_t *original)
{
    const char *url = catalogue_text(original, "url");
    return !name_is_plain(catalogue_text(original, "name")) ? "an original without a plain name"
           : strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0
               ? "an address that is not http or https"
           : !sum_is_good(original) ? "a checksum that is none"
                                    : NULL;
}

static const char *step_fault(const json_t *set, const json_t *step)
{
    const json_t *from = json_object_get(step, "from"), *originals = json_object_get(set, "originals"), *one, *other;
    size_t i, j;
    if (!name_is_plain(catalogue_text(step, "to")) || !json_array_size(from))
        return "a preparation without 'to' and 'from'";
    json_array_foreach(from, i, one)
    {
        bool known = false;
        json_array_foreach(originals, j, other) known = known || json_equal(json_object_get(other, "name"), one);
        if (!known)
            return "a preparation from what is not among the originals";
    }
    return NULL;
}

static const char *set_fault(const json_t *set)
{
    const json_t *one;
    const char *fault = NULL;
    size_t i;
    if (!name_is_plain(catalogue_text(set, "name")) || !json_array_size(json_object_get(set, "files")))
        return "a set without a plain name or without files";
    json_array_foreach(json_object_get(set, "files"), i, one) if (!fault) fault =
        name_is_plain(catalogue_text(one, "name")) && sum_is_good(one) ? NULL : "a file without a plain name";
    json_array_foreach(json_object_get(set, "originals"), i, one) if (!fault) fault = original_fault(one);
    json_array_foreach(json_object_get(set, "prepare"), i, one) if (!fault) fault = step_fault(set, one);
    return fault;
}

static hunch_status catalogue_check(const struct catalogue *c, const char *path, hunch_error *reterr)
{
    const json_t *set;
    size_t i;
    if (json_integer_value(json_object_get(c->json, "format")) != FORMAT || !json_is_array(c->sets))
        return error_set(reterr, HUNCH_EINVAL, "%s: not a catalogue of data sets that this version knows", path);
    json_array_foreach(c->sets, i, set)
    {
        const char *fault = set_fault(set);
        if (fault)
            return error_set(reterr, HUNCH_EINVAL, "%s: set %zu (%s) has %s", path, i + 1, catalogue_text(set, "name"),
                             fault);
    }
    return HUNCH_OK;
}

/* data.json beside the experiments; NULL: there is none. */
static char *path_find(void)
{
    char *folder = experiments_folder(NULL), *path = NULL;
    if (folder && asprintf(&path, "%s/data.json", folder) < 0)
        path = NULL;
    free(folder);
    if (path && access(path, R_OK)) {
        free(path);
        path = NULL;
    }
    return path;
}

hunch_status catalogue_open(struct catalogue *ret, const char *path, hunch_error *reterr)
{
    char *found = path ? strdup(path) : path_find();
    const char *name = found ? found : "the program's catalogue";
    struct catalogue c = {0};
    json_error_t error;
    hunch_status status = HUNCH_OK;
    c.json = found ? json_load_file(found, JSON_REJECT_DUPLICATES, &error)
                   : json_loadb((const char *)CATALOGUE, sizeof CATALOGUE, 0, &error);
    c.sets = json_object_get(c.json, "sets");
    if (!c.json && error.line > 0)
        status = error_set(reterr, HUNCH_EINVAL, "%s:%d: %s", name, error.line, error.text);
    else if (!c.json)
        status = error_set(reterr, HUNCH_EINVAL, "%s", error.text);
    else
        status = catalogue_check(&c, name, reterr);
    free(found);
    if (status)
        catalogue_close(&c);
    else
        *ret = c;
    return status;
}

void catalogue_close(struct catalogue *c)
{
    json_decref(c->json);
    *c = (struct catalogue){0};
}

const json_t *catalogue_find(const struct catalogue *c, const char *name)
{
    const json_t *set;
    size_t i;
    json_array_foreach(c->sets, i, set) if (!strcmp(catalogue_text(set, "name"), name)) return set;
    return NULL;
}

char *catalogue_where(const json_t *file)
{
    return stream_find(catalogue_text(file, "name"));
}

bool catalogue_can_get(const json_t *set)
{
    return json_array_size(json_object_get(set, "originals")) && json_array_size(json_object_get(set, "prepare"));
}

char *experiments_folder(const char *folder)
{
    const char *named = getenv("HUNCH_EXPERIMENTS");
    if (folder)
        return strdup(folder);
    if (named && *named)
        return strdup(named);
    return strdup(access("experiments/FORMAT.md", R_OK) ? EXPERIMENTS_FOLDER : "experiments");
}

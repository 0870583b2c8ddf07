/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli_model.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static struct names *labels_number(uint32_t classes)
{
    struct names *labels = names_new();
    for (uint32_t k = 0; labels && k < classes; k++) {
        char text[16];
        snprintf(text, sizeof text, "%u", k);
        if (names_add(labels, text, strlen(text)) == NAMES_NONE) {
            names_free(labels);
            labels = NULL;
        }
    }
    return labels;
}

static int names_load(const hunch *h, const char *key, const char *path, struct names **ret)
{
    size_t size;
    const void *block = hunch_get_meta(h, key, &size);
    *ret = NULL;
    if (!block)
        return EXIT_DONE;
    *ret = names_from_block(block, size);
    return *ret ? EXIT_DONE : cli_fail(EXIT_INPUT, "%s: the names of its %s are damaged", path, key);
}

static int base_load(const hunch *h)
{
    size_t size;
    const char *base = hunch_get_meta(h, "index-base", &size);
    return base && size >= 1 && (*base == '0' || *base == '1') ? *base - '0' : -1;
}

int model_load(struct model *ret, const char *path)
{
    struct model m = {.index_base = -1};
    hunch_error error;
    hunch_status status = hunch_load(&m.learner, path, &error);
    /* A file that cannot be read is bad input here, whatever the reason. */
    if (status != HUNCH_OK)
        return cli_fail(status == HUNCH_ENOMEM ? EXIT_SYSTEM : EXIT_INPUT, "%s", error.message);
    int code = names_load(m.learner, "labels", path, &m.labels);
    if (!code && m.labels && names_count(m.labels) > hunch_classes(m.learner))
        code = cli_fail(EXIT_INPUT, "%s: it names more labels than it has classes", path);
    if (!code)
        code = names_load(m.learner, "features", path, &m.features);
    if (!code && !m.labels)
        m.labels = labels_number(hunch_classes(m.learner));
    if (!code && !m.labels)
        code = cli_fail(EXIT_SYSTEM, "out of memory");
    m.index_base = base_load(m.learner);
    size_t size = 0;
    const char *schema = code ? NULL : hunch_get_meta(m.learner, "schema", &size);
    if (schema && schema_read(&m.schema, schema, size, &error))
        code = cli_fail(EXIT_INPUT, "%s: %s", path, error.message);
    if (code)
        model_free(&m);
    else
        *ret = m;
    return code;
}

static hunch_status names_keep(hunch *h, const char *key, const struct names *names)
{
    size_t size = 0;
    char *block = names ? names_block(names, &size) : NULL;
    hunch_status status = names && !block ? HUNCH_ENOMEM : hunch_set_meta(h, key, block, size);
    free(block);
    return status;
}

static hunch_status schema_keep(hunch *h, const struct schema *schema)
{
    json_t *json = schema ? schema_json(schema) : NULL;
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (schema && !text)
        return HUNCH_ENOMEM;
    hunch_status status = hunch_set_meta(h, "schema", text ? text : "", text ? strlen(text) : 0);
    free(text);
    return status;
}

int model_save(hunch *learner, const struct stream *data, const char *path)
{
    hunch_error error;
    int index_base = stream_index_base(data);
    hunch_status status = names_keep(learner, "labels", stream_labels(data));
    if (status == HUNCH_OK)
        status = names_keep(learner, "features", stream_features(data));
    if (status == HUNCH_OK)
        status = schema_keep(learner, stream_schema(data));
    if (status == HUNCH_OK && !stream_features(data) && index_base >= 0)
        status = hunch_set_meta(learner, "index-base", index_base ? "1" : "0", 1);
    if (status != HUNCH_OK)
        return cli_fail(cli_code(status), "%s", hunch_reason(learner));
    status = hunch_save(learner, path, &error);
    return status == HUNCH_OK ? EXIT_DONE : cli_fail(EXIT_SYSTEM, "%s", error.message);
}

void model_read_data(const struct model *m, struct stream_options *o)
{
    o->labels = m->labels;
    o->features = m->features;
    o->schema = m->schema;
    o->numbered = !m->features && !(m->schema && m->schema->hash_bits);
    if (o->index_base < 0)
        o->index_base = m->index_base;
}

const char *model_label(const struct model *model, uint32_t k)
{
    return k < names_count(model->labels) ? names_text(model->labels, k, NULL) : "?";
}

void model_free(struct model *model)
{
    hunch_free(model->learner);
    names_free(model->labels);
    names_free(model->features);
    schema_free(model->schema);
    *model = (struct model){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A model's state as bytes: the library's format, with names, counts and the last event as its meta data. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/model_state.h"
#include "event/row_reader.h"

static void counts_write(const struct model_state *c, struct text *t)
{
    const struct counts *n = &c->counts;
    text_printf(t, "{\"format\":1,\"seq\":%llu,\"counts\":[%llu,%llu,%llu,%llu,%llu,%llu,%llu],\"labels\":[",
                (unsigned long long)c->seq, (unsigned long long)n->decisions, (unsigned long long)n->explored,
                (unsigned long long)n->answers, (unsigned long long)n->right, (unsigned long long)n->told,
                (unsigned long long)n->lessons, (unsigned long long)n->ignored);
    for (uint32_t i = 0; i < names_count(c->labels); i++) {
        const struct label_counts *l = &c->label[i];
        text_printf(t, "%s[%llu,%llu,%llu,%llu]", i ? "," : "", (unsigned long long)l->shown,
                    (unsigned long long)l->right, (unsigned long long)l->wrong, (unsigned long long)l->told);
    }
    text_puts(t, "]");
    text_printf(t, ",\"silent\":[%llu,%llu],\"deferred\":[%llu,%llu],", (unsigned long long)n->silent,
                (unsigned long long)n->late, (unsigned long long)n->deferred, (unsigned long long)n->activated);
    policy_write(&c->policy, t);
    text_puts(t, ",\"comparison\":");
    comparison_write(&c->comparison, t);
    if (c->version > 1)
        text_printf(t, ",\"version\":%u", c->version);
    if (c->shadow.decisions) {
        text_puts(t, ",\"shadow\":");
        shadow_write(&c->shadow, t);
    }
    for (size_t i = 0; i < c->excluded_n; i++)
        text_printf(t, "%s%llu", i ? "," : ",\"excluded\":[", (unsigned long long)c->excluded[i]);
    text_puts(t, c->excluded_n ? "]}" : "}");
}

static bool numbers_read(const json_t *array, uint64_t *ret, size_t n)
{
    if (json_array_size(array) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(array, i);
        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return false;
        ret[i] = (uint64_t)json_integer_value(v);
    }
    return true;
}

static bool counts_read(struct model_state *c, const void *bytes, size_t size)
{
    uint64_t n[7], l[4];
    json_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *labels = json_object_get(json, "labels"), *seq = json_object_get(json, "seq");
    size_t k = names_count(c->labels);
    bool ok = json_integer_value(json_object_get(json, "format")) == 1 && json_is_integer(seq) &&
              numbers_read(json_object_get(json, "counts"), n, 7) && json_array_size(labels) == k;
    for (size_t i = 0; ok && i < k; i++) {
        ok = numbers_read(json_array_get(labels, i), l, 4);
        if (ok)
            c->label[i] = (struct label_counts){l[0], l[1], l[2], l[3]};
    }
    const json_t *excluded = json_object_get(json, "excluded");
    if (ok && excluded) {
        c->excluded_n = json_array_size(excluded);
        c->excluded = calloc(c->excluded_n + 1, sizeof *c->excluded);
        ok = c->excluded && numbers_read(excluded, c->excluded, c->excluded_n);
    }
    const json_t *version = json_object_get(json, "version"), *shadow = json_object_get(json, "shadow");
    uint64_t quiet[2], deferred[2];
    struct http_error ignored;
    ok = ok && numbers_read(json_object_get(json, "silent"), quiet, 2) &&
         numbers_read(json_object_get(json, "deferred"), deferred, 2) && policy_read(&c->policy, json, &ignored) &&
         comparison_read(&c->comparison, json_object_get(json, "comparison"));
    if (ok && shadow)
        ok = shadow_read(&c->shadow, shadow);
    if (ok)
        c->version = version ? (uint32_t)json_integer_value(version) : 1;
    if (ok) {
        c->counts =
            (struct counts){n[0], n[1], n[2], n[3], n[4], n[5], n[6], quiet[0], quiet[1], deferred[0], deferred[1]};
        c->seq = (uint64_t)json_integer_value(seq);
    }
    json_decref(json);
    return ok;
}

static void clear_meta(hunch *learner)
{
    static const char *const keys[] = {"labels", "features", "serve", "schema", "once"};
    for (size_t i = 0; i < 5; i++)
        hunch_set_meta(learner, keys[i], "", 0);
}

bool state_write(struct model_state *c, void **ret_bytes, size_t *ret_size, struct http_error *err)
{
    struct text t = {0};
    hunch_error error = {{0}};
    size_t labels, features = 0, once = 0;
    bool reuse = c->settings.reuse_names;
    const char *schema = c->settings.schema;
    assert(c->broken[0] || !state_checker(c));
    char *label_block = names_block(c->labels, &labels);
    char *feature_block = c->dictionary.names ? names_block(c->dictionary.names, &features) : strdup("");
    unsigned char *once_block = reuse ? dictionary_write(&c->dictionary, &once) : NULL;
    counts_write(c, &t);
    /* Removed first, so that the same state has the same bytes whatever was written before. */
    clear_meta(c->learner);
    bool ok = !t.failed && label_block && feature_block &&
              hunch_set_meta(c->learner, "labels", label_block, labels) == HUNCH_OK &&
              hunch_set_meta(c->learner, "features", feature_block, features) == HUNCH_OK &&
              hunch_set_meta(c->learner, "serve", t.data, t.length) == HUNCH_OK &&
              (!reuse || (once_block && hunch_set_meta(c->learner, "once", once_block, once) == HUNCH_OK)) &&
              (!schema || hunch_set_meta(c->learner, "schema", schema, strlen(schema)) == HUNCH_OK) &&
              hunch_write(c->learner, ret_bytes, ret_size, &error) == HUNCH_OK;
    clear_meta(c->learner); /* the live model needs them not */
    text_free(&t);
    free(label_block);
    free(feature_block);
    free(once_block);
    return ok || http_error_no_memory(err);
}

/* The same algorithm; its settings may be spelled differently by another version of the library. */
static bool same_algorithm(const char *a, const char *b)
{
    size_t n = strcspn(a, ":");
    return n == strcspn(b, ":") && memcmp(a, b, n) == 0;
}

/* The learner and the names that a file has; named: it must have room for names of features. */
static bool read_parts(struct model_state *ret, const void *bytes, size_t size, struct http_error *err)
{
    struct model_state c = {.version = 1};
    hunch_error error = {{0}};
    if (hunch_read(&c.learner, bytes, size, &error) != HUNCH_OK)
        return http_error_set(err, 500, strstr(error.message, "version (this one reads") ? "newer" : "damaged", "%s",
                              error.message);
    size_t labels = 0, features = 0;
    const void *label_block = hunch_get_meta(c.learner, "labels", &labels);
    const void *feature_block = hunch_get_meta(c.learner, "features", &features);
    if (label_block)
        c.labels = names_from_block(label_block, labels);
    if (feature_block)
        c.dictionary.names = names_from_block(feature_block, features);
    if (c.labels)
        c.label = calloc(names_count(c.labels) + !names_count(c.labels), sizeof *c.label);
    *ret = c;
    return true;
}

/* The names of features are as the settings want them. */
static bool fit_features(struct model_state *c, const struct settings *settings)
{
    if (settings->features != FEATURES_NAMED) {
        names_free(c->dictionary.names);
        c->dictionary.names = NULL;
        return true;
    }
    if (!c->dictionary.names)
        c->dictionary.names = names_new();
    return c->dictionary.names != NULL;
}

static void take_settings(struct model_state *ret, struct model_state *c, struct settings *settings)
{
    clear_meta(c->learner);
    c->settings = *settings;
    *settings = (struct settings){0};
    *ret = *c;
}

bool state_read(struct model_state *ret, struct settings *settings, const void *bytes, size_t size,
                struct http_error *err)
{
    struct model_state c;
    size_t counts = 0, once = 0;
    if (!read_parts(&c, bytes, size, err))
        return false;
    const void *count_block = hunch_get_meta(c.learner, "serve", &counts);
    const void *once_block = hunch_get_meta(c.learner, "once", &once);
    bool ok = c.label && fit_features(&c, settings) &&
              (!settings->reuse_names || dictionary_read(&c.dictionary, once_block, once)) && count_block &&
              counts_read(&c, count_block, counts) && !state_checker(&c);
    bool other = ok && !same_algorithm(hunch_spec(c.learner), settings->learner);
    if (!ok || other) {
        state_free(&c);
        return http_error_set(err, 500, other ? "other" : "damaged", "not a snapshot of this version");
    }
    take_settings(ret, &c, settings);
    return true;
}

bool state_read_base(struct model_state *ret, struct settings *settings, const void *bytes, size_t size,
                     struct http_error *err)
{
    struct model_state c;
    if (!read_parts(&c, bytes, size, err))
        return false;
    if (!c.labels) {
        c.labels = names_copy(settings->labels);
        c.label = c.labels ? calloc(names_count(c.labels), sizeof *c.label) : NULL;
    }
    if (!c.label || !fit_features(&c, settings) || names_count(c.labels) != hunch_classes(c.learner)) {
        state_free(&c);
        return http_error_set(err, 500, "damaged", "the file is not the one that this model was created from");
    }
    take_settings(ret, &c, settings);
    ret->policy = ret->settings.policy;
    return true;
}

static struct names *numbers_as_names(uint32_t n)
{
    struct names *names = names_new();
    for (uint32_t i = 0; names && i < n; i++) {
        char text[16];
        if (names_add(names, text, (size_t)snprintf(text, sizeof text, "%u", i)) != i) {
            names_free(names);
            return NULL;
        }
    }
    return names;
}

/* What the file's schema says about features; NULL: it has none. */
static bool import_schema(const struct model_state *c, char **ret, bool *ret_named, struct http_error *err)
{
    size_t size = 0;
    struct row_reader *reader;
    const void *text = hunch_get_meta(c->learner, "schema", &size);
    *ret = text && size ? strndup(text, size) : NULL;
    *ret_named =
        c->dictionary.names || hunch_features(c->learner) == 0; /* one that has seen none yet may be given any */
    if (!text || !size)
        return true;
    if (!*ret)
        return http_error_no_memory(err);
    if (!row_reader_new(&reader, *ret, err)) {
        free(*ret);
        return false;
    }
    *ret_named = !row_reader_hashes(reader);
    row_reader_free(reader);
    return true;
}

bool state_import(struct model_state *ret, const void *bytes, size_t size, const struct limits *limits,
                  struct http_error *err)
{
    struct model_state c;
    char *schema;
    bool named;
    if (!read_parts(&c, bytes, size, err))
        return http_error_set(err, 400, "bad_model", "not a model: %.200s", err->message);
    if (!import_schema(&c, &schema, &named, err)) {
        state_free(&c);
        return false;
    }
    struct settings s = {
        .learner = strdup(hunch_spec(c.learner)),
        .labels = c.labels ? names_copy(c.labels) : numbers_as_names(hunch_classes(c.learner)),
        .features = named ? FEATURES_NAMED : FEATURES_INDEXED,
        .reuse_names = named,
        .max_features = named ? (uint32_t)limits->names : HUNCH_MAX_FEATURES,
        .memory = MEMORY_DEFAULT,
        .ttl_ms = TTL_DEFAULT * 1000,
        .bounds = {BOUND_VALUE, BOUND_FEATURES},
        .schema = schema,
    };
    bool whole = s.learner && s.labels && names_count(s.labels) == hunch_classes(c.learner);
    state_free(&c);
    if (whole && state_read_base(ret, &s, bytes, size, err))
        return true;
    settings_free(&s);
    return whole ? false : http_error_set(err, 400, "bad_model", "the file's labels are not those of its learner");
}

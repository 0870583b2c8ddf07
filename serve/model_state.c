/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_state.h"
#include "row_reader.h"

#define FEW_LABELS 128 /* whatever the learner, a model of so many is made in no time */

static bool half_done(struct model_state *c, struct http_error *err)
{
    snprintf(c->broken, sizeof c->broken, "memory ran out half-way; the server must be started again");
    return http_error_no_memory(err);
}

/* Nothing that is not a number leaves a model. */
static bool poisoned(struct model_state *c, const struct event *e, const char *what, struct http_error *err)
{
    static const char *const kinds[] = {"decision", "feedback", "lesson", "label"};
    snprintf(c->broken, sizeof c->broken, "%s %llu made a %s that is not a number", kinds[e->kind],
             (unsigned long long)e->seq, what);
    return http_error_set(err, 503, "model_broken", "%s", c->broken);
}

/* After learning: the scores of what was learned from. */
static bool scores_finite(struct model_state *c, const hunch_vec *v)
{
    size_t n = names_count(c->labels);
    if (n > c->scores_room) {
        float *scores = realloc(c->scores, n * sizeof *scores);
        if (!scores)
            return true; /* looked at next time */
        c->scores = scores;
        c->scores_room = n;
    }
    float sum = 0; /* of zeros, unless one is infinite or not a number */
    if (hunch_scores(c->learner, v, c->scores) != HUNCH_OK)
        return true;
    for (size_t i = 0; i < n; i++)
        sum += c->scores[i] - c->scores[i];
    return sum == 0;
}

static bool learner_error(const struct model_state *c, hunch_status status, struct http_error *err)
{
    int code = status == HUNCH_ENOMEM ? 503 : status == HUNCH_EINVAL || status == HUNCH_ELIMIT ? 400 : 500;
    return http_error_set(err, code, status == HUNCH_ENOMEM ? "out_of_memory" : "learner", "%s",
                          hunch_reason(c->learner));
}

/* Of a learner with so many labels that has learned nothing yet; 0: it can't be made. */
static size_t learner_bytes(const struct settings *settings, const char *learner, uint32_t labels)
{
    hunch *h;
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = learner;
    options.classes = labels;
    options.max_features = settings->max_features;
    options.memory = settings->memory;
    if (hunch_create(&h, &options, NULL) != HUNCH_OK)
        return 0;
    size_t bytes = hunch_bytes(h);
    hunch_free(h);
    return bytes;
}

bool state_size_ok(const struct settings *settings, const char *learner, size_t labels, size_t most,
                   struct http_error *err)
{
    if (labels <= FEW_LABELS)
        return true;
    size_t few = learner_bytes(settings, learner, FEW_LABELS / 2), more = learner_bytes(settings, learner, FEW_LABELS);
    double each = more > few ? (double)(more - few) * 2 / FEW_LABELS : 0;
    double bytes = (double)more + each * (double)(labels - FEW_LABELS);
    return bytes <= (double)most ||
           http_error_set(err, 413, "too_large",
                          "this learner begins with %.0f MB for %zu labels, and --max-model allows %.0f: take fewer"
                          " labels or another learner",
                          bytes / 1e6, labels, (double)most / 1e6);
}

bool state_new(struct model_state *ret, struct settings *settings, struct http_error *err)
{
    struct model_state c = {.settings = *settings, .version = 1};
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {{0}};
    *settings = (struct settings){0};

    options.learner = c.settings.learner;
    options.classes = names_count(c.settings.labels);
    options.max_features = c.settings.max_features;
    options.memory = c.settings.memory;
    options.seed = c.settings.seed;
    hunch_status status = hunch_create(&c.learner, &options, &error);
    if (status != HUNCH_OK) {
        http_error_set(err, status == HUNCH_ENOMEM ? 503 : 400, "bad_learner", "%s", error.message);
        goto fail;
    }
    char *spec = strdup(hunch_spec(c.learner));
    c.labels = names_copy(c.settings.labels);
    if (c.settings.features == FEATURES_NAMED)
        c.dictionary.names = names_new();
    c.label = calloc(names_count(c.settings.labels), sizeof *c.label);
    if (spec) {
        free(c.settings.learner);
        c.settings.learner = spec;
    }
    if (!spec || !c.labels || !c.label || (c.settings.features == FEATURES_NAMED && !c.dictionary.names)) {
        http_error_no_memory(err);
        goto fail;
    }
    *ret = c;
    return true;
fail:
    state_free(&c);
    return false;
}

void state_free(struct model_state *c)
{
    settings_free(&c->settings);
    hunch_free(c->learner);
    names_free(c->labels);
    dictionary_free(&c->dictionary);
    free(c->label);
    free(c->scores);
    free(c->excluded);
    *c = (struct model_state){0};
}

static bool see(struct model_state *c, const struct example *x, bool grow, struct event *e, struct http_error *err)
{
    return dictionary_see(&c->dictionary, &c->settings, x, grow, e, err);
}

/* The names got their numbers in see(); now that the learner has taken the example they are given. */
static bool keep_names(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!dictionary_keep(&c->dictionary, &c->settings, x, e))
        return half_done(c, err);
    c->counts.ignored += c->dictionary.ignored;
    return true;
}

static bool decided(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!keep_names(c, x, e, err))
        return false;
    c->counts.decisions++;
    c->counts.explored += e->choice.label != e->choice.greedy;
    c->label[e->choice.label].shown++;
    c->seq = e->seq;
    return true;
}

bool state_predict(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_predict(c->learner, &v, &e->choice);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!isfinite(e->choice.prob) || e->choice.prob <= 0 || e->choice.prob > 1)
        return poisoned(c, e, "probability", err);
    e->seen = c->counts.answers + c->counts.lessons;
    return decided(c, x, e, err);
}

bool state_peek(struct model_state *c, const struct example *x, uint64_t seed, struct event *e, struct http_error *err)
{
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_peek(c->learner, &v, seed, &e->choice);
    e->seen = c->counts.answers + c->counts.lessons;
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    return (e->choice.prob > 0 && e->choice.prob <= 1) ||
           http_error_set(err, 503, "model_broken", "the probability is not a number");
}

bool state_observe(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_observe(c->learner, &v, &e->choice);
    return status == HUNCH_OK ? decided(c, x, e, err) : learner_error(c, status, err);
}

void state_compare(struct model_state *c, const struct event *e, uint32_t shown)
{
    c->shadow.decisions++;
    c->shadow.agreed += e->choice.greedy == shown;
}

/* What this version believes in now, before it learns: counted, and what it takes the choice to have been. */
static bool judge(struct model_state *c, const hunch_vec *v, const struct event *decision, const struct answer *a,
                  hunch_choice *choice)
{
    uint32_t greedy;
    if (hunch_greedy(c->learner, v, &greedy) != HUNCH_OK)
        return false;
    c->shadow.answers++;
    if (greedy == decision->choice.label) {
        c->shadow.matched++;
        c->shadow.wrong += !a->right;
        c->shadow.ips += a->right ? 1 / decision->choice.prob : 0;
    }
    choice->greedy = greedy;
    choice->note = 0; /* another learner's remark */
    return true;
}

bool state_answer(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                  struct http_error *err)
{
    const struct answer *a = &feedback->answer;
    hunch_vec v = event_vec(decision);
    hunch_choice choice = decision->choice;
    choice.margin = 0; /* not in the store: computed anew, so that a replay comes to the same bytes */
    if ((foreign || c->excluded_n) &&
        choice.round > hunch_rounds(c->learner)) /* another's, or before some were forgotten */
        choice.round = hunch_rounds(c->learner);
    if (foreign && !judge(c, &v, decision, a, &choice))
        return learner_error(c, HUNCH_EINVAL, err);
    hunch_status status = a->label != NO_LABEL ? hunch_teach(c->learner, &v, a->label)
                                               : hunch_feedback(c->learner, &v, &choice, a->right);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!scores_finite(c, &v))
        return poisoned(c, feedback, "score", err);
    struct label_counts *l = &c->label[decision->choice.label];
    c->counts.answers++;
    c->counts.right += a->right;
    l->right += a->right;
    l->wrong += !a->right;
    if (a->label != NO_LABEL) {
        c->counts.told++;
        c->label[a->label].told++;
    }
    c->seq = feedback->seq;
    return true;
}

bool state_lesson(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_teach(c->learner, &v, e->label);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!scores_finite(c, &v))
        return poisoned(c, e, "score", err);
    if (!keep_names(c, x, e, err))
        return false;
    c->counts.lessons++;
    c->label[e->label].told++;
    c->seq = e->seq;
    return true;
}

bool state_label(struct model_state *c, const struct event *e, struct http_error *err)
{
    uint32_t n = names_count(c->labels);
    struct label_counts *label = realloc(c->label, (n + 1) * sizeof *label);
    if (!label)
        return http_error_no_memory(err);
    c->label = label;
    label[n] = (struct label_counts){0};
    hunch_status status = hunch_add_classes(c->learner, 1);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (names_add(c->labels, e->x, e->x_length) != n) {
        return half_done(c, err);
    }
    c->seq = e->seq;
    return true;
}

bool state_recall(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    return see(c, x, false, e, err);
}

bool state_scores(struct model_state *c, const struct example *x, struct event *scratch, float *ret,
                  struct http_error *err)
{
    if (!state_recall(c, x, scratch, err))
        return false;
    hunch_vec v = event_vec(scratch);
    hunch_status status = hunch_scores(c->learner, &v, ret);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    for (size_t i = 0; i < names_count(c->labels); i++)
        if (!isfinite(ret[i]))
            return poisoned(c, scratch, "score", err);
    return true;
}

bool state_skip(struct model_state *c, uint64_t seq, struct http_error *err)
{
    uint64_t *all = realloc(c->excluded, (c->excluded_n + 1) * sizeof *all);
    if (!all)
        return http_error_no_memory(err);
    c->excluded = all;
    all[c->excluded_n++] = seq;
    c->seq = seq;
    return true;
}

/* --- as bytes --- */

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
    if (c->version > 1)
        text_printf(t, ",\"version\":%u", c->version);
    if (c->shadow.decisions || c->shadow.answers)
        text_printf(t, ",\"shadow\":[%llu,%llu,%llu,%llu,%llu],\"ips\":\"%a\"", (unsigned long long)c->shadow.decisions,
                    (unsigned long long)c->shadow.agreed, (unsigned long long)c->shadow.answers,
                    (unsigned long long)c->shadow.matched, (unsigned long long)c->shadow.wrong, c->shadow.ips);
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
    const json_t *version = json_object_get(json, "version"), *shadow = json_object_get(json, "shadow"),
                 *ips = json_object_get(json, "ips");
    uint64_t h[5] = {0};
    if (ok && shadow)
        ok = numbers_read(shadow, h, 5) && json_is_string(ips);
    if (ok) {
        c->version = version ? (uint32_t)json_integer_value(version) : 1;
        c->shadow =
            (struct shadow_counts){h[0], h[1], h[2], h[3], h[4], ips ? strtod(json_string_value(ips), NULL) : 0};
    }
    if (ok) {
        c->counts = (struct counts){n[0], n[1], n[2], n[3], n[4], n[5], n[6]};
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
        return http_error_set(err, 500, "damaged", "%s", error.message);
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
              counts_read(&c, count_block, counts) && names_count(c.labels) == hunch_classes(c.learner);
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
        return http_error_set(err, 500, "damaged", "not the model that this one began with");
    }
    take_settings(ret, &c, settings);
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

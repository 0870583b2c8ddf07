/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "event/row_reader.h"
#include "event/settings.h"

static const char *const kinds[] = {"named", "hashed", "indexed"};

bool model_name_ok(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > NAME_MAX_BYTES || name[0] == '.' || name[0] == '-')
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

/* A number stands for its digits, so that {"label":3} works for a model of numbered classes. */
bool label_read(const json_t *json, const char **ret, size_t *ret_length, char number[24], struct http_error *err)
{
    if (json_is_integer(json)) {
        snprintf(number, 24, "%lld", (long long)json_integer_value(json));
        *ret = number;
        *ret_length = strlen(number);
        return true;
    }
    if (!json_is_string(json))
        return http_error_set(err, 400, "bad_label", "a label must be a string or a whole number");
    if (json_string_length(json) == 0 || json_string_length(json) > LABEL_MAX_BYTES)
        return http_error_set(err, 400, "bad_label", "a label must have 1 to %d bytes", LABEL_MAX_BYTES);
    *ret = json_string_value(json);
    *ret_length = json_string_length(json);
    return true;
}

static bool read_integer(const json_t *json, const char *name, long long low, long long high, long long *ret,
                         struct http_error *err)
{
    const json_t *v = json_object_get(json, name);
    if (!v)
        return true;
    if (!json_is_integer(v) || json_integer_value(v) < low || json_integer_value(v) > high)
        return http_error_set(err, 400, "bad_setting", "%s must be a whole number from %lld to %lld", name, low, high);
    *ret = json_integer_value(v);
    return true;
}

static bool read_labels(struct settings *s, const json_t *json, const struct limits *limits, struct http_error *err)
{
    const json_t *labels = json_object_get(json, "labels");
    long long classes = 0;
    char number[24];
    const char *text;
    size_t length;

    if (!read_integer(json, "classes", 1, (long long)limits->labels, &classes, err))
        return false;
    if (!!labels == !!classes || (labels && !json_is_array(labels)))
        return http_error_set(err, 400, "bad_setting",
                              "either \"labels\" (an array of names) or \"classes\" (a number) is required");
    size_t n = labels ? json_array_size(labels) : (size_t)classes;
    if (n == 0 || n > limits->labels)
        return http_error_set(err, 400, "bad_setting", "a model must have 1 to %zu labels", limits->labels);
    for (size_t i = 0; i < n; i++) {
        if (labels && !label_read(json_array_get(labels, i), &text, &length, number, err))
            return false;
        if (!labels) {
            length = (size_t)snprintf(number, sizeof number, "%zu", i);
            text = number;
        }
        if (names_find(s->labels, text, length) != NAMES_NONE)
            return http_error_set(err, 400, "bad_setting", "label \"%s\" is given twice", text);
        if (names_add(s->labels, text, length) == NAMES_NONE)
            return http_error_no_memory(err);
    }
    return true;
}

static bool read_kind(struct settings *s, const json_t *json, const struct limits *limits, struct http_error *err)
{
    const json_t *kind = json_object_get(json, "features");
    long long bits = 18, max = (long long)limits->names;
    if (kind) {
        size_t i = 0;
        while (i < 3 && !(json_is_string(kind) && strcmp(json_string_value(kind), kinds[i]) == 0))
            i++;
        if (i == 3)
            return http_error_set(err, 400, "bad_setting", "features must be \"named\", \"hashed\" or \"indexed\"");
        s->features = (enum feature_kind)i;
    }
    if (json_object_get(json, "hash_bits") && s->features != FEATURES_HASHED)
        return http_error_set(err, 400, "bad_setting", "hash_bits needs \"features\":\"hashed\"");
    if (!read_integer(json, "hash_bits", 1, HASH_BITS_MAX, &bits, err) ||
        !read_integer(json, "max_features", 1, HUNCH_MAX_FEATURES, &max, err))
        return false;
    const json_t *reuse = json_object_get(json, "reuse_names");
    if (reuse && (!json_is_boolean(reuse) || (json_is_true(reuse) && s->features != FEATURES_NAMED)))
        return http_error_set(err, 400, "bad_setting",
                              "reuse_names must be true or false; true needs \"features\":\"named\"");
    s->reuse_names = json_is_true(reuse);
    s->hash_bits = (unsigned)bits;
    s->max_features = s->features == FEATURES_HASHED ? 1u << bits : (uint32_t)max;
    return true;
}

static bool known_members(const json_t *json, struct http_error *err)
{
    static const char *const known[] = {
        "learner",       "labels",      "classes", "features", "hash_bits",   "max_features", "memory",
        "seed",          "ttl_seconds", "bounds",  "schema",   "reuse_names", "answer_after", "answer_default",
        "late_feedback", "decides",     "control", "act_at",   NULL};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key))
            i++;
        if (!known[i])
            return http_error_set(err, 400, "bad_setting", "a model has no setting \"%s\"", key);
    }
    return true;
}

static bool read_bounds(struct settings *s, const json_t *json, struct http_error *err)
{
    const json_t *bounds = json_object_get(json, "bounds"), *value = json_object_get(bounds, "value");
    long long features = BOUND_FEATURES;
    double max = BOUND_VALUE;
    if (bounds && (!json_is_object(bounds) ||
                   json_object_size(bounds) != !!value + (size_t) !!json_object_get(bounds, "features")))
        return http_error_set(err, 400, "bad_setting", "bounds must be {\"value\":v,\"features\":n}");
    if (value)
        max = json_number_value(value);
    if ((value && !json_is_number(value)) || !(max >= 1e-30 && max <= (double)FLT_MAX))
        return http_error_set(err, 400, "bad_setting", "bounds.value must be a number from 1e-30 to %g",
                              (double)FLT_MAX);
    if (!read_integer(bounds, "features", 1, HUNCH_MAX_FEATURES, &features, err))
        return false;
    s->bounds = (struct bounds){(float)max, (uint32_t)features};
    return true;
}

/* One of two words; true: it is the second. */
static bool read_word(const json_t *json, const char *name, const char *const words[2], bool *ret,
                      struct http_error *err)
{
    const json_t *v = json_object_get(json, name);
    const char *word = json_string_value(v);
    if (v && (!word || (strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0)))
        return http_error_set(err, 400, "bad_setting", "%s must be \"%s\" or \"%s\"", name, words[0], words[1]);
    *ret = v && strcmp(word, words[1]) == 0;
    return true;
}

static const char *const default_words[] = {"wrong", "right"}, *const late_words[] = {"keep", "replace"};

bool act_at_read(const json_t *json, double *ret, struct http_error *err)
{
    const json_t *v = json_object_get(json, "act_at");
    *ret = json_number_value(v);
    return !v || (json_is_number(v) && *ret > 0 && *ret < 1) ||
           http_error_set(err, 400, "bad_setting", "act_at must be above 0 and below 1");
}

/* What silence means: answer_after, answer_default ("none", or absent: nothing) and
 * late_feedback. */
static bool read_silence(struct settings *s, const json_t *json, struct http_error *err)
{
    const json_t *answer = json_object_get(json, "answer_default");
    const char *word = json_string_value(answer);
    long long after = 0;
    bool none = !answer || (word && strcmp(word, "none") == 0);
    if (!read_integer(json, "answer_after", 1, s->ttl_ms / 1000, &after, err) ||
        !read_word(json, "late_feedback", late_words, &s->late_replaces, err) ||
        (!none && !read_word(json, "answer_default", default_words, &s->answer_right, err)))
        return false;
    if (none != !after)
        return http_error_set(err, 400, "bad_setting", "answer_after and answer_default must be given together");
    if (!after && json_object_get(json, "late_feedback"))
        return http_error_set(err, 400, "bad_setting", "late_feedback needs answer_after and answer_default");
    s->answer_after_ms = after * 1000;
    return true;
}

/* Kept as it is written; the reader of rows is asked whether it is one. */
static bool read_schema(struct settings *s, const json_t *json, struct http_error *err)
{
    const json_t *schema = json_object_get(json, "schema");
    struct row_reader *reader;
    if (!schema)
        return true;
    s->schema = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!s->schema)
        return http_error_no_memory(err);
    if (!row_reader_new(&reader, s->schema, err))
        return false;
    enum feature_kind kind = row_reader_hashes(reader) ? FEATURES_INDEXED : FEATURES_NAMED;
    row_reader_free(reader);
    return s->features == kind ||
           http_error_set(err, 400, "bad_setting", "with this schema, features must be \"%s\"", kinds[kind]);
}

bool settings_read(struct settings *ret, const json_t *json, const struct limits *limits, struct http_error *err)
{
    struct settings s = {.features = FEATURES_NAMED};
    const json_t *learner = json_object_get(json, "learner");
    long long seed = 0, ttl = TTL_DEFAULT, memory = MEMORY_DEFAULT;

    if (!json_is_object(json))
        return http_error_set(err, 400, "bad_setting", "the settings of a model must be a JSON object");
    if (!known_members(json, err))
        return false;
    if (learner && !json_is_string(learner))
        return http_error_set(err, 400, "bad_setting", "learner must be a string such as \"confidit:eta=0.1\"");
    s.learner = strdup(learner ? json_string_value(learner) : hunch_default_learner());
    s.labels = names_new();
    if (!s.learner || !s.labels) {
        http_error_no_memory(err);
        goto fail;
    }
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = 1;
    seed &= (1LL << 53) - 1; /* exact in every JSON reader */
    if (!read_labels(&s, json, limits, err) || !read_kind(&s, json, limits, err) ||
        !read_integer(json, "memory", 0, INT64_MAX, &memory, err) ||
        !read_integer(json, "seed", 0, INT64_MAX, &seed, err) ||
        !read_integer(json, "ttl_seconds", 1, 10LL * 365 * 24 * 3600, &ttl, err) || !read_bounds(&s, json, err) ||
        !read_schema(&s, json, err))
        goto fail;
    s.memory = (uint64_t)memory;
    s.seed = (uint64_t)seed;
    s.ttl_ms = ttl * 1000;
    if (!act_at_read(json, &s.act_at, err) || !read_silence(&s, json, err) || !policy_read(&s.policy, json, err) ||
        !policy_label_ok(&s.policy, s.labels, err))
        goto fail;
    *ret = s;
    return true;
fail:
    settings_free(&s);
    return false;
}

void bounds_write(const struct bounds *b, struct text *t)
{
    text_puts(t, "{\"value\":");
    text_number(t, b->value);
    text_printf(t, ",\"features\":%u}", b->features);
}

void answers_write(const struct settings *s, struct text *t)
{
    if (s->answer_after_ms)
        text_printf(t, ",\"answer_after\":%lld,\"answer_default\":\"%s\",\"late_feedback\":\"%s\"",
                    (long long)(s->answer_after_ms / 1000), default_words[s->answer_right],
                    late_words[s->late_replaces]);
    if (s->act_at > 0) {
        text_puts(t, ",\"act_at\":");
        text_number(t, s->act_at);
    }
}

void settings_write(const struct settings *s, struct text *t)
{
    text_puts(t, "{\"learner\":");
    text_quote(t, s->learner, strlen(s->learner));
    text_puts(t, ",\"labels\":[");
    for (uint32_t i = 0; i < names_count(s->labels); i++) {
        size_t length;
        const char *name = names_text(s->labels, i, &length);
        text_add(t, ",", i > 0);
        text_quote(t, name, length);
    }
    text_printf(t, "],\"features\":\"%s\"", kinds[s->features]);
    if (s->features == FEATURES_HASHED)
        text_printf(t, ",\"hash_bits\":%u", s->hash_bits);
    text_printf(t,
                ",\"max_features\":%u,\"memory\":%llu,\"seed\":%llu,\"ttl_seconds\":%lld,\"bounds\":", s->max_features,
                (unsigned long long)s->memory, (unsigned long long)s->seed, (long long)(s->ttl_ms / 1000));
    bounds_write(&s->bounds, t);
    answers_write(s, t);
    text_puts(t, ",");
    policy_write(&s->policy, t);
    text_puts(t, s->reuse_names ? ",\"reuse_names\":true" : "");
    if (s->schema) {
        text_puts(t, ",\"schema\":");
        text_puts(t, s->schema);
    }
    text_puts(t, "}");
}

bool settings_agree(const struct settings *there, const struct settings *asked, const json_t *request)
{
    if (json_object_get(request, "seed") && there->seed != asked->seed)
        return false;
    if (json_object_get(request, "ttl_seconds") && there->ttl_ms != asked->ttl_ms)
        return false;
    if (there->answer_after_ms != asked->answer_after_ms || there->answer_right != asked->answer_right ||
        there->late_replaces != asked->late_replaces || there->act_at != asked->act_at)
        return false;
    if ((json_object_get(request, "decides") || json_object_get(request, "control")) &&
        !policy_equal(&there->policy, &asked->policy))
        return false;
    if (json_object_get(request, "memory") && there->memory != asked->memory)
        return false;
    if (json_object_get(request, "max_features") && there->max_features != asked->max_features)
        return false;
    if (json_object_get(request, "reuse_names") && there->reuse_names != asked->reuse_names)
        return false;
    if (json_object_get(request, "schema") && (!there->schema || strcmp(there->schema, asked->schema) != 0))
        return false;
    if (json_object_get(request, "bounds") &&
        (there->bounds.value != asked->bounds.value || there->bounds.features != asked->bounds.features))
        return false;
    if (there->features == FEATURES_HASHED && there->hash_bits != asked->hash_bits)
        return false;
    return strcmp(there->learner, asked->learner) == 0 && there->features == asked->features &&
           names_equal(there->labels, asked->labels);
}

void settings_free(struct settings *s)
{
    free(s->learner);
    names_free(s->labels);
    free(s->schema);
    s->schema = s->learner = NULL;
    s->labels = NULL;
}

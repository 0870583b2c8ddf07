/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/items.h"

static bool unknown_member(const char *key, const char *const *known, struct http_error *err)
{
    char names[160] = "";
    for (size_t i = 0, n = 0; known[i] && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", known[i]);
    return http_error_set(err, 400, "bad_request", "unknown field \"%.40s\"; the fields are: %s", key, names);
}

static bool only_members(const json_t *json, const char *const *known, struct http_error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(json))
        return http_error_set(err, 400, "bad_request", "each item must be a JSON object");
    json_object_foreach((json_t *)json, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key))
            i++;
        if (!known[i])
            return unknown_member(key, known, err);
    }
    return true;
}

static bool parse(struct body_item *item, const char *const *members, struct http_error *err)
{
    return body_item_parse(item, err) && only_members(item->json, members, err);
}

static size_t features_max(const struct body_item *item, const struct settings *settings)
{
    size_t max = item->body->limits->features;
    return max < settings->bounds.features ? max : settings->bounds.features;
}

/* Made into an example that could have been sent instead, and read as such: so will the log. */
static bool read_row(struct example *ret, const struct body_item *item, const struct reading *how, const json_t *row,
                     struct http_error *err)
{
    struct text x = {0}, unknown = {0};
    if (!how->rows)
        return http_error_set(err, 400, "no_schema", "this model has no schema: send the features as \"x\"");
    bool ok = row_read(how->rows, row, &x, &unknown, err) && example_parse(ret, x.data, x.length, how->settings, err);
    if (!ok) {
        text_free(&x);
        text_free(&unknown);
        return false;
    }
    ret->printed = x.data;
    ret->unknown = unknown.data;
    if (ret->n <= features_max(item, how->settings))
        return true;
    example_free(ret);
    return http_error_set(err, 413, "too_many_features", "the row has more than %zu features",
                          features_max(item, how->settings));
}

static bool read_x(struct example *ret, const struct body_item *item, const struct reading *how, struct http_error *err)
{
    const json_t *x = json_object_get(item->json, "x"), *row = json_object_get(item->json, "row");
    const struct settings *settings = how->settings;
    if (!!x == !!row)
        return http_error_set(err, 400, "bad_request", "give either \"x\", the example, or \"row\", cells of a table");
    if (row)
        return read_row(ret, item, how, row, err);
    if (!example_read(ret, x, settings, features_max(item, settings), err))
        return false;
    if (body_member(item->text, item->length, "x", &ret->text, &ret->length))
        return true;
    ret->text = ret->printed = json_dumps(x, JSON_COMPACT);
    ret->length = ret->printed ? strlen(ret->printed) : 0;
    if (ret->printed)
        return true;
    example_free(ret);
    return http_error_no_memory(err);
}

/* True: read in one pass. The parser tells about examples that are too large. */
static bool read_plain(struct example *ret, const struct body_item *item, const struct settings *settings)
{
    if (item->json || !json_fast_predict(ret, item->text, item->length, settings))
        return false;
    if (ret->n <= features_max(item, settings))
        return true;
    example_free(ret);
    return false;
}

/* false: it is neither true nor false. */
static bool read_bool(const struct body_item *item, const char *name, bool *ret, struct http_error *err)
{
    const json_t *v = json_object_get(item->json, name);
    *ret = json_is_true(v);
    return !v || json_is_boolean(v) || http_error_set(err, 400, "bad_request", "%s must be true or false", name);
}

static bool read_labels(const struct body_item *item, const char *name, const json_t **ret, struct http_error *err)
{
    *ret = json_object_get(item->json, name);
    return !*ret || json_is_array(*ret) ||
           http_error_set(err, 400, "bad_request", "%s must be an array of labels", name);
}

static bool read_chance(const struct body_item *item, const char *name, double *ret, struct http_error *err)
{
    const json_t *v = json_object_get(item->json, name);
    *ret = json_number_value(v);
    return !v || (json_is_number(v) && *ret > 0 && *ret <= 1) ||
           http_error_set(err, 400, "bad_request", "%s must be above 0 and at most 1", name);
}

/* What decisions of both kinds have. */
static bool read_decision(struct item_predict *ret, struct body_item *item, const struct reading *how,
                          struct http_error *err)
{
    const json_t *event = json_object_get(item->json, "event");
    size_t length = json_string_length(event);
    if (!read_bool(item, "durable", &ret->durable, err) || !read_bool(item, "defer", &ret->deferred, err) ||
        !read_labels(item, "eligible", &ret->eligible, err) || !read_labels(item, "exclude", &ret->exclude, err))
        return false;
    if (event && (!json_is_string(event) || length == 0 || length > GIVEN_ID_MAX))
        return http_error_set(err, 400, "bad_request", "event must be an id of 1 to %d bytes", GIVEN_ID_MAX);
    ret->given_id = json_string_value(event);
    return read_x(&ret->x, item, how, err);
}

bool item_read_predict(struct item_predict *ret, struct body_item *item, const struct reading *how,
                       struct http_error *err)
{
    static const char *const members[] = {"x",
                                          "row",
                                          "scores",
                                          "durable",
                                          "eligible",
                                          "exclude",
                                          "event",
                                          "probabilities",
                                          "defer",
                                          "baseline",
                                          "baseline_probability",
                                          "act_at",
                                          NULL};
    *ret = (struct item_predict){0};
    if (read_plain(&ret->x, item, how->settings))
        return true;
    if (!parse(item, members, err) || !read_bool(item, "scores", &ret->scores, err) ||
        !read_bool(item, "probabilities", &ret->probabilities, err) || !act_at_read(item->json, &ret->act_at, err) ||
        !read_chance(item, "baseline_probability", &ret->baseline_chance, err))
        return false;
    ret->baseline = json_object_get(item->json, "baseline");
    if (ret->baseline && !json_object_get(item->json, "baseline_probability"))
        ret->baseline_chance = 1; /* it is what the application always does */
    return (ret->baseline || !json_object_get(item->json, "baseline_probability") ||
            http_error_set(err, 400, "bad_request", "baseline_probability needs \"baseline\", which is missing")) &&
           read_decision(ret, item, how, err);
}

bool item_read_logged(struct item_predict *ret, struct body_item *item, const struct reading *how,
                      struct http_error *err)
{
    static const char *const members[] = {"x",        "row",     "label", "probability", "durable",
                                          "eligible", "exclude", "event", "defer",       NULL};
    *ret = (struct item_predict){0};
    if (!parse(item, members, err) || !read_chance(item, "probability", &ret->baseline_chance, err))
        return false;
    ret->baseline = json_object_get(item->json, "label");
    return (ret->baseline ||
            http_error_set(err, 400, "bad_request", "\"label\" is missing: the label that was chosen")) &&
           read_decision(ret, item, how, err);
}

bool item_read_example(struct example *ret, struct body_item *item, const struct reading *how, struct http_error *err)
{
    static const char *const members[] = {"x", "row", NULL};
    return read_plain(ret, item, how->settings) || (parse(item, members, err) && read_x(ret, item, how, err));
}

bool item_read_teach(struct item_teach *ret, struct body_item *item, const struct reading *how, struct http_error *err)
{
    static const char *const members[] = {"x", "row", "label", NULL};
    if (!parse(item, members, err))
        return false;
    const json_t *label = json_object_get(item->json, "label"), *row = json_object_get(item->json, "row");
    if (!label && row && how->rows)
        label = row_label(how->rows, row);
    return label_read(label, &ret->label, &ret->label_length, ret->number, err) && read_x(&ret->x, item, how, err);
}

static bool read_id(struct feedback_input *ret, const struct body_item *item, struct http_error *err)
{
    const json_t *id = json_object_get(item->json, "id");
    if (!json_is_string(id))
        return http_error_set(err, 400, "bad_request", "\"id\" of the decision is missing");
    return id_read(json_string_value(id), json_string_length(id), &ret->seq, &ret->key) ||
           http_error_set(err, 404, "unknown_id", "no decision has this id");
}

bool item_read_explain(struct item_explain *ret, struct body_item *item, const struct reading *how,
                       struct http_error *err)
{
    static const char *const members[] = {"x", "row", "id", "label", NULL}, *const of_decision[] = {"id", NULL};
    *ret = (struct item_explain){0};
    if (!parse(item, members, err))
        return false;
    ret->label = json_object_get(item->json, "label");
    ret->decided = json_object_get(item->json, "id") != NULL;
    return ret->decided ? only_members(item->json, of_decision, err) && read_id(&ret->id, item, err)
                        : read_x(&ret->x, item, how, err);
}

bool item_read_activation(struct feedback_input *ret, struct body_item *item, struct http_error *err)
{
    static const char *const members[] = {"id", NULL};
    *ret = (struct feedback_input){.activate = true};
    return parse(item, members, err) && read_id(ret, item, err);
}

bool item_read_feedback(struct feedback_input *ret, char number[24], struct body_item *item, struct http_error *err)
{
    static const char *const members[] = {"id", "right", "label", NULL};
    if (!item->json && json_fast_feedback(ret, item->text, item->length))
        return true;
    if (!parse(item, members, err))
        return false;
    const json_t *right = json_object_get(item->json, "right"), *label = json_object_get(item->json, "label");
    if (!read_id(ret, item, err))
        return false;
    if (!!right == !!label)
        return http_error_set(err, 400, "bad_request", "give either \"right\" or the true \"label\"");
    if (right && !json_is_boolean(right))
        return http_error_set(err, 400, "bad_request", "\"right\" must be true or false");
    ret->right = json_is_true(right);
    ret->labelled = label != NULL;
    return !label || label_read(label, &ret->label, &ret->label_length, number, err);
}

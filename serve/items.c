/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "items.h"

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
            return http_error_set(err, 400, "bad_request", "there is no member \"%.100s\" here", key);
    }
    return true;
}

static bool parse(struct body_item *item, const char *const *members, struct http_error *err)
{
    return body_item_parse(item, err) && only_members(item->json, members, err);
}

static size_t most_features(const struct body_item *item, const struct settings *settings)
{
    size_t most = item->body->limits->features;
    return most < settings->bounds.features ? most : settings->bounds.features;
}

/* Made into an example that could have been sent instead, and read as such: so will the log. */
static bool read_row(struct example *ret, const struct body_item *item, const struct reading *how, const json_t *row,
                     struct http_error *err)
{
    struct text x = {0}, unknown = {0};
    if (!how->rows)
        return http_error_set(err, 400, "no_schema", "this model has no schema: send features, \"x\"");
    bool ok = row_read(how->rows, row, &x, &unknown, err) && example_parse(ret, x.data, x.length, how->settings, err);
    if (!ok) {
        text_free(&x);
        text_free(&unknown);
        return false;
    }
    ret->printed = x.data;
    ret->unknown = unknown.data;
    if (ret->n <= most_features(item, how->settings))
        return true;
    example_free(ret);
    return http_error_set(err, 413, "too_many_features", "the row has more than %zu features",
                          most_features(item, how->settings));
}

static bool read_x(struct example *ret, const struct body_item *item, const struct reading *how, struct http_error *err)
{
    const json_t *x = json_object_get(item->json, "x"), *row = json_object_get(item->json, "row");
    const struct settings *settings = how->settings;
    if (!!x == !!row)
        return http_error_set(err, 400, "bad_request", "give either \"x\", the example, or \"row\", cells of a table");
    if (row)
        return read_row(ret, item, how, row, err);
    if (!example_read(ret, x, settings, most_features(item, settings), err))
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
    if (ret->n <= most_features(item, settings))
        return true;
    example_free(ret);
    return false;
}

bool item_read_predict(struct item_predict *ret, struct body_item *item, const struct reading *how,
                       struct http_error *err)
{
    static const char *const members[] = {"x", "row", "scores", "durable", NULL};
    *ret = (struct item_predict){0};
    if (read_plain(&ret->x, item, how->settings))
        return true;
    if (!parse(item, members, err))
        return false;
    const json_t *scores = json_object_get(item->json, "scores"), *durable = json_object_get(item->json, "durable");
    if ((scores && !json_is_boolean(scores)) || (durable && !json_is_boolean(durable)))
        return http_error_set(err, 400, "bad_request", "scores and durable are true or false");
    ret->scores = json_is_true(scores);
    ret->durable = json_is_true(durable);
    return read_x(&ret->x, item, how, err);
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

bool item_read_feedback(struct said *ret, char number[24], struct body_item *item, struct http_error *err)
{
    static const char *const members[] = {"id", "right", "label", NULL};
    if (!item->json && json_fast_feedback(ret, item->text, item->length))
        return true;
    if (!parse(item, members, err))
        return false;
    const json_t *id = json_object_get(item->json, "id"), *right = json_object_get(item->json, "right"),
                 *label = json_object_get(item->json, "label");
    if (!json_is_string(id))
        return http_error_set(err, 400, "bad_request", "\"id\" is missing: that of the decision");
    if (!id_read(json_string_value(id), json_string_length(id), &ret->seq, &ret->key))
        return http_error_set(err, 404, "unknown_id", "no decision has this id");
    if (!!right == !!label)
        return http_error_set(err, 400, "bad_request", "give either \"right\" or the true \"label\"");
    if (right && !json_is_boolean(right))
        return http_error_set(err, 400, "bad_request", "\"right\" is true or false");
    ret->right = json_is_true(right);
    ret->labelled = label != NULL;
    return !label || label_read(label, &ret->label, &ret->label_length, number, err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Examples that a model begins with: in the request that makes it, a label may be
 * {"name":...,"description":...,"examples":[...]}, each example {"x":...}, {"row":...} or {"text":...}. They become lessons in the
 * model's log. Of models that read texts, name and description together are an example, the first. The first example of
 * every label comes first, then the second ones: learners that go by what came last are not led astray.
 */
#include <stdlib.h>
#include <string.h>

#include "event/items.h"
#include "http/server.h"

/* NULL: it does not have them. */
struct label_parts {
    json_t *name, *description, *examples;
};

/* false: it is no label. */
static bool label_split(json_t *label, struct label_parts *ret, struct http_error *err)
{
    *ret = (struct label_parts){.name = label};
    if (!json_is_object(label))
        return true;
    ret->name = json_object_get(label, "name");
    ret->description = json_object_get(label, "description");
    ret->examples = json_object_get(label, "examples");
    if (!ret->name || json_object_size(label) != 1 + (size_t) !!ret->examples + !!ret->description ||
        (ret->examples && !json_is_array(ret->examples)) || (ret->description && !json_is_string(ret->description)))
        return http_error_set(err, 400, "bad_label",
                              "a label must be a name or {\"name\":...,\"description\":\"...\",\"examples\":[...]}");
    return true;
}

/* Its column is known when the model is there. */
static bool description_add(json_t *lessons, const struct label_parts *l, struct http_error *err)
{
    const char *name = json_string_value(l->name);
    json_t *lesson =
        json_pack("{s:o, s:O}", "text", json_sprintf("%s %s", name ? name : "", json_string_value(l->description)),
                  "label", l->name);
    return (lesson && json_array_append_new(lessons, lesson) == 0) || http_error_no_memory(err);
}

/* A lesson as POST .../teach takes it. */
static bool lesson_add(json_t *lessons, const json_t *example, json_t *name, struct http_error *err)
{
    if (!json_is_object(example) || json_object_get(example, "label"))
        return http_error_set(err, 400, "bad_request",
                              "an example must be {\"x\":...}, {\"row\":...} or {\"text\":\"...\"}");
    json_t *lesson = json_copy((json_t *)example);
    if (!lesson || json_object_set(lesson, "label", name) || json_array_append_new(lessons, lesson))
        return http_error_no_memory(err);
    return true;
}

bool examples_take(json_t *request, size_t max, json_t **ret_lessons, struct http_error *err)
{
    json_t *labels = json_object_get(request, "labels"), *names = json_array(), *lessons = json_array();
    struct label_parts l;
    bool ok = (names && lessons) || http_error_no_memory(err), more = ok;
    for (size_t i = 0; ok && i < json_array_size(labels); i++)
        ok = label_split(json_array_get(labels, i), &l, err) &&
             (json_array_append(names, l.name) == 0 || http_error_no_memory(err)) &&
             (!l.description || description_add(lessons, &l, err));
    for (size_t turn = 0; ok && more; turn++) {
        more = false;
        for (size_t i = 0; ok && i < json_array_size(labels); i++) {
            label_split(json_array_get(labels, i), &l, err);
            if (turn < json_array_size(l.examples)) {
                more = true;
                ok = lesson_add(lessons, json_array_get(l.examples, turn), l.name, err);
            }
        }
    }
    if (ok && json_array_size(lessons) > max)
        ok = http_error_set(err, 413, "too_many_items", "more than %zu examples; send the others to teach", max);
    if (ok && json_is_array(labels))
        ok = json_object_set(request, "labels", names) == 0 || http_error_no_memory(err);
    json_decref(names);
    *ret_lessons = ok ? lessons : NULL;
    if (!ok)
        json_decref(lessons);
    return ok;
}

/* Texts stand in a row's column; other examples are as they should be. */
static json_t *lesson_row(const struct row_reader *rows, const json_t *lesson, struct http_error *err)
{
    json_t *text = json_object_get(lesson, "text");
    const char *column = text && rows ? row_text_column(rows) : NULL;
    if (!text)
        return json_incref((json_t *)lesson);
    if (!json_is_string(text) || json_object_size(lesson) != 2)
        http_error_set(err, 400, "bad_request", "an example must be {\"x\":...}, {\"row\":...} or {\"text\":\"...\"}");
    else if (!column)
        http_error_set(err, 400, "no_text", "this model's schema has no text column, so an example cannot be a text");
    if (err->status)
        return NULL;
    json_t *row = json_pack("{s:{s:O}, s:O}", "row", column, text, "label", json_object_get(lesson, "label"));
    if (!row)
        http_error_no_memory(err);
    return row;
}

/* Reads a lesson and teaches it; teach NULL: it is only looked at. */
static bool lesson_do(const json_t *lesson, const struct limits *limits, const struct reading *how,
                      struct request *teach, struct http_error *err)
{
    struct body body = {.form = BODY_ONE, .limits = limits};
    struct body_item item = {lesson_row(how->rows, lesson, err), "", 0, &body};
    struct item_teach t;
    bool ok = item.json && item_read_teach(&t, &item, how, err);
    if (ok) {
        ok = !teach || model_teach(teach->model, &t.x, t.label, t.label_length, &teach->ticket, err);
        example_free(&t.x);
    }
    body_item_free(&item);
    return ok;
}

bool examples_check(const json_t *request, const json_t *lessons, const struct limits *limits, struct http_error *err)
{
    struct settings s;
    struct row_reader *rows = NULL;
    if (!json_array_size(lessons))
        return true;
    if (!settings_read(&s, request, limits, err))
        return false;
    bool ok = !s.schema || row_reader_new(&rows, s.schema, err);
    struct reading how = {&s, rows};
    for (size_t i = 0; ok && i < json_array_size(lessons); i++)
        ok = lesson_do(json_array_get(lessons, i), limits, &how, NULL, err);
    row_reader_free(rows);
    settings_free(&s);
    return ok;
}

bool examples_teach(struct request *r, const json_t *lessons)
{
    pthread_mutex_lock(&r->model->lock);
    const struct counts *n = &r->model->state.counts;
    uint64_t there = n->decisions ? UINT64_MAX : n->lessons; /* a request that was cut short goes on */
    pthread_mutex_unlock(&r->model->lock);
    struct reading how = model_reading(r->model);
    bool ok = model_usable(r->model, &r->error);
    for (size_t i = 0; ok && i < json_array_size(lessons); i++)
        ok = i < there || lesson_do(json_array_get(lessons, i), &r->server->options->limits, &how, r, &r->error);
    return ok;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Models as things: made, listed, described, changed, deleted, copied. */
#include <stdlib.h>
#include <string.h>

#include "model/backup.h"
#include "event/body.h"
#include "util/files.h"
#include "util/log.h"
#include "http/server.h"

static json_t *read_object(struct request *r)
{
    json_t *json =
        json_read(r->body.data ? r->body.data : "", r->body.length, r->server->options->limits.depth, &r->error);
    if (json && !json_is_object(json)) {
        json_decref(json);
        json = NULL;
        http_error_set(&r->error, 400, "bad_request", "the body must be a JSON object");
    }
    return json;
}

void api_models(struct request *r)
{
    size_t n, open;
    struct registry *from = &r->server->registry;
    struct model_name *names = registry_names(from, &n);
    struct model **all = registry_all(from, &open), **at = all;
    text_puts(&r->reply, "{\"models\":[");
    for (size_t i = 0; i < n; i++) {
        while (at < all + open && strcmp((*at)->name, names[i].name) < 0)
            at++;
        text_add(&r->reply, ",", i > 0);
        if (at < all + open && strcmp((*at)->name, names[i].name) == 0)
            describe_model(*at, &r->reply);
        else
            text_printf(&r->reply, "{\"name\":\"%s\",\"status\":\"on_disk\"}", names[i].name);
    }
    for (size_t i = 0; i < open; i++)
        registry_put(from, all[i]);
    free(names);
    text_puts(&r->reply, "]}\n");
    free(all);
}

void api_model(struct request *r)
{
    if (!request_model(r))
        return;
    describe_model(r->model, &r->reply);
    text_puts(&r->reply, "\n");
}

static void finish_description(struct request *r)
{
    describe_model(r->model, &r->reply);
    text_puts(&r->reply, "\n");
}

/* A description in JSON, or a model file. */
void api_create(struct request *r)
{
    struct registry *all = &r->server->registry;
    bool made = true, file = r->body.length >= 8 && memcmp(r->body.data, "HUNCHMDL", 8) == 0;
    json_t *json = file ? NULL : read_object(r), *lessons = NULL;
    struct group *g = r->server->group;
    const struct limits *limits = &r->server->options->limits;
    if (json && (!examples_take(json, limits->batch, &lessons, &r->error) ||
                 !examples_check(json, lessons, limits, &r->error))) { /* before there is a model */
        json_decref(json);
        json_decref(lessons);
        return;
    }
    bool ok = file ? registry_import(all, r->part[0], r->body.data, r->body.length, &r->error)
                   : json && (g ? group_create_model(g, r->part[0], json, &made, &r->error)
                                : registry_create(all, r->part[0], json, &made, &r->error));
    json_decref(json);
    ok = ok && request_model(r) && examples_teach(r, lessons);
    json_decref(lessons);
    if (!ok)
        return;
    r->status = made ? 201 : 200;
    r->finish = finish_description;
}

void api_delete(struct request *r)
{
    struct group *g = r->server->group;
    if (g ? group_delete_model(g, r->part[0], &r->error) : registry_delete(&r->server->registry, r->part[0], &r->error))
        text_puts(&r->reply, "{\"result\":\"deleted\"}\n");
}

/* ?nth=2: of several of the name, the one deleted before the last. */
void api_undelete(struct request *r)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "nth");
    char *end = NULL;
    unsigned long nth = text && *text >= '1' && *text <= '9' ? strtoul(text, &end, 10) : !text;
    if (nth == 0 || nth > 1000 || (end && *end))
        http_error_set(&r->error, 400, "bad_request", "nth must be from 1 to 1000; 1 is the model deleted last");
    else if (registry_undelete(&r->server->registry, r->part[0], (unsigned)nth, &r->error) && request_model(r)) {
        describe_model(r->model, &r->reply);
        text_puts(&r->reply, "\n");
    }
}

void api_backup(struct request *r)
{
    if (!backup_write(&r->server->registry, &r->reply_fd, &r->reply_size, &r->error))
        return;
    r->type = "application/x-tar";
}

static void finish_labels(struct request *r)
{
    text_printf(&r->reply, "{\"added\":%zu,\"labels\":%zu}\n", (size_t)r->unfinished, model_labels(r->model));
}

struct label_list {
    struct label_text *label;
    char (*number)[24]; /* texts of those that were given as numbers */
};

/* A wrong one changes nothing, wherever it stands: all are looked at before the first is added. */
static bool read_labels(struct request *r, const json_t *labels, size_t n, const struct label_list *l)
{
    for (size_t i = 0; i < n; i++)
        if (!label_read(json_array_get(labels, i), &l->label[i].text, &l->label[i].length, l->number[i], &r->error))
            return false;
    return true;
}

static bool add_labels(struct request *r, const json_t *labels)
{
    size_t added = 0, n = json_array_size(labels);
    struct label_list l = {calloc(n, sizeof *l.label), calloc(n, sizeof *l.number)};
    bool ok = (l.label && l.number) || http_error_no_memory(&r->error);
    ok = ok && read_labels(r, labels, n, &l) && model_add_labels(r->model, l.label, n, &added, &r->ticket, &r->error);
    free(l.label);
    free(l.number);
    if (!ok)
        return false;
    r->unfinished = (void *)added;
    r->finish = finish_labels; /* how many there are is known when they have been applied */
    return true;
}

void api_labels(struct request *r)
{
    json_t *json = request_model(r) ? read_object(r) : NULL;
    if (!json)
        return;
    const json_t *labels = json_object_get(json, "labels");
    if (!json_is_array(labels) || json_array_size(labels) == 0 || json_object_size(json) != 1)
        http_error_set(&r->error, 400, "bad_request", "give {\"labels\":[\"name\",...]}");
    else
        add_labels(r, labels);
    json_decref(json);
}

/* {"retire":[...],"restore":[...]}: labels; {"decides":...,"control":...}: the policy. */
static bool change(struct request *r, const json_t *json)
{
    const json_t *retire = json_object_get(json, "retire"), *restore = json_object_get(json, "restore");
    size_t policy = (size_t) !!json_object_get(json, "decides") + (size_t) !!json_object_get(json, "control");
    if (json_object_size(json) == 0 || json_object_size(json) != policy + !!retire + !!restore ||
        (retire && !json_is_array(retire)) || (restore && !json_is_array(restore)))
        return http_error_set(&r->error, 400, "bad_request",
                              "give one or more of \"retire\":[\"label\",...], \"restore\", \"decides\", \"control\"");
    return model_set_policy(r->model, json, &r->ticket, &r->error) &&
           model_retire(r->model, restore, false, &r->ticket, &r->error) &&
           model_retire(r->model, retire, true, &r->ticket, &r->error);
}

void api_change(struct request *r)
{
    json_t *json = request_model(r) ? read_object(r) : NULL;
    if (json && change(r, json))
        r->finish = finish_description;
    json_decref(json);
}

/* {"seq":n} or {"id":"..."}: which event. */
static bool read_event(const json_t *json, uint64_t *ret_seq, struct http_error *err)
{
    const json_t *seq = json_object_get(json, "seq"), *id = json_object_get(json, "id");
    uint64_t key;
    if (json_object_size(json) != 1 ||
        (seq ? !json_is_integer(seq) || json_integer_value(seq) < 1 : !json_is_string(id)))
        return http_error_set(err, 400, "bad_request", "give either {\"seq\":n} or {\"id\":\"...\"}");
    if (seq)
        *ret_seq = (uint64_t)json_integer_value(seq);
    return seq || id_read(json_string_value(id), json_string_length(id), ret_seq, &key) ||
           http_error_set(err, 404, "unknown_id", "no decision has this id");
}

void api_exclude(struct request *r)
{
    uint64_t seq = 0;
    json_t *json = request_model(r) ? read_object(r) : NULL;
    bool ok = json && read_event(json, &seq, &r->error) && model_exclude(r->model, seq, &r->error);
    json_decref(json);
    if (!ok)
        return;
    log_event("event_excluded", "{s:s,s:I}", "model", r->model->name, "seq", (json_int_t)seq);
    r->status = 202;
    text_printf(&r->reply, "{\"seq\":%llu,\"result\":\"rebuilding\"}\n", (unsigned long long)seq);
}

/* --- the table of learners --- */

static void write_setting(const hunch_setting *s, struct text *t)
{
    static const char *const kinds[] = {"real", "integer", "choice", "text"};
    text_printf(t, "{\"name\":\"%s\",\"kind\":\"%s\",\"default\":", s->name, kinds[s->kind]);
    text_quote(t, s->fallback, strlen(s->fallback));
    if (s->kind == HUNCH_REAL || s->kind == HUNCH_INTEGER) {
        text_puts(t, ",\"low\":");
        text_number(t, s->low);
        text_puts(t, ",\"high\":");
        text_number(t, s->high);
    }
    for (size_t i = 0; s->kind == HUNCH_CHOICE && s->choices[i]; i++) {
        text_puts(t, i ? "," : ",\"choices\":[");
        text_quote(t, s->choices[i], strlen(s->choices[i]));
        if (!s->choices[i + 1])
            text_puts(t, "]");
    }
    text_puts(t, ",\"help\":");
    text_quote(t, s->help, strlen(s->help));
    text_puts(t, "}");
}

static void write_settings(const hunch_setting *s, struct text *t)
{
    text_puts(t, "[");
    for (size_t i = 0; s && s[i].name; i++) {
        text_add(t, ",", i > 0);
        write_setting(&s[i], t);
    }
    text_puts(t, "]");
}

void api_learners(struct request *r)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    struct text *t = &r->reply;
    text_puts(t, "{\"default\":");
    text_quote(t, hunch_default_learner(), strlen(hunch_default_learner()));
    text_puts(t, ",\"learners\":[");
    for (size_t i = 0; i < n; i++) {
        text_puts(t, i ? ",{\"name\":" : "{\"name\":");
        text_quote(t, all[i]->name, strlen(all[i]->name));
        text_puts(t, ",\"title\":");
        text_quote(t, all[i]->title, strlen(all[i]->title));
        text_puts(t, ",\"paper\":");
        text_quote(t, all[i]->paper ? all[i]->paper : "", all[i]->paper ? strlen(all[i]->paper) : 0);
        text_printf(t, ",\"full_information\":%s,\"settings\":", all[i]->full_information ? "true" : "false");
        write_settings(all[i]->settings, t);
        text_puts(t, "}");
    }
    text_puts(t, "],\"common_settings\":");
    write_settings(hunch_common_settings(), t);
    text_puts(t, "}\n");
}

/* --- snapshots --- */

void api_snapshot(struct request *r)
{
    if (request_model(r) && model_copy(r->model, &r->reply_fd, &r->reply_seq, &r->reply_size, &r->error) &&
        file_hash(r->reply_fd, r->reply_size, &r->reply_hash, &r->error))
        r->type = "application/octet-stream";
}

void api_take_snapshot(struct request *r)
{
    if (!request_model(r) || !model_snapshot(r->model, &r->error))
        return;
    pthread_mutex_lock(&r->model->lock);
    uint64_t seq = r->model->snapshot_seq;
    pthread_mutex_unlock(&r->model->lock);
    text_printf(&r->reply, "{\"seq\":%llu}\n", (unsigned long long)seq);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of a group: made and deleted for requests, which wait until this node has done it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/group_parts.h"
#include "util/log.h"

#define CREATE_NS INT64_C(20000000000)

static bool served(struct group *g, const char *name, bool *ret_there)
{
    struct model *m = registry_get(g->registry, name);
    *ret_there = m != NULL;
    bool usable = m && !m->broken[0];
    if (m)
        registry_put(g->registry, m);
    return usable;
}

/* A model that this node made would be one that the others can't apply. */
static bool fits_in(struct group *g, struct http_error *err)
{
    size_t n;
    struct model **all = registry_all(g->registry, &n);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        if (ok && all[i]->shared && all[i]->shared->misfit)
            ok = http_error_set(err, 503, "stopped",
                                "this node creates no models, because it has stopped: model %s: %.150s", all[i]->name,
                                all[i]->shared->stopped);
        registry_put(g->registry, all[i]);
    }
    free(all);
    return ok;
}

static bool await(struct group *g, const char *name, struct http_error *err)
{
    bool there;
    for (int64_t until = clock_now() + CREATE_NS; !served(g, name, &there); clock_sleep_ms(5))
        if (clock_now() > until)
            return http_error_set(err, 503, "not_durable", "the creation is not certain yet: repeat the request");
    return true;
}

static bool send_creation(struct group *g, const char *name, const struct settings *settings, char topic[250],
                          struct http_error *err)
{
    struct text t = {0};
    settings_write(settings, &t);
    bool ok = (!t.failed || http_error_no_memory(err)) && entry_send(g, name, t.data, 0, topic, err);
    text_free(&t);
    return ok;
}

/* The settings are spelled out in full, so that every node makes the same model. topic: that of the model, if it is
 * this creation that counts; another one has been read already: empty. */
static bool create(struct group *g, const char *name, struct settings *settings, char topic[250],
                   struct http_error *err)
{
    struct model_state state;
    if (!group_serves(g, name))
        return http_error_set(err, 400, "elsewhere", "models of this name are served by other nodes (--models %s)",
                              g->options->models);
    pthread_mutex_lock(&g->lock);
    bool coming = entry_find(g, name) != NULL, settled = g->settled;
    pthread_mutex_unlock(&g->lock);
    topic[0] = 0;
    if (coming)
        return await(g, name, err);
    if (!registry_may_add(g->registry, err) || !fits_in(g, err))
        return false;
    if (!settled) { /* it is not known yet what the group has, nor whether this node computes alike */
        http_error_set(err, 503, "joining", "the group's topics have not been read yet: repeat the request");
        err->retry = 1;
        return false;
    }
    if (!state_new(&state, settings, err))
        return false;
    bool ok = send_creation(g, name, &state.settings, topic, err) && await(g, name, err);
    state_free(&state);
    return ok;
}

/* Several nodes may have been asked at once: the first creation counts, and this request is compared with that model.
 */
static bool agrees(struct group *g, const char *name, const json_t *request, struct http_error *err)
{
    struct settings asked;
    if (!registry_settings(g->registry, name, request, &asked, err))
        return false;
    struct model *m = registry_get(g->registry, name);
    bool ok = m ? registry_agrees(m, &asked, request, err)
                : http_error_set(err, 503, "not_durable", "the model was deleted meanwhile: repeat the request");
    settings_free(&asked);
    if (m)
        registry_put(g->registry, m);
    return ok;
}

static bool has_topic(struct group *g, const char *name, const char *topic)
{
    struct model *m = registry_get(g->registry, name);
    bool same = m && m->store.shared.topic && strcmp(m->store.shared.topic, topic) == 0;
    if (m)
        registry_put(g->registry, m);
    return same;
}

bool group_create_model(struct group *g, const char *name, const json_t *request, bool *ret_made,
                        struct http_error *err)
{
    char topic[250] = "";
    struct settings asked;
    struct http_error ignored;
    struct model *m = registry_get(g->registry, name);
    bool there = m != NULL;
    if (m)
        registry_put(g->registry, m);
    *ret_made = false;
    if (there)
        return agrees(g, name, request, err);
    if (!registry_settings(g->registry, name, request, &asked, err))
        return false;
    bool ok = create(g, name, &asked, topic, err);
    settings_free(&asked);
    *ret_made = ok && has_topic(g, name, topic);
    if (ok && !*ret_made && topic[0])
        kafka_topic_delete(g->kafka, topic, &ignored);
    if (ok && *ret_made)
        log_event("model_created", "{s:s,s:b}", "model", name, "from_file", 0);
    return ok && (*ret_made || agrees(g, name, request, err));
}

bool group_delete_model(struct group *g, const char *name, struct http_error *err)
{
    char key[NAME_MAX_BYTES + 20], topic[250];
    pthread_mutex_lock(&g->lock);
    const struct entry *e = entry_find(g, name);
    if (e) {
        snprintf(key, sizeof key, "%s/%s", e->name, e->id);
        snprintf(topic, sizeof topic, "%s", e->topic);
    }
    pthread_mutex_unlock(&g->lock);
    if (!e)
        return http_error_set(err, 404, "unknown_model", "there is no model \"%s\"", name);
    if (!kafka_send(g->kafka, g->models_topic, key, NULL, 0, err))
        return false;
    int64_t until = clock_now() + CREATE_NS;
    for (bool there = true; there; clock_sleep_ms(5)) {
        served(g, name, &there);
        if (clock_now() > until)
            return http_error_set(err, 503, "not_durable", "the deletion is not certain yet: repeat the request");
    }
    struct http_error ignored; /* a topic that stays costs room, nothing else */
    if (!kafka_topic_delete(g->kafka, topic, &ignored))
        log_event("topic_left", "{s:s,s:s}", "topic", topic, "reason", ignored.message);
    return true;
}

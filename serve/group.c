/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that follows the group's topics and sees to it that this node has the models it is to serve. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "body.h"
#include "files.h"
#include "group_parts.h"
#include "log.h"
#include "shared.h"
#include "store_shared.h"

#define CREATE_NS INT64_C(20000000000)
#define FEW_EVENTS 20000 /* a journal so short is read from its beginning rather than asking another node */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static bool served_here(const struct group *g, const char *name)
{
    return !g->options->models || fnmatch(g->options->models, name, 0) == 0;
}

/* --- a model that is missing --- */

static bool make_empty(struct group *g, const struct entry *e, const char *folder, struct http_error *err)
{
    struct settings s;
    json_t *json = json_read(e->settings, strlen(e->settings), 8, err);
    bool ok = json && settings_read(&s, json, &g->options->limits, err);
    json_decref(json);
    if (!ok)
        return false;
    dirs_remove(folder);
    ok = model_create(folder, e->name, &(struct model_source){.settings = &s}, e->created_ms, err) &&
         store_share(folder, e->topic, e->arithmetic, err);
    settings_free(&s);
    return ok;
}

/* The addresses of other nodes that were heard of lately. */
static size_t peers(struct group *g, char *ret[16])
{
    size_t n = 0;
    pthread_mutex_lock(&g->lock);
    for (const struct node *p = g->node_list; p && n < 16; p = p->next)
        if (strcmp(p->name, g->kafka->settings.node) && clock_now() - p->heard_ns < INT64_C(60000000000))
            if ((ret[n] = strdup(p->url)))
                n++;
    pthread_mutex_unlock(&g->lock);
    return n;
}

/* The log that came must be this model's, and the journal must go on from where it ends. */
static bool fits(struct group *g, const struct entry *e, const char *folder, struct http_error *err)
{
    struct event_store store;
    int64_t first, end;
    if (!event_store_open(&store, folder, false, err))
        return false;
    bool same = store.shared.topic && strcmp(store.shared.topic, e->topic) == 0;
    int64_t offset = (int64_t)store.shared.offset;
    event_store_close(&store);
    if (!same)
        return http_error_set(err, 503, "copy", "the other node has another model of this name");
    return kafka_topic_ends(g->kafka, e->topic, &first, &end, err) &&
           ((offset >= first && offset <= end) ||
            http_error_set(err, 503, "gone", "the journal no longer goes back to the copy (offset %lld, first %lld)",
                           (long long)offset, (long long)first));
}

static bool from_peer(struct group *g, const struct entry *e, const char *folder, struct http_error *err)
{
    char *urls[16];
    size_t n = peers(g, urls);
    bool ok = false;
    if (!n)
        http_error_set(err, 503, "copy", "no other node has been heard of");
    for (size_t i = 0; i < n; i++) {
        int64_t start = clock_now();
        struct http_error why = {0};
        if (!ok) {
            ok = copy_fetch(urls[i], g->kafka->settings.token, e->name, folder, &why) && fits(g, e, folder, &why);
            if (ok)
                log_event("copy_taken", "{s:s,s:s,s:f}", "model", e->name, "from", urls[i], "seconds",
                          (double)(clock_now() - start) * 1e-9);
            else
                *err = why;
        }
        free(urls[i]);
    }
    return ok;
}

static bool obtain(struct group *g, const struct entry *e, struct http_error *err)
{
    char folder[4096];
    int64_t first, end;
    struct http_error why = {0};
    if (snprintf(folder, sizeof folder, "%s/.new-%s", g->registry->models_dir, e->name) >= (int)sizeof folder)
        return http_error_set(err, 503, "storage", "the path is too long");
    if (strcmp(e->topic, g->adopted) == 0)
        return store_share(folder, e->topic, e->arithmetic, err) && registry_install(g->registry, e->name, folder, err);
    if (!kafka_topic_ends(g->kafka, e->topic, &first, &end, err))
        return false;
    bool whole = first == 0 && e->base == 0, few = whole && end <= FEW_EVENTS;
    bool ok = !few && from_peer(g, e, folder, &why);
    if (!ok && whole)
        ok = make_empty(g, e, folder, &why);
    if (!ok) {
        *err = why;
        dirs_remove(folder);
    }
    return ok && registry_install(g->registry, e->name, folder, err);
}

/* --- what is to be served, and what is --- */

/* A journal that does not keep events for long enough would not let a node come back. */
static void check_retention(struct group *g, const struct entry *e)
{
    struct http_error err = {0};
    struct model *m = registry_get(g->registry, e->name);
    if (!m)
        return;
    int64_t keeps = 0, wanted = m->state.settings.ttl_ms + (g->options->snapshot_s + INT64_C(3600)) * 1000;
    registry_put(g->registry, m);
    if (!kafka_topic_setting(g->kafka, e->topic, "retention.ms", &keeps, &err) || keeps < 0 || keeps >= wanted)
        return;
    log_event("retention_too_short", "{s:s,s:s,s:I,s:I}", "model", e->name, "topic", e->topic, "retention_ms",
              (json_int_t)keeps, "wanted_ms", (json_int_t)wanted);
}

static void entry_note(struct group *g, struct entry *copy, const char *why)
{
    snprintf(copy->waits, sizeof copy->waits, "%.190s", why);
    pthread_mutex_lock(&g->lock);
    struct entry *e = entry_find(g, copy->name);
    bool news = e && strcmp(e->waits, why);
    if (e)
        e->checked = !*why;
    if (news)
        snprintf(e->waits, sizeof e->waits, "%.190s", why);
    pthread_mutex_unlock(&g->lock);
    if (news && *why)
        log_event("model_awaited", "{s:s,s:s}", "model", copy->name, "reason", why);
}

/* The copy here is of no use. Whoever asks meanwhile is told to come back, by /readyz as well. */
static bool put_away(struct group *g, struct entry *e, struct model *m, struct http_error *err)
{
    bool gone = m->shared && m->shared->gone;
    log_event("copy_outdated", "{s:s,s:b}", "model", e->name, "journal_gone", gone);
    entry_note(g, e, "its copy here is outdated, another is being made");
    pthread_mutex_lock(&m->lock);
    m->replaced = true;
    pthread_mutex_unlock(&m->lock);
    return registry_remove(g->registry, e->name, err);
}

static bool fulfil(struct group *g, struct entry *e, struct http_error *err)
{
    struct model *m = registry_get(g->registry, e->name);
    if (m) {
        const char *topic = m->store.shared.topic;
        bool right = topic && strcmp(topic, e->topic) == 0 && !(m->shared && m->shared->gone);
        bool own = !topic && !m->broken[0] && strcmp(e->topic, g->adopted) != 0; /* broken: not even that is known */
        bool ok = right || (!own ? put_away(g, e, m, err)
                                 : http_error_set(err, 503, "not_shared",
                                                  "the state folder has a model of this name of its own"));
        registry_put(g->registry, m);
        if (right || !ok)
            return ok;
    }
    return obtain(g, e, err);
}

static void entries_free(struct entry *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(all[i].settings);
        free(all[i].topic);
    }
    free(all);
}

/* A copy of the list, since the work takes long and the list changes. NULL: out of memory. */
static struct entry *entries_copy(struct group *g, size_t *ret_n)
{
    size_t n = 0, room = 0;
    struct entry *all = calloc(1, sizeof *all);
    bool ok = all != NULL;
    pthread_mutex_lock(&g->lock);
    for (const struct entry *e = g->entries; ok && e; e = e->next) {
        ok = array_reserve(&all, &room, n + 1, sizeof *all);
        if (!ok)
            break;
        all[n] = *e;
        all[n].settings = strdup(e->settings);
        all[n].topic = strdup(e->topic);
        ok = all[n].settings && all[n].topic;
        n++;
    }
    pthread_mutex_unlock(&g->lock);
    if (!ok) {
        entries_free(all, n);
        return NULL;
    }
    *ret_n = n;
    return all;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* A model of this folder that the group does not have. One that was deleted goes; any other stays as it is, for this
 * may be the wrong cluster. */
static void without_entry(struct group *g, struct model *m)
{
    struct http_error err = {0};
    pthread_mutex_lock(&g->lock);
    bool deleted = topic_deleted(g, m->store.shared.topic);
    pthread_mutex_unlock(&g->lock);
    if (deleted) {
        if (registry_remove(g->registry, m->name, &err))
            log_event("model_deleted_by_group", "{s:s}", "model", m->name);
        return;
    }
    pthread_mutex_lock(&m->lock);
    bool news = !m->shared->stopped[0];
    snprintf(m->shared->stopped, sizeof m->shared->stopped,
             "the group has no such model: another cluster, or one that has lost its topics?");
    pthread_mutex_unlock(&m->lock);
    if (news)
        log_event("model_unknown_to_group", "{s:s}", "model", m->name);
}

/* entries: by name. One that has come meanwhile is found in the list. */
static void check_known(struct group *g, const struct entry *entries, size_t entries_n)
{
    size_t n;
    struct model **all = registry_all(g->registry, &n);
    for (size_t i = 0; i < n; i++) {
        struct entry named = {0};
        memcpy(named.name, all[i]->name, sizeof named.name);
        bool there = bsearch(&named, entries, entries_n, sizeof named, by_name) != NULL;
        pthread_mutex_lock(&g->lock);
        there = there || entry_find(g, all[i]->name) != NULL;
        pthread_mutex_unlock(&g->lock);
        if (!there && all[i]->shared && !all[i]->broken[0])
            without_entry(g, all[i]);
        registry_put(g->registry, all[i]);
    }
    free(all);
}

static void reconcile(struct group *g)
{
    size_t n;
    struct entry *all = entries_copy(g, &n);
    for (size_t i = 0; all && i < n && !g->stop; i++) {
        struct entry *e = &all[i];
        struct http_error err = {0};
        if (!served_here(g, e->name))
            continue;
        bool ok = fulfil(g, e, &err);
        if (ok && !e->checked)
            check_retention(g, e);
        if (!ok || !e->checked || e->waits[0])
            entry_note(g, e, ok ? "" : err.message);
    }
    if (all) {
        qsort(all, n, sizeof *all, by_name);
        if (!g->stop)
            check_known(g, all, n);
        entries_free(all, n);
    }
}

/* --- the thread --- */

static bool topics_make(struct group *g, struct http_error *err)
{
    static const char *const models[] = {"cleanup.policy", "compact", "segment.ms", "3600000", NULL};
    static const char *const nodes[] = {"retention.ms",           "3600000",       "segment.ms", "600000",
                                        "message.timestamp.type", "LogAppendTime", NULL};
    return kafka_topic_make(g->kafka, g->models_topic, models, err) &&
           kafka_topic_make(g->kafka, g->nodes_topic, nodes, err) &&
           kafka_reader_open(&g->models, g->kafka, g->models_topic, RD_KAFKA_OFFSET_BEGINNING, err) &&
           kafka_reader_open(&g->nodes, g->kafka, g->nodes_topic, RD_KAFKA_OFFSET_TAIL(100), err);
}

/* True: something came. */
static bool follow(struct group *g, struct kafka_reader *r, void (*read)(struct group *, const rd_kafka_message_t *))
{
    const rd_kafka_message_t *m = NULL;
    struct http_error err = {0};
    bool any = false;
    while (!g->stop && kafka_reader_next(r, any ? 0 : 20, &m, &err) && m) {
        read(g, m);
        any = true;
    }
    if (err.status && strcmp(err.code, "gone") == 0) /* an old place of ours; what is there now is all that counts */
        kafka_reader_seek(r, RD_KAFKA_OFFSET_BEGINNING, &err);
    return any;
}

static void *run(void *group)
{
    struct group *g = group;
    struct http_error err = {0};
    int64_t reconciled = 0;
    while (!g->stop && !topics_make(g, &err)) {
        kafka_reader_close(&g->models);
        kafka_reader_close(&g->nodes);
        pthread_mutex_lock(&g->lock);
        snprintf(g->why, sizeof g->why, "%s", err.message);
        pthread_mutex_unlock(&g->lock);
        pause_ms(500);
    }
    g->models.holes = g->nodes.holes = true;
    while (!g->stop) {
        bool news = follow(g, &g->models, entry_read);
        follow(g, &g->nodes, node_read);
        pthread_mutex_lock(&g->lock);
        bool first = !g->read && g->models.caught_up && g->nodes.caught_up;
        g->read = g->read || first;
        bool read = g->read;
        pthread_mutex_unlock(&g->lock);
        if (read && g->kafka->settings.adopt)
            adopt(g);
        if (read && (news || first || clock_now() - reconciled > 1000000000)) {
            reconcile(g);
            reconciled = clock_now();
            pthread_mutex_lock(&g->lock);
            g->settled = true;
            pthread_mutex_unlock(&g->lock);
        }
        if (read)
            node_announce(g);
    }
    return NULL;
}

/* --- from outside --- */

static bool served(struct group *g, const char *name, bool *ret_there)
{
    struct model *m = registry_get(g->registry, name);
    *ret_there = m != NULL;
    bool usable = m && !m->broken[0];
    if (m)
        registry_put(g->registry, m);
    return usable;
}

bool group_create_model(struct group *g, const char *name, const struct settings *settings, struct http_error *err)
{
    struct text t = {0};
    bool there = false;
    if (!served_here(g, name))
        return http_error_set(err, 400, "elsewhere", "models of this name are served by other nodes (--models %s)",
                              g->options->models);
    settings_write(settings, &t);
    bool ok = (!t.failed || http_error_no_memory(err)) && entry_send(g, name, t.data, 0, NULL, err);
    text_free(&t);
    int64_t until = clock_now() + CREATE_NS;
    while (ok && !served(g, name, &there)) {
        if (clock_now() > until)
            return http_error_set(err, 503, "not_durable", "not certain to be made: ask again");
        pause_ms(5);
    }
    return ok;
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
    for (bool there = true; there; pause_ms(5)) {
        served(g, name, &there);
        if (clock_now() > until)
            return http_error_set(err, 503, "not_durable", "not certain to be deleted: ask again");
    }
    struct http_error ignored; /* a topic that stays costs room, nothing else */
    if (!kafka_topic_delete(g->kafka, topic, &ignored))
        log_event("topic_left", "{s:s,s:s}", "topic", topic, "reason", ignored.message);
    return true;
}

bool group_missing(struct group *g, const char *name, struct http_error *err)
{
    pthread_mutex_lock(&g->lock);
    bool coming = served_here(g, name) && (!g->settled || entry_find(g, name));
    pthread_mutex_unlock(&g->lock);
    if (!coming)
        return http_error_set(err, 404, "unknown_model", "there is no model \"%.*s\"", NAME_MAX_BYTES, name);
    http_error_set(err, 503, "joining", "this node does not have the model yet");
    err->retry = 1;
    return false;
}

static bool model_ready(struct group *g, struct model *m, struct http_error *err)
{
    uint64_t lag;
    double seconds;
    if (!m->shared || m->broken[0])
        return true;
    bool known = shared_lag(m, &lag, &seconds);
    pthread_mutex_lock(&m->lock);
    bool ok =
        !m->shared->stopped[0] || http_error_set(err, 503, "stopped", "model %s: %.150s", m->name, m->shared->stopped);
    pthread_mutex_unlock(&m->lock);
    if (ok && (!known || lag > (uint64_t)g->kafka->settings.lag_events))
        ok = http_error_set(err, 503, "lag", "model %s is %llu events behind", m->name, (unsigned long long)lag);
    return ok;
}

bool group_ready(struct group *g, struct http_error *err)
{
    size_t n;
    if (!kafka_health(g->kafka, err))
        return false;
    pthread_mutex_lock(&g->lock);
    bool ok =
        g->settled || http_error_set(err, 503, "joining", "the group's topics have not been read yet %.150s", g->why);
    for (const struct entry *e = g->entries; ok && e; e = e->next)
        if (e->waits[0])
            ok = http_error_set(err, 503, "joining", "model %s: %.150s", e->name, e->waits);
    pthread_mutex_unlock(&g->lock);
    struct model **all = registry_all(g->registry, &n);
    for (size_t i = 0; i < n; i++) {
        ok = ok && model_ready(g, all[i], err);
        registry_put(g->registry, all[i]);
    }
    free(all);
    return ok;
}

bool group_open(struct group **ret, const struct serve_options *options, struct registry *r,
                struct model_context *context, struct http_error *err)
{
    struct group *g = calloc(1, sizeof *g);
    if (!g)
        return http_error_no_memory(err);
    g->options = options;
    g->registry = r;
    pthread_mutex_init(&g->lock, NULL);
    if (!kafka_open(&g->kafka, options, context->metrics, err)) {
        group_close(g);
        return false;
    }
    snprintf(g->models_topic, sizeof g->models_topic, "%smodels", g->kafka->settings.prefix);
    snprintf(g->nodes_topic, sizeof g->nodes_topic, "%snodes", g->kafka->settings.prefix);
    context->kafka = g->kafka;
    context->hash_events = (uint64_t)g->kafka->settings.hash_events;
    context->wait_ns = g->kafka->settings.wait_ms * 1000000;
    *ret = g;
    return true;
}

bool group_start(struct group *g, const char *listen, struct http_error *err)
{
    const char *url = g->kafka->settings.advertise;
    snprintf(g->url, sizeof g->url, "%s%s",
             url                    ? ""
             : g->options->tls_cert ? "https://"
                                    : "http://",
             url ? url : listen);
    g->runs = pthread_create(&g->thread, NULL, run, g) == 0;
    return g->runs || http_error_set(err, 503, "thread", "no thread could be started");
}

void group_stop(struct group *g)
{
    if (!g || !g->runs)
        return;
    g->stop = true;
    pthread_join(g->thread, NULL);
    g->runs = false;
    kafka_reader_close(&g->models);
    kafka_reader_close(&g->nodes);
}

void group_close(struct group *g)
{
    if (!g)
        return;
    group_stop(g);
    kafka_close(g->kafka, g->options->drain_s);
    while (g->entries) {
        struct entry *next = g->entries->next;
        entry_free(g->entries);
        g->entries = next;
    }
    while (g->tombstones) {
        struct tombstone *next = g->tombstones->next;
        free(g->tombstones);
        g->tombstones = next;
    }
    while (g->node_list) {
        struct node *next = g->node_list->next;
        node_free(g->node_list);
        g->node_list = next;
    }
    pthread_mutex_destroy(&g->lock);
    free(g);
}

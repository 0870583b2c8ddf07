/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that follows the group's topics and sees to it that this node has the models it is to serve. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/pool.h"
#include "event/body.h"
#include "util/files.h"
#include "cluster/group_parts.h"
#include "util/log.h"
#include "storage/store_shared.h"

#define FEW_EVENTS 20000 /* a journal so short is read from its beginning rather than asking another node */

bool group_serves(const struct group *g, const char *name)
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
        if (strcmp(p->name, g->kafka->settings.node) && node_age_ns(g, p) < INT64_C(60000000000))
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
            http_error_set(err, 503, "gone", "the journal begins after the copy (offset %lld, first %lld)",
                           (long long)offset, (long long)first));
}

static bool from_peer(struct group *g, const struct entry *e, const char *folder, struct http_error *err)
{
    char *urls[16];
    size_t n = peers(g, urls);
    bool ok = false;
    if (!n)
        http_error_set(err, 503, "copy", "no other node was found");
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

static void entry_note(struct group *g, struct entry *copy, const char *why)
{
    snprintf(copy->waits, sizeof copy->waits, "%.190s", why);
    pthread_mutex_lock(&g->lock);
    struct entry *e = entry_find(g, copy->name);
    bool changed = e && strcmp(e->waits, why);
    if (e)
        e->opened = !*why;
    if (changed)
        snprintf(e->waits, sizeof e->waits, "%.190s", why);
    pthread_mutex_unlock(&g->lock);
    if (changed && *why)
        log_event("model_awaited", "{s:s,s:s}", "model", copy->name, "reason", why);
}

/* The copy here is of no use. Requests are answered with Retry-After meanwhile, by /readyz as well. */
static bool put_away(struct group *g, struct entry *e, struct model *m, struct http_error *err)
{
    bool gone = m->shared && m->shared->gone;
    log_event("copy_outdated", "{s:s,s:b}", "model", e->name, "journal_gone", gone);
    entry_note(g, e, "its copy here is outdated, another is being made");
    pthread_mutex_lock(&m->lock);
    m->replaced = true;
    pthread_mutex_unlock(&m->lock);
    return registry_delete(g->registry, e->name, err);
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
        if (registry_delete(g->registry, m->name, &err))
            log_event("model_deleted_by_group", "{s:s}", "model", m->name);
        return;
    }
    pthread_mutex_lock(&m->lock);
    bool changed = !m->shared->stopped[0];
    snprintf(m->shared->stopped, sizeof m->shared->stopped,
             "the group has no such model: another cluster, or one that has lost its topics?");
    pthread_mutex_unlock(&m->lock);
    if (changed)
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
        if (!group_serves(g, e->name))
            continue;
        bool ok = fulfil(g, e, &err);
        if (!ok || !e->opened || e->waits[0])
            entry_note(g, e, ok ? "" : err.message);
    }
    if (all) {
        topics_check(g, all, n);
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
        clock_sleep_ms(500);
    }
    g->models.holes = g->nodes.holes = true;
    while (!g->stop) {
        bool changed = follow(g, &g->models, entry_read);
        follow(g, &g->nodes, node_read);
        pthread_mutex_lock(&g->lock);
        bool first = !g->read && g->models.caught_up && g->nodes.caught_up;
        g->read = g->read || first;
        bool read = g->read;
        pthread_mutex_unlock(&g->lock);
        if (read) /* before the models: the record's time tells how old those of others are */
            node_announce(g);
        if (read && g->kafka->settings.adopt)
            adopt(g);
        if (read && (changed || first || clock_now() - reconciled > 1000000000)) {
            reconcile(g);
            reconciled = clock_now();
            pthread_mutex_lock(&g->lock);
            g->settled = true;
            pthread_mutex_unlock(&g->lock);
        }
    }
    return NULL;
}

/* --- from outside --- */

bool group_missing(struct group *g, const char *name, struct http_error *err)
{
    pthread_mutex_lock(&g->lock);
    bool coming = group_serves(g, name) && (!g->settled || entry_find(g, name));
    pthread_mutex_unlock(&g->lock);
    if (!coming)
        return http_error_set(err, 404, "unknown_model", "there is no model \"%.*s\"", NAME_MAX_BYTES, name);
    http_error_set(err, 503, "joining", "this node does not have the model yet");
    err->retry = 1;
    return false;
}

bool group_model_ready(struct group *g, struct model *m, struct http_error *err)
{
    uint64_t lag;
    double seconds;
    char why[100];
    if (m->broken[0] || !m->shared)
        return http_error_set(err, 503, "model_broken", "model %s: %.150s", m->name, m->broken);
    bool known = shared_lag(m, &lag, &seconds);
    pthread_mutex_lock(&m->lock);
    bool ok =
        !m->shared->stopped[0] || http_error_set(err, 503, "stopped", "model %s: %.150s", m->name, m->shared->stopped);
    pthread_mutex_unlock(&m->lock);
    if (ok && kafka_refuses(g->kafka, m->store.shared.topic, why))
        ok = http_error_set(err, 503, "refused", "model %s: its topic refuses records: %.120s", m->name, why);
    if (ok && !known && !g->joined)
        ok = http_error_set(err, 503, "lag", "model %s: its journal has not been read yet", m->name);
    if (ok && lag > (uint64_t)g->kafka->settings.lag_events)
        ok = http_error_set(err, 503, "lag", "model %s is %llu events behind", m->name, (unsigned long long)lag);
    return ok;
}

/* Gives how many of the models that are here are ready; ret_joining: some have not caught up. */
static size_t count_ready(struct group *g, size_t *ret_n, bool *ret_joining, struct http_error *why)
{
    size_t ready = 0;
    struct model **all = registry_all(g->registry, ret_n);
    *ret_joining = false;
    for (size_t i = 0; i < *ret_n; i++) {
        struct http_error err = {0};
        bool ok = group_model_ready(g, all[i], &err);
        ready += ok;
        *ret_joining = *ret_joining || (!ok && strcmp(err.code, "lag") == 0);
        if (!ok)
            *why = err;
        registry_put(g->registry, all[i]);
    }
    free(all);
    return ready;
}

/* A model that can't be served is no reason to send the requests for all others elsewhere: when the node has once
 * caught up, it is ready as long as one of its models is. */
bool group_ready(struct group *g, struct http_error *err)
{
    size_t n, awaited = 0;
    bool joining;
    struct http_error why = {0};
    if (!kafka_health(g->kafka, err))
        return false;
    size_t ready = count_ready(g, &n, &joining, &why);
    pthread_mutex_lock(&g->lock);
    bool ok =
        g->settled || http_error_set(err, 503, "joining", "the group's topics have not been read yet %.150s", g->why);
    for (const struct entry *e = g->entries; e; e = e->next) {
        if (!e->waits[0])
            continue;
        awaited++;
        http_error_set(&why, 503, "joining", "model %s: %.150s", e->name, e->waits);
    }
    if (ok && ((joining && !g->joined) || (ready == 0 && n + awaited > 0))) {
        *err = why;
        ok = false;
    }
    g->joined = g->joined || ok;
    pthread_mutex_unlock(&g->lock);
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
    if (getrandom(&g->run, sizeof g->run, 0) != sizeof g->run) {
        free(g);
        return http_error_set(err, 503, "no_randomness", "the system's random number generator failed");
    }
    if (!kafka_open(&g->kafka, options, context->metrics, err) ||
        !(work_queue_open(&g->cluster.appliers, pool_processors() + 2, apply_work) ||
          http_error_set(err, 503, "thread", "no thread could be started"))) {
        group_close(g);
        return false;
    }
    snprintf(g->models_topic, sizeof g->models_topic, "%smodels", g->kafka->settings.prefix);
    snprintf(g->nodes_topic, sizeof g->nodes_topic, "%snodes", g->kafka->settings.prefix);
    g->cluster.kind = &journal_kafka;
    g->cluster.peers = group_peers;
    g->cluster.peers_context = g;
    g->cluster.journal = g->kafka;
    g->cluster.hash_events = (uint64_t)g->kafka->settings.hash_events;
    g->cluster.wait_ns = g->kafka->settings.wait_ms * 1000000;
    context->cluster = &replication_cluster;
    context->cluster_context = &g->cluster;
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

size_t group_drain(struct group *g, unsigned patience_s)
{
    size_t left = g ? kafka_drain(g->kafka, patience_s) : 0;
    if (g && g->read && left == 0) { /* behind all that it had proposed */
        node_leave(g);
        kafka_drain(g->kafka, patience_s);
    }
    return left;
}

void group_close(struct group *g)
{
    if (!g)
        return;
    group_stop(g);
    work_queue_close(&g->cluster.appliers);
    kafka_close(g->kafka);
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

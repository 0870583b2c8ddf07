/* SPDX-License-Identifier: BSD-3-Clause */
/* Which models the group has: topic PREFIXmodels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/arithmetic.h"
#include "event/body.h"
#include "cluster/group_parts.h"
#include "util/log.h"

/* --- creations --- */

struct entry *entry_find(struct group *g, const char *name)
{
    struct entry *e = g->entries;
    while (e && strcmp(e->name, name))
        e = e->next;
    return e;
}

void entry_free(struct entry *e)
{
    free(e->settings);
    free(e->topic);
    free(e);
}

static bool entry_fill(struct entry *e, const void *bytes, size_t size)
{
    struct http_error ignored = {0};
    json_t *json = json_read(bytes, size, 16, &ignored);
    const char *topic = json_string_value(json_object_get(json, "topic"));
    e->settings = json_dumps(json_object_get(json, "settings"), JSON_COMPACT);
    e->topic = topic ? strdup(topic) : NULL;
    e->created_ms = json_integer_value(json_object_get(json, "created_ms"));
    e->base = (uint64_t)json_integer_value(json_object_get(json, "base"));
    e->arithmetic = (uint64_t)json_integer_value(json_object_get(json, "arithmetic"));
    json_decref(json);
    return e->settings && e->topic;
}

static bool key_read(const rd_kafka_message_t *m, char name[NAME_MAX_BYTES + 1], char id[17])
{
    char key[NAME_MAX_BYTES + 20] = "";
    if (!m->key || m->key_len >= sizeof key)
        return false;
    memcpy(key, m->key, m->key_len);
    char *slash = strchr(key, '/');
    if (!slash || strlen(slash + 1) != 16 || slash - key > NAME_MAX_BYTES)
        return false;
    *slash = 0;
    memcpy(id, slash + 1, 17);
    memcpy(name, key, (size_t)(slash - key) + 1);
    return model_name_ok(name);
}

static void topic_name(const struct group *g, const char *name, const char *id, char ret[250])
{
    snprintf(ret, 250, "%smodel.%s.%s", g->kafka->settings.prefix, name, id);
}

bool topic_deleted(const struct group *g, const char *topic)
{
    char name[250];
    for (const struct tombstone *t = g->tombstones; t; t = t->next) {
        topic_name(g, t->name, t->id, name);
        if (strcmp(name, topic) == 0)
            return true;
    }
    return false;
}

static void entry_remove(struct group *g, const char *name, const char *id)
{
    struct tombstone *t = calloc(1, sizeof *t);
    pthread_mutex_lock(&g->lock);
    if (t) {
        snprintf(t->name, sizeof t->name, "%s", name);
        snprintf(t->id, sizeof t->id, "%s", id);
        t->next = g->tombstones;
        g->tombstones = t;
    }
    for (struct entry **at = &g->entries; *at; at = &(*at)->next) {
        struct entry *e = *at;
        if (strcmp(e->name, name) || strcmp(e->id, id))
            continue;
        *at = e->next;
        entry_free(e);
        break;
    }
    pthread_mutex_unlock(&g->lock);
}

/* Of two creations the first counts; the other is taken out of the topic, or it would come back when the first goes. */
static void entry_add(struct group *g, struct entry *new)
{
    char key[NAME_MAX_BYTES + 20];
    struct http_error ignored;
    pthread_mutex_lock(&g->lock);
    struct entry *there = entry_find(g, new->name), **at = &g->entries;
    bool again = there && strcmp(there->id, new->id) == 0;
    while (*at && !there)
        at = &(*at)->next;
    if (!there)
        *at = new;
    pthread_mutex_unlock(&g->lock);
    if (!there)
        return;
    if (!again) {
        snprintf(key, sizeof key, "%s/%s", new->name, new->id);
        kafka_send(g->kafka, g->models_topic, key, NULL, 0, &ignored);
    }
    entry_free(new);
}

void entry_read(struct group *g, const rd_kafka_message_t *m)
{
    char name[NAME_MAX_BYTES + 1], id[17];
    if (!key_read(m, name, id))
        return;
    if (!m->payload) {
        entry_remove(g, name, id);
        return;
    }
    struct entry *e = calloc(1, sizeof *e);
    if (!e)
        return;
    memcpy(e->name, name, sizeof name);
    memcpy(e->id, id, sizeof id);
    e->offset = m->offset;
    if (entry_fill(e, m->payload, m->len)) {
        entry_add(g, e);
    } else {
        log_event("bad_record", "{s:s,s:I}", "topic", g->models_topic, "offset", (json_int_t)m->offset);
        entry_free(e);
    }
}

/* How long a model's topic must keep events: a node that returns continues from its own snapshot or another node's. */
static int64_t retention_ms(const struct group *g, int64_t ttl_ms)
{
    return ttl_ms + (g->options->snapshot_s + g->kafka->settings.margin_s) * INT64_C(1000);
}

bool entry_send(struct group *g, const char *name, const char *settings, uint64_t base, char ret_topic[250],
                struct http_error *err)
{
    char key[NAME_MAX_BYTES + 20], topic[250], retention[24], bytes[24];
    uint64_t id, arithmetic;
    struct settings s;
    struct text value = {0};
    json_t *json = json_read(settings, strlen(settings), 8, err);
    bool ok = json && settings_read(&s, json, &g->options->limits, err);
    json_decref(json);
    if (!ok)
        return false;
    snprintf(retention, sizeof retention, "%lld", (long long)retention_ms(g, s.ttl_ms));
    snprintf(bytes, sizeof bytes, "%lld", (long long)g->kafka->settings.record_bytes + 1024);
    const char *const config[] = {"cleanup.policy",    "delete",       "message.timestamp.type",
                                  "LogAppendTime",     "retention.ms", retention,
                                  "max.message.bytes", bytes,          NULL};
    ok = arithmetic_of(&s, &arithmetic, err);
    settings_free(&s);
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return http_error_set(err, 503, "no_randomness", "the system's random number generator failed");
    snprintf(key, sizeof key, "%s/%016llx", name, (unsigned long long)id);
    topic_name(g, name, strchr(key, '/') + 1, topic);
    text_printf(&value,
                "{\"topic\":\"%s\",\"created_ms\":%lld,\"created_by\":\"%s\",\"arithmetic\":%llu,\"base\":%llu,", topic,
                (long long)wall_clock_ms(g->registry->context.wall), hunch_version(), (unsigned long long)arithmetic,
                (unsigned long long)base);
    text_puts(&value, "\"settings\":");
    text_puts(&value, settings);
    text_puts(&value, "}");
    struct http_error ignored;
    bool made = ok && (!value.failed || http_error_no_memory(err)) && kafka_topic_make(g->kafka, topic, config, err);
    ok = made && kafka_send(g->kafka, g->models_topic, key, value.data, value.length, err);
    if (made && !ok) /* no node will ever hear of it */
        kafka_topic_delete(g->kafka, topic, &ignored);
    text_free(&value);
    if (ok && ret_topic)
        memcpy(ret_topic, topic, sizeof topic);
    return ok;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the topics keep what the group needs, which an administrator may have set otherwise: looked at when a topic is
 * first used, and every hour; a look that tells nothing is repeated soon. What is wrong is said in the log, in /v1/nodes and as a metric; nothing stops for it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/group_parts.h"
#include "util/log.h"

#define CHECK_NS INT64_C(3600000000000)
#define AGAIN_NS INT64_C(5000000000) /* when the brokers did not answer, or do not know the topic yet */

static void note(struct group *g, const char *topic, char had[TOPIC_PROBLEM], const char *problem)
{
    pthread_mutex_lock(&g->lock);
    bool changed = strcmp(had, problem) != 0;
    snprintf(had, TOPIC_PROBLEM, "%s", problem);
    pthread_mutex_unlock(&g->lock);
    if (changed)
        log_event(*problem ? "topic_settings" : "topic_settings_mended", "{s:s,s:s}", "topic", topic, "problem",
                  problem);
}

/* When a topic counts as looked at, so that the next look is in time. */
static int64_t looked(bool known)
{
    return known ? clock_now() : clock_now() - CHECK_NS + AGAIN_NS;
}

static bool check_own(struct group *g)
{
    const struct topic_rule models[] = {{"cleanup.policy", "compact", 0},
                                        {"min.insync.replicas", NULL, g->kafka->settings.in_sync}};
    const struct topic_rule nodes[] = {{"message.timestamp.type", "LogAppendTime", 0}};
    char problem[TOPIC_PROBLEM];
    struct http_error ignored;
    bool first = kafka_topic_check(g->kafka, g->models_topic, models, 2, problem, &ignored);
    if (first)
        note(g, g->models_topic, g->models_problem, problem);
    bool second = kafka_topic_check(g->kafka, g->nodes_topic, nodes, 1, problem, &ignored);
    if (second)
        note(g, g->nodes_topic, g->nodes_problem, problem);
    return first && second;
}

/* A journal that does not keep events for long enough would not let a node come back. False: that is not known. */
static bool check_model(struct group *g, const struct entry *e)
{
    char problem[TOPIC_PROBLEM];
    struct http_error ignored;
    struct model *m = registry_get(g->registry, e->name);
    if (!m)
        return true;
    int64_t keep = m->state.settings.ttl_ms + (g->options->snapshot_s + INT64_C(3600)) * 1000;
    registry_put(g->registry, m);
    const struct topic_rule rules[] = {{"cleanup.policy", "delete", 0},
                                       {"message.timestamp.type", "LogAppendTime", 0},
                                       {"retention.ms", NULL, keep},
                                       {"retention.bytes", NULL, INT64_MAX},
                                       {"min.insync.replicas", NULL, g->kafka->settings.in_sync},
                                       {"max.message.bytes", NULL, g->kafka->settings.record_bytes}};
    bool known = kafka_topic_check(g->kafka, e->topic, rules, sizeof rules / sizeof *rules, problem, &ignored);
    pthread_mutex_lock(&g->lock);
    struct entry *now = entry_find(g, e->name);
    bool same = now && strcmp(now->topic, e->topic) == 0;
    if (same)
        now->checked_ns = looked(known);
    pthread_mutex_unlock(&g->lock);
    if (same && known) /* only this thread removes entries */
        note(g, e->topic, now->problem, problem);
    return known;
}

void topics_check(struct group *g, const struct entry *entries, size_t n)
{
    int64_t now = clock_now();
    bool known = true; /* else the others wait for the next turn: brokers that do not answer take long */
    if (!g->topics_checked_ns || now - g->topics_checked_ns > CHECK_NS) {
        known = check_own(g);
        g->topics_checked_ns = looked(known);
    }
    for (size_t i = 0; known && i < n && !g->stop; i++)
        if (!entries[i].checked_ns || now - entries[i].checked_ns > CHECK_NS)
            known = check_model(g, &entries[i]);
}

/* Under the lock. Gives how many there are; t NULL: they are counted alone. */
size_t topics_write(const struct group *g, struct text *t)
{
    size_t n = 0;
    const struct entry *e = g->entries;
    for (int own = 0; own < 2 || e; own++) {
        const char *topic = own == 0 ? g->models_topic : own == 1 ? g->nodes_topic : e->topic;
        const char *problem = own == 0 ? g->models_problem : own == 1 ? g->nodes_problem : e->problem;
        if (own >= 2)
            e = e->next;
        if (!*problem)
            continue;
        if (t) {
            text_printf(t, "%s{\"topic\":\"%s\",\"problem\":", n ? "," : "", topic);
            text_quote(t, problem, strlen(problem));
            text_puts(t, "}");
        }
        n++;
    }
    return n;
}

void group_topics(struct group *g, struct text *t)
{
    if (!g)
        return;
    text_puts(t, ",\"topic_problems\":[");
    pthread_mutex_lock(&g->lock);
    topics_write(g, t);
    pthread_mutex_unlock(&g->lock);
    text_puts(t, "]");
}

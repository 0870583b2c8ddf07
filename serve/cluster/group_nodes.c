/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes report about themselves, and what is reported about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/body.h"
#include "cluster/group_parts.h"
#include "util/log.h"

#define ANNOUNCE_NS INT64_C(2000000000)
#define FORGET_NS INT64_C(600000000000)
#define DUPLICATE_NS INT64_C(60000000000)
#define RECENT_NS INT64_C(60000000000)

static void write_model(struct model *m, struct text *t)
{
    uint64_t lag;
    double seconds;
    shared_lag(m, &lag, &seconds);
    pthread_mutex_lock(&m->lock);
    const struct shared *s = m->shared;
    text_printf(
        t,
        "{\"name\":\"%s\",\"origin\":\"%016llx\",\"seq\":%llu,\"offset\":%llu,\"lag\":%llu,\"lag_seconds\":%.3f,\"diverged\":%llu",
        m->name, (unsigned long long)s->origin, (unsigned long long)m->last, (unsigned long long)s->next_offset,
        (unsigned long long)lag, seconds, (unsigned long long)s->diverged);
    if (s->stopped[0]) {
        text_puts(t, ",\"stopped\":");
        text_quote(t, s->stopped, strlen(s->stopped));
    }
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

/* Models that this node has read of and is to serve, but has not opened yet: it may at any moment. */
static void write_opening(struct group *g, struct text *t)
{
    size_t written = 0;
    text_puts(t, "],\"opening\":[");
    pthread_mutex_lock(&g->lock);
    for (const struct entry *e = g->entries; e; e = e->next)
        if (!e->opened && group_serves(g, e->name))
            text_printf(t, "%s\"%s\"", written++ ? "," : "", e->name);
    pthread_mutex_unlock(&g->lock);
}

static void write_self(struct group *g, struct text *t)
{
    size_t n, written = 0, waiting;
    int64_t oldest;
    long long creations = g->models.next; /* of which it knows, when it says which it serves */
    struct model **all = registry_all(g->registry, &n);
    kafka_waiting(g->kafka, &waiting, &oldest);
    text_puts(t, "{\"node\":");
    text_quote(t, g->kafka->settings.node, strlen(g->kafka->settings.node));
    text_puts(t, ",\"url\":");
    text_quote(t, g->url, strlen(g->url));
    text_printf(
        t,
        ",\"run\":\"%016llx\",\"version\":\"%s\",\"time_ms\":%lld,\"unacknowledged\":%zu,\"creations\":%lld,\"models\":[",
        (unsigned long long)g->run, hunch_version(), (long long)wall_clock_ms(g->registry->context.wall), waiting,
        creations);
    for (size_t i = 0; i < n; i++) {
        if (all[i]->shared && !all[i]->broken[0]) {
            text_add(t, ",", written++ > 0);
            write_model(all[i], t);
        }
        registry_put(g->registry, all[i]);
    }
    free(all);
    write_opening(g, t);
    text_puts(t, "]}");
}

void node_announce(struct group *g)
{
    struct text t = {0};
    struct http_error ignored;
    int64_t now = clock_now();
    if (now - g->announced_ns < ANNOUNCE_NS || !g->kafka->up)
        return;
    g->announced_ns = now;
    write_self(g, &t);
    if (!t.failed)
        kafka_send(g->kafka, g->nodes_topic, g->kafka->settings.node, t.data, t.length, &ignored);
    text_free(&t);
}

void node_leave(struct group *g)
{
    struct http_error ignored;
    if (g->kafka->up)
        kafka_send(g->kafka, g->nodes_topic, g->kafka->settings.node, NULL, 0, &ignored);
}

int64_t node_age_ns(const struct group *g, const struct node *n)
{
    int64_t now = clock_now(), by_broker = now - g->newest_ns + (g->newest_ms - n->time_ms) * 1000000;
    return by_broker > now - n->read_ns ? by_broker : now - n->read_ns;
}

void node_free(struct node *n)
{
    free(n->url);
    free(n->text);
    free(n);
}

/* The list's entry of that name, made if need be. */
static struct node *node_named(struct group *g, const char *name, size_t length)
{
    struct node *n = g->node_list;
    while (n && (strncmp(n->name, name, length) || n->name[length]))
        n = n->next;
    if (!n && (n = calloc(1, sizeof *n))) {
        memcpy(n->name, name, length);
        n->next = g->node_list;
        g->node_list = n;
    }
    return n;
}

static void forget_silent(struct group *g)
{
    for (struct node **at = &g->node_list; *at;) {
        struct node *n = *at;
        if (node_age_ns(g, n) < FORGET_NS) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        node_free(n);
        g->cluster.departed_ns = clock_now();
    }
}

static void node_remove(struct group *g, const char *name, size_t length)
{
    struct node **at = &g->node_list;
    while (*at && (strncmp((*at)->name, name, length) || (*at)->name[length]))
        at = &(*at)->next;
    struct node *n = *at;
    if (n) {
        *at = n->next;
        node_free(n);
        g->cluster.departed_ns = clock_now();
    }
}

/* Two nodes of one name would answer for each other. Records of this node's earlier processes come before its own. */
static void check_name(struct group *g, const rd_kafka_message_t *m, const char *run)
{
    char mine[20];
    const char *node = g->kafka->settings.node;
    snprintf(mine, sizeof mine, "%016llx", (unsigned long long)g->run);
    if (strlen(node) != m->key_len || memcmp(node, m->key, m->key_len) != 0 || !run)
        return;
    if (strcmp(run, mine) == 0) {
        g->run_seen = true;
        return;
    }
    if (g->run_seen && (!g->duplicate_ns || clock_now() - g->duplicate_ns > DUPLICATE_NS))
        log_event("node_name_taken", "{s:s}", "node", node);
    if (g->run_seen)
        g->duplicate_ns = clock_now();
}

static int ascending(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* Under the lock. The clocks of most nodes: the median of those heard of lately; of an even number the later one, since
 * the log's time is bounded by the brokers' clocks too. */
static void agree_on_time(struct group *g)
{
    int64_t ahead[PEERS_MAX];
    size_t n = 0;
    for (const struct node *node = g->node_list; node && n < PEERS_MAX; node = node->next)
        if (node->ahead_ms && node_age_ns(g, node) < RECENT_NS)
            ahead[n++] = node->ahead_ms;
    qsort(ahead, n, sizeof *ahead, ascending);
    g->cluster.ahead_ms = n ? ahead[n / 2] : 0;
}

/* Under the lock. Ages are by the brokers' clock and this machine's monotonic one: a node whose clock is wrong has the
 * same. */
static void node_put(struct group *g, const rd_kafka_message_t *m, const char *url, int64_t clock_ms)
{
    rd_kafka_timestamp_type_t type;
    int64_t time_ms = rd_kafka_message_timestamp(m, &type);
    char *text = strndup(m->payload, m->len), *copy = strdup(url);
    g->newest_ms = time_ms;
    g->newest_ns = clock_now();
    forget_silent(g);
    struct node *n = text && copy ? node_named(g, m->key, m->key_len) : NULL;
    if (!n) {
        free(text);
        free(copy);
        return;
    }
    free(n->url);
    free(n->text);
    n->url = copy;
    n->text = text;
    n->time_ms = time_ms;
    n->read_ns = g->newest_ns;
    n->ahead_ms = clock_ms ? clock_ms - g->newest_ns / 1000000 : 0;
    agree_on_time(g);
}

void node_read(struct group *g, const rd_kafka_message_t *m)
{
    struct http_error ignored = {0};
    if (!m->key || m->key_len == 0 || m->key_len > NAME_MAX_BYTES)
        return;
    json_t *json = m->payload ? json_read(m->payload, m->len, 8, &ignored) : NULL;
    const char *url = json_string_value(json_object_get(json, "url"));
    pthread_mutex_lock(&g->lock);
    if (!m->payload)
        node_remove(g, m->key, m->key_len);
    if (url) {
        check_name(g, m, json_string_value(json_object_get(json, "run")));
        node_put(g, m, url, json_integer_value(json_object_get(json, "time_ms")));
    }
    pthread_mutex_unlock(&g->lock);
    json_decref(json);
}

/* Whether a node may have made decisions of the model since it spoke: it serves it, or was about to, or had not read of it.
 * ret_origin: of what it proposes for it, if it said so. */
static bool may_decide(const struct node *n, const char *model, const struct entry *e, uint64_t *ret_origin)
{
    struct http_error ignored = {0};
    json_t *json = json_read(n->text, strlen(n->text), 8, &ignored), *one;
    bool may = e && json_integer_value(json_object_get(json, "creations")) <= e->offset;
    size_t i;
    *ret_origin = 0;
    json_array_foreach(json_object_get(json, "models"), i, one)
    {
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *number = json_string_value(json_object_get(one, "origin"));
        if (name && number && strcmp(name, model) == 0 && !json_object_get(one, "stopped"))
            *ret_origin = strtoull(number, NULL, 16);
    }
    json_array_foreach(json_object_get(json, "opening"), i, one)
    {
        const char *name = json_string_value(one);
        may = may || (name && strcmp(name, model) == 0);
    }
    json_decref(json);
    return may || *ret_origin;
}

size_t group_peers(void *group, const char *model, struct peer *ret)
{
    struct group *g = group;
    size_t n = 0;
    pthread_mutex_lock(&g->lock);
    const struct entry *e = entry_find(g, model);
    for (const struct node *node = g->node_list; node && n < PEERS_MAX; node = node->next) {
        if (node_age_ns(g, node) > FORGET_NS || strcmp(node->name, g->kafka->settings.node) == 0 ||
            !may_decide(node, model, e, &ret[n].origin))
            continue;
        memcpy(ret[n++].node, node->name, sizeof node->name);
    }
    pthread_mutex_unlock(&g->lock);
    return n;
}

void group_describe(struct group *g, struct text *t)
{
    struct http_error err = {0};
    bool up = kafka_health(g->kafka, &err);
    text_puts(t, "{\"node\":");
    text_quote(t, g->kafka->settings.node, strlen(g->kafka->settings.node));
    text_printf(t, ",\"journal\":{\"kind\":\"kafka\",\"up\":%s", up ? "true" : "false");
    if (!up) {
        text_puts(t, ",\"reason\":");
        text_quote(t, err.message, strlen(err.message));
    }
    text_puts(t, "},\"topics\":[");
    pthread_mutex_lock(&g->lock);
    topics_write(g, t);
    text_puts(t, "],\"nodes\":[");
    for (const struct node *n = g->node_list; n; n = n->next) {
        text_add(t, ",", n != g->node_list);
        text_printf(t, "{\"heard_seconds\":%.3f,", (double)node_age_ns(g, n) * 1e-9);
        if (n->ahead_ms)
            text_printf(t, "\"clock_seconds\":%.3f,", (double)(n->ahead_ms - g->cluster.ahead_ms) * 1e-3);
        text_puts(t, n->text + 1);
    }
    pthread_mutex_unlock(&g->lock);
    text_puts(t, "]}\n");
}

static void gauge(struct text *t, const char *name, const char *help, double value)
{
    text_printf(t, "# HELP %s %s\n# TYPE %s gauge\n%s %.9g\n", name, help, name, name, value);
}

static void models_metrics(struct group *g, struct text *t)
{
    size_t n;
    struct model **all = registry_all(g->registry, &n);
    static const char *const names[] = {
        "hunch_applied_events_total", "hunch_repeated_events_total", "hunch_refused_events_total", "hunch_diverged",
        "hunch_lag_events",           "hunch_lag_seconds",           "hunch_applied_offset",       "hunch_applying"};
    static const char *const help[] = {"Events of the journal that counted.",
                                       "Events that the journal has more than once.",
                                       "Events that did not count, such as a second answer to a decision.",
                                       "Hashes of other nodes that differ from this one's at the same place.",
                                       "Events of the journal not yet applied.",
                                       "For how long there have been such.",
                                       "The journal's offset that comes next.",
                                       "0: nothing is applied any more; the model's description says why."};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        text_printf(t, "# HELP %s %s\n# TYPE %s %s\n", names[k], help[k], names[k], k < 3 ? "counter" : "gauge");
        for (size_t i = 0; i < n; i++) {
            uint64_t lag;
            double seconds;
            if (!all[i]->shared || all[i]->broken[0])
                continue;
            shared_lag(all[i], &lag, &seconds);
            pthread_mutex_lock(&all[i]->lock);
            const struct shared *s = all[i]->shared;
            const double values[] = {(double)s->applied,     (double)s->repeated, (double)s->refused,
                                     (double)s->diverged,    (double)lag,         seconds,
                                     (double)s->next_offset, !s->stopped[0]};
            pthread_mutex_unlock(&all[i]->lock);
            text_printf(t, "%s{model=\"%s\"} %.17g\n", names[k], all[i]->name, values[k]);
        }
    }
    for (size_t i = 0; i < n; i++)
        registry_put(g->registry, all[i]);
    free(all);
}

void group_metrics(struct group *g, struct text *t)
{
    size_t waiting, nodes = 0;
    int64_t oldest;
    kafka_waiting(g->kafka, &waiting, &oldest);
    pthread_mutex_lock(&g->lock);
    for (const struct node *node = g->node_list; node; node = node->next)
        nodes += node_age_ns(g, node) < 5 * ANNOUNCE_NS;
    size_t problems = topics_write(g, NULL);
    int64_t clock_ms = wall_clock_ms(g->registry->context.wall) - clock_now() / 1000000 - g->cluster.ahead_ms;
    clock_ms = g->cluster.ahead_ms ? clock_ms : 0;
    bool duplicate = g->duplicate_ns && clock_now() - g->duplicate_ns < DUPLICATE_NS;
    pthread_mutex_unlock(&g->lock);
    gauge(t, "hunch_journal_up", "1: the brokers answer and take records.", g->kafka->up);
    gauge(t, "hunch_journal_unacknowledged", "Records handed over that the brokers have not acknowledged.",
          (double)waiting);
    gauge(t, "hunch_journal_oldest_seconds", "How long the oldest of them has waited.", (double)oldest * 1e-9);
    gauge(t, "hunch_brokers_avoided", "Brokers that others say are cut off.",
          (double)brokers_avoided(&g->kafka->brokers));
    gauge(t, "hunch_nodes", "Nodes of the group seen in the last ten seconds.", (double)nodes);
    gauge(t, "hunch_topic_problems", "Topics whose settings do not keep what the group needs; /v1/nodes names them.",
          (double)problems);
    gauge(t, "hunch_clock_seconds", "This node's clock less that of most nodes.", (double)clock_ms * 1e-3);
    gauge(t, "hunch_node_name_taken", "1: another node has had this node's name in the last minute.", duplicate);
    models_metrics(g, t);
}

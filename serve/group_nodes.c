/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes say about themselves, and what is told about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "body.h"
#include "group_parts.h"
#include "shared.h"

#define ANNOUNCE_NS INT64_C(2000000000)
#define FORGET_NS INT64_C(600000000000)

static void write_model(struct model *m, struct text *t)
{
    uint64_t lag;
    double seconds;
    shared_lag(m, &lag, &seconds);
    pthread_mutex_lock(&m->lock);
    const struct shared *s = m->shared;
    text_printf(t, "{\"name\":\"%s\",\"seq\":%llu,\"offset\":%llu,\"lag\":%llu,\"lag_seconds\":%.3f,\"diverged\":%llu",
                m->name, (unsigned long long)m->last, (unsigned long long)s->next_offset, (unsigned long long)lag,
                seconds, (unsigned long long)s->diverged);
    if (s->stopped[0]) {
        text_puts(t, ",\"stopped\":");
        text_quote(t, s->stopped, strlen(s->stopped));
    }
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

static void write_self(struct group *g, struct text *t)
{
    size_t n, written = 0, waiting;
    int64_t oldest;
    struct model **all = registry_all(g->registry, &n);
    kafka_waiting(g->kafka, &waiting, &oldest);
    text_puts(t, "{\"node\":");
    text_quote(t, g->kafka->settings.node, strlen(g->kafka->settings.node));
    text_puts(t, ",\"url\":");
    text_quote(t, g->url, strlen(g->url));
    text_printf(t, ",\"version\":\"%s\",\"unacknowledged\":%zu,\"models\":[", hunch_version(), waiting);
    for (size_t i = 0; i < n; i++) {
        if (all[i]->shared && !all[i]->broken[0]) {
            text_add(t, ",", written++ > 0);
            write_model(all[i], t);
        }
        registry_put(g->registry, all[i]);
    }
    free(all);
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

static void forget_silent(struct group *g, int64_t now)
{
    for (struct node **at = &g->node_list; *at;) {
        struct node *n = *at;
        if (now - n->heard_ns < FORGET_NS) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        node_free(n);
    }
}

void node_read(struct group *g, const rd_kafka_message_t *m)
{
    struct http_error ignored = {0};
    rd_kafka_timestamp_type_t type;
    json_t *json = m->payload ? json_read(m->payload, m->len, 8, &ignored) : NULL;
    const char *url = json_string_value(json_object_get(json, "url"));
    if (!url || !m->key || m->key_len == 0 || m->key_len > NAME_MAX_BYTES) {
        json_decref(json);
        return;
    }
    int64_t now = clock_now(), age_ms = wall_ms(g->registry->context.wall) - rd_kafka_message_timestamp(m, &type);
    char *text = strndup(m->payload, m->len), *copy = strdup(url);
    json_decref(json);
    pthread_mutex_lock(&g->lock);
    forget_silent(g, now);
    struct node *n = text && copy ? node_named(g, m->key, m->key_len) : NULL;
    if (n) {
        free(n->url);
        free(n->text);
        n->url = copy;
        n->text = text;
        n->heard_ns = now - (age_ms > 0 ? age_ms * 1000000 : 0);
    } else {
        free(text);
        free(copy);
    }
    pthread_mutex_unlock(&g->lock);
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
    text_puts(t, "},\"nodes\":[");
    pthread_mutex_lock(&g->lock);
    int64_t now = clock_now();
    for (const struct node *n = g->node_list; n; n = n->next) {
        text_add(t, ",", n != g->node_list);
        text_printf(t, "{\"heard_seconds\":%.3f,", (double)(now - n->heard_ns) * 1e-9);
        text_puts(t, n->text + 1);
    }
    pthread_mutex_unlock(&g->lock);
    text_puts(t, "]}\n");
}

static void gauge(struct text *t, const char *name, const char *help, double value)
{
    text_printf(t, "# HELP %s %s\n# TYPE %s gauge\n%s %.9g\n", name, help, name, name, value);
}

void group_metrics(struct group *g, struct text *t)
{
    size_t n, waiting, nodes = 0;
    int64_t oldest;
    struct model **all = registry_all(g->registry, &n);
    kafka_waiting(g->kafka, &waiting, &oldest);
    pthread_mutex_lock(&g->lock);
    for (const struct node *node = g->node_list; node; node = node->next)
        nodes += clock_now() - node->heard_ns < 10 * ANNOUNCE_NS / 2;
    pthread_mutex_unlock(&g->lock);
    gauge(t, "hunch_journal_up", "1: the brokers answer and take records.", g->kafka->up);
    gauge(t, "hunch_journal_unacknowledged", "Records handed over that the brokers have not acknowledged.",
          (double)waiting);
    gauge(t, "hunch_journal_oldest_seconds", "How long the oldest of them has waited.", (double)oldest * 1e-9);
    gauge(t, "hunch_brokers_avoided", "Brokers that others say are cut off.",
          (double)brokers_avoided(&g->kafka->brokers));
    gauge(t, "hunch_nodes", "Nodes of the group heard of in the last ten seconds.", (double)nodes);
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

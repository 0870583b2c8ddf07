/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/kafka_brokers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/log.h"

#define EXAMINE_NS INT64_C(3000000000) /* between examinations */
#define AVOID_NS INT64_C(60000000000)  /* at most, before it is used again */
#define ALONE_NS INT64_C(5000000000)   /* the same while no other broker answers */
#define ASK_MS 1000
#define REFUSED ECANCELED

/* --- connections --- */

/* "sasl_ssl://host:port/2" -> "host:port" */
static void read_name(const char *id, char ret[BROKER_NAME])
{
    const char *start = strstr(id, "://");
    start = start ? start + 3 : id;
    snprintf(ret, BROKER_NAME, "%.*s", (int)strcspn(start, "/"), start);
}

/* Under the lock. */
static bool avoided(const struct kafka_brokers *b, const char *name)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->known[i].avoided_ns && strcmp(b->known[i].name, name) == 0)
            return true;
    return false;
}

static int connect_guarded(int fd, const struct sockaddr *address, int size, const char *id, void *opaque)
{
    const struct kafka_role *role = opaque;
    struct kafka_brokers *b = role->brokers;
    struct connection c = {.fd = fd};
    read_name(id, c.name);
    pthread_mutex_lock(&b->lock);
    bool may = role->only[0] ? strcmp(role->only, c.name) == 0 : !avoided(b, c.name);
    if (may && !role->only[0] && b->connections_n < CONNECTIONS_MAX)
        b->connections[b->connections_n++] = c;
    pthread_mutex_unlock(&b->lock);
    if (!may)
        return REFUSED;
    return connect(fd, address, (socklen_t)size) == 0 || errno == EINPROGRESS ? 0 : errno;
}

static int close_guarded(int fd, void *opaque)
{
    struct kafka_brokers *b = ((const struct kafka_role *)opaque)->brokers;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->connections_n; i++)
        if (b->connections[i].fd == fd)
            b->connections[i--] = b->connections[--b->connections_n];
    pthread_mutex_unlock(&b->lock);
    return close(fd);
}

bool brokers_refused(const char *text)
{
    return strstr(text, strerror(REFUSED)) != NULL;
}

void brokers_guard(rd_kafka_conf_t *c)
{
    rd_kafka_conf_set_connect_cb(c, connect_guarded);
    rd_kafka_conf_set_closesocket_cb(c, close_guarded);
}

/* --- what brokers say --- */

/* NULL: nothing about it. */
static const struct rd_kafka_metadata_partition *partition_of(const struct rd_kafka_metadata *metadata,
                                                              const char *topic)
{
    for (int i = 0; i < metadata->topic_cnt; i++)
        if (strcmp(metadata->topics[i].topic, topic) == 0)
            return metadata->topics[i].partition_cnt == 1 ? &metadata->topics[i].partitions[0] : NULL;
    return NULL;
}

static bool in_sync(const struct rd_kafka_metadata_partition *p, int32_t broker)
{
    for (int i = 0; i < p->isr_cnt; i++)
        if (p->isrs[i] == broker)
            return true;
    return false;
}

/* Under the lock. */
static void learn_name(struct kafka_brokers *b, const struct rd_kafka_metadata_broker *metadata)
{
    size_t i = 0;
    while (i < b->n && b->known[i].id != metadata->id)
        i++;
    if (i == BROKERS_MAX)
        return;
    if (i == b->n)
        b->known[b->n++] = (struct broker){.id = metadata->id};
    snprintf(b->known[i].name, sizeof b->known[i].name, "%s:%d", metadata->host, metadata->port);
}

void brokers_learn(struct kafka_brokers *b, const struct rd_kafka_metadata *metadata)
{
    const struct rd_kafka_metadata_partition *p = metadata ? partition_of(metadata, b->topic) : NULL;
    int64_t now = clock_now(), limit = metadata ? AVOID_NS : ALONE_NS;
    pthread_mutex_lock(&b->lock);
    for (int i = 0; metadata && i < metadata->broker_cnt; i++)
        learn_name(b, &metadata->brokers[i]);
    for (size_t i = 0; i < b->n; i++) {
        struct broker *known = &b->known[i];
        if (!known->avoided_ns || (now - known->avoided_ns < limit && !(p && in_sync(p, known->id))))
            continue;
        known->avoided_ns = 0;
        log_event("broker_heard_again", "{s:s}", "broker", known->name);
    }
    pthread_mutex_unlock(&b->lock);
}

/* --- which broker is outdated --- */

/* A client that sees one broker only. */
struct probe {
    struct kafka_role role;
    struct broker broker;
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    const struct rd_kafka_metadata *metadata;
    const struct rd_kafka_metadata_partition *about; /* the topic; NULL: it does not answer */
};

static struct probe *probe_client_new(struct kafka_brokers *b, struct kafka *k, const struct broker *broker,
                                      const char *topic)
{
    const char *const own[] = {"bootstrap.servers", broker->name, "enable.sparse.connections", "false", NULL};
    struct probe *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->broker = *broker;
    a->role.kafka = k;
    a->role.brokers = b;
    memcpy(a->role.only, broker->name, sizeof a->role.only);
    a->client = b->client_new(&a->role, own);
    a->topic = a->client ? rd_kafka_topic_new(a->client, topic, NULL) : NULL;
    return a;
}

static void ask(struct probe *a)
{
    if (a->metadata)
        rd_kafka_metadata_destroy(a->metadata);
    a->metadata = NULL;
    if (a->topic)
        rd_kafka_metadata(a->client, 0, a->topic, &a->metadata, ASK_MS);
    a->about = a->metadata ? partition_of(a->metadata, rd_kafka_topic_name(a->topic)) : NULL;
}

static void probe_free(const struct kafka_brokers *b, struct kafka *k, struct probe *a)
{
    if (a->metadata)
        rd_kafka_metadata_destroy(a->metadata);
    if (a->topic)
        rd_kafka_topic_destroy(a->topic);
    if (!a->client || b->client_end(k, a->client))
        free(a); /* else its threads go on */
}

/* Whether `a` reports that the leader that `b` names is neither leader nor in sync. */
static bool contradicts(const struct rd_kafka_metadata_partition *a, const struct rd_kafka_metadata_partition *b)
{
    return a && b && a->leader >= 0 && b->leader >= 0 && a->leader != b->leader && !in_sync(a, b->leader);
}

/* The number of brokers that name this leader. */
static size_t agreeing(const struct rd_kafka_metadata_partition *const *answers, size_t n, int32_t leader)
{
    size_t agree = 0;
    for (size_t i = 0; i < n; i++)
        agree += answers[i] && answers[i]->leader == leader;
    return agree;
}

bool brokers_outdated(const struct rd_kafka_metadata_partition *const *answers, size_t n, size_t which)
{
    const struct rd_kafka_metadata_partition *own = answers[which];
    for (size_t i = 0; i < n; i++)
        if (contradicts(answers[i], own) && (!contradicts(own, answers[i]) || agreeing(answers, n, answers[i]->leader) >
                                                                                  agreeing(answers, n, own->leader)))
            return true;
    return false;
}

static void avoid(struct kafka_brokers *b, const struct broker *which, const char *topic)
{
    pthread_mutex_lock(&b->lock);
    snprintf(b->topic, sizeof b->topic, "%s", topic);
    for (size_t i = 0; i < b->n; i++)
        if (b->known[i].id == which->id)
            b->known[i].avoided_ns = clock_now();
    for (size_t i = 0; i < b->connections_n; i++) /* librdkafka closes them */
        if (strcmp(b->connections[i].name, which->name) == 0)
            shutdown(b->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&b->lock);
    log_event("broker_avoided", "{s:s,s:s,s:s}", "broker", which->name, "topic", topic, "reason",
              "others say that it has been cut off");
}

static void ask_all(struct probe *const *all, const struct rd_kafka_metadata_partition **answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i])
            ask(all[i]);
        answers[i] = all[i] ? all[i]->about : NULL;
    }
}

void brokers_examine(struct kafka_brokers *b, struct kafka *k, const char *topic)
{
    struct probe *all[BROKERS_MAX] = {NULL};
    const struct rd_kafka_metadata_partition *answers[BROKERS_MAX];
    bool doubted[BROKERS_MAX], any = false;
    if (clock_now() - b->examined_ns < EXAMINE_NS)
        return;
    pthread_mutex_lock(&b->lock);
    struct broker known[BROKERS_MAX];
    size_t n = b->n;
    memcpy(known, b->known, sizeof known);
    pthread_mutex_unlock(&b->lock);
    for (size_t i = 0; i < n; i++)
        all[i] = probe_client_new(b, k, &known[i], topic);
    ask_all(all, answers, n);
    for (size_t i = 0; i < n; i++) {
        doubted[i] = !known[i].avoided_ns && brokers_outdated(answers, n, i);
        any = any || doubted[i];
    }
    if (any) /* once more, for who leads may have changed just when they were asked */
        ask_all(all, answers, n);
    for (size_t i = 0; i < n; i++)
        if (doubted[i] && brokers_outdated(answers, n, i))
            avoid(b, &known[i], topic);
    for (size_t i = 0; i < n; i++)
        if (all[i])
            probe_free(b, k, all[i]);
    b->examined_ns = clock_now();
}

size_t brokers_avoided(struct kafka_brokers *b)
{
    size_t n = 0;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n; i++)
        n += b->known[i].avoided_ns != 0;
    pthread_mutex_unlock(&b->lock);
    return n;
}

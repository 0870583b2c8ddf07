/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three nodes make and delete models of the same names at once, over a simulated topic of models.
 *
 *     sim_creations [--seconds N]     histories of seeds 1, 2, ... for about so long (10)
 *     sim_creations --seed S          one of them
 *
 * What a node sends arrives in its order, but late; every node reads at its own pace, and starts over now and then.
 *     one_checker     of several creations of a name the first counts, and no other one ever does
 *     same_checker    nodes that have read everything have the same models, one that has just started as well
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/group_parts.h"
#include "world.h"

#define NODES 3
#define NAMES 3
#define STEPS 300
#define RECORDS 4096

struct record {
    char key[NAME_MAX_BYTES + 20];
    char *value; /* NULL: a deletion */
    bool lost;   /* another creation of the name counted when this one came */
    bool gone;   /* deleted */
};

static struct {
    struct world world;
    struct registry registry;
    struct node_of_group {
        struct kafka kafka; /* first */
        struct group group;
        struct record sent[RECORDS];
        size_t sent_n, delivered, read;
    } nodes[NODES];
    struct record topic[RECORDS];
    size_t topic_n, created, lost;
} sim;

static uint64_t draw(uint64_t n)
{
    return rng_below(&sim.world.rng, n);
}

/* --- Kafka, wrapped by the linker --- */

bool __wrap_kafka_send(struct kafka *k, const char *topic, const char *key, const void *bytes, size_t size,
                       struct http_error *err);
bool __wrap_kafka_topic_make(struct kafka *k, const char *topic, const char *const *config, struct http_error *err);
bool __wrap_kafka_topic_delete(struct kafka *k, const char *topic, struct http_error *err);

bool __wrap_kafka_send(struct kafka *k, const char *topic, const char *key, const void *bytes, size_t size,
                       struct http_error *err)
{
    struct node_of_group *n = (struct node_of_group *)k;
    if (strcmp(topic, n->group.models_topic) != 0 || n->sent_n == RECORDS)
        world_fail("a record of another topic, or too many");
    if (bytes && draw(10) == 0)
        return http_error_set(err, 503, "busy", "the journal is full");
    struct record *r = &n->sent[n->sent_n++];
    *r = (struct record){.value = bytes ? strndup(bytes, size) : NULL};
    snprintf(r->key, sizeof r->key, "%s", key);
    return true;
}

bool __wrap_kafka_topic_make(struct kafka *k, const char *topic, const char *const *config, struct http_error *err)
{
    (void)k;
    (void)topic;
    (void)config;
    return draw(10) != 0 || http_error_set(err, 503, "journal", "no broker answers");
}

bool __wrap_kafka_topic_delete(struct kafka *k, const char *topic, struct http_error *err)
{
    (void)k;
    (void)topic;
    (void)err;
    return true;
}

/* --- the topic --- */

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, "/");
    return n == strcspn(b, "/") && strncmp(a, b, n) == 0;
}

/* What counts is decided here by the order of the topic alone. */
static void deliver(struct node_of_group *n)
{
    if (n->delivered == n->sent_n || sim.topic_n == RECORDS)
        return;
    struct record *new = &sim.topic[sim.topic_n];
    *new = n->sent[n->delivered++];
    for (size_t i = 0; i < sim.topic_n; i++) {
        struct record *r = &sim.topic[i];
        if (!new->value && strcmp(r->key, new->key) == 0)
            r->gone = true;
        bool counts = r->value && !r->gone && !r->lost;
        if (new->value && counts &&same_name(r->key, new->key))
            new->lost = true;
    }
    sim.topic_n++;
    sim.created += new->value != NULL;
    sim.lost += new->lost;
}

static const struct record *record_of(const struct entry *e)
{
    char key[NAME_MAX_BYTES + 20];
    snprintf(key, sizeof key, "%s/%s", e->name, e->id);
    for (size_t i = 0; i < sim.topic_n; i++)
        if (sim.topic[i].value && strcmp(sim.topic[i].key, key) == 0)
            return &sim.topic[i];
    world_fail("a node has a creation that no one has sent: %s", key);
}

static void read_one(struct node_of_group *n)
{
    if (n->read == sim.topic_n)
        return;
    struct record *r = &sim.topic[n->read++];
    rd_kafka_message_t m = {.key = r->key, .key_len = strlen(r->key), .payload = r->value};
    m.len = r->value ? strlen(r->value) : 0;
    entry_read(&n->group, &m);
    for (const struct entry *e = n->group.entries; e; e = e->next) {
        if (record_of(e)->lost)
            world_fail("one_checker: creation %s/%s counts, which came second", e->name, e->id);
        for (const struct entry *other = e->next; other; other = other->next)
            if (strcmp(e->name, other->name) == 0)
                world_fail("one_checker: two models of the name %s", e->name);
    }
}

/* --- nodes --- */

static void forget(struct node_of_group *n)
{
    while (n->group.entries) {
        struct entry *next = n->group.entries->next;
        entry_free(n->group.entries);
        n->group.entries = next;
    }
    while (n->group.tombstones) {
        struct tombstone *next = n->group.tombstones->next;
        free(n->group.tombstones);
        n->group.tombstones = next;
    }
    n->read = 0;
}

static void node_begin(struct node_of_group *n)
{
    memset(n, 0, sizeof *n);
    n->kafka.settings.prefix = "sim.";
    n->kafka.settings.record_bytes = 1 << 20;
    n->group.kafka = &n->kafka;
    n->group.options = &sim.world.options;
    n->group.registry = &sim.registry;
    snprintf(n->group.models_topic, sizeof n->group.models_topic, "sim.models");
    pthread_mutex_init(&n->group.lock, NULL);
}

static void node_end(struct node_of_group *n)
{
    forget(n);
    for (; n->delivered < n->sent_n; n->delivered++)
        free(n->sent[n->delivered].value);
    pthread_mutex_destroy(&n->group.lock);
}

static void create(struct node_of_group *n)
{
    char name[8], settings[100], topic[250];
    struct http_error err = {0};
    snprintf(name, sizeof name, "m%u", (unsigned)draw(NAMES));
    snprintf(settings, sizeof settings, "{\"labels\":[\"a\",\"b%u\"],\"learner\":\"banditron\",\"seed\":1}",
             (unsigned)draw(4));
    if (!entry_find(&n->group, name) && !entry_send(&n->group, name, settings, 0, topic, &err) && err.status != 503)
        world_fail("create: %s", err.message);
}

static void delete_one(struct node_of_group *n)
{
    char key[NAME_MAX_BYTES + 20];
    struct http_error err = {0};
    const struct entry *e = n->group.entries;
    if (!e)
        return;
    snprintf(key, sizeof key, "%s/%s", e->name, e->id);
    kafka_send(&n->kafka, n->group.models_topic, key, NULL, 0, &err);
}

static void step(void)
{
    struct node_of_group *n = &sim.nodes[draw(NODES)];
    uint64_t what = draw(100);
    world_advance((int64_t)draw(200));
    if (what < 25)
        create(n);
    else if (what < 30)
        delete_one(n);
    else if (what < 60)
        deliver(n);
    else if (what < 99)
        read_one(n);
    else
        forget(n); /* it starts anew */
}

/* --- a history --- */

static void check_same(void)
{
    for (size_t i = 0; i < NODES; i++) {
        size_t have = 0, live = 0;
        for (const struct entry *e = sim.nodes[i].group.entries; e; e = e->next, have++)
            if (record_of(e)->gone)
                world_fail("same_checker: node %zu has %s/%s, which was deleted", i, e->name, e->id);
        for (size_t k = 0; k < sim.topic_n; k++) {
            const struct record *r = &sim.topic[k];
            live += r->value && !r->lost && !r->gone;
            if (r->lost && !r->gone)
                world_fail("same_checker: creation %s, which came second, is still in the topic", r->key);
        }
        if (have != live)
            world_fail("same_checker: node %zu has %zu models of %zu", i, have, live);
    }
}

static void history(uint64_t seed)
{
    world_name("sim_creations --seed %llu", (unsigned long long)seed);
    world_begin(&sim.world, seed);
    sim.registry.context = sim.world.context;
    sim.topic_n = 0;
    for (size_t i = 0; i < NODES; i++)
        node_begin(&sim.nodes[i]);
    for (int i = 0; i < STEPS; i++)
        step();
    forget(&sim.nodes[draw(NODES)]);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < NODES; i++) {
            deliver(&sim.nodes[i]);
            read_one(&sim.nodes[i]);
            more = more || sim.nodes[i].delivered < sim.nodes[i].sent_n || sim.nodes[i].read < sim.topic_n;
        }
    }
    check_same();
    for (size_t i = 0; i < NODES; i++)
        node_end(&sim.nodes[i]);
    for (size_t i = 0; i < sim.topic_n; i++)
        free(sim.topic[i].value);
    world_end(&sim.world);
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, n = 0;
    double max = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            max = strtod(argv[i + 1], NULL);
    }
    if (!getenv("SIM_LOG") && !freopen("/dev/null", "w", stderr))
        return 1;
    if (seed)
        history(seed);
    while (!seed && (double)clock() / CLOCKS_PER_SEC < max)
        history(++n);
    printf("%llu histories of %d nodes: %zu creations, %zu of them second; %.1f s of processor time\n",
           (unsigned long long)(seed ? 1 : n), NODES, sim.created, sim.lost, (double)clock() / CLOCKS_PER_SEC);
    return 0;
}

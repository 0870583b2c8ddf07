/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which brokers' metadata are used. A broker that was cut off from the others, but not from this node, still reports
 * that it is the leader, and accepts records that it cannot acknowledge; librdkafka before 2.1 uses the last answer. So
 * when a topic is suspected, every broker is asked for its leader. A broker is outdated if it names a leader that
 * another broker reports as neither leader nor in sync: connections to it are closed and refused until it is in sync
 * again. If two brokers contradict each other, the one whose leader fewer brokers name is outdated. When no other broker
 * answers, all are used again after some seconds.
 */
#ifndef SERVE_KAFKA_BROKERS_H
#define SERVE_KAFKA_BROKERS_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define BROKERS_MAX 32
#define CONNECTIONS_MAX 256
#define BROKER_NAME 264

struct kafka;

struct kafka_brokers;

/* What librdkafka's callbacks get. */
struct kafka_role {
    struct kafka *kafka;
    struct kafka_brokers *brokers;
    char only[BROKER_NAME]; /* the one broker that it may reach; empty: all that are not avoided */
};

struct kafka_brokers {
    pthread_mutex_t lock;
    struct broker {
        int32_t id;
        char name[BROKER_NAME]; /* host:port */
        int64_t avoided_ns;     /* monotonic: since when; 0: it is not avoided */
    } known[BROKERS_MAX];
    size_t n;
    struct connection {
        int fd;
        char name[BROKER_NAME];
    } connections[CONNECTIONS_MAX];
    size_t connections_n;
    char topic[250]; /* that brokers were avoided for */
    int64_t examined_ns;
    /* Set by the owner of the connection: make and end a client. The role's `only` is the one broker it may reach. End
     * gives false when the client goes on, with its role. */
    rd_kafka_t *(*client_new)(struct kafka_role *role, const char *const *settings);
    bool (*client_end)(struct kafka *k, rd_kafka_t *client);
};

/* Has the client's connections made through here; its opaque is a struct kafka_role. */
void brokers_guard(rd_kafka_conf_t *c);
/* A broker's metadata: the brokers in it are remembered, and those that are in sync again are no longer avoided. NULL:
 * no broker answered. */
void brokers_learn(struct kafka_brokers *b, const struct rd_kafka_metadata *metadata);
/* Whether a broker is outdated; answers: what each of the n brokers reports about a topic, NULL where it does not answer. */
bool brokers_outdated(const struct rd_kafka_metadata_partition *const *answers, size_t n, size_t which);
/* Asks every broker that is known about the topic, unless that was done a moment ago. By the poller. */
void brokers_examine(struct kafka_brokers *b, struct kafka *k, const char *topic);
/* Whether that is what librdkafka says of a connection that was refused here. */
bool brokers_refused(const char *text);
size_t brokers_avoided(struct kafka_brokers *b);

#endif

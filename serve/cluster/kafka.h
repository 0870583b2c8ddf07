/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's connection to Apache Kafka (librdkafka): one producer, one consumer, the topics; and a client that asks
 * about topics, since brokers answer a consumer's questions only after its long fetch.
 *
 * Records are acknowledged by all replicas in sync (acks=all, idempotent producer). What has been handed over is kept
 * here until then, in order; when the producer fails for good it is replaced, and everything unacknowledged is sent
 * again in the same order. So a record may be in a topic twice, but never before one that was handed over earlier:
 * readers drop what is not newer than the last of its origin. There are no consumer groups: every node reads every
 * partition it wants.
 */
#ifndef SERVE_KAFKA_H
#define SERVE_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/http_error.h"
#include "cluster/kafka_brokers.h"
#include "cluster/kafka_settings.h"
#include "util/metrics.h"

struct outgoing;

struct kafka {
    struct kafka_settings settings;
    rd_kafka_t *producer, *consumer, *admin;
    pthread_mutex_t lock; /* of the outgoing records and of the producer's replacement */
    struct outgoing *first, *last;
    size_t waiting, waiting_bytes; /* not yet acknowledged */
    bool renew;                    /* the producer must be replaced */
    pthread_t poller;
    bool poller_runs;
    _Atomic bool stop, up;
    bool left;   /* a client could not be ended */
    bool probed; /* brokers have been asked at least once */
    pthread_mutex_t trouble_lock;
    char trouble[200]; /* the last error of a connection since brokers answered */
    char why[250];     /* not up: what was said last; under the lock */
    struct kafka_brokers brokers;
    struct kafka_role works;              /* of the three clients */
    char refusing[250], refused_why[100]; /* the topic that last refused a record for good; under the lock */
    int64_t refused_ns;
    char doubted[250];            /* the topic of a record that was not read back in time; under the lock */
    struct kafka_reader *readers; /* under the lock */
    struct metrics *metrics;
};

bool kafka_open(struct kafka **ret, const struct serve_options *options, struct metrics *metrics,
                struct http_error *err);
/* Waits until the brokers have taken all records, that many seconds at most and only while brokers answer. Gives how many
 * they have not taken. */
size_t kafka_drain(struct kafka *k, unsigned patience_s);
void kafka_close(struct kafka *k);

/* Makes a topic of one partition; fine when it is there. config: name, value, ..., NULL. */
bool kafka_topic_make(struct kafka *k, const char *topic, const char *const *config, struct http_error *err);
bool kafka_topic_delete(struct kafka *k, const char *topic, struct http_error *err);
/* What a topic's setting must be: this text, or a number of at least so much, or -1. */
struct topic_rule {
    const char *name, *is;
    int64_t min;
};
#define TOPIC_PROBLEM 200
/* Whether the topic has one partition, enough replicas and these settings; problem: what is wrong, or "". False: that
 * could not be found out. */
bool kafka_topic_check(struct kafka *k, const char *topic, const struct topic_rule *rules, size_t n,
                       char problem[TOPIC_PROBLEM], struct http_error *err);
/* Whether the topic has refused a record in the last minute, in a way that sending it again does not mend. */
bool kafka_refuses(struct kafka *k, const char *topic, char ret_why[100]);
/* Sets the error of something that did not work with a topic. */
bool kafka_topic_error(struct http_error *err, const char *doing, const char *topic, const char *what);
bool kafka_topic_ends(struct kafka *k, const char *topic, int64_t *ret_first, int64_t *ret_end, struct http_error *err);

/* Hands a record over; key NULL: none, bytes NULL: deletes the key of a compacted topic. Returns at once; false: too
 * many are waiting. */
bool kafka_send(struct kafka *k, const char *topic, const char *key, const void *bytes, size_t size,
                struct http_error *err);
/* The topic is no longer used: if its records are not taken, that is no evidence about the brokers. */
void kafka_abandon(struct kafka *k, const char *topic);
/* A request has timed out waiting for a record of the topic: its leader may be a broker that has been cut off. */
void kafka_recheck(struct kafka *k, const char *topic);
/* How many records wait, and for how long the oldest of a topic in use has. */
void kafka_waiting(struct kafka *k, size_t *ret_n, int64_t *ret_oldest_ns);
/* Whether brokers answer and take records; if not, why. */
bool kafka_health(struct kafka *k, struct http_error *err);

/* A topic read from an offset on. */
struct kafka_reader {
    struct kafka *kafka;
    char topic[250];
    rd_kafka_topic_t *handle;
    rd_kafka_queue_t *queue;
    _Atomic int64_t next; /* the offset expected, or RD_KAFKA_OFFSET_* before the first record */
    _Atomic int64_t end;  /* behind the newest record known of; -1: not known yet */
    _Atomic bool caught_up;
    rd_kafka_message_t *batch[512];
    size_t n, at;
    int64_t lost_ns;    /* since when the place is not to be had; 0: it is */
    int64_t looked_ns;  /* when it was last looked for */
    _Atomic bool empty; /* when last asked it had nothing to give */
    _Atomic bool stuck; /* though the topic has more: see kafka_readers_check */
    int64_t checked;    /* `next` at the last check; under the lock of struct kafka */
    bool holes;         /* a compacted topic: offsets may be missing */
    void (*ready)(void *context);
    void *context;
    struct kafka_reader *neighbour; /* in the list of all; under the lock of struct kafka */
};

/* False too while another reader of this topic is open; the reader must stay where it is. */
bool kafka_reader_open(struct kafka_reader *ret, struct kafka *k, const char *topic, int64_t offset,
                       struct http_error *err);
/* *ret NULL: none within wait_ms; borrowed until the next call. Error "gone": the topic no longer has what comes next;
 * "journal": not now. */
bool kafka_reader_next(struct kafka_reader *r, int wait_ms, const rd_kafka_message_t **ret, struct http_error *err);
/* ready is called, by a thread of librdkafka, when there is something to read after there was nothing. It must not call
 * librdkafka. */
void kafka_reader_watch(struct kafka_reader *r, void (*ready)(void *context), void *context);
/* Asks the brokers where the topics end that are read, which librdkafka alone may not notice: how far behind readers
 * are is known then, and one that has asked in vain for what is there since the last time starts over. */
void kafka_readers_check(struct kafka *k);
/* Reads on from there; when that does not work now, later. */
bool kafka_reader_seek(struct kafka_reader *r, int64_t offset, struct http_error *err);
void kafka_reader_close(struct kafka_reader *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What group*.c share. */
#ifndef SERVE_GROUP_PARTS_H
#define SERVE_GROUP_PARTS_H

#include "group.h"
#include "kafka.h"

/* A creation of a model, as topic PREFIXmodels has it. */
struct entry {
    struct entry *next; /* in the order of the topic */
    char name[NAME_MAX_BYTES + 1], id[17];
    char *settings, *topic;
    int64_t created_ms;
    uint64_t base;       /* events before the journal began: a model that was adopted */
    uint64_t arithmetic; /* what its nodes compute: see arithmetic.h */
    bool checked;        /* its topic keeps events for long enough, or that has been remarked upon */
    char waits[200];     /* why it is not served here yet */
};

struct tombstone {
    struct tombstone *next;
    char name[NAME_MAX_BYTES + 1], id[17];
};

/* What a node has said about itself. */
struct node {
    struct node *next;
    char name[NAME_MAX_BYTES + 1], *url, *text;
    int64_t heard_ns; /* monotonic */
};

struct group {
    const struct serve_options *options;
    struct kafka *kafka;
    struct registry *registry;
    char models_topic[128], nodes_topic[128], url[300];
    struct kafka_reader models, nodes;
    pthread_mutex_t lock; /* of the two lists */
    struct entry *entries;
    struct node *node_list;
    struct tombstone *tombstones; /* creations that have been deleted */
    bool read;                    /* both topics have been read to their ends, */
    bool settled;                 /* and what follows from them has been done */
    char adopted[250];            /* the topic of a model that this node gives to the group; its folder is ready */
    bool adopt_failed;
    char why[256];
    int64_t announced_ns;
    pthread_t thread;
    bool runs;
    _Atomic bool stop;
};

/* Under the lock: the creation that counts. */
struct entry *entry_find(struct group *g, const char *name);
/* Under the lock: whether this was the journal of a model that has been deleted. */
bool topic_deleted(const struct group *g, const char *topic);
void entry_read(struct group *g, const rd_kafka_message_t *m);
void entry_free(struct entry *e);
/* Sends a creation to the topic. */
bool entry_send(struct group *g, const char *name, const char *settings, uint64_t base, char ret_topic[250],
                struct http_error *err);

/* group_adopt.c: gives models of this folder that hunch.adopt names to the group, unless it has one of that name; one
 * at a time, called again and again. */
void adopt(struct group *g);

void node_read(struct group *g, const rd_kafka_message_t *m);
void node_announce(struct group *g);
void node_free(struct node *n);

#endif

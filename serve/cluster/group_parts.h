/* SPDX-License-Identifier: BSD-3-Clause */
/* What group*.c share. */
#ifndef SERVE_GROUP_PARTS_H
#define SERVE_GROUP_PARTS_H

#include "cluster/group.h"
#include "cluster/kafka.h"
#include "cluster/shared.h"

/* A creation of a model, as topic PREFIXmodels has it. */
struct entry {
    struct entry *next; /* in the order of the topic */
    char name[NAME_MAX_BYTES + 1], id[17];
    char *settings, *topic;
    int64_t created_ms;
    uint64_t base;       /* events before the journal began: a model that was adopted */
    uint64_t arithmetic; /* what its nodes compute: see arithmetic.h */
    int64_t offset;      /* of its creation */
    bool opened;         /* this node has it, unless it is not to serve it */
    int64_t checked_ns;  /* when its topic's settings were last looked at; 0: never */
    char problem[TOPIC_PROBLEM];
    char waits[200]; /* why it is not served here yet */
};

struct tombstone {
    struct tombstone *next;
    char name[NAME_MAX_BYTES + 1], id[17];
};

/* What a node has said about itself. */
struct node {
    struct node *next;
    char name[NAME_MAX_BYTES + 1], *url, *text;
    int64_t time_ms;  /* of its last record in the topic, by the brokers' clock */
    int64_t read_ns;  /* when that was read */
    int64_t ahead_ms; /* its own clock then, less this machine's monotonic clock */
};

struct group {
    const struct serve_options *options;
    struct kafka *kafka;
    struct cluster cluster;
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
    char models_problem[TOPIC_PROBLEM], nodes_problem[TOPIC_PROBLEM]; /* of topics' settings; see topics_check */
    int64_t topics_checked_ns;
    _Atomic bool joined;  /* the node has been ready once */
    uint64_t run;         /* a random number of this process, so that two nodes of one name are noticed */
    bool run_seen;        /* its own record has been read */
    int64_t duplicate_ns; /* when another node of this name was last heard of; monotonic; 0: never */
    int64_t newest_ms;    /* the time of the last record of topic PREFIXnodes ... */
    int64_t newest_ns;    /* ... and when that was read, by this machine's monotonic clock */
    int64_t announced_ns;
    pthread_t thread;
    bool runs;
    _Atomic bool stop;
};

/* Whether models of this name are served by this node. */
bool group_serves(const struct group *g, const char *name);
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

/* group_topics.c: looks at the settings of topics when it is time; */
void topics_check(struct group *g, const struct entry *entries, size_t n);
size_t topics_write(const struct group *g, struct text *t);

void node_read(struct group *g, const rd_kafka_message_t *m);
void node_announce(struct group *g);
/* For struct cluster: nodes that were heard of in the last ten minutes and have not said that they end. */
size_t group_peers(void *group, const char *model, struct peer *ret);
/* This node ends, and the others need not wait for it. */
void node_leave(struct group *g);
/* Under the lock: how long ago the node was heard of, whatever this machine's clock says. */
int64_t node_age_ns(const struct group *g, const struct node *n);
void node_free(struct node *n);

#endif

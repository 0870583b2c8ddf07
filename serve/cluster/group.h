/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group of nodes that serve the same models over Kafka. It uses two topics besides the models' own:
 *
 *     PREFIXmodels   compacted; maps NAME/ID to the model's settings and the topic of its journal. ID is drawn at random
 *                    for each creation, so that a model that is created again under an old name never reads the old
 *                    one's journal. Of two creations of one name the first counts.
 *     PREFIXnodes    kept for an hour; each node writes its status every two seconds
 *
 * A node that lacks a model fetches another node's copy of its log and continues with the journal from there. If there
 * is no other node, it reads the journal from its beginning.
 */
#ifndef SERVE_GROUP_H
#define SERVE_GROUP_H

#include "model/model.h"
#include "model/registry.h"

struct group;

/* Connects; the context gets what models need. */
bool group_open(struct group **ret, const struct serve_options *options, struct registry *r,
                struct model_context *context, struct http_error *err);
/* Begins to follow the topics. port: where this node listens. */
bool group_start(struct group *g, const char *listen, struct http_error *err);
void group_stop(struct group *g);
/* Waits until the brokers have taken what has been proposed, that many seconds at most and only while they answer. Gives
 * how many records they have not taken. */
size_t group_drain(struct group *g, unsigned patience_s);
void group_close(struct group *g);

/* Both wait until this node has done it. ret_made: false when an equal one was there. */
bool group_create_model(struct group *g, const char *name, const json_t *request, bool *ret_made,
                        struct http_error *err);
bool group_delete_model(struct group *g, const char *name, struct http_error *err);

/* Why a model is not here: it is on its way (503), or there is none (404). Always false. */
bool group_missing(struct group *g, const char *name, struct http_error *err);
/* Whether this node serves the model and is up to date. */
bool group_model_ready(struct group *g, struct model *m, struct http_error *err);
/* Whether requests may be sent to this node: brokers answer, and at least one of its models, if it has any, is ready.
 */
bool group_ready(struct group *g, struct http_error *err);
/* ,"topic_problems":[...]; g NULL: nothing */
void group_topics(struct group *g, struct text *t);
/* {"node":...,"nodes":[...]} */
void group_describe(struct group *g, struct text *t);
void group_metrics(struct group *g, struct text *t);

/* group_copy.c: another node's copy of a model's log, into a new folder. */
bool copy_fetch(const char *url, const char *token, const char *model, const char *folder, struct http_error *err);
/* The copy that it asks for, as an unnamed file. */
bool copy_make(struct model *m, int *ret_fd, struct http_error *err);

#endif

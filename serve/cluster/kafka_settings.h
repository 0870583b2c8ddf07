/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of --kafka: lines of "name = value". Names that begin with "hunch." are ours, all others go to librdkafka as
 * they are (bootstrap.servers, security.protocol, sasl.*, ssl.* ...). */
#ifndef SERVE_KAFKA_SETTINGS_H
#define SERVE_KAFKA_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/http_error.h"
#include "util/serve_options.h"

struct kafka_settings {
    char *text;             /* the file; the strings below point into it */
    const char *pairs[128]; /* for librdkafka: name, value ... */
    size_t pairs_n;
    const char *node;      /* this node's name (default: the host's) */
    const char *advertise; /* where other nodes and the page's readers find it */
    const char *token;     /* for other nodes: a token of scope admin */
    const char *prefix;    /* of all topics */
    const char *adopt;     /* a pattern of models of the state folder to be given to the group */
    int64_t replicas, in_sync;
    int64_t hash_events; /* between hashes of a model */
    int64_t wait_ms;     /* how long a request waits for the log, or for an event it needs */
    int64_t lag_events;  /* not ready beyond this */
    int64_t margin_s;    /* what topics keep beyond the times to live */
    int64_t queue, queue_bytes, record_bytes;
    char host[65];
};

bool kafka_settings_read(struct kafka_settings *ret, const struct serve_options *options, struct http_error *err);
void kafka_settings_free(struct kafka_settings *s);

#endif

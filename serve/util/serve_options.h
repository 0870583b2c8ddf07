/* SPDX-License-Identifier: BSD-3-Clause */
/* The options and limits of the server, and how its commands end. */
#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limits {
    size_t body;      /* bytes of a request's body */
    size_t model;     /* bytes of a model file that is put onto the server, and of a new model */
    size_t header;    /* bytes of memory per connection: request line, header fields, buffers */
    unsigned depth;   /* nesting of JSON */
    size_t features;  /* in one example */
    size_t batch;     /* items of one request */
    size_t labels;    /* of one model */
    size_t names;     /* in a model's dictionary of features, unless the model says otherwise */
    size_t new_names; /* of features that one client may bring to a model in a minute; 0: no limit */
    unsigned models;
    size_t resident; /* models in memory; the others are on disk only until they are asked for */
    unsigned connections;
    unsigned per_address; /* connections of one client; 0: as many as there are */
    unsigned idle_s;      /* without a byte from the client */
    unsigned request_s;   /* for a whole request to arrive */
    unsigned deadline_s;  /* for it to be done */
    size_t scores;        /* numbers in one answer: rows x labels */
    size_t answer;        /* bytes of those; eight times as many may wait for clients to read them */
    size_t queue;         /* events of one model not yet on disk */
    size_t queue_bytes;   /* the same in bytes */
    size_t recent_bytes;  /* of one model's latest decisions in memory */
};

struct serve_options {
    const char *dir;
    const char *listen; /* "host:port"; port 0: any free one, told on standard error */
    const char *tokens; /* file of tokens, or NULL */
    const char *tls_cert, *tls_key;
    bool trust_clock;          /* also when it seems to have jumped since the last run */
    bool insecure;             /* listen beyond loopback without tokens */
    bool log_requests;         /* one line per request */
    bool verify;               /* do not listen: replay every log from its start, compare, report */
    const char *load;          /* "name=file,...": models to begin with, unless they are there */
    const char *restore;       /* do not listen: put this backup into the folder */
    const char *verify_backup; /* do not listen: verify this backup */
    double undelete_days;      /* for which deleted models are kept */
    const char *repair; /* do not listen: "log" or "snapshot" is the truth to keep of models that lost something */
    unsigned threads;   /* 0: one per processor */
    unsigned drain_s;
    uint64_t snapshot_events;
    unsigned snapshot_s;
    const char *kafka;  /* file of settings: models are shared with other nodes over Kafka; NULL: this machine alone */
    const char *models; /* with kafka: a pattern of the models that this node serves; NULL: all */
    double keep_days;   /* of the log; 0: for ever */
    double scrub_hours; /* in which each log is read through once; 0: never */
    bool vacuum;        /* give the room of deleted rows back to the disk */
    struct limits limits;
};

enum serve_result { SERVE_DONE, SERVE_BAD_OPTION, SERVE_BAD_STATE, SERVE_SYSTEM };

/* What is not an option of the command; the defaults of those are in its table. */
#define SERVE_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        .vacuum = true, .limits = {.queue_bytes = 64 << 20, .recent_bytes = 32 << 20 }                                 \
    }

#endif

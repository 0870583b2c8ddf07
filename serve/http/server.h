/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's parts, and a request on its way through them. */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include <microhttpd.h>

#include "http/auth.h"
#include "cluster/group.h"
#include "http/jobs.h"
#include "util/metrics.h"
#include "model/model.h"
#include "util/http_error.h"
#include "util/quota.h"
#include "model/registry.h"
#include "util/serve_options.h"
#include "util/text.h"

/* A connection, watched so that a client that sends a byte now and then can't hold it for ever. */
struct client {
    struct client *before, *after;
    int fd;
    _Atomic int64_t since_ns; /* when its present state began; 0: being served, however long that takes */
    _Atomic bool receiving;   /* in the middle of a request; otherwise idle, or its answer is being sent: */
    _Atomic int64_t send_ns;  /* for which there is this much time; 0: none is */
    bool bad_target;          /* of the request under way */
    struct request *spare;    /* the last one's memory, for the next; NULL: none */
};

struct server {
    struct quota names; /* new ones of features, per client and model */
    const struct serve_options *options;
    struct wall_clock wall;
    struct metrics metrics;
    struct auth auth;
    bool tokens; /* needed */
    bool tls;
    bool loopback; /* listens to this machine only */
    struct registry registry;
    struct jobs jobs, rounds, status; /* each with threads of its own: none waits behind another's disk or batches */
    struct group *group;              /* of nodes; NULL: this machine alone */
    struct MHD_Daemon *daemon;
    int lock_fd;
    int64_t start_ns;
    _Atomic bool draining, maintenance_stop;
    _Atomic int64_t active;     /* requests */
    _Atomic size_t unread;      /* bytes of answers that are being sent */
    _Atomic int64_t refused_ns; /* when a refused token was last logged */
    pthread_t maintenance, acceptor;
    _Atomic int64_t open; /* connections accepted and not yet closed */
    int64_t open_limit;
    int accept_fd, wake_fd; /* wake_fd: something to read tells the acceptor to end */
    pthread_mutex_t clients_lock;
    struct client *clients;
};

struct request;
typedef void (*handler)(struct request *r);

/* Event loops only do what takes microseconds. */
enum place {
    ON_LOOP,
    BY_SIZE, /* one small item of a model that is not large: on the loop; otherwise a job of `rounds` */
    STATUS,  /* a job of `status`: does not touch the disk */
    OFF_LOOP /* a job of `jobs` */
};

struct route {
    const char *method, *pattern; /* "*" stands for one part of the path */
    handler run;
    enum scope scope;
    enum endpoint endpoint;
    enum place place;
};

struct request {
    struct ticket ticket;              /* first */
    bool looked_after;                 /* header X-Hunch-After has been waited for */
    void (*finish)(struct request *r); /* writes the reply when what was waited for has come; NULL: it is written */
    void *unfinished;                  /* what finish needs, and frees */
    struct job job;
    struct server *server;
    struct MHD_Connection *connection;
    const struct route *route; /* NULL: problem says why */
    const char *part[2];       /* what the pattern's stars stood for */
    char path[256];
    char allow[32]; /* the methods that would do, when this one does not */
    struct text body;
    bool lines; /* the body is one JSON text per line */
    bool over;  /* the body is too large, or not wanted: read and forgotten */
    bool close; /* the connection, after the answer */
    bool ran;   /* the handler is done */
    struct http_error error;
    unsigned status;
    struct text reply;
    const char *type;  /* of the reply */
    const void *fixed; /* a reply that needs no freeing, instead of `reply` */
    size_t fixed_size;
    const char *etag;
    int reply_fd; /* a file with the reply, sent as it is read; or -1 */
    uint64_t reply_size;
    uint64_t reply_seq, reply_hash; /* for headers X-Hunch-Seq and -Hash, with reply_fd */
    struct model *model;            /* borrowed until the request ends */
    bool not_durable;
    size_t scores;       /* that it has asked for so far */
    size_t scores_bytes; /* of those, in the answer */
    size_t row_bytes;    /* of the scores of one example */
    size_t counted;      /* in the server's `unread` */
    int64_t start_ns;
    bool off_loop;
};

/* Whether it has taken too long; then the error has been set. */
bool request_late(struct request *r, struct http_error *err);

/* http.c */
enum MHD_Result http_handle(void *server, struct MHD_Connection *c, const char *url, const char *method,
                            const char *version, const char *data, size_t *size, void **context);
void http_completed(void *server, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode why);
size_t http_unescape(void *server, struct MHD_Connection *c, char *text);
void *http_begin(void *server, const char *uri, struct MHD_Connection *c);

/* route.c */
const struct route *route_find(struct request *r, const char *method, const char *url);
bool route_allowed(struct request *r);

/* head.c */
/* As it was sent. */
bool head_target_ok(const char *uri);
bool head_ok(struct MHD_Connection *c, const char *method, const char *version, struct http_error *err);

/* clients.c */
void client_changed(void *server, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code);
struct client *client_of(struct MHD_Connection *c);
void clients_close_slow(struct server *s);

/* The model that the path names; false: the problem has been set. */
bool request_model(struct request *r);

/* What the log has of a decision of the request's model. To be freed; NULL: there is none, or it could not be read. */
struct event *request_decision(struct request *r, uint64_t seq, uint64_t key, struct http_error *err);

void api_predict(struct request *r);
void api_feedback(struct request *r);
void api_activate(struct request *r);
void api_log_decisions(struct request *r);
void api_comparison(struct request *r);
void api_teach(struct request *r);
void api_scores(struct request *r);
void api_explain(struct request *r);
void api_models(struct request *r);
void api_model(struct request *r);
void api_create(struct request *r);
void api_delete(struct request *r);
void api_change(struct request *r);
/* Of a request to make a model: takes the examples out of its labels, as an array of lessons, at most that many. */
bool examples_take(json_t *request, size_t max, json_t **ret_lessons, struct http_error *err);
/* Whether they can be read with the settings in the request. */
bool examples_check(const json_t *request, const json_t *lessons, const struct limits *limits, struct http_error *err);
/* Teaches them to the request's model. */
bool examples_teach(struct request *r, const json_t *lessons);
void api_exclude(struct request *r);
void api_undelete(struct request *r);
void api_versions(struct request *r);
void api_add_version(struct request *r);
void api_drop_version(struct request *r);
void api_promote(struct request *r);
void api_rollback(struct request *r);
void api_backup(struct request *r);
void api_labels(struct request *r);
void api_learners(struct request *r);
void api_decisions(struct request *r);
void api_decision(struct request *r);
void api_stats(struct request *r);
void api_snapshot(struct request *r);
void api_take_snapshot(struct request *r);
void api_health(struct request *r);
void api_ready(struct request *r);
void api_metrics(struct request *r);
void api_about(struct request *r);
void api_asset(struct request *r);
void api_nodes(struct request *r);
void api_log(struct request *r);

/* describe.c */
void describe_model(struct model *m, struct text *t);
void describe_versions(struct model *m, struct text *t);
void describe_comparison(struct model *m, struct text *t);
void describe_labels(struct model *m, struct text *t);
void describe_metrics(struct registry *r, struct text *t);

/* Files that are part of the program; made by embed.py. */
struct asset {
    const char *path, *type, *etag;
    const unsigned char *bytes;
    size_t size;
};
extern const struct asset assets[];
extern const size_t assets_n;

#endif

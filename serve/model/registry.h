/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of a state folder, by name. When there are more than the server may have in memory, the least
 * recently used ones are on disk only, and are opened again on request.
 */
#ifndef SERVE_REGISTRY_H
#define SERVE_REGISTRY_H

#include <jansson.h>
#include <pthread.h>

#include "model/model.h"

struct registered {
    struct model *model; /* NULL: on disk only */
    bool moving;         /* it is being opened or closed: wait */
    char name[];
};

struct registry {
    const struct serve_options *options;
    struct model_context context;
    struct work_queue writers;
    char *models_dir, *trash_dir;
    pthread_rwlock_t lock;
    struct registered **places; /* by name */
    size_t n, room;
    _Atomic size_t resident;
    size_t resident_max;    /* models in memory; how many may be */
    size_t warm_next;       /* see registry_warm */
    pthread_mutex_t moving; /* of models between memory and disk; taken before `lock` */
    pthread_cond_t moved;
    pthread_mutex_t making; /* one creation or deletion at a time */
    bool closed;            /* none any more */
    pthread_mutex_t deleted_lock;
    struct deleted_model *deleted; /* deleted models without references */
};

/* Opens the models, unless there are very many: then when they are asked for. */
bool registry_open(struct registry *r, const struct model_context *context, struct http_error *err);
/* Borrows a model until registry_put; NULL: no such. Takes time when it is on disk only. */
struct model *registry_get(struct registry *r, const char *name);
bool registry_on_disk(struct registry *r, const char *name);
/* On disk only, or held up by admin work: not for an event loop. */
bool registry_slow(struct registry *r, const char *name);
size_t registry_count(struct registry *r, size_t *ret_on_disk);
/* All that are in memory, in order of name; the array is malloc'd, each is to be put back. */
struct model **registry_all(struct registry *r, size_t *ret_n);
/* The names of all there are, in order; to be freed. */
struct model_name {
    char name[NAME_MAX_BYTES + 1];
} * registry_names(struct registry *r, size_t *ret_n);
/* For the maintenance: some more models are opened until then, if all of them fit into memory; */
void registry_warm(struct registry *r, int64_t until_ns);
/* and when too many are in memory, those used least lately go. */
void registry_evict(struct registry *r);
void registry_put(struct registry *r, struct model *m);
/* What a request to make a model says; name and size are checked. */
bool registry_settings(struct registry *r, const char *name, const json_t *request, struct settings *ret,
                       struct http_error *err);
/* Whether the model is what a request asks for; asked: the request's settings, taken over. */
bool registry_agrees(struct model *m, struct settings *asked, const json_t *request, struct http_error *err);
/* Whether one more model may be made. */
bool registry_may_add(const struct registry *r, struct http_error *err);
/* ret_made: false when an equal one was there. */
bool registry_create(struct registry *r, const char *name, const json_t *request, bool *ret_made,
                     struct http_error *err);
/* From a file as hunch saves it. */
bool registry_import(struct registry *r, const char *name, const void *file, size_t size, struct http_error *err);
/* Deleted models are kept for that many days as the options say. nth: 1 for the one deleted last. */
bool registry_undelete(struct registry *r, const char *name, unsigned nth, struct http_error *err);
void registry_purge(struct registry *r); /* those that have been kept long enough */
bool registry_delete(struct registry *r, const char *name, struct http_error *err);
/* folder: a model that is ready to be opened, to be moved into its place. */
bool registry_install(struct registry *r, const char *name, const char *folder, struct http_error *err);
/* Removes what has been deleted; called now and then by the maintenance. */
void registry_remove_deleted(struct registry *r);
/* Stops the writers; true: everything is on disk. */
bool registry_stop(struct registry *r, unsigned patience_s);
void registry_close(struct registry *r);

#endif

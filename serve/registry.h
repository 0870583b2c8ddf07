/* SPDX-License-Identifier: BSD-3-Clause */
/* The models of a state folder, by name. */
#ifndef SERVE_REGISTRY_H
#define SERVE_REGISTRY_H

#include <jansson.h>
#include <pthread.h>

#include "model.h"

struct registry {
    const struct serve_options *options;
    struct model_context context;
    struct writers writers;
    struct group *group; /* of nodes; NULL: this machine alone */
    char *models_dir, *trash_dir;
    pthread_rwlock_t lock;
    struct model **models; /* by name */
    size_t n, room;
    pthread_mutex_t making; /* one creation or deletion at a time */
    bool closed;            /* none any more */
    pthread_mutex_t deleted_lock;
    struct deleted_model *deleted; /* deleted models that no one uses any more */
};

/* Opens all models there are. */
bool registry_open(struct registry *r, const struct model_context *context, struct group *group,
                   struct http_error *err);
/* Borrows a model until registry_put; NULL: no such. */
struct model *registry_get(struct registry *r, const char *name);
/* All of them, in order of name; the array is malloc'd, each is to be put back. */
struct model **registry_all(struct registry *r, size_t *ret_n);
void registry_put(struct registry *r, struct model *m);
/* ret_made: false when an equal one was there. */
bool registry_create(struct registry *r, const char *name, const json_t *request, bool *ret_made,
                     struct http_error *err);
/* From a file as hunch saves it. */
bool registry_import(struct registry *r, const char *name, const void *file, size_t size, struct http_error *err);
/* Deleted models are kept for so many days as the options say. */
bool registry_undelete(struct registry *r, const char *name, struct http_error *err);
void registry_purge(struct registry *r); /* those that have been kept long enough */
bool registry_delete(struct registry *r, const char *name, struct http_error *err);
/* For a group: here only. folder: a model that is ready to be opened, to be moved into its place. */
bool registry_install(struct registry *r, const char *name, const char *folder, struct http_error *err);
bool registry_remove(struct registry *r, const char *name, struct http_error *err);
/* Removes what has been deleted; called now and then by the maintenance. */
void registry_remove_deleted(struct registry *r);
/* Stops the writers; true: everything is on disk. */
bool registry_stop(struct registry *r, unsigned patience_s);
void registry_close(struct registry *r);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A hunch that was built without librdkafka: one machine. */
#include "group.h"

const struct journal_kind *const journal_shared = NULL;

bool group_open(struct group **ret, const struct serve_options *options, struct registry *r,
                struct model_context *context, struct http_error *err)
{
    (void)ret;
    (void)options;
    (void)r;
    (void)context;
    return http_error_set(err, 400, "kafka", "--kafka: this hunch was built without librdkafka");
}

bool group_start(struct group *g, const char *listen, struct http_error *err)
{
    (void)g;
    (void)listen;
    (void)err;
    return false;
}

void group_stop(struct group *g)
{
    (void)g;
}

void group_close(struct group *g)
{
    (void)g;
}

bool group_create_model(struct group *g, const char *name, const struct settings *settings, struct http_error *err)
{
    (void)g;
    (void)name;
    (void)settings;
    (void)err;
    return false;
}

bool group_delete_model(struct group *g, const char *name, struct http_error *err)
{
    (void)g;
    (void)name;
    (void)err;
    return false;
}

bool group_missing(struct group *g, const char *name, struct http_error *err)
{
    (void)g;
    (void)name;
    (void)err;
    return false;
}

bool group_ready(struct group *g, struct http_error *err)
{
    (void)g;
    (void)err;
    return true;
}

void group_describe(struct group *g, struct text *t)
{
    (void)g;
    (void)t;
}

void group_metrics(struct group *g, struct text *t)
{
    (void)g;
    (void)t;
}

bool copy_make(struct model *m, int *ret_fd, struct http_error *err)
{
    (void)m;
    (void)ret_fd;
    return http_error_set(err, 404, "not_shared", "this model belongs to this machine alone");
}

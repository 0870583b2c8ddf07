/* SPDX-License-Identifier: BSD-3-Clause */
/* A hunch that was built without librdkafka: one machine. */
#include "cluster/group.h"

bool group_open(struct group **ret, const struct serve_options *options, struct registry *r,
                struct model_context *context, struct http_error *err)
{
    return http_error_set(err, 400, "kafka", "--kafka: this hunch was built without librdkafka");
}

bool group_start(struct group *g, const char *listen, struct http_error *err)
{
    return false;
}

void group_stop(struct group *g)
{
}

size_t group_drain(struct group *g, unsigned patience_s)
{
    return 0;
}

void group_close(struct group *g)
{
}

bool group_create_model(struct group *g, const char *name, const json_t *request, bool *ret_made,
                        struct http_error *err)
{
    return false;
}

bool group_delete_model(struct group *g, const char *name, struct http_error *err)
{
    return false;
}

bool group_missing(struct group *g, const char *name, struct http_error *err)
{
    return false;
}

bool group_model_ready(struct group *g, struct model *m, struct http_error *err)
{
    return true;
}

bool group_ready(struct group *g, struct http_error *err)
{
    return true;
}

void group_topics(struct group *g, struct text *t)
{
}

void group_describe(struct group *g, struct text *t)
{
}

void group_metrics(struct group *g, struct text *t)
{
}

bool copy_make(struct model *m, int *ret_fd, struct http_error *err)
{
    return http_error_set(err, 404, "not_shared", "this model is not shared: it belongs to this machine");
}

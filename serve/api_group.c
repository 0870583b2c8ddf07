/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes of a group ask each other, and what people ask about them. */
#include <pthread.h>
#include <stdlib.h>

#include "server.h"

void api_nodes(struct request *r)
{
    if (r->server->group)
        group_describe(r->server->group, &r->reply);
    else
        text_puts(&r->reply, "{\"node\":null,\"journal\":{\"kind\":\"embedded\",\"up\":true},\"nodes\":[]}\n");
}

/* A copy takes as long as the log is large: a thread of its own makes it. */
static void *copy_run(void *request)
{
    struct request *r = request;
    struct server *s = r->server;
    copy_make(r->model, &r->file_fd, &r->error);
    MHD_resume_connection(r->connection);
    atomic_fetch_sub(&s->copies, 1);
    return NULL;
}

void api_log(struct request *r)
{
    pthread_t thread;
    if (!request_model(r) || !model_usable(r->model, &r->error))
        return;
    if (!r->model->shared) {
        http_error_set(&r->error, 404, "not_shared", "this model belongs to this machine alone");
        return;
    }
    r->type = "application/vnd.sqlite3";
    r->copying = true;
    atomic_fetch_add(&r->server->copies, 1);
    MHD_suspend_connection(r->connection);
    if (pthread_create(&thread, NULL, copy_run, r) == 0) {
        pthread_detach(thread);
        return;
    }
    http_error_set(&r->error, 503, "thread", "no thread could be started");
    MHD_resume_connection(r->connection);
    atomic_fetch_sub(&r->server->copies, 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What nodes of a group ask each other, and what people ask about them. */
#include <sys/stat.h>

#include "http/server.h"

void api_nodes(struct request *r)
{
    if (r->server->group)
        group_describe(r->server->group, &r->reply);
    else
        text_puts(&r->reply, "{\"node\":null,\"journal\":{\"kind\":\"embedded\",\"up\":true},\"nodes\":[]}\n");
}

void api_log(struct request *r)
{
    struct stat st;
    if (!request_model(r) || !model_usable(r->model, &r->error))
        return;
    if (!r->server->group)
        http_error_set(&r->error, 404, "not_shared", "this model is not shared: it belongs to this machine");
    else if (copy_make(r->model, &r->reply_fd, &r->error) && fstat(r->reply_fd, &st) == 0)
        r->reply_size = (uint64_t)st.st_size;
    r->type = "application/vnd.sqlite3";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* From one learner to another: versions made, compared, promoted and taken back. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "event/body.h"
#include "http/server.h"
#include "model/versions.h"

static void reply_versions(struct request *r)
{
    describe_versions(r->model, &r->reply);
    text_puts(&r->reply, "\n");
}

void api_versions(struct request *r)
{
    if (request_model(r))
        reply_versions(r);
}

void api_add_version(struct request *r)
{
    uint32_t number;
    uint64_t seed = 0;
    if (!request_model(r))
        return;
    json_t *json = json_read(r->body.data, r->body.length, r->server->options->limits.depth, &r->error);
    const json_t *learner = json_object_get(json, "learner"), *given = json_object_get(json, "seed"),
                 *promote = json_object_get(json, "promote");
    const char *word = json_string_value(promote);
    bool automatic = word && strcmp(word, "auto") == 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = 1;
    seed = given ? (uint64_t)json_integer_value(given) : seed & ((1ULL << 53) - 1);
    if (json && (!json_is_string(learner) || json_object_size(json) != 1 + (size_t) !!given + (size_t) !!promote ||
                 (given && (!json_is_integer(given) || json_integer_value(given) < 0)) ||
                 (promote && !automatic && (!word || strcmp(word, "manual") != 0))))
        http_error_set(&r->error, 400, "bad_request",
                       "give {\"learner\":\"...\"}, and optionally \"seed\" and \"promote\" (\"auto\" or \"manual\")");
    else if (json && version_add(r->model, json_string_value(learner), seed, automatic, &number, &r->error)) {
        r->status = 202;
        reply_versions(r);
    }
    json_decref(json);
}

static bool read_number(struct request *r, uint32_t *ret)
{
    const char *text = r->part[1];
    if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 6 || !(*ret = (uint32_t)atoi(text)))
        return http_error_set(&r->error, 404, "unknown_version", "versions are numbered from 1");
    return true;
}

void api_drop_version(struct request *r)
{
    uint32_t number;
    if (request_model(r) && read_number(r, &number) && version_drop(r->model, number, &r->error))
        reply_versions(r);
}

void api_promote(struct request *r)
{
    uint32_t number;
    if (request_model(r) && read_number(r, &number) && version_promote(r->model, number, &r->error))
        reply_versions(r);
}

void api_rollback(struct request *r)
{
    if (request_model(r) && version_promote(r->model, 0, &r->error))
        reply_versions(r);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Every endpoint, once. openapi.json says the same, and a test compares the two. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server.h"

static const struct route routes[] = {
    {"POST", "/v1/models/*/predict", api_predict, SCOPE_WRITE, ENDPOINT_predict},
    {"POST", "/v1/models/*/feedback", api_feedback, SCOPE_WRITE, ENDPOINT_feedback},
    {"POST", "/v1/models/*/teach", api_teach, SCOPE_WRITE, ENDPOINT_teach},
    {"POST", "/v1/models/*/scores", api_scores, SCOPE_READ, ENDPOINT_scores},
    {"GET", "/v1/models", api_models, SCOPE_READ, ENDPOINT_models},
    {"GET", "/v1/models/*", api_model, SCOPE_READ, ENDPOINT_models},
    {"PUT", "/v1/models/*", api_create, SCOPE_ADMIN, ENDPOINT_models},
    {"DELETE", "/v1/models/*", api_delete, SCOPE_ADMIN, ENDPOINT_models},
    {"POST", "/v1/models/*/labels", api_labels, SCOPE_ADMIN, ENDPOINT_models},
    {"POST", "/v1/models/*/exclude", api_exclude, SCOPE_ADMIN, ENDPOINT_models},
    {"GET", "/v1/models/*/decisions", api_decisions, SCOPE_READ, ENDPOINT_decisions},
    {"GET", "/v1/models/*/decisions/*", api_decision, SCOPE_READ, ENDPOINT_decisions},
    {"GET", "/v1/models/*/stats", api_stats, SCOPE_READ, ENDPOINT_stats},
    {"GET", "/v1/models/*/snapshot", api_snapshot, SCOPE_READ, ENDPOINT_snapshot},
    {"POST", "/v1/models/*/snapshot", api_take_snapshot, SCOPE_ADMIN, ENDPOINT_snapshot},
    {"GET", "/v1/models/*/log", api_log, SCOPE_ADMIN, ENDPOINT_snapshot},
    {"GET", "/v1/nodes", api_nodes, SCOPE_READ, ENDPOINT_other},
    {"GET", "/v1/learners", api_learners, SCOPE_READ, ENDPOINT_models},
    {"GET", "/v1", api_about, SCOPE_NONE, ENDPOINT_other},
    {"GET", "/healthz", api_health, SCOPE_NONE, ENDPOINT_health},
    {"GET", "/readyz", api_ready, SCOPE_NONE, ENDPOINT_health},
    {"GET", "/metrics", api_metrics, SCOPE_READ, ENDPOINT_metrics},
    {"GET", "/", api_asset, SCOPE_NONE, ENDPOINT_page},
    {"GET", "/page.js", api_asset, SCOPE_NONE, ENDPOINT_page},
    {"GET", "/page.css", api_asset, SCOPE_NONE, ENDPOINT_page},
    {"GET", "/openapi.json", api_asset, SCOPE_NONE, ENDPOINT_page},
};

/* Cuts path at its slashes as it goes, if it matches. */
static bool match(const char *pattern, char *path, const char *part[2])
{
    char *cuts[4];
    size_t stars = 0, cut = 0;
    while (*pattern && *path) {
        if (*pattern == '*') {
            char *end = strchr(path, '/');
            if (end == path || stars == 2)
                return false;
            part[stars++] = path;
            path = end ? end : path + strlen(path);
            if (end)
                cuts[cut++] = end;
            pattern++;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    if (*pattern || *path)
        return false;
    while (cut)
        *cuts[--cut] = 0;
    return true;
}

const struct route *route_find(struct request *r, const char *method, const char *url)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    size_t length = strlen(url);
    if (length >= sizeof r->path) {
        http_error_set(&r->error, 404, "not_found", "there is nothing here");
        return NULL;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        memcpy(r->path, url, length + 1);
        r->part[0] = r->part[1] = NULL;
        if (!match(routes[i].pattern, r->path, r->part))
            continue;
        if (strcmp(routes[i].method, wanted) == 0)
            return &routes[i];
        snprintf(r->allow + strlen(r->allow), sizeof r->allow - strlen(r->allow), "%s%s", r->allow[0] ? ", " : "",
                 routes[i].method);
    }
    if (r->allow[0])
        http_error_set(&r->error, 405, "method_not_allowed", "%s can't be done here", method);
    else
        http_error_set(&r->error, 404, "not_found", "there is nothing here; GET /openapi.json tells what there is");
    return NULL;
}

static const char *header(struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* A name that a hostile page can't point at us: an address, or localhost. */
static bool local_name(const char *host)
{
    size_t n = strcspn(host, ":");
    if (host[0] == '[')
        return true;
    if (n == 9 && strncasecmp(host, "localhost", 9) == 0)
        return true;
    return n > 0 && strspn(host, "0123456789.") >= n;
}

/* Pages of other sites must not act through a user's browser. */
static bool same_site(struct request *r)
{
    const char *host = header(r, MHD_HTTP_HEADER_HOST), *origin = header(r, "Origin");
    const struct server *s = r->server;
    if (!s->tokens && s->loopback && host && !local_name(host))
        return http_error_set(&r->error, 403, "bad_host", "this server answers to localhost only");
    if (!origin || r->route->method[0] == 'G')
        return true;
    const char *at = strstr(origin, "://");
    if (!at || !host || strcasecmp(at + 3, host) != 0)
        return http_error_set(&r->error, 403, "bad_origin", "requests from pages of other sites are refused");
    return true;
}

bool route_allowed(struct request *r)
{
    if (!same_site(r)) {
        atomic_fetch_add(&r->server->metrics.refused, 1);
        return false;
    }
    if (!r->server->tokens || r->route->scope == SCOPE_NONE)
        return true;
    enum scope scope = auth_scope(&r->server->auth, header(r, MHD_HTTP_HEADER_AUTHORIZATION));
    if (scope >= r->route->scope)
        return true;
    atomic_fetch_add(&r->server->metrics.refused, 1);
    if (scope == SCOPE_NONE)
        return http_error_set(&r->error, 401, "no_token", "a token is needed: Authorization: Bearer TOKEN");
    return http_error_set(&r->error, 403, "scope", "this token's scope does not allow that");
}

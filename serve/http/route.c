/* SPDX-License-Identifier: BSD-3-Clause */
/* Every endpoint, once. openapi.json says the same, and a test compares the two. */
#include <jansson.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "util/log.h"
#include "http/server.h"

static const struct route routes[] = {
    {"POST", "/v1/models/*/predict", api_predict, SCOPE_WRITE, ENDPOINT_predict, BY_SIZE},
    {"POST", "/v1/models/*/feedback", api_feedback, SCOPE_WRITE, ENDPOINT_feedback, BY_SIZE},
    {"POST", "/v1/models/*/activate", api_activate, SCOPE_WRITE, ENDPOINT_feedback, BY_SIZE},
    {"POST", "/v1/models/*/teach", api_teach, SCOPE_WRITE, ENDPOINT_teach, BY_SIZE},
    {"POST", "/v1/models/*/scores", api_scores, SCOPE_READ, ENDPOINT_scores, BY_SIZE},
    {"POST", "/v1/models/*/explain", api_explain, SCOPE_READ, ENDPOINT_scores, OFF_LOOP},
    {"GET", "/v1/models", api_models, SCOPE_READ, ENDPOINT_models, OFF_LOOP},
    {"GET", "/v1/models/*", api_model, SCOPE_READ, ENDPOINT_models, OFF_LOOP},
    {"PUT", "/v1/models/*", api_create, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"PATCH", "/v1/models/*", api_change, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"DELETE", "/v1/models/*", api_delete, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/labels", api_labels, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/exclude", api_exclude, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/decisions", api_log_decisions, SCOPE_WRITE, ENDPOINT_predict, BY_SIZE},
    {"GET", "/v1/models/*/comparison", api_comparison, SCOPE_READ, ENDPOINT_models, OFF_LOOP},
    {"GET", "/v1/models/*/decisions", api_decisions, SCOPE_READ, ENDPOINT_decisions, OFF_LOOP},
    {"GET", "/v1/models/*/decisions/*", api_decision, SCOPE_READ, ENDPOINT_decisions, OFF_LOOP},
    {"GET", "/v1/models/*/stats", api_stats, SCOPE_READ, ENDPOINT_stats, OFF_LOOP},
    {"GET", "/v1/models/*/snapshot", api_snapshot, SCOPE_READ, ENDPOINT_snapshot, OFF_LOOP},
    {"POST", "/v1/models/*/snapshot", api_take_snapshot, SCOPE_ADMIN, ENDPOINT_snapshot, OFF_LOOP},
    {"GET", "/v1/models/*/versions", api_versions, SCOPE_READ, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/versions", api_add_version, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"DELETE", "/v1/models/*/versions/*", api_drop_version, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/versions/*/promote", api_promote, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"POST", "/v1/models/*/rollback", api_rollback, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"GET", "/v1/models/*/model", api_snapshot, SCOPE_READ, ENDPOINT_snapshot, OFF_LOOP},
    {"POST", "/v1/models/*/undelete", api_undelete, SCOPE_ADMIN, ENDPOINT_models, OFF_LOOP},
    {"GET", "/v1/backup", api_backup, SCOPE_ADMIN, ENDPOINT_snapshot, OFF_LOOP},
    {"GET", "/v1/models/*/log", api_log, SCOPE_ADMIN, ENDPOINT_snapshot, OFF_LOOP},
    {"GET", "/v1/nodes", api_nodes, SCOPE_READ, ENDPOINT_other, OFF_LOOP},
    {"GET", "/v1/learners", api_learners, SCOPE_READ, ENDPOINT_models, ON_LOOP},
    {"GET", "/v1", api_about, SCOPE_NONE, ENDPOINT_other, ON_LOOP},
    {"GET", "/healthz", api_health, SCOPE_NONE, ENDPOINT_health, ON_LOOP},
    {"GET", "/readyz", api_ready, SCOPE_NONE, ENDPOINT_health, STATUS},
    {"GET", "/metrics", api_metrics, SCOPE_READ, ENDPOINT_metrics, STATUS},
    {"GET", "/", api_asset, SCOPE_NONE, ENDPOINT_page, ON_LOOP},
    {"GET", "/page.js", api_asset, SCOPE_NONE, ENDPOINT_page, ON_LOOP},
    {"GET", "/page.css", api_asset, SCOPE_NONE, ENDPOINT_page, ON_LOOP},
    {"GET", "/openapi.json", api_asset, SCOPE_NONE, ENDPOINT_page, ON_LOOP},
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
        http_error_set(&r->error, 404, "not_found", "no such endpoint");
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
        http_error_set(&r->error, 405, "method_not_allowed", "%s is not allowed for this endpoint", method);
    else
        http_error_set(&r->error, 404, "not_found", "no such endpoint; see GET /openapi.json");
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
        return http_error_set(&r->error, 403, "bad_host", "this server accepts requests for localhost only");
    /* A page can ask without an Origin, and what it asks for may be a backup: browsers say where it is from. */
    const char *from = header(r, "Sec-Fetch-Site");
    if (r->route->scope != SCOPE_NONE && from && (strcmp(from, "cross-site") == 0 || strcmp(from, "same-site") == 0))
        return http_error_set(&r->error, 403, "bad_origin", "requests from pages of other sites are refused");
    if (!origin || r->route->scope == SCOPE_NONE)
        return true;
    const char *at = strstr(origin, "://");
    if (!at || !host || strcasecmp(at + 3, host) != 0)
        return http_error_set(&r->error, 403, "bad_origin", "requests from pages of other sites are refused");
    return true;
}

/* With the address, once a second at most; how many there were is in the metrics. */
static void log_refused(struct request *r, const char *why)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char address[64] = "";
    int64_t now = clock_now(), before = r->server->refused_ns;
    if ((before && now - before < INT64_C(1000000000)) ||
        !atomic_compare_exchange_strong(&r->server->refused_ns, &before, now))
        return;
    if (info && info->client_addr)
        getnameinfo(info->client_addr,
                    info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
                    address, sizeof address, NULL, 0, NI_NUMERICHOST);
    log_event("token_refused", "{s:s,s:s,s:s,s:I}", "address", address, "endpoint", endpoint_name(r->route->endpoint),
              "why", why, "refused_so_far", (json_int_t)r->server->metrics.refused);
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
    log_refused(r, scope == SCOPE_NONE ? "no_token" : "scope");
    if (scope == SCOPE_NONE)
        return http_error_set(&r->error, 401, "no_token", "a token is needed: Authorization: Bearer TOKEN");
    return http_error_set(&r->error, 403, "scope", "this token's scope does not allow that");
}

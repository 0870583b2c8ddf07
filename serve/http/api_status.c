/* SPDX-License-Identifier: BSD-3-Clause */
/* How things are: health, metrics, what happened lately, and the page that shows it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/label_set.h"
#include "http/libraries.h"
#include "http/server.h"
#include "storage/store_shared.h"

void api_health(struct request *r)
{
    r->fixed = "{\"status\":\"ok\"}\n";
    r->fixed_size = 16;
}

/* Under the lock: why a model takes no decisions now, or "". */
static const char *not_ready(const struct model *m)
{
    return *model_reason(m) ? model_reason(m)
           : m->degraded[0] ? m->degraded
           : m->failing     ? m->failure.message
                            : m->replication->stopped(m);
}

static bool ready_in_group(struct request *r, const char *model)
{
    struct model *m = registry_get(&r->server->registry, model);
    if (!m)
        return group_missing(r->server->group, model, &r->error);
    bool ok = group_model_ready(r->server->group, m, &r->error);
    registry_put(&r->server->registry, m);
    return ok;
}

/* Names of models and what is wrong with them are for those who may read. */
static bool may_name(struct request *r)
{
    const char *token = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    return !r->server->tokens || auth_scope(&r->server->auth, token) >= SCOPE_READ;
}

/* One model that can't be used is no reason to send the traffic of all others elsewhere. */
void api_ready(struct request *r)
{
    const char *one = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "model");
    struct text *t = &r->reply;
    size_t n, ready = 0, shown = 0, on_disk;
    struct model **all = registry_all(&r->server->registry, &n);
    bool found = false, found_ready = false, named = may_name(r);
    text_puts(t, "{\"status\":\"ready\",\"not_ready\":[");
    for (size_t i = 0; i < n; i++) {
        struct model *m = all[i];
        pthread_mutex_lock(&m->lock);
        const char *why = not_ready(m);
        ready += !*why;
        if (one && strcmp(one, m->name) == 0) {
            found = true;
            found_ready = !*why;
        }
        if (*why && named) {
            text_printf(t, "%s{\"model\":\"%s\",\"reason\":", shown++ ? "," : "", m->name);
            text_quote(t, why, strlen(why));
            text_puts(t, "}");
        }
        if (*why && (!one || !found_ready))
            http_error_set(&r->error, 503,
                           m->failing                    ? "storage"
                           : *m->replication->stopped(m) ? "stopped"
                                                         : "model_broken",
                           "model %s: %.150s", named ? m->name : "?", named ? why : "not ready");
        pthread_mutex_unlock(&m->lock);
        registry_put(&r->server->registry, m);
    }
    free(all);
    n = registry_count(&r->server->registry, &on_disk);
    ready += on_disk; /* they will be opened when they are asked for */
    if (one && !found && registry_on_disk(&r->server->registry, one))
        found = found_ready = true;
    text_printf(t, "],\"models\":%zu,\"ready\":%zu", n, ready);
    if (named) {
        text_puts(t, ",\"library_defects\":");
        libraries_json(t);
        group_topics(r->server->group, t);
    }
    text_puts(t, "}\n");
    if (one ? found_ready : ready > 0 || n == 0)
        r->error = (struct http_error){0};
    if (one && !found)
        http_error_set(&r->error, 404, "unknown_model", "there is no such model");
    if (r->server->draining)
        http_error_set(&r->error, 503, "stopping", "the server is stopping");
    if (!r->error.status && r->server->group)
        one ? ready_in_group(r, one) : group_ready(r->server->group, &r->error);
}

static long resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

void api_metrics(struct request *r)
{
    struct text *t = &r->reply;
    r->type = "text/plain; version=0.0.4; charset=utf-8";
    text_printf(t, "# HELP hunch_info The program.\n# TYPE hunch_info gauge\nhunch_info{version=\"%s\"} 1\n",
                hunch_version());
    text_printf(t,
                "# HELP hunch_uptime_seconds Since the start.\n# TYPE hunch_uptime_seconds gauge\n"
                "hunch_uptime_seconds %.3f\n",
                (double)(clock_now() - r->server->start_ns) * 1e-9);
    text_printf(t,
                "# HELP process_resident_memory_bytes Resident memory.\n# TYPE process_resident_memory_bytes gauge\n"
                "process_resident_memory_bytes %ld\n",
                resident_bytes());
    text_printf(t,
                "# HELP hunch_clock_offset_seconds How far the system's clock is from the log's time.\n"
                "# TYPE hunch_clock_offset_seconds gauge\nhunch_clock_offset_seconds %.3f\n",
                wall_clock_offset_seconds(&r->server->wall));
    text_printf(
        t,
        "# HELP hunch_clock_unconfirmed_seconds Time since the last run that is not yet certain to have passed.\n"
        "# TYPE hunch_clock_unconfirmed_seconds gauge\nhunch_clock_unconfirmed_seconds %.3f\n",
        (double)r->server->wall.unsure_ms / 1000);
    libraries_metrics(t);
    text_printf(t,
                "# HELP hunch_jobs_waiting Requests and other work that wait for a thread.\n"
                "# TYPE hunch_jobs_waiting gauge\nhunch_jobs_waiting %zu\n",
                jobs_waiting(&r->server->jobs) + jobs_waiting(&r->server->rounds));
    metrics_write(&r->server->metrics, t);
    describe_metrics(&r->server->registry, t);
    if (r->server->group)
        group_metrics(r->server->group, t);
}

void api_about(struct request *r)
{
    text_printf(&r->reply, "{\"name\":\"hunch\",\"version\":\"%s\",\"tokens\":%s,\"uptime_seconds\":%.3f}\n",
                hunch_version(), r->server->tokens ? "true" : "false",
                (double)(clock_now() - r->server->start_ns) * 1e-9);
}

void api_stats(struct request *r)
{
    const char *span = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "span");
    struct text *t = &r->reply;
    size_t which = 0;
    if (!request_model(r))
        return;
    if (span && !history_span(span, &which)) {
        http_error_set(&r->error, 400, "bad_request", "span must be minutes, day or month");
        return;
    }
    text_puts(t, "{\"model\":");
    describe_model(r->model, t);
    text_puts(t, ",\"labels\":[");
    describe_labels(r->model, t);
    text_puts(t, "],");
    int64_t now = model_now(r->model);
    pthread_mutex_lock(&r->model->lock);
    history_write(&r->model->history, which, now, t);
    pthread_mutex_unlock(&r->model->lock);
    text_puts(t, "}\n");
}

void api_comparison(struct request *r)
{
    if (!request_model(r))
        return;
    describe_comparison(r->model, &r->reply);
    text_puts(&r->reply, "\n");
}

/* --- decisions --- */

/* What decisions that the model did not make, or that wait for their activation, have besides. */
static void write_chooser(const struct event *e, struct text *t)
{
    static const char *const by[CHOOSERS] = {"model", "baseline", "control", "control"};
    if (e->chooser != CHOSEN_BY_MODEL) {
        text_printf(t, ",\"chosen_by\":\"%s\",\"model_probability\":", by[e->chooser]);
        text_number(t, e->model_chance);
    }
    if (e->act_at > 0)
        text_printf(t, ",\"act\":%s", e->act & HUNCH_ACT ? "true" : "false");
    if (e->deferred)
        text_printf(t, ",\"activated\":%s", e->answer.active ? "true" : "false");
}

/* The labels among which the decision was made, unless they were all. */
static void write_eligible(struct model *m, const struct event *e, struct text *t)
{
    char name[LABEL_MAX_BYTES + 1];
    uint32_t *labels;
    size_t n;
    if (!e->eligible || !label_set_read(e->eligible, (uint32_t)model_labels(m), &labels, &n))
        return;
    text_puts(t, ",\"eligible\":[");
    for (size_t i = 0; i < n; i++) {
        model_label_name(m, labels[i], name);
        text_puts(t, i ? "," : "");
        text_quote(t, name, strlen(name));
    }
    text_puts(t, "]");
    free(labels);
}

static void write_decision(struct model *m, const struct event *e, struct text *t)
{
    char id[ID_CHARS + 1], label[LABEL_MAX_BYTES + 1];
    uint64_t handle = store_shared_handle(&m->store, e->seq);
    id_write(id, handle ? handle : e->seq, e->key);
    text_printf(t, "{\"id\":\"%s\",\"time_ms\":%lld,\"label\":", id, (long long)e->time_ms);
    model_label_name(m, e->choice.label, label);
    text_quote(t, label, strlen(label));
    model_label_name(m, e->choice.greedy, label);
    text_puts(t, ",\"greedy\":");
    text_quote(t, label, strlen(label));
    text_puts(t, ",\"probability\":");
    text_number(t, e->unknown_chance ? NAN : e->choice.prob);
    write_chooser(e, t);
    write_eligible(m, e, t);
    text_printf(t, ",\"round\":%llu,\"seen\":%llu,\"x\":", (unsigned long long)e->choice.round,
                (unsigned long long)e->seen);
    text_add(t, e->x, e->x_length);
    if (e->answer.seq) {
        text_printf(t, ",\"feedback\":{\"right\":%s,\"time_ms\":%lld,\"delay_ms\":%lld",
                    e->answer.right ? "true" : "false", (long long)e->answer.time_ms,
                    (long long)(e->answer.time_ms - e->time_ms));
        if (e->answer.label != NO_LABEL) {
            model_label_name(m, e->answer.label, label);
            text_puts(t, ",\"label\":");
            text_quote(t, label, strlen(label));
        }
        text_puts(t, e->answer.silent ? ",\"silent\":true}" : "}");
    } else {
        text_puts(t, ",\"feedback\":null");
    }
    text_puts(t, "}");
}

#define LISTING_BYTES (4 << 20) /* then the rest is for the next request */

struct listing {
    struct model *model;
    struct text *text;
    size_t n;
};

static bool list_one(void *context, const struct event *e)
{
    struct listing *l = context;
    text_add(l->text, ",", l->n++ > 0);
    write_decision(l->model, e, l->text);
    return !l->text->failed && l->text->length < LISTING_BYTES;
}

static bool argument(struct request *r, const char *name, uint64_t max, uint64_t *ret)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
    char *end;
    if (!text)
        return true;
    uint64_t v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v > max)
        return http_error_set(&r->error, 400, "bad_request", "%s must be a whole number up to %llu", name,
                              (unsigned long long)max);
    *ret = v;
    return true;
}

/* In a cluster what was acknowledged is in the journal and the model, and a moment later in the log. */
static bool log_is_readable(struct request *r)
{
    if (!request_model(r))
        return false;
    struct model *m = r->model;
    if (m->broken[0])
        return http_error_set(&r->error, 503, "model_broken", "%s", m->broken);
    if (r->server->group) {
        pthread_mutex_lock(&m->lock);
        uint64_t last = m->last;
        pthread_mutex_unlock(&m->lock);
        wait_durable(m, last);
    }
    return true;
}

struct event *request_decision(struct request *r, uint64_t seq, uint64_t key, struct http_error *err)
{
    struct event *e = NULL;
    struct event_store *store = &r->model->store;
    if (!(seq & HANDLE_BIT ? store_shared_decision(store, seq, key, &e, err)
                           : event_store_decision(store, seq, &e, err)))
        return NULL;
    if (e && e->key == key)
        return e;
    event_free(e);
    http_error_set(err, 404, "unknown_id", "no decision on disk has this id");
    return NULL;
}

static struct event *decision_on_disk(struct request *r, const char *id)
{
    uint64_t seq, key;
    if (id_read(id, strlen(id), &seq, &key))
        return request_decision(r, seq, key, &r->error);
    http_error_set(&r->error, 404, "unknown_id", "no decision on disk has this id");
    return NULL;
}

/* A place in the log, or the id of a decision, which in a group does not tell its place. */
static bool read_before(struct request *r, uint64_t *ret)
{
    const char *text = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, "before");
    if (!text || !strchr(text, '-'))
        return argument(r, "before", INT64_MAX, ret);
    struct event *e = decision_on_disk(r, text);
    if (e)
        *ret = e->seq;
    event_free(e);
    return e != NULL;
}

void api_decisions(struct request *r)
{
    uint64_t limit = 20, before = INT64_MAX;
    struct listing l = {.text = &r->reply};
    if (!log_is_readable(r) || !argument(r, "limit", 1000, &limit) || !read_before(r, &before))
        return;
    l.model = r->model;
    text_puts(&r->reply, "{\"decisions\":[");
    event_store_recent(&r->model->store, before, limit, list_one, &l, &r->error);
    text_puts(&r->reply, "]}\n");
}

void api_decision(struct request *r)
{
    struct event *e = log_is_readable(r) ? decision_on_disk(r, r->part[1]) : NULL;
    if (!e)
        return;
    write_decision(r->model, e, &r->reply);
    text_puts(&r->reply, "\n");
    event_free(e);
}

void api_asset(struct request *r)
{
    for (size_t i = 0; i < assets_n; i++) {
        if (strcmp(assets[i].path, r->route->pattern))
            continue;
        r->fixed = assets[i].bytes;
        r->fixed_size = assets[i].size;
        r->type = assets[i].type;
        r->etag = assets[i].etag;
        return;
    }
    http_error_set(&r->error, 404, "not_found", "no such endpoint");
}

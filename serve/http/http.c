/* SPDX-License-Identifier: BSD-3-Clause */
/* From the HTTP library's callbacks to our handlers and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/log.h"
#include "http/server.h"

#define SMALL_BODY 4096        /* bytes of a request that is done at once */
#define LARGE_BODY (1 << 20)   /* bytes whose memory is given back where it holds up no one */
#define REPLY_PIECE (64 << 10) /* bytes of a file */
#define READ_RATE (256 << 10)  /* bytes of an answer that a client must take in a second, once request_s have passed */

static const char page_policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
                                  " img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

bool request_model(struct request *r)
{
    if (!r->model)
        r->model = registry_get(&r->server->registry, r->part[0]);
    if (!r->model && r->server->group)
        return group_missing(r->server->group, r->part[0], &r->error);
    if (!r->model && registry_slow(&r->server->registry, r->part[0]))
        return http_error_set(&r->error, 503, "out_of_memory", "the model cannot be opened: out of memory");
    return r->model ||
           http_error_set(&r->error, 404, "unknown_model", "there is no model \"%.*s\"", NAME_MAX_BYTES, r->part[0]);
}

/* --- receiving --- */

void *http_begin(void *server, const char *uri, struct MHD_Connection *c)
{
    struct client *w = client_of(c);
    if (w)
        w->bad_target = !head_target_ok(uri);
    if (w && !w->receiving) { /* the first request's time has run since the connection came */
        w->receiving = true;
        w->since_ns = clock_now();
    }
    return NULL;
}

/* A NUL would cut a name short; left as it was sent, it is no name at all. */
size_t http_unescape(void *server, struct MHD_Connection *c, char *text)
{
    return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/* A model file may be larger than other bodies. */
static size_t bytes_max(const struct request *r)
{
    const struct limits *l = &r->server->options->limits;
    return r->route && r->route->run == api_create && l->model > l->body ? l->model : l->body;
}

/* What the head says; 0: nothing. */
static unsigned long long body_length(struct request *r)
{
    const char *length = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length ? strtoull(length, NULL, 10) : 0;
}

static bool too_large(struct request *r)
{
    return body_length(r) > bytes_max(r);
}

static void oversize(struct request *r)
{
    r->over = true;
    http_error_set(&r->error, 413, "too_large", "the body is larger than %zu bytes", bytes_max(r));
}

static bool head_readable(struct request *r, const char *method, const char *version)
{
    const struct client *w = client_of(r->connection);
    if (w && w->bad_target)
        http_error_set(&r->error, 400, "bad_framing", "the request's target has spaces or control characters");
    else if (head_ok(r->connection, method, version, &r->error))
        return true;
    r->over = r->close = true;
    return false;
}

/* A connection has one request at a time: its memory serves the next one too. */
static struct request *request_take(struct client *w)
{
    struct text body = {0};
    struct request *r = w ? w->spare : NULL;
    if (r) {
        body = r->body;
        body.length = 0;
        w->spare = NULL;
    } else if (!(r = malloc(sizeof *r))) {
        return NULL;
    }
    *r = (struct request){.body = body, .reply_fd = -1, .type = "application/json"};
    return r;
}

static void request_leave(struct client *w, struct request *r)
{
    text_free(&r->reply);
    if (!w || r->body.failed || r->body.capacity > SMALL_BODY)
        text_free(&r->body);
    if (w)
        w->spare = r;
    else
        free(r);
}

static struct request *request_new(struct server *s, struct MHD_Connection *c, const char *url, const char *method,
                                   const char *version)
{
    struct request *r = request_take(client_of(c));
    if (!r)
        return NULL;
    r->server = s;
    r->connection = c;
    r->start_ns = clock_now();
    atomic_fetch_add_explicit(&s->active, 1, memory_order_relaxed);
    if (!head_readable(r, method, version))
        return r;
    r->route = route_find(r, method, url);
    if (!r->route || !route_allowed(r)) {
        r->over = true;
        return r;
    }
    const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    r->lines = type && (strstr(type, "ndjson") || strstr(type, "jsonl") || strstr(type, "json-seq") == type);
    if (too_large(r))
        oversize(r);
    return r;
}

static void take(struct request *r, const char *data, size_t size)
{
    if (r->over)
        return;
    if (r->body.length + size > bytes_max(r)) {
        oversize(r);
        text_free(&r->body);
        return;
    }
    unsigned long long whole = r->body.length ? 0 : body_length(r);
    if (whole > size && whole <= LARGE_BODY) /* a larger one gets its memory as it comes */
        text_room(&r->body, whole);
    text_add(&r->body, data, size);
    if (r->body.failed) {
        r->over = true;
        http_error_no_memory(&r->error);
    }
}

/* --- answering --- */

static void error_reply(struct request *r)
{
    text_free(&r->reply);
    text_puts(&r->reply, "{\"error\":");
    http_error_write(&r->error, &r->reply);
    text_puts(&r->reply, "}\n");
    r->type = "application/json";
    r->status = (unsigned)r->error.status;
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

static struct MHD_Response *fixed_response(struct request *r)
{
    const char *known = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    if (r->etag && known && strcmp(known, r->etag) == 0) {
        r->status = 304;
        r->fixed_size = 0;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(r->fixed_size, (void *)r->fixed, MHD_RESPMEM_PERSISTENT);
    if (response && r->etag) {
        add(response, MHD_HTTP_HEADER_ETAG, r->etag);
        add(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
        add(response, "Content-Security-Policy", page_policy);
        add(response, "X-Content-Type-Options", "nosniff");
        add(response, "Referrer-Policy", "no-referrer");
    }
    return response;
}

/* A file that no one else sees. Its blocks are freed when it is closed, which takes long for a large one. */
struct reply_file {
    struct job job;
    struct jobs *jobs;
    int fd;
};

static void close_now(struct job *j)
{
    close(((struct reply_file *)j)->fd);
    free(j);
}

static void close_later(void *file)
{
    struct reply_file *f = file;
    if (!jobs_push(f->jobs, &f->job))
        close_now(&f->job);
}

static ssize_t read_piece(void *file, uint64_t at, char *ret, size_t size)
{
    ssize_t n = pread(((struct reply_file *)file)->fd, ret, size, (off_t)at);
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Takes the request's file over. */
static struct reply_file *reply_file_new(struct request *r)
{
    struct reply_file *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (struct reply_file){{close_now}, &r->server->jobs, r->reply_fd};
    r->reply_fd = -1;
    return f;
}

/* Sent in pieces as the client takes them. */
static struct MHD_Response *file_response(struct request *r)
{
    char text[32];
    struct reply_file *f = reply_file_new(r);
    struct MHD_Response *response =
        f ? MHD_create_response_from_callback(r->reply_size, REPLY_PIECE, read_piece, f, close_later) : NULL;
    if (!response) {
        if (f)
            close_later(f);
        return NULL;
    }
    if (r->reply_hash) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)r->reply_seq);
        add(response, "X-Hunch-Seq", text);
        snprintf(text, sizeof text, "%016llx", (unsigned long long)r->reply_hash);
        add(response, "X-Hunch-Hash", text);
    }
    return response;
}

/* Where the model is now that this has been done: what a request to another node can ask to have been seen. */
static void position_header_add(struct request *r, struct MHD_Response *response)
{
    char seq[32];
    pthread_mutex_lock(&r->model->lock);
    uint64_t last = r->model->last;
    pthread_mutex_unlock(&r->model->lock);
    snprintf(seq, sizeof seq, "%llu", (unsigned long long)(r->ticket.applied ? r->ticket.applied : last));
    add(response, "X-Hunch-Seq", seq);
}

static struct MHD_Response *make_response(struct request *r)
{
    if (r->fixed)
        return fixed_response(r);
    if (r->reply_fd >= 0)
        return file_response(r);
    size_t bytes = r->reply.length;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(r->reply.length, r->reply.data, MHD_RESPMEM_MUST_FREE);
    if (response) {
        r->reply = (struct text){0};
        r->counted = bytes;
        atomic_fetch_add(&r->server->unread, bytes);
        add(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    return response;
}

static void add_error_headers(struct request *r, struct MHD_Response *response)
{
    char seconds[16];
    if (r->error.retry) {
        snprintf(seconds, sizeof seconds, "%u", r->error.retry);
        add(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
    if (r->status == 401)
        add(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (r->status == 405)
        add(response, MHD_HTTP_HEADER_ALLOW, r->allow);
}

/* From now on the client has to read. */
static void sending(struct request *r, size_t bytes)
{
    struct client *w = client_of(r->connection);
    if (!w)
        return;
    w->send_ns = (int64_t)((r->server->options->limits.request_s + (double)bytes / READ_RATE) * 1e9);
    w->since_ns = clock_now();
}

static enum MHD_Result answer(struct request *r)
{
    if (r->finish)
        r->finish(r);
    r->finish = NULL;
    if (r->ticket.error.status && !r->error.status)
        r->error = r->ticket.error;
    if (r->not_durable)
        http_error_set(&r->error, 503, "not_durable",
                       "learned, but not yet on disk: send it again, and it will be acknowledged once it is");
    if (r->error.status)
        error_reply(r);
    else if (r->reply.failed) {
        http_error_no_memory(&r->error);
        error_reply(r);
    }
    if (!r->status)
        r->status = 200;
    size_t bytes = r->fixed ? r->fixed_size : r->reply_fd >= 0 ? r->reply_size : r->reply.length;
    struct MHD_Response *response = make_response(r);
    if (!response)
        return MHD_NO;
    sending(r, bytes);
    add(response, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
    if (r->model && r->server->group && !r->reply_seq)
        position_header_add(r, response);
    if (r->error.status)
        add_error_headers(r, response);
    if (r->server->draining || r->close)
        add(response, MHD_HTTP_HEADER_CONNECTION, "close");
    enum MHD_Result result = MHD_queue_response(r->connection, r->status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- waiting for the disk --- */

static void suspend(struct waiter *w)
{
    struct request *r = (struct request *)w;
    if (!r->off_loop) /* suspended already otherwise */
        MHD_suspend_connection(r->connection);
}

static void resume(struct waiter *w, bool durable)
{
    struct request *r = (struct request *)w;
    r->not_durable = !durable;
    MHD_resume_connection(r->connection);
}

/* True: suspended. */
static bool wait_for_log(struct request *r)
{
    r->ticket.waiter.wake = resume;
    /* After an error, too: a conflict is with something that a crash must not undo, and what was proposed still gets its
     * verdict. */
    if (!r->ticket.proposed && !r->ticket.waiter.seq)
        return false;
    enum durable durable = r->model->replication->wait(r->model, &r->ticket, 0, suspend);
    if (durable == DURABLE_NOT)
        r->not_durable = true;
    return durable == DURABLE_LATER;
}

/* Header X-Hunch-After: N, from the X-Hunch-Seq of another node's reply: this must have seen that. True: suspended. */
static bool wait_for_position(struct request *r)
{
    const char *after = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "X-Hunch-After");
    char *end;
    if (r->looked_after || r->error.status || !after || !r->part[0])
        return false;
    r->looked_after = true;
    uint64_t seq = strtoull(after, &end, 10);
    if (*after < '0' || *after > '9' || *end || seq > INT64_MAX)
        return !http_error_set(&r->error, 400, "bad_request",
                               "X-Hunch-After must be the X-Hunch-Seq of an earlier reply") &&
               false;
    if (!r->server->group || !request_model(r))
        return false;
    r->ticket.waiter.wake = resume;
    enum durable there = r->model->replication->wait(r->model, &r->ticket, seq, suspend);
    if (there == DURABLE_NOT)
        http_error_set(&r->error, 503, "not_yet", "this node has not reached event %llu yet", (unsigned long long)seq);
    return there == DURABLE_LATER;
}

/* What waiting for a place has left behind. */
static void position_reached(struct request *r)
{
    r->error = r->error.status ? r->error : r->ticket.error;
    r->ticket = (struct ticket){0};
}

/* --- doing it --- */

bool request_late(struct request *r, struct http_error *err)
{
    unsigned seconds = r->server->options->limits.deadline_s;
    if (clock_now() - r->start_ns < seconds * INT64_C(1000000000))
        return false;
    http_error_set(err, 503, "deadline", "not done within %u seconds", seconds);
    return true;
}

/* True: suspended, and it will be resumed. */
static bool run(struct request *r)
{
    r->route->run(r);
    if (r->off_loop && !r->finish && r->body.length > LARGE_BODY)
        text_free(&r->body);
    return wait_for_log(r);
}

static void run_job(struct job *j)
{
    struct request *r = (struct request *)((char *)j - offsetof(struct request, job));
    if (request_late(r, &r->error) || !run(r))
        MHD_resume_connection(r->connection);
}

static bool belongs_off_loop(const struct request *r)
{
    return r->route->place >= STATUS || (r->part[0] && !r->model && registry_slow(&r->server->registry, r->part[0])) ||
           (r->route->place == BY_SIZE && (r->lines || r->body.length > SMALL_BODY || r->body.data[0] == '['));
}

static struct jobs *jobs_of(struct request *r)
{
    struct server *s = r->server;
    return r->route->place == OFF_LOOP ? &s->jobs : r->route->place == STATUS ? &s->status : &s->rounds;
}

/* True: suspended, or being worked on elsewhere. */
static bool start(struct request *r)
{
    text_puts(&r->body, ""); /* now it has an end, and what was there before is gone */
    if (r->body.failed || !belongs_off_loop(r))
        return run(r);
    r->off_loop = true;
    r->job.run = run_job;
    MHD_suspend_connection(r->connection);
    if (jobs_push(jobs_of(r), &r->job))
        return true;
    MHD_resume_connection(r->connection);
    http_error_set(&r->error, 503, "busy", "too many requests are waiting");
    return true;
}

enum MHD_Result http_handle(void *server, struct MHD_Connection *c, const char *url, const char *method,
                            const char *version, const char *data, size_t *size, void **context)
{
    struct request *r = *context;
    if (!r) {
        r = request_new(server, c, url, method, version);
        if (!r)
            return MHD_NO;
        *context = r;
        if (r->close || (r->over && too_large(r)))
            return answer(r); /* at once; the connection is closed instead of reading all of it */
        return MHD_YES;
    }
    if (*size) {
        take(r, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (!r->ran) {
        struct client *w = client_of(c);
        if (w)
            w->since_ns = 0;
        if (wait_for_position(r))
            return MHD_YES;
        position_reached(r);
        r->ran = true;
        if (!r->error.status && start(r))
            return MHD_YES;
    }
    return answer(r);
}

void http_completed(void *server, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode why)
{
    struct request *r = *context;
    struct server *s = server;
    struct client *w = client_of(c);
    if (w) {
        w->receiving = false;
        w->send_ns = 0;
        w->since_ns = clock_now();
    }
    if (!r)
        return;
    atomic_fetch_sub(&s->unread, r->counted);
    int64_t ns = clock_now() - r->start_ns;
    enum endpoint e = r->route ? r->route->endpoint : ENDPOINT_other;
    metrics_request(&s->metrics, e, r->status, ns);
    if (s->options->log_requests)
        log_event("request", "{s:s,s:s,s:i,s:f}", "endpoint", endpoint_name(e), "method",
                  r->route ? r->route->method : "", "status", (int)r->status, "seconds", (double)ns * 1e-9);
    if (r->finish) /* the client is gone */
        r->finish(r);
    if (r->model)
        registry_put(&s->registry, r->model);
    struct reply_file *unsent = r->reply_fd >= 0 ? reply_file_new(r) : NULL;
    if (unsent)
        close_later(unsent);
    request_leave(w, r);
    *context = NULL;
    atomic_fetch_sub_explicit(&s->active, 1, memory_order_relaxed);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, run, stop. */
#include <malloc.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

#include "base/clock.h"
#include "base/pool.h"
#include "event/body.h"
#include "model/backup.h"
#include "util/files.h"
#include "http/libraries.h"
#include "http/listen.h"
#include "util/notify.h"
#include "http/tls.h"
#include "util/log.h"
#include "http/server.h"
#include "serve.h"
#include "storage/folder.h"
#include "storage/verify.h"
#include "model/versions.h"

static enum serve_result fail(enum serve_result code, const struct http_error *err, hunch_error *reterr)
{
    snprintf(reterr->message, sizeof reterr->message, "%s", err->message);
    return code;
}

/* --- maintenance: snapshots that are due, states to be rebuilt, models that were deleted --- */

struct model_job {
    struct job job;
    struct server *server;
    struct model *model; /* borrowed until it is done */
    bool rebuild, scrub, versions;
};

static void run_model_job(struct job *j)
{
    struct model_job *w = (struct model_job *)j;
    struct http_error err = {0};
    if (w->rebuild)
        model_rebuild(w->model, &err);
    if (w->scrub)
        model_scrub(w->model, &w->server->maintenance_stop);
    if (w->versions)
        versions_work(w->model);
    registry_put(&w->server->registry, w->model);
    free(w);
}

/* True: the job has taken the model. */
static bool push_model_job(struct server *s, struct model *m)
{
    struct model_job *w = malloc(sizeof *w);
    if (!w)
        return false;
    *w = (struct model_job){{.run = run_model_job}, s, m, model_rebuild_due(m), model_scrub_due(m), versions_due(m)};
    if ((w->rebuild || w->scrub || w->versions) && jobs_push(&s->jobs, &w->job))
        return true;
    free(w);
    return false;
}

static void *maintain(void *server)
{
    struct server *s = server;
    int64_t purged = clock_now();
    while (!s->maintenance_stop) {
        size_t n;
        struct model **all = registry_all(&s->registry, &n);
        for (size_t i = 0; i < n; i++) {
            struct http_error err = {0};
            if (!s->maintenance_stop && model_snapshot_due(all[i]))
                model_snapshot(all[i], &err);
            model_measure(all[i]);
            writer_keep(all[i]);
            if (s->maintenance_stop || !push_model_job(s, all[i]))
                registry_put(&s->registry, all[i]);
        }
        free(all);
        registry_remove_deleted(&s->registry);
        registry_evict(&s->registry);
        registry_warm(&s->registry, clock_now() + INT64_C(200000000));
        if (clock_now() - purged > INT64_C(60000000000)) {
            registry_purge(&s->registry);
            purged = clock_now();
        }
        wall_clock_save(&s->wall);
        for (int i = 0; i < 5 && !s->maintenance_stop; i++)
            clock_sleep_ms(50);
    }
    return NULL;
}

/* --- the HTTP library --- */

static void raise_file_limit(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) != 0)
        return;
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
}

static unsigned connection_limit(unsigned wanted)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) != 0)
        return wanted;
    rlim_t max = l.rlim_cur > 512 ? l.rlim_cur - 256 : l.rlim_cur / 2; /* the rest: logs, snapshots */
    return wanted < max ? wanted : (unsigned)max;
}

static bool daemon_start(struct server *s, struct http_error *err)
{
    const struct limits *limits = &s->options->limits;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = s->options->threads ? s->options->threads : processors > 1 ? (unsigned)processors : 1;
    unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET;
    struct MHD_OptionItem secure[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)tls_certificate},
                                      {MHD_OPTION_HTTPS_PRIORITIES, 0, TLS_PRIORITIES},
                                      {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    if (s->tls)
        flags |= MHD_USE_TLS;
    unsigned connections = connection_limit(limits->connections);
    s->open_limit = connections;
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, http_handle, s, MHD_OPTION_NOTIFY_COMPLETED, http_completed, s,
                                 MHD_OPTION_NOTIFY_CONNECTION, client_changed, s, MHD_OPTION_URI_LOG_CALLBACK,
                                 http_begin, s, MHD_OPTION_CONNECTION_LIMIT, (connections + 1) * threads,
                                 MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                 limits->header, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_UNESCAPE_CALLBACK,
                                 http_unescape, s, MHD_OPTION_PER_IP_CONNECTION_LIMIT, limits->per_address,
#if MHD_VERSION >= 0x00097701
                                 MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1,
#endif
                                 threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_ARRAY,
                                 threads > 1 ? (void *)(uintptr_t)threads : (void *)none, MHD_OPTION_ARRAY,
                                 s->tls ? secure : none, MHD_OPTION_END);
    if (!s->daemon)
        return http_error_set(err, 503, "http", "the HTTP server did not start");
    return true;
}

/* --- signals --- */

static void reload(struct server *s)
{
    struct http_error err = {0};
    if (s->tokens && auth_load(&s->auth, s->options->tokens, &err))
        log_event("tokens_loaded", "{s:I}", "tokens", (json_int_t)s->auth.n);
    else if (s->tokens)
        log_event("tokens_kept", "{s:s}", "reason", err.message);
    if (s->tls && tls_load(s->options->tls_cert, s->options->tls_key, &err))
        log_event("certificate_loaded", "{}");
    else if (s->tls)
        log_event("certificate_kept", "{s:s}", "reason", err.message);
}

static void run(struct server *s, const sigset_t *set)
{
    for (;;) {
        struct timespec second = {0, 500000000};
        int got = sigtimedwait(set, NULL, &second);
        if (got == SIGTERM || got == SIGINT) {
            notify("STOPPING=1");
            log_event("stopping", "{s:s}", "signal", got == SIGTERM ? "TERM" : "INT");
            return;
        }
        if (got == SIGHUP) {
            notify("RELOADING=1");
            reload(s);
            notify("READY=1");
        }
        clients_close_slow(s);
        notify("WATCHDOG=1"); /* this thread waits for nothing that requests could hold up */
    }
}

struct last_snapshots {
    struct server *server;
    _Atomic bool failed;
};

static hunch_status last_snapshot(void *context, size_t task, unsigned thread, hunch_error *reterr)
{
    struct last_snapshots *l = context;
    struct http_error err = {0};
    struct model *m = l->server->registry.places[task]->model;
    if (m && !*model_reason(m) && !m->degraded[0] && !m->rebuild_wanted && m->state.seq != m->snapshot_seq &&
        !model_snapshot(m, &err))
        l->failed = true; /* the others go on */
    return HUNCH_OK;
}

static void stop_jobs(struct server *s)
{
    jobs_stop(&s->jobs);
    jobs_stop(&s->rounds);
    jobs_stop(&s->status);
}

static void free_jobs(struct server *s)
{
    jobs_free(&s->jobs);
    jobs_free(&s->rounds);
    jobs_free(&s->status);
}

static bool start_jobs(struct server *s, struct http_error *err)
{
    if (!jobs_start(&s->jobs, JOB_THREADS, err))
        return false;
    if (jobs_start(&s->rounds, JOB_THREADS, err)) {
        if (jobs_start(&s->status, 1, err))
            return true;
        jobs_stop(&s->rounds);
        jobs_free(&s->rounds);
    }
    jobs_stop(&s->jobs);
    jobs_free(&s->jobs);
    return false;
}

/* No new connections; requests under way are finished; everything is put on disk. */
static bool stop(struct server *s)
{
    hunch_error error;
    s->draining = true;
    accept_stop(s);
    int64_t until = clock_now() + s->options->drain_s * INT64_C(1000000000);
    while (s->active > 0 && clock_now() < until)
        clock_sleep_ms(5);
    s->maintenance_stop = true;
    pthread_join(s->maintenance, NULL);
    stop_jobs(s);
    group_stop(s->group);
    bool all = registry_stop(&s->registry, s->options->drain_s);
    MHD_stop_daemon(s->daemon);
    free_jobs(s);
    struct last_snapshots last = {s, false};
    struct pool_job job = {.context = &last, .tasks = s->registry.n, .threads = WORK_THREADS, .run = last_snapshot};
    all = pool_run(&job, &error) == HUNCH_OK && !last.failed && all;
    size_t unacknowledged = group_drain(s->group, s->options->drain_s);
    log_event("stopped", "{s:b,s:I}", "all_on_disk", all, "records_unacknowledged", (json_int_t)unacknowledged);
    return all;
}

static enum serve_result serve(struct server *s, const struct listener *l, const sigset_t *set, hunch_error *reterr)
{
    struct http_error err = {0};
    int models = (int)s->registry.n;
    if (!start_jobs(s, &err))
        return fail(SERVE_SYSTEM, &err, reterr);
    if (pthread_create(&s->maintenance, NULL, maintain, s) != 0) {
        http_error_set(&err, 503, "thread", "no thread could be started");
        stop_jobs(s);
        free_jobs(s);
        return fail(SERVE_SYSTEM, &err, reterr);
    }
    bool started = daemon_start(s, &err);
    char address[300];
    snprintf(address, sizeof address, "%s:%u", l->address, l->port);
    if (started && (!accept_start(s, l, &err) || (s->group && !group_start(s->group, address, &err)))) {
        MHD_stop_daemon(s->daemon);
        started = false;
    }
    if (!started) {
        s->maintenance_stop = true;
        pthread_join(s->maintenance, NULL);
        stop_jobs(s);
        free_jobs(s);
        return fail(SERVE_SYSTEM, &err, reterr);
    }
    libraries_log();
    log_event("listening", "{s:s,s:i,s:b,s:b,s:i,s:s}", "address", l->address, "port", (int)l->port, "tls", s->tls,
              "tokens", s->tokens, "models", models, "version", hunch_version());
    notify("READY=1");
    run(s, set);
    if (stop(s))
        return SERVE_DONE;
    http_error_set(&err, 503, "storage", "not everything could be written to disk");
    return fail(SERVE_SYSTEM, &err, reterr);
}

/* --- from the options to a running server --- */

static bool may_listen(struct server *s, const struct listener *l, struct http_error *err)
{
    s->loopback = l->loopback;
    s->tokens = s->options->tokens != NULL;
    if (l->loopback || s->tokens || s->options->insecure)
        return true;
    return http_error_set(err, 400, "insecure", "listening beyond this machine needs --tokens FILE (or --insecure)");
}

static bool tls_start(struct server *s, struct http_error *err)
{
    const struct serve_options *o = s->options;
    s->tls = o->tls_cert || o->tls_key;
    if (!s->tls)
        return true;
    if (!o->tls_cert || !o->tls_key)
        return http_error_set(err, 400, "tls", "--tls-cert and --tls-key go together");
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return http_error_set(err, 400, "tls", "this libmicrohttpd was built without TLS");
    return tls_load(o->tls_cert, o->tls_key, err);
}

/* "name=file,...": models that are there already stay as they are. */
static bool load_models(struct server *s, struct http_error *err)
{
    char *list = s->options->load ? strdup(s->options->load) : NULL, *rest = list;
    bool ok = true;
    for (char *item; ok && rest && (item = strsep(&rest, ","));) {
        char *file = strchr(item, '=');
        void *bytes = NULL;
        size_t size = 0;
        if (!file) {
            ok = http_error_set(err, 400, "bad_load", "--load needs NAME=FILE, not \"%.100s\"", item);
            break;
        }
        *file++ = 0;
        struct model *m = registry_get(&s->registry, item);
        if (m)
            registry_put(&s->registry, m);
        else
            ok = file_read(file, SIZE_MAX / 2, &bytes, &size, err) &&
                 registry_import(&s->registry, item, bytes, size, err);
        free(bytes);
    }
    free(list);
    return ok;
}

static enum serve_result with_socket(struct server *s, const struct listener *l, const sigset_t *set,
                                     hunch_error *reterr)
{
    struct http_error err = {0};
    enum serve_result result;
    if (!may_listen(s, l, &err) || !tls_start(s, &err) ||
        (s->options->tokens && !auth_load(&s->auth, s->options->tokens, &err)))
        return fail(SERVE_BAD_OPTION, &err, reterr);
    char clock[4096];
    snprintf(clock, sizeof clock, "%s/clock", s->options->dir);
    wall_clock_start(&s->wall, clock, s->options->trust_clock);
    struct model_context context = {.options = s->options, .wall = &s->wall, .metrics = &s->metrics};
    if (s->options->kafka && !group_open(&s->group, s->options, &s->registry, &context, &err)) {
        tls_free();
        return fail(SERVE_BAD_OPTION, &err, reterr);
    }
    if (registry_open(&s->registry, &context, &err) && load_models(s, &err))
        result = serve(s, l, set, reterr);
    else
        result = fail(SERVE_BAD_STATE, &err, reterr);
    group_stop(s->group);
    registry_close(&s->registry);
    group_close(s->group);
    wall_clock_stop(&s->wall);
    tls_free();
    return result;
}

static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a full disk, not a reason to die */
}

enum serve_result serve_run(const struct serve_options *given, hunch_error *reterr)
{
    struct serve_options with = *given, *options = &with;
    char tokens[4096];
    struct server *s = calloc(1, sizeof *s);
    if (!with.tokens && notify_credential("hunch.tokens", tokens, sizeof tokens))
        with.tokens = tokens;
    struct http_error err = {0};
    struct listener l = {.fd = -1};
    sigset_t set;
    enum serve_result result;
    if (!s) {
        http_error_no_memory(&err);
        return fail(SERVE_SYSTEM, &err, reterr);
    }
    s->options = options;
    s->start_ns = clock_now();
    s->lock_fd = -1;
    /* Events are made by one thread and freed by another, all day: let the heaps keep what they have. */
    mallopt(M_TOP_PAD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 128, 32);    /* there may be thousands of connections ... */
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 2); /* ... and most of them have nothing to do */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);          /* counting bytes takes a lock that all threads share */
    json_watch_memory();
    raise_file_limit();
    block_signals(&set);
    auth_start(&s->auth);
    pthread_mutex_init(&s->clients_lock, NULL);
    pthread_mutex_init(&s->names.lock, NULL);
    if (options->verify_backup)
        result = backup_verify(options, reterr);
    else if (!folder_claim(options->dir, !options->verify && !options->repair, &s->lock_fd, &err))
        result = fail(SERVE_BAD_STATE, &err, reterr);
    else if (options->restore)
        result = backup_restore(options, &err) ? SERVE_DONE : fail(SERVE_BAD_STATE, &err, reterr);
    else if (options->verify || options->repair)
        result = verify_all(options, reterr);
    else if (!listen_open(options->listen, 1024, &l, &err))
        result = fail(err.status == 400 ? SERVE_BAD_OPTION : SERVE_SYSTEM, &err, reterr);
    else
        result = with_socket(s, &l, &set, reterr);
    if (l.fd >= 0)
        close(l.fd);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    pthread_mutex_destroy(&s->clients_lock);
    pthread_mutex_destroy(&s->names.lock);
    auth_stop(&s->auth);
    free(s);
    return result;
}

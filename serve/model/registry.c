/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/backup.h"
#include "util/files.h"
#include "model/registry_parts.h"

#define OPENED_FIRST 256 /* that many models are opened before the server listens */
#define FILES_PER_MODEL 5

struct deleted_model {
    struct model *model;
    struct deleted_model *next;
};

char *registry_join(const char *dir, const char *prefix, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s%s", dir, prefix, name) < 0 ? NULL : path;
}

/* Where name is, or would be. Under the lock. */
static size_t place(const struct registry *r, const char *name, bool *ret_there)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int c = strcmp(r->places[middle]->name, name);
        if (c == 0) {
            *ret_there = true;
            return middle;
        }
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_there = false;
    return low;
}

/* Under the lock; NULL: no such model. */
static struct registered *find(const struct registry *r, const char *name)
{
    bool there;
    size_t at = place(r, name, &there);
    return there ? r->places[at] : NULL;
}

/* m NULL: on disk only. */
static bool insert(struct registry *r, const char *name, struct model *m, struct http_error *err)
{
    bool there;
    struct registered *p = malloc(sizeof *p + strlen(name) + 1);
    if (!p)
        return http_error_no_memory(err);
    *p = (struct registered){.model = m};
    strcpy(p->name, name);
    pthread_rwlock_wrlock(&r->lock);
    bool ok = array_reserve(&r->places, &r->room, r->n + 1, sizeof *r->places);
    if (ok) {
        size_t at = place(r, name, &there);
        memmove(r->places + at + 1, r->places + at, (r->n - at) * sizeof *r->places);
        r->places[at] = p;
        r->n++;
        r->resident += m != NULL;
    }
    pthread_rwlock_unlock(&r->lock);
    if (!ok)
        free(p);
    return ok || http_error_no_memory(err);
}

void registry_take_out(struct registry *r, const char *name)
{
    bool there;
    pthread_rwlock_wrlock(&r->lock);
    size_t at = place(r, name, &there);
    free(r->places[at]);
    memmove(r->places + at, r->places + at + 1, (r->n - at - 1) * sizeof *r->places);
    r->n--;
    r->resident--;
    pthread_rwlock_unlock(&r->lock);
}

/* NULL: out of memory. */
static struct model *open_folder(struct registry *r, const char *name)
{
    char *dir = registry_join(r->models_dir, "", name);
    struct model *m = dir ? model_open(dir, name, &r->context) : NULL;
    free(dir);
    return m;
}

bool registry_open_one(struct registry *r, const char *name, struct http_error *err)
{
    struct model *m = open_folder(r, name);
    if (!m)
        return http_error_no_memory(err);
    if (insert(r, name, m, err))
        return true;
    model_stop(m, 0);
    model_close(m);
    return false;
}

/* What a crash left half made or half deleted. */
static void sweep(const char *dir, const char *prefix)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    while (d && (entry = readdir(d))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) || !strcmp(entry->d_name, ".") ||
            !strcmp(entry->d_name, ".."))
            continue;
        char *path = registry_join(dir, "", entry->d_name);
        if (path)
            dirs_remove(path);
        free(path);
    }
    if (d)
        closedir(d);
}

/* --- between memory and disk --- */

static struct model *borrow(struct registered *p)
{
    if (p && p->model)
        atomic_fetch_add_explicit(&p->model->references, 1, memory_order_relaxed);
    return p ? p->model : NULL;
}

/* Under `moving`, which is let go of meanwhile: no one else touches a place that is moving. */
static struct model *bring(struct registry *r, struct registered *p)
{
    p->moving = true;
    pthread_mutex_unlock(&r->moving);
    struct model *m = open_folder(r, p->name);
    pthread_mutex_lock(&r->moving);
    pthread_rwlock_wrlock(&r->lock);
    p->moving = false;
    p->model = m;
    r->resident += m != NULL;
    borrow(p);
    pthread_rwlock_unlock(&r->lock);
    pthread_cond_broadcast(&r->moved);
    atomic_fetch_add(&r->context.metrics->openings, 1);
    return m;
}

static struct model *fetch(struct registry *r, const char *name)
{
    struct model *m = NULL;
    struct registered *p;
    pthread_mutex_lock(&r->moving);
    for (;;) {
        pthread_rwlock_rdlock(&r->lock);
        p = find(r, name);
        m = borrow(p);
        pthread_rwlock_unlock(&r->lock);
        if (!p || m || !p->moving)
            break;
        pthread_cond_wait(&r->moved, &r->moving);
    }
    if (p && !m)
        m = bring(r, p);
    pthread_mutex_unlock(&r->moving);
    return m;
}

struct openings {
    struct registry *registry;
    struct dirent **name;
};

static hunch_status open_task(void *context, size_t task, unsigned thread, hunch_error *reterr)
{
    const struct openings *o = context;
    struct model *m = fetch(o->registry, o->name[task]->d_name);
    if (!m)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    registry_put(o->registry, m);
    return HUNCH_OK;
}

static int names_model(const struct dirent *entry)
{
    return model_name_ok(entry->d_name);
}

static bool open_all(struct registry *r, struct http_error *err)
{
    struct openings o = {.registry = r};
    hunch_error why;
    bool ok = true;
    int n = scandir(r->models_dir, &o.name, names_model, alphasort);
    if (n < 0)
        return http_error_set(err, 503, "storage", "cannot read %s: %s", r->models_dir, strerror(errno));
    for (int i = 0; ok && i < n; i++)
        ok = insert(r, o.name[i]->d_name, NULL, err);
    struct pool_job job = {.context = &o, .tasks = (size_t)n, .run = open_task};
    if (ok && (n <= OPENED_FIRST || r->context.cluster))
        ok = pool_run(&job, &why) == HUNCH_OK || http_error_set(err, 503, "out_of_memory", "%s", why.message);
    for (int i = 0; i < n; i++)
        free(o.name[i]);
    free(o.name);
    return ok;
}

bool registry_on_disk(struct registry *r, const char *name)
{
    pthread_rwlock_rdlock(&r->lock);
    const struct registered *p = find(r, name);
    bool on_disk = p && !p->model;
    pthread_rwlock_unlock(&r->lock);
    return on_disk;
}

bool registry_slow(struct registry *r, const char *name)
{
    pthread_rwlock_rdlock(&r->lock);
    const struct registered *p = find(r, name);
    bool slow = p && (!p->model || p->model->long_work || p->model->large);
    pthread_rwlock_unlock(&r->lock);
    return slow;
}

size_t registry_count(struct registry *r, size_t *ret_on_disk)
{
    pthread_rwlock_rdlock(&r->lock);
    size_t n = r->n;
    *ret_on_disk = n - r->resident;
    pthread_rwlock_unlock(&r->lock);
    return n;
}

void registry_warm(struct registry *r, int64_t until_ns)
{
    for (bool more = true; more && clock_now() < until_ns;) {
        char name[NAME_MAX_BYTES + 1] = "";
        pthread_rwlock_rdlock(&r->lock);
        while (r->n <= r->resident_max && r->warm_next < r->n && !*name) {
            const struct registered *p = r->places[r->warm_next++];
            if (!p->model)
                memcpy(name, p->name, strlen(p->name) + 1);
        }
        pthread_rwlock_unlock(&r->lock);
        struct model *m = *name ? fetch(r, name) : NULL;
        more = m != NULL;
        if (m)
            registry_put(r, m);
    }
}

static int by_use(const void *a, const void *b)
{
    const int64_t x = (*(struct model *const *)a)->leaves_ns, y = (*(struct model *const *)b)->leaves_ns;
    return (x > y) - (x < y);
}

/* When its state is on disk and no one else has it, it is closed; false: it stays. */
static bool put_to_disk(struct registry *r, struct model *m)
{
    struct http_error err = {0};
    if (!model_at_rest(m, false) || (!model_at_rest(m, true) && !model_snapshot(m, &err)))
        return false;
    pthread_mutex_lock(&r->moving);
    pthread_rwlock_wrlock(&r->lock);
    struct registered *p = find(r, m->name);
    bool goes = p && p->model == m && m->references == 2 && model_at_rest(m, true); /* the registry's and ours */
    if (goes) {
        p->model = NULL;
        p->moving = true;
        r->resident--;
    }
    pthread_rwlock_unlock(&r->lock);
    pthread_mutex_unlock(&r->moving);
    if (!goes)
        return false;
    model_stop(m, 0);
    model_close(m);
    pthread_mutex_lock(&r->moving);
    p->moving = false;
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->moving);
    atomic_fetch_add(&r->context.metrics->evictions, 1);
    return true;
}

void registry_evict(struct registry *r)
{
    size_t n;
    if (r->context.cluster || r->resident <= r->resident_max)
        return;
    struct model **all = registry_all(r, &n);
    for (size_t i = 0; i < n; i++)
        all[i]->leaves_ns = atomic_load_explicit(&all[i]->used_ns, memory_order_relaxed);
    qsort(all, n, sizeof *all, by_use);
    for (size_t i = 0; i < n; i++)
        if (r->resident <= r->resident_max - r->resident_max / 16 || !put_to_disk(r, all[i]))
            registry_put(r, all[i]);
    free(all);
}

/* Each has some files open. */
static size_t resident_max(const struct serve_options *o)
{
    struct rlimit l = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_NOFILE, &l);
    size_t others = o->limits.connections + 256,
           max = l.rlim_cur > others ? (l.rlim_cur - others) / FILES_PER_MODEL : 0;
    max = max < 16 ? 16 : max;
    return o->limits.resident < max ? o->limits.resident : max;
}

bool registry_open(struct registry *r, const struct model_context *context, struct http_error *err)
{
    const struct serve_options *options = context->options;
    *r = (struct registry){.options = options, .context = *context};
    r->resident_max = resident_max(options);
    pthread_rwlock_init(&r->lock, NULL);
    pthread_mutex_init(&r->moving, NULL);
    pthread_cond_init(&r->moved, NULL);
    pthread_mutex_init(&r->making, NULL);
    pthread_mutex_init(&r->deleted_lock, NULL);
    r->context.writers = &r->writers;
    if (!work_queue_open(&r->writers, WORK_THREADS, writer_work)) /* more than processors: they wait for disks */
        return http_error_set(err, 503, "thread", "no thread could be started");
    r->models_dir = registry_join(options->dir, "", "models");
    r->trash_dir = registry_join(options->dir, "", "trash");
    if (!r->models_dir || !r->trash_dir)
        return http_error_no_memory(err);
    if (!dirs_make(r->models_dir, err) || !dirs_make(r->trash_dir, err) || !dirs_sync(options->dir, err))
        return false;
    sweep(r->models_dir, ".new-");
    sweep(options->dir, BACKUP_STAGE);
    registry_purge(r);
    return open_all(r, err);
}

struct model *registry_get(struct registry *r, const char *name)
{
    pthread_rwlock_rdlock(&r->lock);
    struct registered *p = find(r, name);
    struct model *m = borrow(p);
    pthread_rwlock_unlock(&r->lock);
    if (p && !m)
        m = fetch(r, name);
    if (m)
        atomic_store_explicit(&m->used_ns, clock_now(), memory_order_relaxed);
    return m;
}

struct model **registry_all(struct registry *r, size_t *ret_n)
{
    pthread_rwlock_rdlock(&r->lock);
    struct model **all = malloc((r->n + 1) * sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all && i < r->n; i++)
        if ((all[n] = borrow(r->places[i])))
            n++;
    pthread_rwlock_unlock(&r->lock);
    *ret_n = n;
    return all;
}

struct model_name *registry_names(struct registry *r, size_t *ret_n)
{
    pthread_rwlock_rdlock(&r->lock);
    struct model_name *all = calloc(r->n + 1, sizeof *all);
    *ret_n = all ? r->n : 0;
    for (size_t i = 0; i < *ret_n; i++)
        memcpy(all[i].name, r->places[i]->name, strlen(r->places[i]->name) + 1);
    pthread_rwlock_unlock(&r->lock);
    return all;
}

/* The last one to put a deleted model back leaves it to the maintenance: stopping takes time. */
void registry_put(struct registry *r, struct model *m)
{
    if (atomic_fetch_sub_explicit(&m->references, 1, memory_order_acq_rel) != 1)
        return;
    struct deleted_model *g = malloc(sizeof *g);
    if (!g)
        return; /* a leak is better than a wait */
    pthread_mutex_lock(&r->deleted_lock);
    *g = (struct deleted_model){m, r->deleted};
    r->deleted = g;
    pthread_mutex_unlock(&r->deleted_lock);
}

void registry_remove_deleted(struct registry *r)
{
    pthread_mutex_lock(&r->deleted_lock);
    struct deleted_model *g = r->deleted;
    r->deleted = NULL;
    pthread_mutex_unlock(&r->deleted_lock);
    while (g) {
        struct deleted_model *next = g->next;
        char *dir = strdup(g->model->dir);
        model_stop(g->model, 0);
        model_close(g->model);
        if (dir && r->options->undelete_days <= 0)
            dirs_remove(dir);
        free(dir);
        free(g);
        g = next;
    }
}

/* --- the end --- */

bool registry_stop(struct registry *r, unsigned patience_s)
{
    bool all = true;
    size_t n;
    pthread_mutex_lock(&r->making);
    r->closed = true;
    pthread_mutex_unlock(&r->making);
    struct model **models = registry_all(r, &n);
    for (size_t i = 0; i < n; i++) {
        all = model_stop(models[i], patience_s) && all;
        registry_put(r, models[i]);
    }
    free(models);
    return all;
}

void registry_close(struct registry *r)
{
    registry_remove_deleted(r);
    for (size_t i = 0; i < r->n; i++) {
        model_stop(r->places[i]->model, 0);
        model_close(r->places[i]->model);
        free(r->places[i]);
    }
    work_queue_close(&r->writers);
    free(r->places);
    free(r->models_dir);
    free(r->trash_dir);
    pthread_rwlock_destroy(&r->lock);
    pthread_mutex_destroy(&r->moving);
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->making);
    pthread_mutex_destroy(&r->deleted_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "files.h"
#include "note.h"
#include "registry.h"

struct grave {
    struct served *model;
    struct grave *next;
};

static bool no_memory(struct problem *p)
{
    return problem_set(p, 503, "out_of_memory", "out of memory");
}

static char *join(const char *dir, const char *prefix, const char *name)
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
        int c = strcmp(r->models[middle]->name, name);
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

static bool insert(struct registry *r, struct served *m, struct problem *p)
{
    bool there, ok = true;
    pthread_rwlock_wrlock(&r->lock);
    if (r->n == r->room) {
        size_t room = r->room ? r->room * 2 : 16;
        struct served **models = realloc(r->models, room * sizeof *models);
        if (models) {
            r->models = models;
            r->room = room;
        }
        ok = models || no_memory(p);
    }
    if (ok) {
        size_t at = place(r, m->name, &there);
        memmove(r->models + at + 1, r->models + at, (r->n - at) * sizeof *r->models);
        r->models[at] = m;
        r->n++;
    }
    pthread_rwlock_unlock(&r->lock);
    return ok;
}

static bool open_one(struct registry *r, const char *name, struct problem *p)
{
    char *dir = join(r->models_dir, "", name);
    struct served *m = dir ? served_open(dir, name, r->options, r->wall, r->metrics) : NULL;
    free(dir);
    if (!m)
        return no_memory(p);
    if (insert(r, m, p))
        return true;
    served_stop(m, 0);
    served_free(m);
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
        char *path = join(dir, "", entry->d_name);
        if (path)
            dirs_remove(path);
        free(path);
    }
    if (d)
        closedir(d);
}

static bool open_all(struct registry *r, struct problem *p)
{
    DIR *d = opendir(r->models_dir);
    struct dirent *entry;
    bool ok = d || problem_set(p, 503, "storage", "can't read %s: %s", r->models_dir, strerror(errno));
    while (ok && (entry = readdir(d)))
        if (model_name_ok(entry->d_name))
            ok = open_one(r, entry->d_name, p);
    if (d)
        closedir(d);
    return ok;
}

bool registry_open(struct registry *r, const struct serve_options *options, struct wall *wall, struct metrics *metrics,
                   struct problem *p)
{
    *r = (struct registry){.options = options, .wall = wall, .metrics = metrics};
    pthread_rwlock_init(&r->lock, NULL);
    pthread_mutex_init(&r->making, NULL);
    pthread_mutex_init(&r->grave_lock, NULL);
    r->models_dir = join(options->dir, "", "models");
    r->trash_dir = join(options->dir, "", "trash");
    if (!r->models_dir || !r->trash_dir)
        return no_memory(p);
    if (!dirs_make(r->models_dir, p) || !dirs_make(r->trash_dir, p) || !dirs_sync(options->dir, p))
        return false;
    sweep(r->models_dir, ".new-");
    sweep(r->trash_dir, "");
    return open_all(r, p);
}

struct served *registry_get(struct registry *r, const char *name)
{
    bool there;
    struct served *m = NULL;
    pthread_rwlock_rdlock(&r->lock);
    size_t at = place(r, name, &there);
    if (there) {
        m = r->models[at];
        atomic_fetch_add_explicit(&m->references, 1, memory_order_relaxed);
    }
    pthread_rwlock_unlock(&r->lock);
    return m;
}

struct served **registry_all(struct registry *r, size_t *ret_n)
{
    pthread_rwlock_rdlock(&r->lock);
    struct served **all = malloc((r->n + 1) * sizeof *all);
    *ret_n = all ? r->n : 0;
    for (size_t i = 0; i < *ret_n; i++) {
        all[i] = r->models[i];
        atomic_fetch_add_explicit(&all[i]->references, 1, memory_order_relaxed);
    }
    pthread_rwlock_unlock(&r->lock);
    return all;
}

/* The last one to put a deleted model back leaves it to the keeper: stopping takes time. */
void registry_put(struct registry *r, struct served *m)
{
    if (atomic_fetch_sub_explicit(&m->references, 1, memory_order_acq_rel) != 1)
        return;
    struct grave *g = malloc(sizeof *g);
    if (!g)
        return; /* a leak is better than a wait */
    pthread_mutex_lock(&r->grave_lock);
    *g = (struct grave){m, r->graves};
    r->graves = g;
    pthread_mutex_unlock(&r->grave_lock);
}

void registry_bury(struct registry *r)
{
    pthread_mutex_lock(&r->grave_lock);
    struct grave *g = r->graves;
    r->graves = NULL;
    pthread_mutex_unlock(&r->grave_lock);
    while (g) {
        struct grave *next = g->next;
        char *dir = strdup(g->model->dir);
        served_stop(g->model, 0);
        served_free(g->model);
        if (dir)
            dirs_remove(dir);
        free(dir);
        free(g);
        g = next;
    }
}

/* --- making and deleting --- */

static bool make(struct registry *r, const char *name, struct settings *settings, struct problem *p)
{
    char *new = join(r->models_dir, ".new-", name), *dir = join(r->models_dir, "", name);
    bool ok = (new &&dir) || no_memory(p);
    if (ok) {
        dirs_remove(new);
        ok = served_create(new, name, settings, wall_ms(r->wall), p);
        if (ok && rename(new, dir) != 0)
            ok = problem_set(p, 503, "storage", "can't make the model's folder: %s", strerror(errno));
        if (!ok)
            dirs_remove(new);
        ok = ok && dirs_sync(r->models_dir, p) && open_one(r, name, p);
    }
    free(new);
    free(dir);
    return ok;
}

static bool same(struct served *m, struct settings *asked, const json_t *request, struct problem *p)
{
    struct core core;
    if (m->broken[0])
        return problem_set(p, 503, "model_broken", "%s", m->broken);
    if (!core_new(&core, asked, p)) /* spells the learner out in full */
        return false;
    bool agree = settings_agree(&m->core.settings, &core.settings, request);
    core_free(&core);
    return agree || problem_set(p, 409, "model_exists", "model \"%s\" exists with other settings", m->name);
}

bool registry_create(struct registry *r, const char *name, const json_t *request, bool *ret_made, struct problem *p)
{
    struct settings settings;
    if (!model_name_ok(name))
        return problem_set(
            p, 400, "bad_name",
            "a model's name has 1 to %d letters, digits, '.', '_' or '-' and does not begin with '.' or '-'",
            NAME_MAX_BYTES);
    if (!settings_read(&settings, request, &r->options->limits, p))
        return false;
    pthread_mutex_lock(&r->making);
    struct served *m = registry_get(r, name);
    bool ok;
    if (r->closed)
        ok = problem_set(p, 503, "stopping", "the server is stopping");
    else if (m)
        ok = same(m, &settings, request, p);
    else if (r->n >= r->options->limits.models)
        ok = problem_set(p, 413, "too_many_models", "there are at most %u models", r->options->limits.models);
    else
        ok = make(r, name, &settings, p);
    pthread_mutex_unlock(&r->making);
    *ret_made = !m;
    if (m)
        registry_put(r, m);
    settings_free(&settings);
    if (ok && !m)
        note("model_created", "{s:s}", "model", name);
    return ok;
}

static bool throw_away(struct registry *r, struct served *m, struct problem *p)
{
    char end[64], *trash = NULL;
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint64_t)mono_ns();
    snprintf(end, sizeof end, "%016llx", (unsigned long long)random);
    trash = join(r->trash_dir, "", end);
    if (!trash)
        return no_memory(p);
    pthread_mutex_lock(&m->snapshot_lock); /* no snapshot is under way in it */
    bool ok = rename(m->dir, trash) == 0 ||
              problem_set(p, 503, "storage", "can't delete the model's folder: %s", strerror(errno));
    if (ok) {
        pthread_mutex_lock(&m->lock);
        m->deleted = true;
        pthread_mutex_unlock(&m->lock);
        free(m->dir);
        m->dir = trash;
    } else {
        free(trash);
    }
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok && dirs_sync(r->models_dir, p);
}

bool registry_delete(struct registry *r, const char *name, struct problem *p)
{
    bool there;
    pthread_mutex_lock(&r->making);
    struct served *m = registry_get(r, name);
    bool ok = false;
    if (!m)
        problem_set(p, 404, "unknown_model", "there is no model \"%s\"", name);
    else if (r->closed)
        problem_set(p, 503, "stopping", "the server is stopping");
    else
        ok = throw_away(r, m, p);
    if (m && m->deleted) {
        pthread_rwlock_wrlock(&r->lock);
        size_t at = place(r, name, &there);
        memmove(r->models + at, r->models + at + 1, (r->n - at - 1) * sizeof *r->models);
        r->n--;
        pthread_rwlock_unlock(&r->lock);
        registry_put(r, m); /* the registry's own */
    }
    pthread_mutex_unlock(&r->making);
    if (m)
        registry_put(r, m);
    if (ok)
        note("model_deleted", "{s:s}", "model", name);
    return ok;
}

bool registry_stop(struct registry *r, unsigned patience_s)
{
    bool all = true;
    size_t n;
    pthread_mutex_lock(&r->making);
    r->closed = true;
    pthread_mutex_unlock(&r->making);
    struct served **models = registry_all(r, &n);
    for (size_t i = 0; i < n; i++) {
        all = served_stop(models[i], patience_s) && all;
        registry_put(r, models[i]);
    }
    free(models);
    return all;
}

void registry_close(struct registry *r)
{
    registry_bury(r);
    for (size_t i = 0; i < r->n; i++) {
        served_stop(r->models[i], 0);
        served_free(r->models[i]);
    }
    free(r->models);
    free(r->models_dir);
    free(r->trash_dir);
    pthread_rwlock_destroy(&r->lock);
    pthread_mutex_destroy(&r->making);
    pthread_mutex_destroy(&r->grave_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Models: made and deleted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/files.h"
#include "util/log.h"
#include "model/registry_parts.h"

static bool throw_away(struct registry *r, struct model *m, struct http_error *err)
{
    char end[NAME_MAX_BYTES + 32], *trash = NULL;
    snprintf(end, sizeof end, "%s" TRASH_MARK "%016llx", m->name, (unsigned long long)wall_clock_ms(r->context.wall));
    trash = registry_join(r->trash_dir, "", end);
    if (!trash)
        return http_error_no_memory(err);
    pthread_mutex_lock(&m->snapshot_lock); /* no snapshot is under way in it */
    bool ok = rename(m->dir, trash) == 0 ||
              http_error_set(err, 503, "storage", "cannot delete the model's folder: %s", strerror(errno));
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
    if (ok && !m->shared) /* its last events are written before the folder can be brought back and opened again */
        model_stop(m, 0);
    return ok && dirs_sync(r->models_dir, err);
}

/* Out of the list, and its folder out of the way; the last one to put it back leaves it to be removed. */
static bool forget(struct registry *r, struct model *m, struct http_error *err)
{
    bool ok = throw_away(r, m, err);
    if (!m->deleted)
        return false;
    registry_take_out(r, m->name);
    registry_put(r, m); /* the registry's own */
    return ok;
}

/* A model that was just made and can't be used is no model. */
static bool works(struct registry *r, const char *name, struct http_error *err)
{
    struct http_error ignored;
    struct model *m = registry_get(r, name);
    bool ok = m && model_usable(m, err);
    if (m && !ok)
        forget(r, m, &ignored);
    if (m)
        registry_put(r, m);
    return ok;
}

/* Under the lock `making`. */
static bool install(struct registry *r, const char *name, const char *folder, struct http_error *err)
{
    char *dir = registry_join(r->models_dir, "", name);
    bool ok = dir || http_error_no_memory(err);
    if (ok && rename(folder, dir) != 0)
        ok = http_error_set(err, 503, "storage", "cannot make the model's folder: %s", strerror(errno));
    if (!ok)
        dirs_remove(folder);
    ok = ok && dirs_sync(r->models_dir, err) && registry_open_one(r, name, err);
    free(dir);
    return ok;
}

bool registry_install(struct registry *r, const char *name, const char *folder, struct http_error *err)
{
    pthread_mutex_lock(&r->making);
    bool ok = install(r, name, folder, err);
    pthread_mutex_unlock(&r->making);
    return ok;
}

static bool make(struct registry *r, const char *name, const struct model_source *from, struct http_error *err)
{
    char *new = registry_join(r->models_dir, ".new-", name);
    if (!new)
        return http_error_no_memory(err);
    dirs_remove(new);
    bool ok = model_create(new, name, from, wall_clock_ms(r->context.wall), err);
    if (ok)
        ok = install(r, name, new, err) && works(r, name, err);
    else
        dirs_remove(new);
    free(new);
    return ok;
}

bool registry_agrees(struct model *m, struct settings *asked, const json_t *request, struct http_error *err)
{
    struct model_state state;
    if (m->broken[0])
        return http_error_set(err, 503, "model_broken", "%s", m->broken);
    if (!state_new(&state, asked, err)) /* spells the learner out in full */
        return false;
    pthread_mutex_lock(&m->lock);
    bool agree = settings_agree(&m->state.settings, &state.settings, request);
    pthread_mutex_unlock(&m->lock);
    state_free(&state);
    return agree || http_error_set(err, 409, "model_exists", "model \"%s\" exists with other settings", m->name);
}

bool registry_name_ok(const char *name, struct http_error *err)
{
    return model_name_ok(name) ||
           http_error_set(
               err, 400, "bad_name",
               "a model's name has 1 to %d letters, digits, '.', '_' or '-' and does not begin with '.' or '-'",
               NAME_MAX_BYTES);
}

bool registry_may_add(const struct registry *r, struct http_error *err)
{
    if (r->closed)
        return http_error_set(err, 503, "stopping", "the server is stopping");
    return r->n < r->options->limits.models ||
           http_error_set(err, 413, "too_many_models", "there can be at most %u models", r->options->limits.models);
}

/* request NULL: from a file, which no model that is there can be equal to. */
static bool add(struct registry *r, const char *name, const struct model_source *from, const json_t *request,
                bool *ret_made, struct http_error *err)
{
    pthread_mutex_lock(&r->making);
    struct model *m = registry_get(r, name);
    bool ok;
    if (m && !r->closed)
        ok = request ? registry_agrees(m, from->settings, request, err)
                     : http_error_set(err, 409, "model_exists", "model \"%s\" exists", name);
    else
        ok = registry_may_add(r, err) && make(r, name, from, err);
    pthread_mutex_unlock(&r->making);
    *ret_made = !m;
    if (m)
        registry_put(r, m);
    if (ok && !m)
        log_event("model_created", "{s:s,s:b}", "model", name, "from_file", !request);
    return ok;
}

bool registry_settings(struct registry *r, const char *name, const json_t *request, struct settings *ret,
                       struct http_error *err)
{
    if (!registry_name_ok(name, err) || !settings_read(ret, request, &r->options->limits, err))
        return false;
    if (!json_object_get(request, "reuse_names"))
        ret->reuse_names = ret->features == FEATURES_NAMED;
    bool ok = state_size_ok(ret, ret->learner, names_count(ret->labels), r->options->limits.model, err);
    if (!ok)
        settings_free(ret);
    return ok;
}

bool registry_create(struct registry *r, const char *name, const json_t *request, bool *ret_made,
                     struct http_error *err)
{
    struct settings settings;
    if (!registry_settings(r, name, request, &settings, err))
        return false;
    bool ok = add(r, name, &(struct model_source){.settings = &settings}, request, ret_made, err);
    settings_free(&settings);
    return ok;
}

bool registry_import(struct registry *r, const char *name, const void *file, size_t size, struct http_error *err)
{
    bool made;
    struct model_source from = {.file = file, .size = size, .limits = &r->options->limits};
    if (r->context.cluster)
        return http_error_set(err, 409, "shared", "models of a group cannot be created from files");
    return registry_name_ok(name, err) && add(r, name, &from, NULL, &made, err);
}

bool registry_delete(struct registry *r, const char *name, struct http_error *err)
{
    pthread_mutex_lock(&r->making);
    struct model *m = registry_get(r, name);
    bool ok = false;
    if (!m)
        http_error_set(err, 404, "unknown_model", "there is no model \"%s\"", name);
    else if (r->closed)
        http_error_set(err, 503, "stopping", "the server is stopping");
    else
        ok = forget(r, m, err);
    pthread_mutex_unlock(&r->making);
    if (m)
        registry_put(r, m);
    if (ok)
        log_event("model_deleted", "{s:s}", "model", name);
    return ok;
}

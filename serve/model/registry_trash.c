/* SPDX-License-Identifier: BSD-3-Clause */
/* Deleted models: kept for a while, brought back, removed for good. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/files.h"
#include "util/log.h"
#include "model/registry_parts.h"

/* "NAME~TIME" -> the time; false: something else. */
static bool trash_time(const char *entry, int64_t *ret_ms)
{
    const char *mark = strstr(entry, TRASH_MARK);
    char *end;
    if (!mark || strlen(mark) != 17)
        return false;
    *ret_ms = (int64_t)strtoull(mark + 1, &end, 16);
    return !*end;
}

void registry_purge(struct registry *r)
{
    DIR *d = opendir(r->trash_dir);
    struct dirent *entry;
    const struct wall_clock *wall = r->context.wall;
    int64_t time, now = wall_clock_ms(r->context.wall), kept = (int64_t)(r->options->undelete_days * 86400e3);
    bool sure = wall->known || wall->confirmed;
    while (sure && d && (entry = readdir(d))) {
        if (!trash_time(entry->d_name, &time) || wall_clock_age_ms(wall, now, time) <= kept)
            continue;
        char *path = registry_join(r->trash_dir, "", entry->d_name);
        if (path)
            dirs_remove(path);
        free(path);
    }
    if (d)
        closedir(d);
}

/* The newest of this name in the trash of those deleted before *inout_ms, which becomes its time. */
static char *find_trash(struct registry *r, const char *name, int64_t *inout_ms)
{
    DIR *d = opendir(r->trash_dir);
    struct dirent *entry;
    int64_t time, newest = -1;
    size_t n = strlen(name);
    char *found = NULL;
    while (d && (entry = readdir(d))) {
        if (strncmp(entry->d_name, name, n) || entry->d_name[n] != TRASH_MARK[0] || !trash_time(entry->d_name, &time) ||
            time <= newest || time >= *inout_ms)
            continue;
        free(found);
        found = registry_join(r->trash_dir, "", entry->d_name);
        newest = time;
    }
    if (d)
        closedir(d);
    *inout_ms = newest;
    return found;
}

static bool bring_back(struct registry *r, const char *name, unsigned nth, struct http_error *err)
{
    int64_t before = INT64_MAX;
    while (--nth && before >= 0)
        free(find_trash(r, name, &before));
    char *trash = find_trash(r, name, &before), *dir = registry_join(r->models_dir, "", name);
    bool ok = trash && dir;
    if (!ok)
        http_error_set(err, 404, "unknown_model", "no deleted model \"%s\" is kept", name);
    else if (rename(trash, dir) != 0)
        ok = http_error_set(err, 503, "storage", "cannot bring the model's folder back: %s", strerror(errno));
    ok = ok && dirs_sync(r->models_dir, err) && registry_open_one(r, name, err);
    free(trash);
    free(dir);
    return ok;
}

bool registry_undelete(struct registry *r, const char *name, unsigned nth, struct http_error *err)
{
    if (!registry_name_ok(name, err))
        return false;
    if (r->context.cluster)
        return http_error_set(err, 409, "shared", "deleted models of a group cannot be restored");
    registry_remove_deleted(r); /* it may just have been put away */
    pthread_mutex_lock(&r->making);
    struct model *m = registry_get(r, name);
    bool ok =
        !m ? bring_back(r, name, nth, err) : http_error_set(err, 409, "model_exists", "model \"%s\" exists", name);
    pthread_mutex_unlock(&r->making);
    if (m)
        registry_put(r, m);
    if (ok)
        log_event("model_undeleted", "{s:s}", "model", name);
    return ok;
}

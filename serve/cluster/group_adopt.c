/* SPDX-License-Identifier: BSD-3-Clause */
/* A model of this folder becomes the group's: one that was a single machine's, or one whose topics a cluster has lost.
 * The log is copied with its snapshots; its journal begins with the next event. */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"
#include "cluster/group_parts.h"
#include "util/log.h"
#include "storage/store_shared.h"

static bool too_long(struct http_error *err)
{
    return http_error_set(err, 503, "storage", "the path is too long");
}

static bool link_snapshots(const char *from, const char *to, struct http_error *err)
{
    DIR *d = opendir(from);
    struct dirent *entry;
    bool ok = d || http_error_set(err, 503, "storage", "cannot read %s", from);
    while (ok && (entry = readdir(d))) {
        char old[4096], new[4096];
        size_t n = strlen(entry->d_name);
        if (strncmp(entry->d_name, "snapshot-", 9) != 0 || n < 6 || strcmp(entry->d_name + n - 6, ".hunch") != 0)
            continue;
        if (snprintf(old, sizeof old, "%s/%s", from, entry->d_name) >= (int)sizeof old ||
            snprintf(new, sizeof new, "%s/%s", to, entry->d_name) >= (int)sizeof new)
            ok = too_long(err);
        else
            ok = link(old, new) == 0 || http_error_set(err, 503, "storage", "cannot link %s", entry->d_name);
    }
    if (d)
        closedir(d);
    return ok;
}

/* A second folder with all of it; the model must not be changed meanwhile, and is not: no one serves it. */
static bool copy_folder(struct model *m, const char *folder, struct http_error *err)
{
    char path[4096];
    dirs_remove(folder);
    if (snprintf(path, sizeof path, "%s/" STORE_FILE, folder) >= (int)sizeof path)
        return too_long(err);
    return dirs_make(folder, err) && link_snapshots(m->dir, folder, err) && store_shared_copy(&m->store, path, err) &&
           dirs_sync(folder, err);
}

static bool announce(struct group *g, const char *name, const char *folder, struct http_error *err)
{
    struct event_store store;
    struct text settings = {0};
    if (!event_store_open(&store, folder, false, err))
        return false;
    bool ok = event_store_about(&store, "settings", &settings) ||
              http_error_set(err, 503, "damaged", "the log has no settings");
    uint64_t base = store.last_seq;
    event_store_close(&store);
    ok = ok && entry_send(g, name, settings.data, base, g->adopted, err);
    text_free(&settings);
    return ok;
}

static bool take_over(struct group *g, struct model *m, struct http_error *err)
{
    char folder[4096];
    if (snprintf(folder, sizeof folder, "%s/.new-%s", g->registry->models_dir, m->name) >= (int)sizeof folder)
        return too_long(err);
    return copy_folder(m, folder, err) && announce(g, m->name, folder, err);
}

/* Matches, and the group has none of this name. */
static bool wanted(struct group *g, const struct model *m)
{
    pthread_mutex_lock(&g->lock);
    bool there = entry_find(g, m->name) != NULL;
    pthread_mutex_unlock(&g->lock);
    return !there && fnmatch(g->kafka->settings.adopt, m->name, 0) == 0;
}

void adopt(struct group *g)
{
    size_t n;
    struct model **all = registry_all(g->registry, &n);
    for (size_t i = 0; i < n; i++) {
        struct http_error err = {0};
        const char *topic = all[i]->store.shared.topic;
        if (g->adopted[0] && topic && strcmp(topic, g->adopted) == 0)
            g->adopted[0] = 0; /* done: the next one */
        if (!g->adopted[0] && !g->adopt_failed && wanted(g, all[i])) {
            g->adopt_failed = !take_over(g, all[i], &err);
            log_event(g->adopt_failed ? "model_not_adopted" : "model_adopted", "{s:s,s:s}", "model", all[i]->name,
                      g->adopt_failed ? "reason" : "topic", g->adopt_failed ? err.message : g->adopted);
        }
        registry_put(g->registry, all[i]);
    }
    free(all);
}

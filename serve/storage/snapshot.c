/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"
#include "storage/snapshot.h"

void snapshot_name(char ret[40], uint64_t seq)
{
    snprintf(ret, 40, "snapshot-%016" PRIx64 ".hunch", seq);
}

void snapshot_shadow_name(char ret[40], uint32_t version)
{
    snprintf(ret, 40, "shadow-%u.hunch", version);
}

bool snapshot_is_name(const char *name)
{
    char again[40] = "";
    uint64_t seq;
    uint32_t version;
    if (sscanf(name, "snapshot-%16" SCNx64, &seq) == 1)
        snapshot_name(again, seq);
    else if (sscanf(name, "shadow-%9" SCNu32, &version) == 1)
        snapshot_shadow_name(again, version);
    return *again && strcmp(again, name) == 0;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

void snapshot_find(const char *dir, struct snapshot_list *ret)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    ret->n = 0;
    while (d && (entry = readdir(d))) {
        char name[40];
        uint64_t seq;
        if (ret->n == sizeof ret->seq / sizeof *ret->seq || sscanf(entry->d_name, "snapshot-%16" SCNx64, &seq) != 1)
            continue;
        snapshot_name(name, seq);
        if (strcmp(name, entry->d_name) == 0)
            ret->seq[ret->n++] = seq;
    }
    if (d)
        closedir(d);
    qsort(ret->seq, ret->n, sizeof *ret->seq, newest_first);
}

bool snapshot_put(const char *dir, uint64_t seq, const char *from, struct http_error *err)
{
    char name[40], path[4096];
    struct snapshot_list list;
    snapshot_name(name, seq);
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path || rename(from, path) != 0)
        return http_error_set(err, 503, "storage", "cannot rename %s: %s", from, strerror(errno));
    if (!dirs_sync(dir, err))
        return false;
    snapshot_find(dir, &list);
    for (size_t i = SNAPSHOTS_KEPT; i < list.n; i++) {
        snapshot_name(name, list.seq[i]);
        if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path)
            unlink(path);
    }
    return true;
}

bool snapshot_save(const char *dir, uint64_t seq, const void *bytes, size_t size, struct http_error *err)
{
    char name[40];
    snapshot_name(name, seq);
    return file_write(dir, name, bytes, size, err);
}

void snapshot_set_aside(const char *dir, uint64_t seq, const char *why)
{
    char name[40], path[4096], aside[4096];
    snapshot_name(name, seq);
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
        snprintf(aside, sizeof aside, "%s.%s", path, why) < (int)sizeof aside)
        rename(path, aside);
}

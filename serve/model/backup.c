/* SPDX-License-Identifier: BSD-3-Clause */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model/backup.h"
#include "util/files.h"
#include "util/log.h"
#include "storage/snapshot.h"
#include "storage/verify.h"

/* One that is being written. */
struct backup {
    struct archive *archive;
    struct text manifest;
    char stage[4096]; /* the copy of one model, on the same file system */
};

static bool broken_archive(struct archive *a, struct http_error *err)
{
    return http_error_set(err, 503, "storage", "the backup cannot be written: %s", archive_error_string(a));
}

/* --- a copy of one model --- */

/* The log as it is now, in one file. */
static bool copy_log(const struct model *m, const char *stage, struct http_error *err)
{
    struct event_store store;
    char path[4200], sql[4300];
    snprintf(path, sizeof path, "%s/%s", stage, STORE_FILE);
    if (!event_store_open(&store, m->dir, true, err))
        return false;
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA query_only=0; VACUUM INTO %Q", path);
    bool ok = event_store_run(store.db, sql, err);
    event_store_close(&store);
    return ok;
}

/* Files that are replaced, never written to, need no copy. */
static bool link_file(const struct model *m, const char *stage, const char *name, struct http_error *err)
{
    char from[4200], to[4200];
    snprintf(from, sizeof from, "%s/%s", m->dir, name);
    snprintf(to, sizeof to, "%s/%s", stage, name);
    return link(from, to) == 0 || errno == ENOENT || file_failed("link", from, err);
}

/* Snapshots and log fit together as long as no snapshot is made, for the log is trimmed up to snapshots only. numbers:
 * the versions in memory. */
static bool stage_model(struct model *m, const char *stage, uint32_t *numbers, size_t *ret_n, struct http_error *err)
{
    struct snapshot_list list;
    char name[40];
    if (!dirs_make(stage, err))
        return false;
    pthread_mutex_lock(&m->snapshot_lock);
    pthread_mutex_lock(&m->lock);
    *ret_n = 0;
    numbers[(*ret_n)++] = m->state.version;
    for (size_t i = 0; i < m->shadows; i++)
        numbers[(*ret_n)++] = m->shadow[i].version;
    pthread_mutex_unlock(&m->lock);
    snapshot_find(m->dir, &list);
    bool ok = copy_log(m, stage, err) && link_file(m, stage, BASE_FILE, err);
    for (size_t i = 0; ok && i < list.n; i++) {
        snapshot_name(name, list.seq[i]);
        ok = link_file(m, stage, name, err);
    }
    for (size_t i = 0; ok && i < *ret_n; i++) {
        snapshot_shadow_name(name, numbers[i]);
        ok = link_file(m, stage, name, err);
    }
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok;
}

/* --- into the archive --- */

static bool add_header(struct backup *b, const char *inside, const struct stat *st, struct http_error *err)
{
    struct archive_entry *e = archive_entry_new();
    if (!e)
        return http_error_no_memory(err);
    archive_entry_set_pathname(e, inside);
    archive_entry_set_size(e, st->st_size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, st->st_mtime, 0);
    bool ok = archive_write_header(b->archive, e) == ARCHIVE_OK || broken_archive(b->archive, err);
    archive_entry_free(e);
    return ok;
}

static bool add_bytes(struct backup *b, int fd, const char *path, uint64_t *ret_hash, struct http_error *err)
{
    char buffer[1 << 16];
    ssize_t n;
    XXH3_state_t *hash = XXH3_createState();
    bool ok = hash || http_error_no_memory(err);
    if (ok)
        XXH3_64bits_reset(hash);
    while (ok && (n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0) {
            ok = file_failed("read", path, err);
            break;
        }
        XXH3_64bits_update(hash, buffer, (size_t)n);
        ok = archive_write_data(b->archive, buffer, (size_t)n) == n || broken_archive(b->archive, err);
    }
    if (ok)
        *ret_hash = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    return ok;
}

/* A file of the staged model, if it is there. */
static bool add_file(struct backup *b, const char *model, const char *name, struct http_error *err)
{
    char inside[NAME_MAX_BYTES + 64], path[4200];
    struct stat st;
    uint64_t hash = 0;
    snprintf(inside, sizeof inside, "models/%s/%s", model, name);
    snprintf(path, sizeof path, "%s/%s", b->stage, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || file_failed("read", path, err);
    bool ok = (fstat(fd, &st) == 0 || file_failed("read", path, err)) && add_header(b, inside, &st, err) &&
              add_bytes(b, fd, path, &hash, err);
    close(fd);
    if (ok)
        text_printf(&b->manifest, "%016llx %llu %s\n", (unsigned long long)hash, (unsigned long long)st.st_size,
                    inside);
    return ok;
}

static bool add_staged(struct backup *b, const char *model, const uint32_t *numbers, size_t n, struct http_error *err)
{
    struct snapshot_list list;
    char name[40];
    snapshot_find(b->stage, &list);
    bool ok = add_file(b, model, STORE_FILE, err) && add_file(b, model, BASE_FILE, err);
    for (size_t i = 0; ok && i < list.n; i++) {
        snapshot_name(name, list.seq[i]);
        ok = add_file(b, model, name, err);
    }
    for (size_t i = 0; ok && i < n; i++) {
        snapshot_shadow_name(name, numbers[i]);
        ok = add_file(b, model, name, err);
    }
    return ok;
}

/* What a restore would find is what the server has. */
static bool add_model(struct backup *b, struct model *m, struct http_error *err)
{
    struct http_error why = {0};
    uint32_t numbers[SHADOWS_MAX + 1];
    size_t n;
    dirs_remove(b->stage);
    bool ok = stage_model(m, b->stage, numbers, &n, err);
    if (ok && !verify_restorable(b->stage, &m->options->limits, numbers, n, &why))
        ok = http_error_set(err, 503, "backup_failed", "the copy of model %s cannot be restored: %.150s", m->name,
                            why.message);
    ok = ok && add_staged(b, m->name, numbers, n, err);
    dirs_remove(b->stage);
    return ok;
}

static void skip(struct backup *b, const char *name, const char *why)
{
    text_printf(&b->manifest, "skipped %s: %s\n", name, why);
    log_event("backup_skipped", "{s:s,s:s}", "model", name, "reason", why);
}

static bool add_models(struct backup *b, struct registry *r, size_t *ret_n, struct http_error *err)
{
    struct model_name *all = registry_names(r, ret_n);
    bool ok = true;
    for (size_t i = 0; ok && i < *ret_n; i++) {
        char why[256] = "";
        struct model *m = registry_get(r, all[i].name);
        if (!m)
            continue; /* deleted meanwhile */
        pthread_mutex_lock(&m->lock);
        bool deleted = m->deleted;
        if (m->broken[0] || m->degraded[0]) /* what can't be read, or is not whole, could not be restored */
            snprintf(why, sizeof why, "%s", m->broken[0] ? m->broken : m->degraded);
        pthread_mutex_unlock(&m->lock);
        if (why[0])
            skip(b, m->name, why);
        else if (!deleted)
            ok = add_model(b, m, err);
        registry_put(r, m);
    }
    free(all);
    return ok;
}

static bool add_manifest(struct backup *b, struct http_error *err)
{
    struct text *t = &b->manifest;
    text_printf(t, "verified %016llx\n", (unsigned long long)XXH3_64bits(t->data ? t->data : "", t->length));
    if (t->failed)
        return http_error_no_memory(err);
    struct stat st = {.st_size = (off_t)t->length};
    return add_header(b, BACKUP_MANIFEST, &st, err) &&
           (archive_write_data(b->archive, t->data, t->length) == (ssize_t)t->length ||
            broken_archive(b->archive, err));
}

static bool write_all(struct backup *b, struct registry *r, int fd, size_t *ret_models, struct http_error *err)
{
    b->archive = archive_write_new();
    if (!b->archive || archive_write_set_format_pax_restricted(b->archive) != ARCHIVE_OK ||
        archive_write_open_fd(b->archive, fd) != ARCHIVE_OK)
        return http_error_no_memory(err);
    return add_models(b, r, ret_models, err) && add_manifest(b, err) &&
           (archive_write_close(b->archive) == ARCHIVE_OK || broken_archive(b->archive, err));
}

bool backup_write(struct registry *r, int *ret_fd, uint64_t *ret_size, struct http_error *err)
{
    struct backup b = {0};
    char path[4096];
    size_t models = 0;
    if (snprintf(path, sizeof path, "%s/" BACKUP_STAGE "XXXXXX", r->options->dir) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path of %s is too long", r->options->dir);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return file_failed("write", path, err);
    unlink(path);
    memcpy(b.stage, path, sizeof path);
    bool ok = write_all(&b, r, fd, &models, err);
    archive_write_free(b.archive);
    text_free(&b.manifest);
    off_t size = ok ? lseek(fd, 0, SEEK_END) : -1;
    if (size < 0) {
        close(fd);
        return false;
    }
    log_event("backup", "{s:I,s:I}", "models", (json_int_t)models, "bytes", (json_int_t)size);
    *ret_fd = fd;
    *ret_size = (uint64_t)size;
    return true;
}

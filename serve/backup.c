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

#include "backup.h"
#include "files.h"
#include "log.h"
#include "snapshot.h"

static bool storage(const char *what, const char *path, struct http_error *err)
{
    return http_error_set(err, 503, "storage", "can't %s %s: %s", what, path, strerror(errno));
}

static bool broken_archive(struct archive *a, struct http_error *err)
{
    return http_error_set(err, 503, "storage", "the backup: %s", archive_error_string(a));
}

/* --- writing --- */

static bool add_bytes(struct archive *a, int fd, struct http_error *err)
{
    char buffer[1 << 16];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        if (archive_write_data(a, buffer, (size_t)n) != n)
            return broken_archive(a, err);
    return n == 0 || storage("read", "a file", err);
}

static bool add_file(struct archive *a, const char *path, const char *model, const char *name, struct http_error *err)
{
    char inside[NAME_MAX_BYTES + 64];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        return storage("read", path, err);
    }
    struct archive_entry *e = archive_entry_new();
    snprintf(inside, sizeof inside, "models/%s/%s", model, name);
    archive_entry_set_pathname(e, inside);
    archive_entry_set_size(e, st.st_size);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    archive_entry_set_mtime(e, st.st_mtime, 0);
    bool ok = (archive_write_header(a, e) == ARCHIVE_OK || broken_archive(a, err)) && add_bytes(a, fd, err);
    archive_entry_free(e);
    close(fd);
    return ok;
}

/* The log as it is now, in one file, beside the model's folder. */
static bool copy_log(struct model *m, char *path, size_t size, struct http_error *err)
{
    struct event_store store;
    char sql[4200];
    if (snprintf(path, size, "%s/.backup.db", m->dir) >= (int)size)
        return http_error_set(err, 503, "storage", "the path of %s is too long", m->dir);
    unlink(path);
    if (!event_store_open(&store, m->dir, true, err))
        return false;
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA query_only=0; VACUUM INTO %Q", path);
    bool ok = event_store_run(store.db, sql, err);
    event_store_close(&store);
    return ok;
}

/* Snapshots first: the log that is copied after that goes at least as far. */
static bool add_model(struct archive *a, struct model *m, struct http_error *err)
{
    struct snapshot_list list;
    char path[4096], name[40], log[4096];
    pthread_mutex_lock(&m->snapshot_lock);
    snapshot_find(m->dir, &list);
    bool ok = copy_log(m, log, sizeof log, err) && add_file(a, log, m->name, STORE_FILE, err);
    for (size_t i = 0; ok && i < list.n; i++) {
        snapshot_name(name, list.seq[i]);
        ok = snprintf(path, sizeof path, "%s/%s", m->dir, name) < (int)sizeof path &&
             add_file(a, path, m->name, name, err);
    }
    if (ok && snprintf(path, sizeof path, "%s/" BASE_FILE, m->dir) < (int)sizeof path && access(path, F_OK) == 0)
        ok = add_file(a, path, m->name, BASE_FILE, err);
    unlink(log);
    pthread_mutex_unlock(&m->snapshot_lock);
    return ok;
}

bool backup_write(struct registry *r, int *ret_fd, uint64_t *ret_size, struct http_error *err)
{
    char path[4096];
    size_t n;
    if (snprintf(path, sizeof path, "%s/.backup-XXXXXX", r->options->dir) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path of %s is too long", r->options->dir);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return storage("write", path, err);
    unlink(path);
    struct archive *a = archive_write_new();
    bool ok =
        a && archive_write_set_format_pax_restricted(a) == ARCHIVE_OK && archive_write_open_fd(a, fd) == ARCHIVE_OK;
    if (!ok)
        http_error_no_memory(err);
    struct model_name *all = registry_names(r, &n);
    for (size_t i = 0; i < n; i++) {
        struct model *m = ok ? registry_get(r, all[i].name) : NULL;
        bool usable = m && !m->broken[0]; /* a log that can't be read can't be copied */
        ok = ok && (!usable || add_model(a, m, err));
        if (m)
            registry_put(r, m);
    }
    free(all);
    ok = ok && (archive_write_close(a) == ARCHIVE_OK || broken_archive(a, err));
    archive_write_free(a);
    off_t size = ok ? lseek(fd, 0, SEEK_END) : -1;
    if (size < 0) {
        close(fd);
        return false;
    }
    log_event("backup", "{s:I,s:I}", "models", (json_int_t)n, "bytes", (json_int_t)size);
    *ret_fd = fd;
    *ret_size = (uint64_t)size;
    return true;
}

/* --- restoring --- */

/* "models/NAME/FILE" and nothing else: never a path out of the folder. */
static bool entry_parts(const char *path, char model[NAME_MAX_BYTES + 1], const char **ret_file)
{
    const char *name = path + 7, *slash = strncmp(path, "models/", 7) == 0 ? strchr(name, '/') : NULL;
    if (!slash || slash - name > NAME_MAX_BYTES)
        return false;
    memcpy(model, name, (size_t)(slash - name));
    model[slash - name] = 0;
    *ret_file = slash + 1;
    uint64_t seq;
    return model_name_ok(model) && !strchr(*ret_file, '/') &&
           (strcmp(*ret_file, STORE_FILE) == 0 || strcmp(*ret_file, BASE_FILE) == 0 ||
            sscanf(*ret_file, "snapshot-%16lx.hunch", &seq) == 1);
}

static bool restore_one(struct archive *a, struct archive_entry *e, const char *dir, struct http_error *err)
{
    char model[NAME_MAX_BYTES + 1], folder[4096], path[4200];
    const char *file = NULL, *inside = archive_entry_pathname(e);
    if (!inside || !entry_parts(inside, model, &file))
        return http_error_set(err, 400, "bad_backup", "the backup has a file %.100s", inside ? inside : "");
    if (snprintf(folder, sizeof folder, "%s/models/%s", dir, model) >= (int)sizeof folder ||
        snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path || !dirs_make(folder, err))
        return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return storage("write", path, err);
    bool ok = archive_read_data_into_fd(a, fd) == ARCHIVE_OK ? fsync(fd) == 0 || storage("sync", path, err)
                                                             : broken_archive(a, err);
    close(fd);
    return ok && dirs_sync(folder, err);
}

bool backup_restore(const char *dir, const char *file, struct http_error *err)
{
    char models[4096];
    struct archive_entry *e;
    if (snprintf(models, sizeof models, "%s/models", dir) >= (int)sizeof models || !dirs_make(models, err))
        return false;
    if (rmdir(models) != 0 || !dirs_make(models, err))
        return http_error_set(err, 409, "not_empty", "the folder %s has models already", dir);
    struct archive *a = archive_read_new();
    bool ok = a && archive_read_support_format_tar(a) == ARCHIVE_OK && archive_read_support_filter_all(a) == ARCHIVE_OK;
    if (ok && archive_read_open_filename(a, file, 1 << 16) != ARCHIVE_OK)
        ok = broken_archive(a, err);
    int code = ARCHIVE_EOF;
    while (ok && (code = archive_read_next_header(a, &e)) == ARCHIVE_OK)
        ok = restore_one(a, e, dir, err);
    if (ok && code != ARCHIVE_EOF)
        ok = broken_archive(a, err);
    archive_read_free(a);
    return ok && dirs_sync(models, err);
}

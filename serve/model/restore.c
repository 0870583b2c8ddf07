/* SPDX-License-Identifier: BSD-3-Clause */
/* A backup unpacked and verified: to be restored, or only to be looked at. */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
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
#include "storage/store_shared.h"
#include "storage/verify.h"

#define MANIFEST_MAX (64 << 20)

static bool bad_backup(struct http_error *err, const char *what)
{
    return http_error_set(err, 400, "bad_backup", "the backup %s", what);
}

static bool archive_failed(struct archive *a, struct http_error *err)
{
    return http_error_set(err, 400, "bad_backup", "the backup cannot be read: %s", archive_error_string(a));
}

/* "models/NAME/FILE" and nothing else: never a path out of the folder. */
static bool entry_parts(const char *path, char model[NAME_MAX_BYTES + 1], const char **ret_file)
{
    const char *name = path + 7, *slash = strncmp(path, "models/", 7) == 0 ? strchr(name, '/') : NULL;
    if (!slash || slash - name > NAME_MAX_BYTES)
        return false;
    memcpy(model, name, (size_t)(slash - name));
    model[slash - name] = 0;
    *ret_file = slash + 1;
    return model_name_ok(model) &&
           (strcmp(*ret_file, STORE_FILE) == 0 || strcmp(*ret_file, BASE_FILE) == 0 || snapshot_is_name(*ret_file));
}

/* What was unpacked, in the manifest's form. */
static bool note(struct text *found, int fd, const char *inside, struct http_error *err)
{
    struct stat st;
    uint64_t hash;
    if (fstat(fd, &st) != 0)
        return file_failed("read", inside, err);
    if (!file_hash(fd, (uint64_t)st.st_size, &hash, err))
        return false;
    text_printf(found, "%016llx %llu %s\n", (unsigned long long)hash, (unsigned long long)st.st_size, inside);
    return !found->failed || http_error_no_memory(err);
}

static bool unpack_file(struct archive *a, const char *inside, const char *dir, struct text *found,
                        struct http_error *err)
{
    char model[NAME_MAX_BYTES + 1], folder[4096], path[4200];
    const char *file = NULL;
    if (!entry_parts(inside, model, &file))
        return http_error_set(err, 400, "bad_backup", "the backup has a file %.100s", inside);
    if (snprintf(folder, sizeof folder, "%s/%s", dir, model) >= (int)sizeof folder ||
        snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
        return http_error_set(err, 400, "bad_dir", "the path of %s is too long", dir);
    if (!dirs_make(folder, err))
        return false;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return file_failed("write", path, err);
    bool ok = (archive_read_data_into_fd(a, fd) == ARCHIVE_OK || archive_failed(a, err)) &&
              (fsync(fd) == 0 || file_failed("sync", path, err)) && note(found, fd, inside, err);
    close(fd);
    return ok && dirs_sync(folder, err);
}

/* Its last line vouches for the lines before it, and they for the files. */
static bool manifest_matches(const char *text, size_t length, const struct text *found, struct http_error *err)
{
    const char *last = memmem(text, length, "verified ", 9);
    for (const char *next = last; next; next = memmem(next + 1, length - (size_t)(next + 1 - text), "verified ", 9))
        last = next;
    char end[40];
    if (!last)
        return bad_backup(err, "is not complete: its manifest has no end");
    snprintf(end, sizeof end, "verified %016llx\n", (unsigned long long)XXH3_64bits(text, (size_t)(last - text)));
    if (strlen(end) != length - (size_t)(last - text) || memcmp(end, last, strlen(end)) != 0)
        return bad_backup(err, "is damaged: its manifest is not what was written");
    struct text lines = {0};
    for (const char *line = text, *stop; line < last; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(last - line));
        if (strncmp(line, "skipped ", 8) == 0)
            log_event("restore_lacks", "{s:s%}", "model", line + 8, (size_t)(stop - line - 8));
        else
            text_add(&lines, line, (size_t)(stop + 1 - line));
    }
    bool ok = !lines.failed && lines.length == found->length &&
              (lines.length == 0 || memcmp(lines.data, found->data, lines.length) == 0);
    text_free(&lines);
    return ok || bad_backup(err, "is damaged: its files are not those of its manifest");
}

static bool read_manifest(struct archive *a, struct archive_entry *e, const struct text *found, struct http_error *err)
{
    int64_t size = archive_entry_size(e);
    char *text = size >= 0 && size <= MANIFEST_MAX ? malloc((size_t)size + 1) : NULL;
    if (!text)
        return bad_backup(err, "has a manifest that is too large");
    bool ok = (archive_read_data(a, text, (size_t)size) == size || archive_failed(a, err)) &&
              manifest_matches(text, (size_t)size, found, err);
    free(text);
    return ok;
}

static bool unpack_all(struct archive *a, const char *dir, struct http_error *err)
{
    struct archive_entry *e;
    struct text found = {0};
    bool ok = true, ended = false;
    int code = ARCHIVE_EOF;
    while (ok && (code = archive_read_next_header(a, &e)) == ARCHIVE_OK) {
        const char *inside = archive_entry_pathname(e);
        if (ended)
            ok = bad_backup(err, "goes on after its manifest");
        else if (inside && strcmp(inside, BACKUP_MANIFEST) == 0)
            ok = ended = read_manifest(a, e, &found, err);
        else
            ok = unpack_file(a, inside ? inside : "", dir, &found, err);
    }
    if (ok && code != ARCHIVE_EOF)
        ok = archive_failed(a, err);
    if (ok && !ended)
        ok = bad_backup(err, "is not complete: it has no manifest");
    text_free(&found);
    return ok;
}

static bool unpack(const char *file, const char *dir, struct http_error *err)
{
    struct archive *a = archive_read_new();
    bool ok = a && archive_read_support_format_tar(a) == ARCHIVE_OK && archive_read_support_filter_all(a) == ARCHIVE_OK;
    if (!ok)
        http_error_no_memory(err);
    if (ok && archive_read_open_filename(a, file, 1 << 16) != ARCHIVE_OK)
        ok = archive_failed(a, err);
    ok = ok && unpack_all(a, dir, err) && dirs_sync(dir, err);
    archive_read_free(a);
    return ok;
}

/* --- the whole --- */

/* The folder of models, made when it is not there, is empty. */
static bool models_empty(const char *models, struct http_error *err)
{
    return (rmdir(models) == 0 || errno == ENOENT) ||
           http_error_set(err, 409, "not_empty", "the folder %s has models already", models);
}

/* Without --kafka, models of a group become this machine's. */
static bool make_own(const struct serve_options *options, const char *models, struct http_error *err)
{
    struct dirent *entry;
    DIR *d = options->kafka ? NULL : opendir(models);
    bool ok = true;
    while (ok && d && (entry = readdir(d))) {
        char dir[4096];
        if (model_name_ok(entry->d_name))
            ok = snprintf(dir, sizeof dir, "%s/%s", models, entry->d_name) < (int)sizeof dir && store_unshare(dir, err);
    }
    if (d)
        closedir(d);
    return ok;
}

bool backup_restore(const struct serve_options *options, struct http_error *err)
{
    char models[4096], stage[4096];
    const char *dir = options->dir;
    if (snprintf(models, sizeof models, "%s/models", dir) >= (int)sizeof models ||
        snprintf(stage, sizeof stage, "%s/" BACKUP_STAGE "XXXXXX", dir) >= (int)sizeof stage)
        return http_error_set(err, 400, "bad_dir", "the path of %s is too long", dir);
    if (!models_empty(models, err))
        return false;
    if (!mkdtemp(stage))
        return file_failed("make folder", stage, err);
    bool ok = unpack(options->restore, stage, err) && verify_folder(stage, &options->limits, err) &&
              make_own(options, stage, err) && (rename(stage, models) == 0 || file_failed("rename", stage, err)) &&
              dirs_sync(dir, err);
    if (!ok)
        dirs_remove(stage);
    return ok;
}

enum serve_result backup_verify(const struct serve_options *options, hunch_error *reterr)
{
    const char *base = getenv("TMPDIR");
    char stage[4096];
    struct http_error err = {0};
    enum serve_result result = SERVE_BAD_STATE;
    snprintf(stage, sizeof stage, "%s/hunch-verify-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(stage))
        file_failed("make folder", stage, &err);
    else if (unpack(options->verify_backup, stage, &err))
        result = verify_models(stage, options, reterr);
    if (err.status)
        snprintf(reterr->message, sizeof reterr->message, "%s", err.message);
    dirs_remove(stage);
    return result;
}

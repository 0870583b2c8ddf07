/* SPDX-License-Identifier: BSD-3-Clause */
/* A model's log on its way from one node to another: the database as it is on disk, with the newest snapshot in it. */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"
#include "cluster/group.h"
#include "storage/snapshot.h"
#include "storage/store_shared.h"

static bool storage(struct http_error *err, const char *what)
{
    return http_error_set(err, 503, "storage", "a copy of the log cannot be made: %s", what);
}

/* --- giving --- */

static bool put_snapshot(const char *path, uint64_t seq, const void *bytes, size_t size, struct http_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
              sqlite3_exec(db, "CREATE TABLE snapshot(seq INTEGER, bytes BLOB)", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "INSERT INTO snapshot(seq, bytes) VALUES(?, ?)", -1, &q, NULL) == SQLITE_OK;
    if (ok) {
        sqlite3_bind_int64(q, 1, (int64_t)seq);
        sqlite3_bind_blob64(q, 2, bytes, size, SQLITE_STATIC);
        ok = sqlite3_step(q) == SQLITE_DONE;
    }
    if (!ok)
        event_store_error(db, err);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return ok;
}

static bool copy_into(struct model *m, const char *path, struct http_error *err)
{
    char name[40], snapshot[4096];
    void *bytes;
    size_t size;
    if (!model_snapshot(m, err))
        return false;
    pthread_mutex_lock(&m->lock);
    uint64_t seq = m->snapshot_seq;
    pthread_mutex_unlock(&m->lock);
    snapshot_name(name, seq);
    if (snprintf(snapshot, sizeof snapshot, "%s/%s", m->dir, name) >= (int)sizeof snapshot)
        return storage(err, "its path is too long");
    if (!file_read(snapshot, SIZE_MAX / 2, &bytes, &size, err))
        return false;
    bool ok = store_shared_copy(&m->store, path, err) && put_snapshot(path, seq, bytes, size, err);
    free(bytes);
    return ok;
}

bool copy_make(struct model *m, int *ret_fd, struct http_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/copy-XXXXXX", m->dir) >= (int)sizeof path)
        return storage(err, "its path is too long");
    int fd = mkstemp(path); /* SQLite writes into an empty file of that name */
    if (fd < 0)
        return storage(err, strerror(errno));
    close(fd);
    bool ok = copy_into(m, path, err);
    if (ok) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        ok = fd >= 0 || storage(err, strerror(errno));
    }
    unlink(path);
    if (ok)
        *ret_fd = fd;
    return ok;
}

/* --- taking --- */

static bool download(const char *address, const char *token, FILE *to, struct http_error *err)
{
    char header[600], why[CURL_ERROR_SIZE] = "";
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = NULL;
    if (!curl)
        return http_error_no_memory(err);
    if (token && snprintf(header, sizeof header, "Authorization: Bearer %s", token) < (int)sizeof header)
        headers = curl_slist_append(headers, header);
    curl_easy_setopt(curl, CURLOPT_URL, address);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, to);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 3000L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    CURLcode code = curl_easy_perform(curl);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return code == CURLE_OK || http_error_set(err, 503, "copy", "%.100s: %.120s", address, why);
}

/* The snapshot becomes a file of its own. */
static bool unpack(const char *folder, const char *path, struct http_error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, "SELECT seq, bytes FROM snapshot", -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW;
    if (!ok)
        event_store_error(db, err);
    ok = ok && snapshot_save(folder, (uint64_t)sqlite3_column_int64(q, 0), sqlite3_column_blob(q, 1),
                             (size_t)sqlite3_column_bytes(q, 1), err);
    sqlite3_finalize(q);
    ok = ok && (sqlite3_exec(db, "PRAGMA synchronous=FULL; DROP TABLE snapshot", NULL, NULL, NULL) == SQLITE_OK ||
                event_store_error(db, err));
    sqlite3_close(db);
    return ok;
}

bool copy_fetch(const char *url, const char *token, const char *model, const char *folder, struct http_error *err)
{
    char address[700], path[4096];
    if (snprintf(address, sizeof address, "%.600s/v1/models/%s/log", url, model) >= (int)sizeof address ||
        snprintf(path, sizeof path, "%s/" STORE_FILE, folder) >= (int)sizeof path)
        return storage(err, "its path is too long");
    dirs_remove(folder);
    if (!dirs_make(folder, err))
        return false;
    FILE *f = fopen(path, "wb");
    if (!f)
        return storage(err, strerror(errno));
    bool ok = download(address, token, f, err);
    ok = (fflush(f) == 0 && fsync(fileno(f)) == 0) && ok;
    fclose(f);
    ok = ok && unpack(folder, path, err) && dirs_sync(folder, err);
    if (!ok) {
        dirs_remove(folder);
        if (!err->status)
            storage(err, strerror(errno));
    }
    return ok;
}

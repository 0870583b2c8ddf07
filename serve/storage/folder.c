/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "hunch.h"

#include "util/files.h"
#include "storage/folder.h"

static bool lock(const char *dir, int *ret_fd, struct http_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path)
        return http_error_set(err, 400, "bad_dir", "the state folder's path is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return http_error_set(err, 503, "storage", "cannot write to the state folder %s: %s", dir, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return http_error_set(err, 409, "in_use", "the state folder %s is in use by another process", dir);
    }
    *ret_fd = fd;
    return true;
}

static bool check_version(const char *dir, bool make, struct http_error *err)
{
    char path[4096], text[64];
    void *bytes;
    size_t size;
    if (snprintf(path, sizeof path, "%s/version", dir) >= (int)sizeof path)
        return http_error_set(err, 400, "bad_dir", "the state folder's path is too long");
    if (!make && access(path, F_OK) != 0)
        return http_error_set(err, 409, "bad_dir", "%s is not a state folder: it has no version file", dir);
    if (access(path, F_OK) != 0) {
        int n = snprintf(text, sizeof text, "hunch state %d\nwritten by %s\n", FOLDER_FORMAT, hunch_version());
        return file_write(dir, "version", text, (size_t)n, err);
    }
    if (!file_read(path, 4096, &bytes, &size, err))
        return false;
    int format = 0;
    bool ok = sscanf(bytes, "hunch state %d", &format) == 1 && format > 0;
    free(bytes);
    if (!ok)
        return http_error_set(err, 409, "bad_dir", "%s is not a state folder: its version file is invalid", dir);
    if (format < FOLDER_FORMAT)
        return http_error_set(err, 409, "older",
                              "the state folder %s was written by an older version (format %d, known: %d)", dir, format,
                              FOLDER_FORMAT);
    if (format > FOLDER_FORMAT)
        return http_error_set(err, 409, "newer",
                              "the state folder %s was written by a newer version (format %d, known: %d)", dir, format,
                              FOLDER_FORMAT);
    return true;
}

bool folder_claim(const char *dir, bool make, int *ret_fd, struct http_error *err)
{
    int fd;
    if (!make && access(dir, F_OK) != 0)
        return http_error_set(err, 404, "bad_dir", "there is no folder %s", dir);
    if ((make && !dirs_make(dir, err)) || !lock(dir, &fd, err))
        return false;
    if (!check_version(dir, make, err)) {
        close(fd);
        return false;
    }
    *ret_fd = fd;
    return true;
}

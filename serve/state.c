/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "state.h"

static bool lock(const char *dir, int *ret_fd, struct problem *p)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path)
        return problem_set(p, 400, "bad_dir", "the state folder's path is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return problem_set(p, 503, "storage", "can't write to the state folder %s: %s", dir, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return problem_set(p, 409, "in_use", "the state folder %s is in use by another process", dir);
    }
    *ret_fd = fd;
    return true;
}

static bool check_version(const char *dir, struct problem *p)
{
    char path[4096], text[64];
    void *bytes;
    size_t size;
    if (snprintf(path, sizeof path, "%s/version", dir) >= (int)sizeof path)
        return problem_set(p, 400, "bad_dir", "the state folder's path is too long");
    if (access(path, F_OK) != 0) {
        int n = snprintf(text, sizeof text, "hunch state %d\n", STATE_FORMAT);
        return file_write(dir, "version", text, (size_t)n, p);
    }
    if (!file_read(path, 4096, &bytes, &size, p))
        return false;
    int format = 0;
    bool ok = sscanf(bytes, "hunch state %d", &format) == 1 && format > 0;
    free(bytes);
    if (!ok)
        return problem_set(p, 409, "bad_dir", "%s is not a state folder: its version file says something else", dir);
    if (format > STATE_FORMAT)
        return problem_set(p, 409, "newer", "the state folder %s was written by a newer version (format %d, known: %d)",
                           dir, format, STATE_FORMAT);
    return true;
}

bool state_claim(const char *dir, int *ret_fd, struct problem *p)
{
    int fd;
    if (!dirs_make(dir, p) || !lock(dir, &fd, p))
        return false;
    if (!check_version(dir, p)) {
        close(fd);
        return false;
    }
    *ret_fd = fd;
    return true;
}

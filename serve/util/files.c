/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/replace.h"
#include "util/files.h"

bool file_failed(const char *what, const char *path, struct http_error *err)
{
    return http_error_set(err, 503, "storage", "cannot %s %s: %s", what, path, strerror(errno));
}

bool dirs_make(const char *path, struct http_error *err)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST || file_failed("make folder", path, err);
}

bool dirs_sync(const char *path, struct http_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        file_failed("sync folder", path, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool file_write(const char *dir, const char *name, const void *bytes, size_t size, struct http_error *err)
{
    char path[4096];
    hunch_error error = {{0}};
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return http_error_set(err, 503, "storage", "the path of %s is too long", name);
    return replace_file(path, 0600, bytes, size, &error) == HUNCH_OK ||
           http_error_set(err, 503, "storage", "%s", error.message);
}

bool file_hash(int fd, uint64_t size, uint64_t *ret, struct http_error *err)
{
    void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (bytes == MAP_FAILED)
        return file_failed("read", "the copy", err);
    *ret = XXH3_64bits(size ? bytes : "", size);
    if (size)
        munmap(bytes, size);
    return true;
}

bool file_read(const char *path, size_t max, void **ret_bytes, size_t *ret_size, struct http_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *bytes = NULL;
    size_t size = 0;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size < 0 || (uint64_t)st.st_size > max) {
        file_failed("read", path, err);
        goto fail;
    }
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes) {
        http_error_no_memory(err);
        goto fail;
    }
    while (size < (size_t)st.st_size) {
        ssize_t n = read(fd, bytes + size, (size_t)st.st_size - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            file_failed("read", path, err);
            goto fail;
        }
        if (n == 0)
            break;
        size += (size_t)n;
    }
    close(fd);
    bytes[size] = 0;
    *ret_bytes = bytes;
    *ret_size = size;
    return true;
fail:
    if (fd >= 0)
        close(fd);
    free(bytes);
    return false;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    remove(path);
    return 0;
}

void dirs_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

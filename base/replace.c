/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/replace.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"

#define ATTEMPTS 100

static hunch_status failed(const char *path, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EIO, "%.150s: %s", path, strerror(errno));
}

/* A new file of an unused name beside path; -1: no, and errno says why. */
static int beside_open(char *beside, size_t length, mode_t mode)
{
    struct rng r = {(uint64_t)clock_wall() ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)beside};
    for (int i = 0; i < ATTEMPTS; i++) {
        snprintf(beside + length, 8, ".%06x", (unsigned)(rng_next(&r) & 0xffffff));
        int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

hunch_status replace_open(struct replace *ret, const char *path, mode_t mode, hunch_error *reterr)
{
    struct stat there;
    /* A rename would replace a device or a pipe; it fails for a folder. */
    if (!stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return error_set(reterr, HUNCH_EIO, "%.150s is not a regular file and cannot be replaced", path);
    size_t length = strlen(path);
    struct replace r = {NULL, strdup(path), malloc(length + 8)};
    int fd = -1;
    if (!r.path || !r.beside) {
        free(r.path);
        free(r.beside);
        return error_memory(reterr);
    }
    memcpy(r.beside, path, length);
    fd = beside_open(r.beside, length, mode);
    if (fd >= 0 && (r.file = fdopen(fd, "w"))) {
        *ret = r;
        return HUNCH_OK;
    }
    hunch_status status = failed(path, reterr);
    if (fd >= 0) {
        close(fd);
        unlink(r.beside);
    }
    free(r.path);
    free(r.beside);
    return status;
}

/* The folder's entry must be on disk too before the rename counts as done. */
static void folder_sync(char *path)
{
    int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

hunch_status replace_commit(struct replace *r, hunch_error *reterr)
{
    assert(r->file && r->beside); /* once only */
    if (ferror(r->file) || fflush(r->file) || fsync(fileno(r->file)) || rename(r->beside, r->path))
        return failed(r->path, reterr);
    folder_sync(r->beside); /* no longer needed, and in the same folder */
    free(r->beside);
    r->beside = NULL;
    return HUNCH_OK;
}

void replace_close(struct replace *r)
{
    if (r->file)
        fclose(r->file);
    if (r->beside)
        unlink(r->beside);
    free(r->path);
    free(r->beside);
    *r = (struct replace){0};
}

hunch_status replace_file(const char *path, mode_t mode, const void *bytes, size_t size, hunch_error *reterr)
{
    struct replace r;
    hunch_status status = replace_open(&r, path, mode, reterr);
    if (status)
        return status;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): opened above
    if (fwrite(bytes, 1, size, r.file) != size)
        status = failed(path, reterr);
    else
        status = replace_commit(&r, reterr);
    replace_close(&r);
    return status;
}

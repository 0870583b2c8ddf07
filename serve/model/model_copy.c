/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model's state of one moment, as a file. Small ones are written to memory under the lock. Large ones are written by
 * a child process: fork gives it the state as it was, copied only where the model goes on changing, and the lock is
 * held for the fork alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model.h"

#define FORK_BYTES (4 << 20) /* of the learner: some milliseconds under the lock */

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

static bool put(int fd, const void *bytes, size_t size, struct http_error *err)
{
    return (write_all(fd, bytes, size) && fsync(fd) == 0) ||
           http_error_set(err, 503, "storage", "cannot write a copy of the model: %s", strerror(errno));
}

/* In the child, where nothing else runs: says what went wrong through the pipe. */
static _Noreturn void child(struct model_state *state, int fd, int pipe_fd)
{
    struct http_error err = {0};
    void *bytes = NULL;
    size_t size = 0;
    int keep[2] = {fd < pipe_fd ? fd : pipe_fd, fd < pipe_fd ? pipe_fd : fd};
    setpriority(PRIO_PROCESS, 0, 10); /* requests come first */
    /* Connections must be able to end while this process lives. */
    close_range(3, (unsigned)keep[0] - 1, 0);
    if (keep[1] > keep[0] + 1)
        close_range((unsigned)keep[0] + 1, (unsigned)keep[1] - 1, 0);
    close_range((unsigned)keep[1] + 1, ~0U, 0);
    bool ok = state_write(state, &bytes, &size, &err) && put(fd, bytes, size, &err);
    if (!ok)
        write_all(pipe_fd, err.message, strlen(err.message));
    _exit(ok ? 0 : 1);
}

static bool await_child(pid_t pid, int pipe_fd, struct http_error *err)
{
    char message[200];
    size_t n = 0;
    ssize_t got;
    int status = 0;
    while (n < sizeof message - 1 && (got = read(pipe_fd, message + n, sizeof message - 1 - n)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        n += got > 0 ? (size_t)got : 0;
    }
    message[n] = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return http_error_set(err, 503, "storage", "%s", n ? message : "the process that writes the copy died");
}

/* Under the lock; true: *ret_pid is at work, and the pipe tells when it is done. */
static bool fork_child(struct model_state *state, int fd, pid_t *ret_pid, int *ret_pipe)
{
    int ends[2];
    if (hunch_bytes(state->learner) < FORK_BYTES || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        child(state, fd, ends[1]);
    close(ends[1]);
    if (pid < 0) { /* no memory for it: under the lock, then */
        close(ends[0]);
        return false;
    }
    *ret_pid = pid;
    *ret_pipe = ends[0];
    return true;
}

/* Under the lock. */
static struct model_state *state_of(struct model *m, uint32_t version, struct http_error *err)
{
    const char *why = model_reason(m);
    if (*why) {
        http_error_set(err, 503, "model_broken", "%s", why);
        return NULL;
    }
    if (!version || version == m->state.version)
        return &m->state;
    for (size_t i = 0; i < m->shadows; i++)
        if (m->shadow[i].version == version)
            return &m->shadow[i];
    http_error_set(err, 404, "unknown_version", "there is no version %u", version);
    return NULL;
}

bool model_write(struct model *m, uint32_t version, int fd, uint64_t *ret_seq, struct http_error *err)
{
    void *bytes = NULL;
    size_t size = 0;
    pid_t pid = 0;
    int pipe_fd = -1;
    pthread_mutex_lock(&m->lock);
    struct model_state *state = state_of(m, version, err);
    bool forked = state && fork_child(state, fd, &pid, &pipe_fd);
    bool ok = state && (forked || state_write(state, &bytes, &size, err));
    *ret_seq = state ? state->seq : 0;
    pthread_mutex_unlock(&m->lock);
    if (forked) {
        ok = await_child(pid, pipe_fd, err);
        close(pipe_fd);
    } else if (ok) {
        ok = put(fd, bytes, size, err);
        hunch_free_bytes(bytes);
    }
    return ok;
}

bool model_copy(struct model *m, int *ret_fd, uint64_t *ret_seq, uint64_t *ret_size, struct http_error *err)
{
    char path[4096];
    pthread_mutex_lock(&m->snapshot_lock); /* the folder stays where it is */
    bool ok = snprintf(path, sizeof path, "%s/.copy-XXXXXX", m->dir) < (int)sizeof path;
    int fd = ok ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd >= 0)
        unlink(path);
    pthread_mutex_unlock(&m->snapshot_lock);
    if (fd < 0)
        return http_error_set(err, 503, "storage", "cannot write a copy of the model: %s", strerror(errno));
    ok = model_write(m, 0, fd, ret_seq, err);
    off_t size = ok ? lseek(fd, 0, SEEK_END) : -1;
    if (size < 0) {
        close(fd);
        return false;
    }
    *ret_size = (uint64_t)size;
    *ret_fd = fd;
    return true;
}

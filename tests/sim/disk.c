/* SPDX-License-Identifier: BSD-3-Clause */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512
#define PATH_ROOM 512

enum call_kind { CALL_CREATE, CALL_WRITE, CALL_TRUNCATE, CALL_SYNC, CALL_RENAME, CALL_UNLINK, CALL_SYNC_FOLDER };

struct call {
    enum call_kind kind;
    char path[PATH_ROOM], to[PATH_ROOM];
    size_t offset, size; /* size: of a truncation what is left */
    unsigned char *bytes;
};

static struct {
    char folder[PATH_ROOM];
    bool on;
    struct call *calls;
    size_t n, room, base; /* base: calls that describe what was there at the beginning */
    struct rng *failing;
    unsigned one_in;
    size_t failures;
} disk;

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

/* --- recording --- */

static bool watched(const char *path)
{
    size_t n = strlen(disk.folder);
    return disk.on && path && strncmp(path, disk.folder, n) == 0 && path[n] == '/';
}

static struct call *record(enum call_kind kind, const char *path)
{
    if (disk.n == disk.room) {
        disk.room = disk.room ? disk.room * 2 : 1024;
        disk.calls = must(realloc(disk.calls, disk.room * sizeof *disk.calls));
    }
    struct call *c = &disk.calls[disk.n++];
    memset(c, 0, sizeof *c);
    c->kind = kind;
    snprintf(c->path, sizeof c->path, "%s", path + strlen(disk.folder) + 1);
    return c;
}

static void record_write(const char *path, size_t offset, const void *bytes, size_t size)
{
    struct call *c = record(CALL_WRITE, path);
    c->offset = offset;
    c->size = size;
    c->bytes = must(malloc(size ? size : 1));
    memcpy(c->bytes, bytes, size);
}

/* All that is in the file now, as one write. */
static void record_content(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        abort();
    unsigned char *bytes = must(malloc((size_t)st.st_size + 1));
    ssize_t n = pread(fd, bytes, (size_t)st.st_size, 0);
    close(fd);
    record(CALL_TRUNCATE, path);
    record_write(path, 0, bytes, n > 0 ? (size_t)n : 0);
    free(bytes);
}

static bool known(const char *path)
{
    const char *name = path + strlen(disk.folder) + 1;
    for (size_t i = disk.n; i-- > 0;) {
        const struct call *c = &disk.calls[i];
        if (c->kind == CALL_RENAME && strcmp(c->to, name) == 0)
            return true;
        if ((c->kind == CALL_UNLINK || c->kind == CALL_RENAME) && strcmp(c->path, name) == 0)
            return false;
        if (c->kind == CALL_CREATE && strcmp(c->path, name) == 0)
            return true;
    }
    return false;
}

static bool fails(void)
{
    bool f = disk.on && disk.failing && disk.one_in && rng_below(disk.failing, disk.one_in) == 0;
    disk.failures += f;
    return f;
}

void disk_fail(struct rng *r, unsigned one_in)
{
    disk.failing = r;
    disk.one_in = one_in;
}

size_t disk_failures(void)
{
    return disk.failures;
}

void disk_record(const char *folder)
{
    disk_stop();
    for (size_t i = 0; i < disk.n; i++)
        free(disk.calls[i].bytes);
    disk.n = 0;
    disk.failures = 0;
    snprintf(disk.folder, sizeof disk.folder, "%s", folder);
    DIR *d = must(opendir(folder));
    for (struct dirent *e; (e = readdir(d));) {
        char path[PATH_ROOM * 2];
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.' || (n > 4 && strcmp(e->d_name + n - 4, "-shm") == 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        record(CALL_CREATE, path);
        record_content(path);
        record(CALL_SYNC, path);
    }
    closedir(d);
    disk.base = disk.n;
    disk.on = true;
}

void disk_stop(void)
{
    disk.on = false;
}

size_t disk_calls(void)
{
    return disk.n - disk.base;
}

const char *disk_describe(size_t i)
{
    static const char *const names[] = {"create", "write", "truncate", "sync", "rename", "unlink", "sync folder"};
    static char text[PATH_ROOM * 3];
    if (disk.base + i >= disk.n)
        return "the end";
    const struct call *c = &disk.calls[disk.base + i];
    snprintf(text, sizeof text, "%s %s%s%s at %zu, %zu bytes", names[c->kind], c->path, *c->to ? " to " : "", c->to,
             c->offset, c->size);
    return text;
}

/* --- the program's own calls, wrapped by the linker --- */

int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __real_write(int fd, const void *bytes, size_t size);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);

/* The file's path, or "". */
static const char *path_of(int fd, char path[PATH_ROOM])
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = disk.on ? readlink(link, path, PATH_ROOM - 1) : 0;
    path[n > 0 ? n : 0] = 0;
    return path;
}

int __wrap_fsync(int fd)
{
    char path[PATH_ROOM];
    struct stat st;
    bool folder = strcmp(path_of(fd, path), disk.folder) == 0;
    if (disk.on && (folder || watched(path)) && fails()) {
        errno = EIO;
        return -1;
    }
    if (disk.on && folder) {
        record(CALL_SYNC_FOLDER, disk.folder)->path[0] = 0;
    } else if (watched(path) && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (!known(path)) { /* written by the C library, whose calls are not wrapped */
            record(CALL_CREATE, path);
            record_content(path);
        }
        record(CALL_SYNC, path);
    }
    return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    if (watched(from) && fails()) {
        errno = EIO;
        return -1;
    }
    int code = __real_rename(from, to);
    if (code == 0 && watched(from) && watched(to)) {
        if (!known(from)) {
            record(CALL_CREATE, from);
            record_content(to);
            snprintf(disk.calls[disk.n - 1].path, PATH_ROOM, "%s", from + strlen(disk.folder) + 1);
            snprintf(disk.calls[disk.n - 2].path, PATH_ROOM, "%s", from + strlen(disk.folder) + 1);
        }
        struct call *c = record(CALL_RENAME, from);
        snprintf(c->to, sizeof c->to, "%s", to + strlen(disk.folder) + 1);
    }
    return code;
}

int __wrap_unlink(const char *path)
{
    int code = __real_unlink(path);
    if (code == 0 && watched(path) && known(path))
        record(CALL_UNLINK, path);
    return code;
}

static ssize_t write_failed(void)
{
    errno = ENOSPC;
    return -1;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t offset)
{
    char path[PATH_ROOM];
    bool mine = watched(path_of(fd, path));
    if (mine && fails())
        return write_failed();
    ssize_t n = __real_pwrite64(fd, bytes, size, offset);
    if (mine && n > 0) {
        if (!known(path))
            record(CALL_CREATE, path);
        record_write(path, (size_t)offset, bytes, (size_t)n);
    }
    return n;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    char path[PATH_ROOM];
    bool mine = watched(path_of(fd, path));
    if (mine && fails())
        return write_failed();
    ssize_t n = __real_write(fd, bytes, size);
    if (mine && n > 0) {
        if (!known(path))
            record(CALL_CREATE, path);
        record_write(path, (size_t)(lseek(fd, 0, SEEK_CUR) - n), bytes, (size_t)n);
    }
    return n;
}

/* --- SQLite's calls --- */

struct file {
    sqlite3_file base;
    char path[PATH_ROOM];
    sqlite3_file *real; /* behind this one */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static int file_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}

/* A write that fails for want of room has written the first half. */
static int file_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    const struct file *file = (const struct file *)f;
    bool mine = watched(file->path), full = mine && fails();
    int size = full ? n / 2 : n, code = real_of(f)->pMethods->xWrite(real_of(f), bytes, size, at);
    if (mine && code == SQLITE_OK)
        record_write(file->path, (size_t)at, bytes, (size_t)size);
    return full ? SQLITE_FULL : code;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    const struct file *file = (const struct file *)f;
    int code = real_of(f)->pMethods->xTruncate(real_of(f), size);
    if (code == SQLITE_OK && watched(file->path))
        record(CALL_TRUNCATE, file->path)->size = (size_t)size;
    return code;
}

static int file_sync(sqlite3_file *f, int flags)
{
    const struct file *file = (const struct file *)f;
    (void)flags;
    if (watched(file->path) && fails())
        return SQLITE_IOERR_FSYNC;
    if (watched(file->path))
        record(CALL_SYNC, file->path);
    return SQLITE_OK; /* the folder is not worth a sync of the real disk */
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), ret);
}

static int file_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int file_reserved(sqlite3_file *f, int *ret)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), ret);
}

static int file_control(sqlite3_file *f, int what, void *argument)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), what, argument);
}

static int file_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

/* That of the real disk: it must promise nothing that the crash does not keep. */
static int file_traits(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static int shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **ret)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), region, size, extend, ret);
}

static int shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}

static void shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int shm_unmap(sqlite3_file *f, int delete)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), delete);
}

static const sqlite3_io_methods methods = {
    2,         file_close,  file_read,     file_write,   file_truncate, file_sync,   file_size,
    file_lock, file_unlock, file_reserved, file_control, file_sector,   file_traits, shm_map,
    shm_lock,  shm_barrier, shm_unmap,     NULL,         NULL,
};

static sqlite3_vfs *real_vfs, vfs;

static int vfs_open(sqlite3_vfs *v, const char *path, sqlite3_file *f, int flags, int *ret_flags)
{
    struct file *file = (struct file *)f;
    bool made = path && access(path, F_OK) != 0;
    (void)v;
    memset(file, 0, sizeof *file);
    file->real = (sqlite3_file *)(file + 1);
    int code = real_vfs->xOpen(real_vfs, path, file->real, flags, ret_flags);
    if (code != SQLITE_OK)
        return code;
    file->base.pMethods = &methods;
    snprintf(file->path, sizeof file->path, "%s", path ? path : "");
    if (made && watched(path))
        record(CALL_CREATE, path);
    return code;
}

static int vfs_delete(sqlite3_vfs *v, const char *path, int sync_folder)
{
    (void)v;
    int code = real_vfs->xDelete(real_vfs, path, 0);
    if (code == SQLITE_OK && watched(path)) {
        record(CALL_UNLINK, path);
        if (sync_folder)
            record(CALL_SYNC_FOLDER, disk.folder)->path[0] = 0;
    }
    return code;
}

void disk_begin(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    vfs = *real_vfs;
    vfs.zName = "sim";
    vfs.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        abort();
}

/* --- what is there after a crash --- */

#define FILES_MAX 256

struct content {
    unsigned char *bytes;
    size_t size, room;
    const struct call *unsynced[4096];
    size_t unsynced_n;
};

/* An entry of the folder: a name and the number of a file. */
struct entry {
    char name[PATH_ROOM];
    int file;
};

struct entries {
    struct entry at[FILES_MAX];
    size_t n;
};

struct after {
    struct content *files[FILES_MAX];
    size_t files_n;
    struct entries now, synced;
    const struct call *changes[FILES_MAX]; /* of the folder, not synced */
    int changed[FILES_MAX];                /* the file that a creation made */
    size_t changes_n;
};

static int *entry_of(struct entries *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->at[i].name, name) == 0)
            return &e->at[i].file;
    return NULL;
}

static void entry_remove(struct entries *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->at[i].name, name) == 0) {
            e->at[i] = e->at[--e->n];
            return;
        }
}

static void entry_put(struct entries *e, const char *name, int file)
{
    entry_remove(e, name);
    if (e->n == FILES_MAX)
        abort();
    snprintf(e->at[e->n].name, PATH_ROOM, "%s", name);
    e->at[e->n++].file = file;
}

static void change(struct entries *e, const struct call *c, int file)
{
    const int *from = entry_of(e, c->path);
    if (c->kind == CALL_CREATE)
        entry_put(e, c->path, file);
    else if (c->kind == CALL_UNLINK)
        entry_remove(e, c->path);
    else if (from) {
        int moved = *from;
        entry_remove(e, c->path);
        entry_put(e, c->to, moved);
    }
}

static void content_write(struct content *f, size_t offset, const unsigned char *bytes, size_t size)
{
    if (size == 0)
        return;
    if (offset + size > f->room) {
        f->room = (offset + size) * 2;
        f->bytes = must(realloc(f->bytes, f->room));
    }
    if (offset > f->size)
        memset(f->bytes + f->size, 0, offset - f->size);
    memcpy(f->bytes + offset, bytes, size);
    if (offset + size > f->size)
        f->size = offset + size;
}

static void content_apply(struct content *f, const struct call *c)
{
    if (c->kind == CALL_WRITE)
        content_write(f, c->offset, c->bytes, c->size);
    else if (c->size < f->size)
        f->size = c->size;
}

/* The first changes of the folder are synced: a file system writes them in their order. */
static void sync_changes(struct after *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        change(&a->synced, a->changes[i], a->changed[i]);
    a->changes_n -= n;
    memmove(a->changes, a->changes + n, a->changes_n * sizeof *a->changes);
    memmove(a->changed, a->changed + n, a->changes_n * sizeof *a->changed);
}

static void sync_file(struct after *a, int number)
{
    struct content *f = a->files[number];
    for (size_t i = 0; i < f->unsynced_n; i++)
        content_apply(f, f->unsynced[i]);
    f->unsynced_n = 0;
    for (size_t i = 0; i < a->changes_n; i++)
        if (a->changes[i]->kind == CALL_CREATE && a->changed[i] == number) { /* its own entry is synced with it */
            sync_changes(a, i + 1);
            return;
        }
}

static void replay(struct after *a, const struct call *c)
{
    const int *file = entry_of(&a->now, c->path);
    int made = -1;
    switch (c->kind) {
    case CALL_CREATE:
        if (a->files_n == FILES_MAX)
            abort();
        made = (int)a->files_n;
        a->files[a->files_n++] = must(calloc(1, sizeof **a->files));
        break;
    case CALL_WRITE:
    case CALL_TRUNCATE:
        if (!file)
            return; /* of a file that has no name any more */
        if (a->files[*file]->unsynced_n == sizeof a->files[*file]->unsynced / sizeof(struct call *))
            sync_file(a, *file);
        a->files[*file]->unsynced[a->files[*file]->unsynced_n++] = c;
        return;
    case CALL_SYNC:
        if (file)
            sync_file(a, *file);
        return;
    case CALL_SYNC_FOLDER:
        sync_changes(a, a->changes_n);
        return;
    default:
        break;
    }
    change(&a->now, c, made);
    if (a->changes_n == FILES_MAX)
        abort();
    a->changes[a->changes_n] = c;
    a->changed[a->changes_n++] = made;
}

/* What becomes of a write that was not synced. */
static void lose(struct content *f, const struct call *c, enum disk_loss loss, struct rng *r)
{
    uint64_t fate = loss == DISK_KEEPS_ALL ? 0 : loss == DISK_LOSES_ALL ? 1 : rng_below(r, 4);
    struct call part = *c;
    if (fate == 1)
        return;
    if (fate == 2 && c->kind == CALL_WRITE && c->size > SECTOR)
        part.size = SECTOR * (1 + rng_below(r, c->size / SECTOR));
    content_apply(f, &part);
    if (fate == 3 && loss == DISK_GARBLES && c->kind == CALL_WRITE) { /* what was not written stays as it was */
        size_t at = c->offset + rng_below(r, c->size), end = c->offset + c->size;
        for (size_t n = 0; at < end && n < SECTOR; at++, n++)
            f->bytes[at] = (unsigned char)rng_next(r);
    }
}

static bool put(const char *folder, const char *name, const struct content *f)
{
    char path[PATH_ROOM * 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && (f->size == 0 || __real_write(fd, f->bytes, f->size) == (ssize_t)f->size);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool disk_crash(size_t calls, enum disk_loss loss, struct rng *r, const char *folder)
{
    struct after *a = must(calloc(1, sizeof *a));
    bool ok = true;
    for (size_t i = 0; i < disk.base + calls && i < disk.n; i++)
        replay(a, &disk.calls[i]);
    size_t kept = loss == DISK_KEEPS_ALL ? a->changes_n : loss == DISK_LOSES_ALL ? 0 : rng_below(r, a->changes_n + 1);
    sync_changes(a, kept);
    a->changes_n = 0;
    for (size_t i = 0; i < a->files_n; i++)
        for (size_t j = 0; j < a->files[i]->unsynced_n; j++)
            lose(a->files[i], a->files[i]->unsynced[j], loss, r);
    for (size_t i = 0; ok && i < a->synced.n; i++)
        ok = put(folder, a->synced.at[i].name, a->files[a->synced.at[i].file]);
    for (size_t i = 0; i < a->files_n; i++) {
        free(a->files[i]->bytes);
        free(a->files[i]);
    }
    free(a);
    return ok;
}

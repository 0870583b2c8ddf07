/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <sqlite3.h>
#include <stdalign.h>
#include <stddef.h>

#include "storage/log_vfs.h"

/* Bytes of the file log.db-shm, as sqlite.org/walformat.html has them. */
enum { WRITE_LOCK, CHECKPOINT_LOCK, PAIR };

/* Lies behind the file of the system's own VFS. */
struct log_file {
    sqlite3_io_methods methods; /* those of the system with lock() in their place */
    const sqlite3_io_methods *system;
    unsigned held; /* bit by lock: what SQLite believes to hold. If any, both are held. */
};

static sqlite3_vfs *system_vfs, log_files;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t log_file_at(void)
{
    return ((size_t)system_vfs->szOsFile + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
}

static struct log_file *log_file(sqlite3_file *file)
{
    return (struct log_file *)((char *)file + log_file_at());
}

/* One of the pair. */
static int lock_pair(sqlite3_file *file, unsigned bit, int flags)
{
    struct log_file *l = log_file(file);
    unsigned held = flags & SQLITE_SHM_LOCK ? l->held | bit : l->held & ~bit;
    int code = !l->held == !held ? SQLITE_OK : l->system->xShmLock(file, WRITE_LOCK, PAIR, flags);
    if (code == SQLITE_OK)
        l->held = held;
    return code;
}

static int lock(sqlite3_file *file, int first, int n, int flags)
{
    struct log_file *l = log_file(file);
    int code = SQLITE_OK, i = first;
    if (flags & SQLITE_SHM_SHARED)
        return l->system->xShmLock(file, first, n, flags);
    for (; code == SQLITE_OK && i < first + n && i < PAIR; i++)
        code = lock_pair(file, 1U << i, flags);
    if (code == SQLITE_OK && i < first + n)
        code = l->system->xShmLock(file, i, first + n - i, flags);
    if (code != SQLITE_OK && flags & SQLITE_SHM_LOCK) /* all or nothing; a connection locks nothing twice */
        for (int k = first; k < i && k < PAIR; k++)
            lock_pair(file, 1U << k, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return code;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    int code = system_vfs->xOpen(system_vfs, name, file, flags, ret_flags);
    if (code == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB && file->pMethods->iVersion >= 2) {
        struct log_file *l = log_file(file);
        *l = (struct log_file){.methods = *file->pMethods, .system = file->pMethods};
        l->methods.xShmLock = lock;
        file->pMethods = &l->methods;
    }
    return code;
}

static void start(void)
{
    system_vfs = sqlite3_vfs_find(NULL);
    if (!system_vfs)
        return;
    log_files = *system_vfs;
    log_files.pNext = NULL;
    log_files.zName = "hunch-log";
    log_files.szOsFile = (int)(log_file_at() + sizeof(struct log_file));
    log_files.xOpen = open_file;
    if (sqlite3_vfs_register(&log_files, 0) != SQLITE_OK)
        system_vfs = NULL;
}

const char *log_vfs(void)
{
    pthread_once(&once, start);
    return system_vfs ? log_files.zName : NULL;
}

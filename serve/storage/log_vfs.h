/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SQLite's own file system, in which commits and checkpoints of a log exclude each other, whichever process makes them.
 *
 * Below version 3.51.3 a checkpoint that begins while another connection commits, and thereby begins the file of changes
 * (WAL) anew, can mark changes as copied that were not: committed rows are lost (sqlite.org/wal.html, the WAL-reset bug).
 * sqlite3 or Litestream running beside the server make such checkpoints. Here a writer takes the lock of
 * checkpoints as well, and a checkpoint takes that of writers. A foreign process waits for them or gets SQLITE_BUSY, and
 * so does this server while a foreign process makes a checkpoint.
 */
#ifndef SERVE_LOG_VFS_H
#define SERVE_LOG_VFS_H

/* Its name, for sqlite3_open_v2; NULL: it could not be registered. */
const char *log_vfs(void);

#endif

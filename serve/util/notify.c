/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* of those passed in */

void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof to.sun_path)
        return;
    size_t n = strlen(path);
    memcpy(to.sun_path, path, n + 1);
    if (path[0] == '@')
        to.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] != '@')));
    (void)sent;
    close(fd);
}

int notify_socket(void)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    return pid && n && strtol(pid, NULL, 10) == (long)getpid() && strtol(n, NULL, 10) == 1 ? FIRST_FD : -1;
}

bool notify_credential(const char *name, char *ret, size_t size)
{
    const char *dir = getenv("CREDENTIALS_DIRECTORY");
    return dir && snprintf(ret, size, "%s/%s", dir, name) < (int)size && access(ret, R_OK) == 0;
}

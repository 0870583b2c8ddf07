/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/listen.h"
#include "util/notify.h"

static bool split(const char *where, char host[256], const char **ret_port, struct http_error *err)
{
    const char *colon = strrchr(where, ':'), *from = where, *to = colon;
    if (colon && where[0] == '[' && colon > where && colon[-1] == ']') {
        from++;
        to--;
    }
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 5 ||
        atoi(colon + 1) > 65535 || to - from >= 256)
        return http_error_set(err, 400, "bad_listen", "--listen needs HOST:PORT, not \"%.100s\"", where);
    memcpy(host, from, (size_t)(to - from));
    host[to - from] = 0;
    *ret_port = colon + 1;
    return true;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static void address_print(struct listener *l, const struct sockaddr *bound, socklen_t size)
{
    char port[8] = "0";
    l->loopback = is_loopback(bound);
    getnameinfo(bound, size, l->address, sizeof l->address, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    l->port = (unsigned)atoi(port);
}

static bool open_socket(const struct addrinfo *a, unsigned backlog, struct listener *ret, struct http_error *err)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    int one = 1;
    ret->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ret->fd < 0 || setsockopt(ret->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(ret->fd, a->ai_addr, a->ai_addrlen) != 0 || listen(ret->fd, (int)backlog) != 0 ||
        getsockname(ret->fd, (struct sockaddr *)&bound, &size) != 0) {
        int why = errno;
        char host[64] = "", port[16] = "";
        getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
        http_error_set(err, 503, "listen", "cannot listen on %s port %s: %s", host, port, strerror(why));
        if (ret->fd >= 0)
            close(ret->fd);
        return false;
    }
    address_print(ret, (struct sockaddr *)&bound, size);
    return true;
}

/* From systemd. */
static bool take_socket(int fd, struct listener *ret, struct http_error *err)
{
    struct sockaddr_storage bound;
    socklen_t size = sizeof bound;
    if (getsockname(fd, (struct sockaddr *)&bound, &size) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)
        return http_error_set(err, 503, "listen", "the socket that was passed in cannot be used: %s", strerror(errno));
    ret->fd = fd;
    address_print(ret, (struct sockaddr *)&bound, size);
    return true;
}

bool listen_open(const char *where, unsigned backlog, struct listener *ret, struct http_error *err)
{
    char host[256];
    const char *port = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    int passed = notify_socket();
    if (passed >= 0)
        return take_socket(passed, ret, err);
    if (!split(where, host, &port, err))
        return false;
    int code = getaddrinfo(host[0] ? host : NULL, port, &hints, &list);
    if (code != 0)
        return http_error_set(err, 400, "bad_listen", "--listen %.100s: %s", where, gai_strerror(code));
    bool ok = open_socket(list, backlog, ret, err);
    freeaddrinfo(list);
    return ok;
}

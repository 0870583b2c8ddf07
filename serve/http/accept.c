/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/listen.h"
#include "util/log.h"
#include "http/server.h"

/*
 * In place of the C library's, for libmicrohttpd (0.9.75 to 1.0.1 at least): after 128 events, as many as it asks for, it
 * asks again before it handles them, and waits, until an idle connection times out, if there are no more. 512 clients that
 * wait for their answers stood still that way. So it gets one event less than it asks for, and comes back for the rest.
 */
__attribute__((visibility("default"))) int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    return epoll_pwait(fd, events, max > 1 ? max - 1 : max, timeout, NULL);
}

/* False: no more for now. */
static bool take_one(struct server *s)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    int fd = accept4(s->accept_fd, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && atomic_fetch_add(&s->open, 1) >= s->open_limit) { /* counted here: the library loses some */
        atomic_fetch_sub(&s->open, 1);
        close(fd);
        clock_sleep_ms(1);
        return true;
    }
    if (fd >= 0) {
        if (MHD_add_connection(s->daemon, fd, (struct sockaddr *)&from, size) != MHD_YES)
            atomic_fetch_sub(&s->open, 1);
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        log_event("accept_failed", "{s:s}", "reason", strerror(errno));
        clock_sleep_ms(100);
    }
    return errno == EINTR || errno == ECONNABORTED;
}

static void *run(void *server)
{
    struct server *s = server;
    struct pollfd fds[2] = {{.fd = s->accept_fd, .events = POLLIN}, {.fd = s->wake_fd, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            clock_sleep_ms(10);
        if (fds[1].revents)
            return NULL;
        while (fds[0].revents && take_one(s))
            ;
    }
}

bool accept_start(struct server *s, const struct listener *l, struct http_error *err)
{
    s->accept_fd = l->fd;
    s->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (s->wake_fd >= 0 && pthread_create(&s->acceptor, NULL, run, s) == 0)
        return true;
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    return http_error_set(err, 503, "thread", "no thread could be started");
}

/* The listening socket stays: those who come while we stop are refused when it is closed at the end. */
void accept_stop(struct server *s)
{
    uint64_t one = 1;
    ssize_t written = write(s->wake_fd, &one, sizeof one);
    (void)written;
    pthread_join(s->acceptor, NULL);
    close(s->wake_fd);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* libmicrohttpd closes connections that are silent for too long; these functions close those that trickle, in what they
 * send or in what they read. */
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "http/server.h"

void client_changed(void *server, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
    struct server *s = server;
    struct client *w = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        atomic_fetch_add(&s->metrics.connections, 1);
        w = calloc(1, sizeof *w);
        *context = w;
        if (!w)
            return;
        w->fd = info ? info->connect_fd : -1;
        w->since_ns = clock_now();
        w->receiving = true; /* the first request has this long to come, its header included */
        pthread_mutex_lock(&s->clients_lock);
        w->after = s->clients;
        if (w->after)
            w->after->before = w;
        s->clients = w;
        pthread_mutex_unlock(&s->clients_lock);
        return;
    }
    atomic_fetch_sub(&s->metrics.connections, 1);
    atomic_fetch_sub(&s->open, 1);
    if (!w)
        return;
    pthread_mutex_lock(&s->clients_lock);
    if (w->before)
        w->before->after = w->after;
    else
        s->clients = w->after;
    if (w->after)
        w->after->before = w->before;
    pthread_mutex_unlock(&s->clients_lock);
    if (w->spare)
        text_free(&w->spare->body);
    free(w->spare);
    free(w);
    *context = NULL;
}

struct client *client_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void clients_close_slow(struct server *s)
{
    int64_t now = clock_now();
    int64_t receiving = s->options->limits.request_s * INT64_C(1000000000);
    /* The library's own limit closes silent ones before this; a trickle that never becomes a request line is left. */
    int64_t idle = (s->options->limits.idle_s * INT64_C(2) + 1) * INT64_C(1000000000);
    pthread_mutex_lock(&s->clients_lock);
    for (struct client *w = s->clients; w; w = w->after) {
        int64_t since = w->since_ns, sending = w->send_ns;
        if (since == 0 || now - since < (sending ? sending : w->receiving ? receiving : idle))
            continue;
        w->since_ns = 0; /* once */
        atomic_fetch_add(&s->metrics.reaped, 1);
        if (w->fd >= 0)
            shutdown(w->fd, SHUT_RDWR); /* the library sees the end and closes it */
    }
    pthread_mutex_unlock(&s->clients_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>

#include "util/http_error.h"

/* Splits "host:port", "[::1]:port" or ":port"; tells whether only this machine can reach it. Opens the socket. */
struct listener {
    int fd;
    bool loopback;
    char address[64];
    unsigned port;
};
struct server;
/* Accepts connections and hands them to the HTTP library's threads in turn; left to themselves, whichever thread wakes
 * first takes them all. */
bool accept_start(struct server *s, const struct listener *l, struct http_error *err);
void accept_stop(struct server *s);

/* A socket that systemd passed in comes first. */
bool listen_open(const char *where, unsigned backlog, struct listener *ret, struct http_error *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to systemd (sd_notify's protocol), and the socket and credentials that it gives. */
#ifndef SERVE_NOTIFY_H
#define SERVE_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>

/* "READY=1" and the like; nothing without NOTIFY_SOCKET. */
void notify(const char *state);
/* The listening socket that was passed in, or -1. */
int notify_socket(void);
/* The path of a credential, if there is one of this name. */
bool notify_credential(const char *name, char *ret, size_t size);

#endif

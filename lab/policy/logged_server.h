/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's log.db as JSON lines. Private to lab/. */
#ifndef LOGGED_SERVER_H
#define LOGGED_SERVER_H

#include "stream.h"

struct logged_server;

bool logged_is_server(const char *path);
/* labels: those of the log are added, in the log's order. */
hunch_status logged_server_open(struct logged_server **ret, const char *path, struct names *labels,
                                hunch_error *reterr);
unsigned logged_server_hash_bits(const struct logged_server *s); /* 0: names are not hashed */
/* A stream_source. */
hunch_status logged_server_read(void *context, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr);
void logged_server_close(struct logged_server *s); /* NULL is fine */

#endif

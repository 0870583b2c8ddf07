/* SPDX-License-Identifier: BSD-3-Clause */
/* Permissions. A token file has one "scope token" per line; scopes are read, write (and read) and admin (all). */
#ifndef SERVE_AUTH_H
#define SERVE_AUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/http_error.h"

enum scope { SCOPE_NONE, SCOPE_READ, SCOPE_WRITE, SCOPE_ADMIN };

#define TOKEN_MAX_BYTES 256

struct token {
    enum scope scope;
    size_t length;
    unsigned char bytes[TOKEN_MAX_BYTES];
};

struct auth {
    pthread_rwlock_t lock;
    struct token *tokens;
    size_t n;
};

void auth_start(struct auth *a);
void auth_stop(struct auth *a);
/* Reads a token file in place of what was there; on failure that stays. */
bool auth_load(struct auth *a, const char *path, struct http_error *err);
/* What the bearer of this Authorization field (NULL: none given) may do. */
enum scope auth_scope(struct auth *a, const char *authorization);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/auth.h"
#include "util/files.h"

void auth_start(struct auth *a)
{
    *a = (struct auth){0};
    pthread_rwlock_init(&a->lock, NULL);
}

static void wipe(struct token *tokens, size_t n)
{
    if (tokens)
        explicit_bzero(tokens, n * sizeof *tokens);
    free(tokens);
}

void auth_stop(struct auth *a)
{
    wipe(a->tokens, a->n);
    pthread_rwlock_destroy(&a->lock);
}

static enum scope scope_named(const char *word)
{
    static const char *const names[] = {"read", "write", "admin"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0)
            return (enum scope)(i + 1);
    return SCOPE_NONE;
}

/* Says which line is wrong, never what is in it. */
static bool read_line(char *line, size_t number, struct token *ret, bool *ret_empty, struct http_error *err)
{
    char *rest = NULL, *scope = strtok_r(line, " \t\r", &rest), *token = strtok_r(NULL, " \t\r", &rest);
    *ret_empty = !scope || scope[0] == '#';
    if (*ret_empty)
        return true;
    ret->scope = scope_named(scope);
    if (ret->scope == SCOPE_NONE || !token || strtok_r(NULL, " \t\r", &rest))
        return http_error_set(err, 400, "bad_tokens", "line %zu of the token file is not \"read|write|admin TOKEN\"",
                              number);
    ret->length = strlen(token);
    if (ret->length < 8 || ret->length > TOKEN_MAX_BYTES)
        return http_error_set(err, 400, "bad_tokens",
                              "line %zu of the token file: a token must have 8 to %d characters", number,
                              TOKEN_MAX_BYTES);
    memcpy(ret->bytes, token, ret->length);
    return true;
}

bool auth_load(struct auth *a, const char *path, struct http_error *err)
{
    void *bytes = NULL;
    size_t size = 0, lines = 1, n = 0;
    if (!file_read(path, 1 << 20, &bytes, &size, err))
        return false;
    for (size_t i = 0; i < size; i++)
        lines += ((char *)bytes)[i] == '\n';
    struct token *tokens = calloc(lines, sizeof *tokens);
    bool ok = tokens || http_error_no_memory(err);
    char *next = bytes;
    for (size_t number = 1; ok && next; number++) {
        char *line = strsep(&next, "\n");
        bool empty;
        ok = read_line(line, number, &tokens[n], &empty, err);
        n += ok && !empty;
    }
    if (ok && n == 0)
        ok = http_error_set(err, 400, "bad_tokens", "the token file has no tokens");
    explicit_bzero(bytes, size);
    free(bytes);
    if (!ok) {
        wipe(tokens, lines);
        return false;
    }
    pthread_rwlock_wrlock(&a->lock);
    struct token *old = a->tokens;
    size_t old_n = a->n;
    a->tokens = tokens;
    a->n = n;
    pthread_rwlock_unlock(&a->lock);
    wipe(old, old_n);
    return true;
}

/* The time taken tells nothing about where two tokens differ. */
static bool same(const struct token *a, const struct token *b)
{
    volatile unsigned difference = (unsigned)(a->length ^ b->length);
    for (size_t i = 0; i < TOKEN_MAX_BYTES; i++)
        difference |= (unsigned)(a->bytes[i] ^ b->bytes[i]);
    return difference == 0;
}

enum scope auth_scope(struct auth *a, const char *authorization)
{
    struct token given = {0};
    enum scope scope = SCOPE_NONE;
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return SCOPE_NONE;
    authorization += 7;
    given.length = strlen(authorization);
    if (given.length == 0 || given.length > TOKEN_MAX_BYTES)
        return SCOPE_NONE;
    memcpy(given.bytes, authorization, given.length);
    pthread_rwlock_rdlock(&a->lock);
    for (size_t i = 0; i < a->n; i++) {
        bool equal = same(&a->tokens[i], &given);
        if (equal && a->tokens[i].scope > scope)
            scope = a->tokens[i].scope;
    }
    pthread_rwlock_unlock(&a->lock);
    explicit_bzero(&given, sizeof given);
    return scope;
}

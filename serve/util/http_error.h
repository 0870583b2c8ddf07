/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a request was not done: the HTTP status, a word for programs, a sentence for people and, for JSON that can't be
 * read, where it went wrong. */
#ifndef SERVE_HTTP_ERROR_H
#define SERVE_HTTP_ERROR_H

#include <stdbool.h>

struct text;

struct http_error {
    int status;        /* 0: no problem */
    const char *code;  /* a string literal */
    char message[256]; /* UTF-8 */
    bool placed;       /* line, column and position are known */
    long line, column; /* from 1 */
    long position;     /* bytes before it in the body */
    unsigned retry;    /* Retry-After in seconds; 0: no use */
};

/* Always returns false, so that a function can end with return http_error_set(...). */
__attribute__((format(printf, 4, 5), nonnull(1, 4))) bool http_error_set(struct http_error *err, int status,
                                                                         const char *code, const char *format, ...);
/* False too. */
bool http_error_no_memory(struct http_error *err);
/* {"code":...,"message":...} */
void http_error_write(const struct http_error *err, struct text *t);

#endif

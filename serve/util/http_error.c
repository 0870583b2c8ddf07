/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/http_error.h"
#include "util/text.h"

/* Cut where a character begins, so that what was valid UTF-8 stays so. */
static void cut(char *s, size_t room)
{
    size_t n = strlen(s);
    if (n + 1 < room)
        return;
    while (n > 0 && ((unsigned char)s[n - 1] & 0xc0) == 0x80)
        n--;
    if (n > 0 && ((unsigned char)s[n - 1] & 0x80))
        n--;
    s[n] = 0;
}

bool http_error_set(struct http_error *err, int status, const char *code, const char *format, ...)
{
    va_list list;
    *err = (struct http_error){.status = status, .code = code, .retry = status == 503 ? 1 : 0};
    va_start(list, format);
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    cut(err->message, sizeof err->message);
    return false;
}

bool http_error_no_memory(struct http_error *err)
{
    return http_error_set(err, 503, "out_of_memory", "out of memory");
}

void http_error_write(const struct http_error *err, struct text *t)
{
    text_printf(t, "{\"code\":\"%s\",\"message\":", err->code);
    text_quote(t, err->message, strlen(err->message));
    if (err->placed)
        text_printf(t, ",\"line\":%ld,\"column\":%ld,\"position\":%ld", err->line, err->column, err->position);
    text_puts(t, "}");
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem.h"
#include "text.h"

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

bool problem_set(struct problem *p, int status, const char *code, const char *format, ...)
{
    va_list list;
    *p = (struct problem){.status = status, .code = code, .retry = status == 503 ? 1 : 0};
    va_start(list, format);
    vsnprintf(p->message, sizeof p->message, format, list);
    va_end(list);
    cut(p->message, sizeof p->message);
    return false;
}

void problem_write(const struct problem *p, struct text *t)
{
    text_printf(t, "{\"code\":\"%s\",\"message\":", p->code);
    text_quote(t, p->message, strlen(p->message));
    if (p->placed)
        text_printf(t, ",\"line\":%ld,\"column\":%ld,\"position\":%ld", p->line, p->column, p->position);
    text_puts(t, "}");
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

hunch_status fail_with(hunch_error *reterr, hunch_status status, const char *format, ...)
{
    if (reterr) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reterr->message, sizeof reterr->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

hunch_status fail_memory(hunch_error *reterr)
{
    return fail_with(reterr, HUNCH_ENOMEM, "out of memory");
}

struct quoted quote(const char *text, size_t length)
{
    struct quoted quoted;
    size_t at = 0, i = 0;
    for (; i < length && at < sizeof quoted.text - 9; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7f)
            at += (size_t)snprintf(quoted.text + at, 5, "\\x%02x", c);
        else
            quoted.text[at++] = (char)c;
    }
    /* not in the middle of a UTF-8 sequence */
    while (i < length && at > 0 && ((unsigned char)text[i] & 0xc0) == 0x80) {
        i--;
        at--;
    }
    strcpy(quoted.text + at, i < length ? "..." : "");
    return quoted;
}

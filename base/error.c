/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

hunch_status error_set(hunch_error *reterr, hunch_status status, const char *format, ...)
{
    if (reterr) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reterr->message, sizeof reterr->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

hunch_status error_memory(hunch_error *reterr)
{
    return error_set(reterr, HUNCH_ENOMEM, "out of memory");
}

/* Bytes of the UTF-8 character at text; 0: it is none, or nothing to show. */
static size_t character(const unsigned char *text, size_t length)
{
    size_t n = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < ' ' || text[0] == 0x7f || (text[0] >= 0x80 && text[0] < 0xc2) || text[0] > 0xf4 || n > length)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

struct quoted quote(const char *text, size_t length)
{
    struct quoted quoted;
    size_t at = 0, i = 0;
    while (i < length && at < sizeof quoted.text - 8) { /* room for one more and "..." */
        size_t n = character((const unsigned char *)text + i, length - i);
        if (n == 0)
            at += (size_t)snprintf(quoted.text + at, 5, "\\x%02x", (unsigned char)text[i]);
        else
            memcpy(quoted.text + at, text + i, n);
        at += n;
        i += n == 0 ? 1 : n;
    }
    memcpy(quoted.text + at, i < length ? "..." : "\0\0\0", 4);
    return quoted;
}

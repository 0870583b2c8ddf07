/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

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

struct quoted quote(const char *text, size_t length)
{
    struct quoted quoted;
    size_t at = 0, i = 0;
    while (i < length && at < sizeof quoted.text - 8) { /* room for one more and "..." */
        size_t n = utf8_length((const unsigned char *)text + i, length - i);
        if (n == 0 || (unsigned char)text[i] < ' ' || text[i] == 0x7f) {
            at += (size_t)snprintf(quoted.text + at, 5, "\\x%02x", (unsigned char)text[i++]);
            continue;
        }
        memcpy(quoted.text + at, text + i, n);
        at += n;
        i += n;
    }
    memcpy(quoted.text + at, i < length ? "..." : "\0\0\0", 4);
    return quoted;
}

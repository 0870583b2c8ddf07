/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

hunch_status error_set(hunch_error *error, hunch_status status, const char *format, ...)
{
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
    }
    return status;
}

const char *hunch_status_text(hunch_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, text)                                                                                \
    case name:                                                                                                         \
        return text;
        HUNCH_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling a caller's hunch_error in one expression: return fail_with(reterr, HUNCH_EINVAL, "...", ...). */
#ifndef FAIL_H
#define FAIL_H

#include <stddef.h>

#include "hunch.h"

hunch_status fail_with(hunch_error *reterr, hunch_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
hunch_status fail_memory(hunch_error *reterr);

/* A token as shown in a message: cut to a readable length, unprintable bytes as \xNN. */
struct quoted {
    char text[64];
};
struct quoted quote(const char *text, size_t length);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Readable reasons. error_set fills the caller's hunch_error (which may be NULL) and returns the status, so that a
 * check reads: return error_set(reterr, HUNCH_EINVAL, "...", ...); */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>

#include "hunch.h"

hunch_status error_set(hunch_error *reterr, hunch_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
hunch_status error_memory(hunch_error *reterr); /* HUNCH_ENOMEM, "out of memory" */

/* A token as shown in a message: cut to a readable length, unprintable bytes as \xNN. */
struct quoted {
    char text[64];
};
struct quoted quote(const char *text, size_t length);

#endif

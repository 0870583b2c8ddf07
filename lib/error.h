/* SPDX-License-Identifier: BSD-3-Clause */
/* Readable reasons. error_set fills the caller's hunch_error (which may be NULL) and returns the status, so that a
 * check reads: return error_set(reterr, HUNCH_EINVAL, "...", ...); */
#ifndef ERROR_H
#define ERROR_H

#include "hunch.h"

hunch_status error_set(hunch_error *error, hunch_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

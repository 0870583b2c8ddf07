/* SPDX-License-Identifier: BSD-3-Clause */
/* Older names of base/error.h. */
#ifndef FAIL_H
#define FAIL_H

#include "base/error.h"

#define fail_with error_set
#define fail_memory error_memory

#endif

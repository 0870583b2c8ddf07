/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that begins with a cache line and is zero; to be freed with free. Much of it comes in large pages, which are
 * zero without being written, and taken only when they are touched. */
#ifndef ZEROS_H
#define ZEROS_H

#include <stddef.h>
#include <stdint.h>

#define ZEROS_ALIGNMENT 64
#define ZEROS_LARGE ((size_t)8 << 20) /* bytes from which on it is much */

/* NULL: out of memory, or more than there can be. */
void *zeros_allocate(size_t count, size_t size);
/* Zero again: much of it is given back until it is touched. bytes: from the beginning of what was allocated. */
void zeros_clear(void *p, size_t bytes);

#endif

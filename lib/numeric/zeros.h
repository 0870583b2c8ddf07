/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that begins with a cache line and is zero; to be freed with free. More than a little of it is zero without
 * being written, and taken only when it is touched: members of a panel that sleep take none. Much of it comes in large
 * pages. */
#ifndef ZEROS_H
#define ZEROS_H

#include <stddef.h>
#include <stdint.h>

#define ZEROS_ALIGNMENT 64
#define ZEROS_PAGES ((size_t)64 << 10) /* bytes from which on it is more than a little */
#define ZEROS_LARGE ((size_t)8 << 20)  /* ... much */

/* NULL: out of memory, or more than there can be. */
void *zeros_allocate(size_t count, size_t size);
/* Zero again: much of it is given back until it is touched. bytes: from the beginning of what was allocated. */
void zeros_clear(void *p, size_t bytes);

#endif

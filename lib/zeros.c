/* SPDX-License-Identifier: BSD-3-Clause */
#include "zeros.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "base/array.h"

#define LARGE_PAGE ((size_t)2 << 20)

void zeros_clear(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes >= ZEROS_LARGE && !((uintptr_t)p % LARGE_PAGE) && !madvise(p, bytes, MADV_DONTNEED))
        return;
#endif
    memset(p, 0, bytes);
}

void *zeros_allocate(size_t count, size_t size)
{
    size_t bytes = size_mul(count, size);
    size_t alignment = bytes < ZEROS_LARGE ? ZEROS_ALIGNMENT : LARGE_PAGE;
    if (bytes >= SIZE_MAX - alignment)
        return NULL;
    bytes = (bytes + alignment) / alignment * alignment;
    void *p = aligned_alloc(alignment, bytes);
#ifdef MADV_HUGEPAGE
    if (p && alignment == LARGE_PAGE) /* a process with large pages is forked in no time */
        madvise(p, bytes, MADV_HUGEPAGE);
#endif
    if (p)
        zeros_clear(p, bytes);
    return p;
}

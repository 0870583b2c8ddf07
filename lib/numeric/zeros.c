/* SPDX-License-Identifier: BSD-3-Clause */
#include "numeric/zeros.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "base/array.h"

#define LARGE_PAGE ((size_t)2 << 20)

/* Memory that begins with a page, and ends with one, can be given back. */
static size_t alignment_of(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes >= ZEROS_PAGES && bytes < ZEROS_LARGE)
        return (size_t)sysconf(_SC_PAGESIZE);
#endif
    return bytes < ZEROS_LARGE ? ZEROS_ALIGNMENT : LARGE_PAGE;
}

void zeros_clear(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes >= ZEROS_PAGES && !((uintptr_t)p % alignment_of(bytes)) && !madvise(p, bytes, MADV_DONTNEED))
        return;
#endif
    memset(p, 0, bytes);
}

void *zeros_allocate(size_t count, size_t size)
{
    size_t bytes = size_mul(count, size), alignment = alignment_of(bytes);
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

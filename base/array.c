/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool array_resize(void *address, size_t count, size_t size)
{
    size_t bytes = size_mul(count, size);
    void *old, *grown;
    memcpy(&old, address, sizeof old); /* the array's type is the caller's */
    grown = bytes < SIZE_MAX / 2 ? realloc(old, bytes ? bytes : 1) : NULL;
    if (!grown)
        return false;
    memcpy(address, &grown, sizeof grown);
    return true;
}

bool array_reserve(void *address, size_t *room, size_t wanted, size_t size)
{
    size_t more = size_add(*room, *room / 2);
    assert(size > 0);
    if (wanted <= *room)
        return true;
    more = more < wanted ? wanted : more;
    more = more < 8 ? 8 : more;
    if (!array_resize(address, more, size))
        return false;
    *room = more;
    return true;
}
